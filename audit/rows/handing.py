"""Handing out: coded rows as a mechanism gets them, in the form in which they came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.rows.columns import LAST, MISSING, SPECIAL, Coded, Column
from dpassay.rows.rows import LABELLED, Form


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Features:
    """What a mechanism is handed that came as a pair (X, y)."""

    X: Any
    y: Any

    def __len__(self) -> int:
        return len(self.y)


class Handed:
    """Coded rows (n, d) that are handed out again and again, each time as a new object."""

    def __init__(self, form: Form, values: Coded) -> None:
        self.form, self._made = form, handed(form, values)

    def fresh(self) -> Any:
        """Return the rows; what somebody does to them, the next one does not see."""
        made = self._made
        if isinstance(made, Features):
            return Features(made.X.copy(), made.y.copy())
        return [dict(row) for row in made] if self.form.shape == "dicts" else made.copy()


def records(form: Form, values: Coded) -> Any:
    """Return rows as plain values of Python's own, dates as texts, for what is not in Python.

    Of a DataFrame or dicts a dict for each record, of tuples and arrays (n, d) a list, else its
    value. Of features and labels a dict of both.
    """
    values = np.where(values == SPECIAL["nan"], MISSING, values)
    told = [
        [
            cell.isoformat() if hasattr(cell, "isoformat") else cell
            for cell in map(column.plain, codes)
        ]
        for column, codes in zip(form.columns, values.T.tolist(), strict=True)
    ]
    rows = [list(row) for row in zip(*told, strict=True)]
    if form.shape in LABELLED:
        return {"X": [row[:-1] for row in rows], "y": told[-1]}
    if form.shape in ("frame", "dicts"):
        return [dict(zip(form.names, row, strict=True)) for row in rows]
    single = len(form.columns) == 1 and form.columns[0].name == "value"
    return told[0] if single else rows


def handed(form: Form, values: Coded) -> Any:
    """Return rows in the form in which they came: a new object every time."""
    if form.shape == "frame":
        return _frame(form.columns, values)
    if form.shape in LABELLED:
        *_, label = form.columns
        return Features(handed(form.of_queries, values[:, :-1]), _array(label, values[:, -1]))
    if form.shape == "array":
        columns = list(form.columns)
        if len(columns) == 1 and columns[0].name == "value":
            return _array(columns[0], values[:, 0])
        kinds = {np.dtype(column.dtype or object) for column in columns}
        numeric = all(kind.kind in "biuf" for kind in kinds)
        alike = numeric or len(kinds) == 1
        found = np.empty(values.shape, dtype=np.result_type(*kinds) if alike else object)
        for j, column in enumerate(columns):
            found[:, j] = _array(column, values[:, j])
        return found
    cells = [
        [column.plain(cell) for cell in codes]
        for column, codes in zip(form.columns, values.T.tolist(), strict=True)
    ]
    if form.shape == "dicts":
        return [dict(zip(form.names, row, strict=True)) for row in zip(*cells, strict=True)]
    return cells[0] if form.shape == "list" else list(zip(*cells, strict=True))


def _frame(columns: Sequence[Column], values: Coded) -> Any:
    import pandas as pd

    parts = {
        column.name: _series(column, codes) for column, codes in zip(columns, values.T, strict=True)
    }
    return pd.DataFrame(parts, index=pd.RangeIndex(len(values)))


def _series(column: Column, codes: NDArray[np.float64]) -> Any:
    import pandas as pd

    if column.kind == "date":
        known = codes != MISSING
        stamps = np.where(known, codes, 0).astype("int64").astype("datetime64[us]")
        stamps[~known] = np.datetime64("NaT")
        dtype: Any = column.dtype
        series: Any = pd.Series(stamps)
        if "," in dtype:  # of a time zone
            zone = dtype.partition(",")[2].strip(" ]")
            return series.dt.tz_localize("UTC").dt.tz_convert(zone).astype(dtype)
        return series.astype(dtype)
    if column.dtype == "category":
        known = np.where(codes <= LAST, -1, codes).astype(int)
        categories: Any = list(column.values)
        return pd.Series(pd.Categorical.from_codes(known, categories=categories))
    dtype = column.dtype or "object"
    return pd.Series(_array(column, codes), dtype=dtype)


def _array(column: Column, codes: NDArray[np.float64]) -> NDArray[Any]:
    """Return cells as an array of the dtype that they had."""
    dtype, gone = column.dtype, codes <= LAST
    numeric = column.kind in ("number", "integer")
    if numeric and not gone.any() and not dtype.startswith(("object", "str", "Int", "UInt")):
        return codes.astype(dtype or ("int64" if column.kind == "integer" else float))
    if numeric and dtype.startswith("float"):
        floats = np.where(codes == SPECIAL["inf"], np.inf, np.where(gone, np.nan, codes))
        return np.where(codes == SPECIAL["-inf"], -np.inf, floats).astype(dtype)
    found = np.empty(len(codes), dtype=object)
    for j, cell in enumerate(codes.tolist()):
        found[j] = column.plain(cell)
    if dtype == "bool" or dtype.startswith(("<U", "|S", "<M")):
        return found.astype(dtype)
    return found
