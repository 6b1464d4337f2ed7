"""Simpler pairs of rows: fewer of them, equal ones, cells that come first, fewer queries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpassay.rows.columns import Coded
from dpassay.search.proposals.families import frozen
from dpassay.search.proposals.neighbours import Parts
from dpassay.search.proposals.proposal import Proposal, root
from dpassay.search.proposals.rows import Maker
from dpassay.search.proposals.shrinking import Candidate, Complexity, simplest_first, stretches

MOST_ALONE = 32
"""Rows that are made simpler one by one; of more, only stretches are."""
Tried = tuple[Parts, NDArray[np.float64]]


def smaller_rows(maker: Maker, found: Proposal) -> Iterator[Proposal]:
    """Yield simpler pairs and queries that are like one, the simplest first."""
    parts, asked = maker.parts(found), found.queries
    values, place, new = parts
    tried: list[Tried] = [((each, at, new), asked) for each, at in _fewer(values, place)]
    tried += [((each, place, new), asked) for each in _simpler(maker, values)]
    tried += [((values, place, each), asked) for each in _plainer(maker, new)]
    tried += [(parts, frozen(asked[k : k + 1].copy())) for k in range(len(asked))]
    if place:
        order = np.r_[place, np.delete(np.arange(len(values)), place)].astype(int)
        tried.append(((values[order], 0, new), asked))
    family = root(found.family)
    now = _complexity(maker, parts, asked)
    return simplest_first(
        now,
        [
            Candidate(
                _complexity(maker, *each), partial(maker.make, each[0], family, queries=each[1])
            )
            for each in tried
        ],
    )


def _complexity(maker: Maker, parts: Parts, asked: NDArray[np.float64]) -> Complexity:
    """Count rows, different ones, queries; then look at the cells and the place."""
    values, place, new = parts
    different = len(np.unique(np.vstack([values, new]), axis=0))
    return len(values), different, len(asked), _cost(maker, np.vstack([values, new])), place


def _cost(maker: Maker, values: Coded) -> int:
    """Add up how far down the list of cells that are tried each cell comes."""
    total = 0
    for column, marks in enumerate(maker.marks):
        ranks = {cell: rank for rank, cell in enumerate(marks.tolist())}
        total += sum(ranks.get(cell, len(ranks)) for cell in values[:, column].tolist())
    return total


def _fewer(values: Coded, place: int) -> Iterator[tuple[Coded, int]]:
    others = np.delete(np.arange(len(values)), place)
    for part in stretches(len(others)):
        if len(others) > MOST_ALONE and part.stop - part.start == 1:
            break
        kept = np.delete(np.arange(len(values)), others[part])
        yield values[kept], int(np.searchsorted(kept, place))


def _simpler(maker: Maker, values: Coded) -> Iterator[Coded]:
    """Yield rows of which a stretch becomes a typical row, or one cell comes first."""
    for part in stretches(len(values)):
        if len(values) > MOST_ALONE and part.stop - part.start == 1:
            break
        for row in maker.typical[:2]:
            other = values.copy()
            other[part] = row
            yield other
    for column, marks in enumerate(maker.marks):
        other = values.copy()
        other[:, column] = marks[0]
        yield other


def _plainer(maker: Maker, row: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    yield from maker.typical[:2]
    for column, marks in enumerate(maker.marks):
        other = row.copy()
        other[column] = marks[0]
        yield other
