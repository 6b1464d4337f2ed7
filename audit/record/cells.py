"""All cells of a run, as a table beside its record that is small enough to be kept.

Cells that leak nothing are not listed, numbers have six digits, and what is alike stands together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

Table = Mapping[str, NDArray[Any]]


def cells_csv(results: Iterable[Result]) -> str:
    """Write the cells of all results as CSV.

    Columns: result; group, pair, direction (0 is S to S') and query; `lower` and `upper`, bounds on
    the leak in the units of the claim, with six significant digits and rounded outwards. A bound
    that would change its side of the claim by that keeps all digits.

    A cell that was computed to leak nothing is not listed, and no cell of an enumerated domain,
    which has too many. Results of one mechanism often have the same numbers: their rows alternate,
    as a compressor looks back a little way only.
    """
    alike: dict[str, list[tuple[Result, Table]]] = {}
    for result in results:
        if result.evidence is not None and result.evidence.table:
            alike.setdefault(result.target.name, []).append((result, _listed(result.evidence)))
    rows = (row for some in alike.values() for row in _rows(some))
    return "\n".join((",".join(COLUMNS), *rows)) + "\n"


def _rows(results: Sequence[tuple[Result, Table]]) -> Iterator[str]:
    """Write the cells of results of one mechanism, cell by cell."""
    which = np.repeat(np.arange(len(results)), [len(table["pair"]) for _, table in results])
    places = [np.concatenate([table[name] for _, table in results]) for name in PLACE]
    bounds = [
        np.concatenate(
            [_texts(table[name], way, result.claim.promised) for result, table in results]
        )
        for name, way in WAYS.items()
    ]
    names = np.array([result.id for result, _ in results], dtype=object)[which]
    order = np.lexsort((which, *reversed(places)))
    columns = (column[order].tolist() for column in (names, *places, *bounds))
    for row in zip(*columns, strict=True):
        yield ",".join(map(str, row))


def _listed(evidence: Evidence) -> Table:
    """Return the cells that are listed, column by column."""
    table = evidence.table
    if "loss" not in table:
        return table
    leaking = (table["loss"] != 0) | (table["upper"] > NOTHING)
    return {name: column[leaking] for name, column in table.items()}


def _texts(bounds: NDArray[np.float64], way: str, claimed: float) -> NDArray[Any]:
    """Write bounds, each value once: there are many cells and few values."""
    values, places = np.unique(bounds, return_inverse=True)
    texts = np.array([_text(value, way, claimed) for value in values.tolist()], dtype=object)
    return texts[places]


def _text(bound: float, way: str, claimed: float) -> str:
    short = rounded(bound, DIGITS, way)
    return repr(bound) if (short > claimed) != (bound > claimed) else f"{short:.{DIGITS}g}"
