"""The file of cells beside a record: written in parts, read back as far as it is asked for."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from dpassay.csv_files import text_of_cell
from dpassay.engine.result import Result
from dpassay.errors import InvalidInput, require
from dpassay.record.cells import COLUMNS, WAYS, csv_lines, listed, parts
from dpassay.record.files import whole_file

if TYPE_CHECKING:
    import pandas as pd

MANY = 100_000
"""Of more cells the file is Parquet, if pyarrow is there."""
CSV, PARQUET = "cells.csv.gz", "cells.parquet"
NAMES = (CSV, PARQUET)
INTEGERS = {"group": "int32", "pair": "int32", "direction": "int8", "query": "int32"}
"""Numbers of so many bytes hold every place that there can be."""
KINDS = {"result": "str", **INTEGERS, **dict.fromkeys(WAYS, "float64")}
STORED = {"str": "string", "float64": "double"}
"""What Parquet calls a kind, where it is another name."""
GZIP = 31
"""Tells zlib that a stream is to have the head of gzip, without a time."""
LEVEL = 6
CHUNK = 1 << 18
"""Rows of CSV that are looked through at once."""
INSTALL = "pip install 'dpassay[parquet]'"


def write_cells(directory: Path, results: Sequence[Result]) -> Path:
    """Write the cells of all results; the file of an earlier run goes.

    Parameters
    ----------
    directory : Path
    results : sequence of Result

    Returns
    -------
    Path
        `cells.parquet` if there are more than `MANY` cells and pyarrow is installed, else
        `cells.csv.gz`. The same cells give the same bytes; of Parquet by the same pyarrow.

    Raises
    ------
    InvalidInput
        If the file cannot be written.
    """
    large = listed(results) > MANY and find_spec("pyarrow") is not None
    name, write = (PARQUET, _write_parquet) if large else (CSV, _write_csv)
    with whole_file(directory / name) as file:
        write(file, results)
    for other in NAMES:
        if other != name:
            (directory / other).unlink(missing_ok=True)
    return directory / name


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
    """Read cells of a run: all, or those that are asked for.

    No more than a part of the file is held besides what is returned. Of Parquet, parts that cannot
    hold such a cell are not read at all.

    Parameters
    ----------
    directory : str or Path
        The folder that the run was written to.
    result : str, optional
        Id of a result, as in the record.
    group, pair, query, direction : int, optional
        Place of the cells, from 0; direction 0 is from S to S'.
    above : float, optional
        Only cells whose lower bound is above this, in the units of their claims.

    Returns
    -------
    DataFrame
        Columns `result`, `group`, `pair`, `direction`, `query`, `lower`, `upper`, in the order of
        the file; bounds have six digits, see docs/files.md.

    Raises
    ------
    InvalidInput
        If there is no file of cells, it is none, or pyarrow is needed and missing.
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
    path = _found(Path(directory))
    read = _read_parquet if path.name == PARQUET else _read_csv
    try:
        with np.errstate(invalid="raise"):  # an infinite place is none
            found = pd.concat(read(path, wanted, above), ignore_index=True)
    except (OSError, ValueError, EOFError, ArithmeticError, zlib.error):
        raise InvalidInput(f"directory = '{directory}': {path.name} cannot be read") from None
    wrong = found[_impossible(found)]
    if len(wrong):
        told = ", ".join(f"{name} = {value}" for name, value in wrong.iloc[0].items())
        raise InvalidInput(f"directory = '{directory}': {path.name} has no possible cell: {told}")
    return found


def _impossible(cells: pd.DataFrame) -> pd.Series[bool]:
    """Tell of each cell whether it has no result, place or bounds that there can be."""
    named = cells["result"].notna() & (cells["result"] != "")
    placed = (cells[list(INTEGERS)] >= 0).all(axis=1) & (cells["direction"] <= 1)
    ordered = (cells["lower"] > -math.inf) & (cells["lower"] <= cells["upper"])
    return ~(named & placed & ordered)


def _found(directory: Path) -> Path:
    for path in (directory / name for name in NAMES):
        if path.is_file():
            if path.name == PARQUET and find_spec("pyarrow") is None:
                raise InvalidInput(f"directory = '{directory}': {PARQUET} needs pyarrow; {INSTALL}")
            return path
    raise InvalidInput(
        f"directory = '{directory}': must be the folder of a run, with {' or '.join(NAMES)}"
    )


def _write_csv(file: BinaryIO, results: Sequence[Result]) -> None:
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP)
    file.writelines(packer.compress(lines.encode()) for lines in csv_lines(results))
    file.write(packer.flush())


def _write_parquet(file: BinaryIO, results: Sequence[Result]) -> None:
    """Write a group of rows for each part, with the least and greatest of every column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {name: pa.string() if kind == "str" else kind for name, kind in KINDS.items()}
    schema = pa.schema(list(kinds.items()))
    with pq.ParquetWriter(
        file, schema, version="2.6", data_page_version="1.0", compression="zstd"
    ) as writer:
        for part in parts(results):
            columns = [pa.array(part[name], type=schema.field(name).type) for name in COLUMNS]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _read_csv(path: Path, wanted: Mapping[str, Any], above: float | None) -> Iterator[pd.DataFrame]:
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


def _read_parquet(
    path: Path, wanted: Mapping[str, Any], above: float | None
) -> Iterator[pd.DataFrame]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    filters = [(name, "=", value) for name, value in wanted.items()]
    filters += [] if above is None else [("lower", ">", above)]
    try:
        kinds = {field.name: str(field.type) for field in pq.read_schema(path)}
        if kinds != {name: STORED.get(kind, kind) for name, kind in KINDS.items()}:
            raise ValueError(path)
        yield pq.read_table(path, columns=list(COLUMNS), filters=filters or None).to_pandas()
    except pa.ArrowException as error:
        raise ValueError(path) from error
