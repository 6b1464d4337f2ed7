"""The file of cells beside a record: written in parts, read back as far as it is asked for."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpassay.csv_files import text_of_cell
from dpassay.engine.result import Result
from dpassay.errors import InvalidInput, require
from dpassay.record.cells import COLUMNS, WAYS, csv_lines
from dpassay.record.files import whole_file

if TYPE_CHECKING:
    import pandas as pd

FILE = "cells.csv.gz"
INTEGERS = {"group": "int32", "pair": "int32", "direction": "int8", "query": "int32"}
"""Numbers of so many bytes hold every place that there can be."""
KINDS = {"result": "str", **INTEGERS, **dict.fromkeys(WAYS, "float64")}
GZIP = 31
"""Tells zlib that a stream is to have the head of gzip, without a time."""
LEVEL = 6
CHUNK = 1 << 18
"""Rows of CSV that are looked through at once."""


def write_cells(directory: Path, results: Sequence[Result]) -> Path:
    """Write the cells of all results; the same cells give the same bytes."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP)
    with whole_file(directory / FILE) as file:
        file.writelines(packer.compress(lines.encode()) for lines in csv_lines(results))
        file.write(packer.flush())
    return directory / FILE


def read_cells(
    directory: str | Path,
    *,
    result: str | None = None,
    group: int | None = None,
    pair: int | None = None,
    query: int | None = None,
    direction: int | None = None,
    above: float | None = None,
) -> pd.DataFrame:
    """Read cells of a run from its folder: all, or those that are asked for.

    Places count from 0, and direction 0 is from S to S'; `above` asks for cells whose lower bound
    is above this, in the units of their claims. The columns are `result`, `group`, `pair`,
    `direction`, `query`, `lower`, `upper`, in the order of the file; bounds have six digits, see
    docs/files.md. No more than a part of the file is held besides what is returned. Raise
    InvalidInput if there is no file of cells, or it is none.
    """
    import numpy as np
    import pandas as pd

    places: dict[str, int | None] = {
        "group": group,
        "pair": pair,
        "query": query,
        "direction": direction,
    }
    for name, place in places.items():
        known = place is None or (isinstance(place, int) and place >= 0)
        require(known, name, place, "an integer >= 0, or None")
    wanted = {
        name: value for name, value in {"result": result, **places}.items() if value is not None
    }
    path = Path(directory, FILE)
    if not path.is_file():
        raise InvalidInput(f"directory = '{directory}': must be the folder of a run, with {FILE}")
    try:
        with np.errstate(invalid="raise"):  # an infinite place is none
            found = pd.concat(_read_parts(path, wanted, above), ignore_index=True)
    except (OSError, ValueError, EOFError, ArithmeticError, zlib.error):
        raise InvalidInput(f"directory = '{directory}': {FILE} cannot be read") from None
    named = found["result"].notna() & (found["result"] != "")
    placed = (found[list(INTEGERS)] >= 0).all(axis=1) & (found["direction"] <= 1)
    ordered = (found["lower"] > -math.inf) & (found["lower"] <= found["upper"])
    wrong = found[~(named & placed & ordered)]
    if len(wrong):
        told = ", ".join(f"{name} = {value}" for name, value in wrong.iloc[0].items())
        raise InvalidInput(f"directory = '{directory}': {FILE} has no possible cell: {told}")
    return found


def _read_parts(
    path: Path, wanted: Mapping[str, Any], above: float | None
) -> Iterator[pd.DataFrame]:
    import pandas as pd

    for part, cells in enumerate(pd.read_csv(path, dtype=KINDS, chunksize=CHUNK)):
        if list(cells.columns) != list(COLUMNS):
            raise ValueError(path)
        cells["result"] = cells["result"].map(text_of_cell, na_action="ignore")
        kept = pd.Series(data=True, index=cells.index)
        for name, value in wanted.items():
            kept &= cells[name] == value
        if above is not None:
            kept &= cells["lower"] > above
        if kept.any() or not part:  # the first part, at least, tells the columns
            yield cells[kept]
