"""Paths: chains of neighbours between datasets that lie far apart.

Two datasets that are told apart for sure lie on a path of neighbours, so that one of its edges
leaks at least the total divided by their number, and usually far more than the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpassay.relations import (
    ADD_REMOVE,
    ADD_REMOVE_USER,
    OWN,
    REPLACE_USER,
    ZERO_OUT,
    records_replaced,
)
from dpassay.rows.columns import Coded
from dpassay.search.proposals.pair_maker import PairGenerator, Parts
from dpassay.search.proposals.proposal import Proposal, Space
from dpassay.search.proposals.records import RecordSpace


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """Datasets 0 to `length`, of which edge k joins k, as the base, and k + 1."""

    length: int
    edge: Callable[[int], Proposal | None]


def paths_of(space: Space) -> list[Path]:
    """Return paths between own rows and few, equal, doubled and extreme ones."""
    if not isinstance(space, RecordSpace):
        return []
    maker = space.generator
    own, relation = maker.rows.values, maker.relation
    sizes = sorted({len(own), maker.sizes[1]})
    if relation == ADD_REMOVE:
        most = sizes[-1]
        both = np.resize(np.arange(len(own)), most)
        shrunk = [np.tile(row, (most, 1)) for row in maker.ends]
        grown = [np.vstack([own, each])[:most] for each in shrunk if most > len(own)]
        paths = [_path(maker, each, None, 1) for each in (own[both], *shrunk, *grown)]
    elif relation == ZERO_OUT:
        zero = maker.zero
        assert zero is not None
        paths = [_path(maker, own, zero, 1)]
    elif relation in (OWN, ADD_REMOVE_USER, REPLACE_USER):
        paths = []
    else:
        step = records_replaced(relation)
        paths = [
            _path(maker, start, row, step)
            for size in sizes
            for start, row in (
                *((own[np.resize(np.arange(len(own)), size)], row) for row in maker.ends),
                (np.tile(maker.ends[0], (size, 1)), maker.ends[1]),
            )
        ]
    return [path for path in paths if path.length > 1]


def _path(maker: PairGenerator, start: Coded, row: Coded | None, step: int) -> Path:
    """Replace the rows by one row, so many at a time, or take them away from the last on."""
    places = np.arange(len(start)) if row is None else np.flatnonzero((start != row).any(axis=1))

    def parts(k: int) -> Parts:
        if row is None:
            values = start[: len(start) - k]
            return values, len(values) - 1, values[-1]
        values, place = start.copy(), int(places[k * step])
        values[places[: k * step]] = row
        return values, place, start[place] if maker.relation == ZERO_OUT else row

    length = max(0, len(start) - 1 if row is None else len(places) // step)
    queries = maker.make(parts(length // 2), "") if length else None
    how = "sizes" if row is None else "replacements"
    return Path(
        length=length,
        edge=lambda k: maker.make(
            parts(k), f"edge of a path of {how}", None if queries is None else queries.queries
        ),
    )
