"""All cells of a run, as a file beside its record that is small enough to be kept.

Cells that leak nothing are not listed, numbers have six digits, and what is alike stands together.
The file is written in parts; pandas reads it.
"""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.csv_files import cell
from dpassay.engine.result import Result
from dpassay.numerics import DOWN, UP, rounded
from dpassay.record.files import whole_file

NOTHING = 1e-9
"""A computed leak of 0 is not listed where it is known up to so much, in the units of the claim."""
DIGITS = 6
PLACE = ("group", "pair", "direction", "query")
WAYS = {"lower": DOWN, "upper": UP}
"""Which way the bounds are rounded."""
COLUMNS = ("result", *PLACE, *WAYS)
PART = 1 << 16
"""Rows that are written at once."""
FILE = "cells.csv.gz"
GZIP = 31
"""Tells zlib that a stream is to have the head of gzip, without a time."""
LEVEL = 6

Table = Mapping[str, NDArray[Any]]


def write_cells(directory: Path, results: Sequence[Result]) -> Path:
    """Write the cells of all results; the same cells give the same bytes."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP)
    with whole_file(directory / FILE) as file:
        file.writelines(packer.compress(lines.encode()) for lines in csv_lines(results))
        file.write(packer.flush())
    return directory / FILE


def csv_lines(results: Iterable[Result]) -> Iterator[str]:
    """Yield the cells of all results as CSV: a head, then at most `PART` rows at a time.

    Columns: result; group, pair, direction (0 is S to S') and query; `lower` and `upper`, bounds on
    the leak in the units of the claim, with six significant digits and rounded outwards. A bound
    that would change its side of the claim by that keeps all digits.

    A cell that was computed to leak nothing is not listed, and no cell of an enumerated domain,
    which has too many. Results of one mechanism often have the same numbers: their rows alternate,
    as a compressor looks back a little way only.
    """
    yield ",".join(COLUMNS) + "\n"
    alike: dict[str, list[tuple[Result, Table, NDArray[np.bool_]]]] = {}
    for result in results:
        if result.evidence is not None and (table := result.evidence.table):
            upper = table["upper"]
            leaking = (table.get("loss", upper) != 0) | (upper > NOTHING)
            leaking |= "loss" not in table  # what was sampled is listed
            alike.setdefault(result.target.name, []).append((result, table, leaking))
    for some in alike.values():
        columns = {
            name: np.concatenate([table[name][leaking] for _, table, leaking in some])
            for name in (*PLACE, *WAYS)
        }
        which = np.repeat(np.arange(len(some)), [leaking.sum() for _, _, leaking in some])
        claims = np.array([result.claim.promised for result, *_ in some])
        names = np.array([cell(result.id) for result, *_ in some], dtype=object)
        order = np.lexsort((which, *(columns[name] for name in reversed(PLACE))))
        for first in range(0, len(order), PART):
            rows = order[first : first + PART]
            part = {name: column[rows] for name, column in columns.items()}
            part["result"] = names[which[rows]]
            for name, way in WAYS.items():
                part[name] = _each(_text, _short(part[name], way, claims[which[rows]]), object)
            lines = io.StringIO()
            columns_of = (part[name].tolist() for name in COLUMNS)
            csv.writer(lines, lineterminator="\n").writerows(zip(*columns_of, strict=True))
            yield lines.getvalue()


def _short(
    bounds: NDArray[np.float64], way: str, claimed: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Round bounds; one that rounding would move across its claim stays as it is."""
    short = _each(lambda value: rounded(value, DIGITS, way), bounds, float)
    found: NDArray[np.float64] = np.where((short > claimed) == (bounds > claimed), short, bounds)
    return found


def _text(bound: float) -> str:
    """Write a bound with as many digits as it has."""
    text = f"{bound:.{DIGITS}g}"
    return text if float(text) == bound else repr(bound)


def _each(make: Callable[[float], Any], bounds: NDArray[np.float64], kind: type) -> NDArray[Any]:
    """Make something of bounds, of each value once: there are many cells and few values."""
    values, places = np.unique(bounds, return_inverse=True)
    made: NDArray[Any] = np.array([*map(make, values.tolist())], dtype=kind)[places]
    return made
