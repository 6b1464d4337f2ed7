"""Records told apart by a column of the user's: its categories, or quantile bins of its numbers.

A slice is made of the records that were drawn, before any model is trained, and the pairs of the
coins are laid within slices: a right guess at a pair of a slice is about records of that slice.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.observed import Flags
from dpassay.csv_files import read_csv, shown
from dpassay.data import BUILT_IN, Table
from dpassay.errors import InvalidInput, near

if TYPE_CHECKING:
    import pandas as pd

MOST = 10
"""Categories that are slices of their own; of more, the rarest make one slice together."""
BINS = 4
"""Quantile bins of a column of numbers with more than `MOST` values."""
MISSING, OTHER = "missing", "other"
"""Slices of records without a value, and of the rarest categories."""


def column_values(table: Table, column: str) -> pd.Series:
    """Return the values of a column as they stand in the file, one for each record of the table.

    It may be the label's column; the built-in data have those of their features. Missing values
    are NaN.
    """
    import pandas as pd

    names = [*table.columns, *([table.source["target"]] if "target" in table.source else [])]
    if table.source["kind"] == "file":
        frame = read_csv(Path(table.source["name"]), missing=True)
        names = [str(name) for name in frame.columns]
        if column in names:
            return frame[column]
    elif table.source["name"] == BUILT_IN and column in table.columns:
        return pd.Series(table.data.X[:, table.columns[column][0]])
    close = near(column, names)
    hint = f"did you mean '{close}'?" if close else f"must be one of {shown(names)}"
    raise InvalidInput(f"--slice-by = '{column}': no such column; {hint}")


def slices_by(values: pd.Series, column: str) -> dict[str, Flags]:
    """Divide records by their values: every record is in exactly one slice, and no slice is empty.

    Categories come from the most frequent on, bins from the smallest on; then follow the other
    categories and the missing values. `column` names the slices.
    """
    missing: NDArray[np.bool_] = values.isna().to_numpy()
    told = values[~missing]
    found: dict[str, Flags] = {}
    if values.dtype.kind in "iuf" and told.nunique() > MOST:
        found = _bins(values.to_numpy(dtype=float), column)
    else:
        order = sorted(told.value_counts().items(), key=lambda each: (-each[1], str(each[0])))
        kept = [value for value, _ in order[: MOST - (len(order) > MOST)]]
        found = {f"{column} = {_text(value)}": (values == value).to_numpy() for value in kept}
        rest = ~missing & ~values.isin(kept).to_numpy()
        found |= {f"{column}: {OTHER}": rest} if rest.any() else {}
    return found | ({f"{column}: {MISSING}": missing} if missing.any() else {})


def within_slices(slices: dict[str, Flags]) -> NDArray[np.int64]:
    """Return an order of the records in which those of a slice stand together.

    So at most one pair at each border has records of two slices. Within a slice the order stays.
    """
    codes = np.argmax(np.stack(list(slices.values())), axis=0)
    return np.argsort(codes, kind="stable")


def _bins(numbers: NDArray[np.float64], column: str) -> dict[str, Flags]:
    """Quantile bins; the inner edges are values of records, and equal values share a bin."""
    inner = np.linspace(0, 1, BINS + 1)[1:-1]
    edges = np.unique(np.nanquantile(numbers, inner, method="higher"))
    least = np.nanmin(numbers)
    edges = edges[edges > least]
    if not len(edges):  # most are equal: the others stand apart
        edges = np.array([np.nanmin(numbers[numbers > least])])
    found = {f"{column} < {_text(float(edges[0]))}": numbers < edges[0]}
    for low, high in pairwise(edges.tolist()):
        name = f"{_text(low)} ≤ {column} < {_text(high)}"
        found[name] = (numbers >= low) & (numbers < high)
    return found | {f"{column} ≥ {_text(float(edges[-1]))}": numbers >= edges[-1]}


def _text(value: object) -> str:
    """Write a value: whole numbers of a column with gaps, which pandas holds as floats, as such."""
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value)
