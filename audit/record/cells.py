"""All cells of a run, as a table beside its record that is small enough to be kept.

Cells that leak nothing are not listed, numbers have six digits, and what is alike stands together.
`dpassay.record.cell_files` writes and reads it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.csv_files import cell
from dpassay.engine.evidence import Evidence
from dpassay.engine.result import Result
from dpassay.numerics import DOWN, UP, rounded

NOTHING = 1e-9
"""A computed leak of 0 is not listed where it is known up to so much, in the units of the claim."""
DIGITS = 6
PLACE = ("group", "pair", "direction", "query")
WAYS = {"lower": DOWN, "upper": UP}
"""Which way the bounds are rounded."""
COLUMNS = ("result", *PLACE, *WAYS)
PART = 1 << 16
"""Rows that are written at once."""

Table = Mapping[str, NDArray[Any]]


def parts(results: Iterable[Result]) -> Iterator[Table]:
    """Yield the cells of all results, at most `PART` rows at a time, as arrays by column.

    Columns: result; group, pair, direction (0 is S to S') and query; `lower` and `upper`, bounds on
    the leak in the units of the claim, with six significant digits and rounded outwards. A bound
    that would change its side of the claim by that keeps all digits.

    A cell that was computed to leak nothing is not listed, and no cell of an enumerated domain,
    which has too many. Results of one mechanism often have the same numbers: their rows alternate,
    as a compressor looks back a little way only.
    """
    alike: dict[str, list[Result]] = {}
    for result in results:
        if result.evidence is not None and result.evidence.table:
            alike.setdefault(result.target.name, []).append(result)
    for some in alike.values():
        yield from _of_one_mechanism(some)


def csv_lines(results: Iterable[Result]) -> Iterator[str]:
    """Yield the cells as CSV, a head and then `parts` in turn."""
    yield ",".join(COLUMNS) + "\n"
    for part in parts(results):
        texts = {name: _texts(part[name]) for name in WAYS}
        texts["result"] = np.array([*map(cell, part["result"])], dtype=object)
        lines, columns = io.StringIO(), (texts.get(name, part[name]).tolist() for name in COLUMNS)
        csv.writer(lines, lineterminator="\n").writerows(zip(*columns, strict=True))
        yield lines.getvalue()


def _of_one_mechanism(results: Sequence[Result]) -> Iterator[Table]:
    """Yield the cells of results of one mechanism, cell by cell."""
    found = [result.evidence for result in results if result.evidence is not None]
    kept = [_leaking(evidence) for evidence in found]
    which = np.repeat(np.arange(len(results)), [rows.sum() for rows in kept])
    columns = {
        name: np.concatenate(
            [each.table[name][rows] for each, rows in zip(found, kept, strict=True)]
        )
        for name in (*PLACE, *WAYS)
    }
    claims = np.array([result.claim.promised for result in results])
    names = np.array([result.id for result in results], dtype=object)
    order = np.lexsort((which, *(columns[name] for name in reversed(PLACE))))
    for first in range(0, len(order), PART):
        rows = order[first : first + PART]
        part = {name: column[rows] for name, column in columns.items()}
        claimed = claims[which[rows]]
        bounds = {name: _short(part[name], way, claimed) for name, way in WAYS.items()}
        yield {"result": names[which[rows]], **part, **bounds}


def _leaking(evidence: Evidence) -> NDArray[np.bool_]:
    """Return which cells are listed."""
    table = evidence.table
    if "loss" not in table:
        return np.ones(len(table["pair"]), dtype=bool)
    leaking: NDArray[np.bool_] = (table["loss"] != 0) | (table["upper"] > NOTHING)
    return leaking


def _short(
    bounds: NDArray[np.float64], way: str, claimed: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Round bounds, each value once: there are many cells and few values.

    A bound that rounding would move across its claim stays as it is.
    """
    values, places = np.unique(bounds, return_inverse=True)
    short = np.array([rounded(value, DIGITS, way) for value in values.tolist()])[places]
    found: NDArray[np.float64] = np.where((short > claimed) == (bounds > claimed), short, bounds)
    return found


def _texts(bounds: NDArray[np.float64]) -> NDArray[Any]:
    """Write bounds, each value once, with as many digits as they have."""
    values, places = np.unique(bounds, return_inverse=True)
    texts = np.array([_text(value) for value in values.tolist()], dtype=object)
    return texts[places]


def _text(bound: float) -> str:
    text = f"{bound:.{DIGITS}g}"
    return text if float(text) == bound else repr(bound)
