"""Simpler pairs of labelled records, asked at fewer and simpler points."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpassay.search.proposals.proposal import Proposal, root
from dpassay.search.proposals.records import Maker, Parts, Point
from dpassay.search.proposals.shrinking import (
    Candidate,
    Complexity,
    costs,
    simpler_numbers,
    simplest_first,
    stretches,
)

Points = NDArray[np.float64]
Asked = tuple[Parts, Points]
"""A pair of datasets and the queries."""
FEW_NUMBERS = 600
"""Features of larger datasets are left as they are; records go first."""
FEW_RECORDS = 12
"""Records and numbers that are made simpler one by one."""


def smaller_records(maker: Maker, found: Proposal) -> Iterator[Proposal]:
    """Yield pairs with fewer records, fewer queries, fewer different points, simpler numbers."""
    parts, queries = maker.parts(found), found.queries
    family, now = root(found.family), _complexity(parts, queries)
    size = len(parts[1])

    def candidate(complexity: Complexity, asked: Asked) -> Candidate:
        parts, queries = asked
        return Candidate(complexity, partial(maker.make, parts, family, queries))

    fewer = [candidate((len(each[1]),), (each, queries)) for each in _fewer_records(parts)]
    less = [candidate((size, len(each)), (parts, each)) for each in _fewer_queries(queries)]
    plain = _plainer(maker, parts, queries) if parts[0].size <= FEW_NUMBERS else ()
    yield from simplest_first(now, fewer)
    yield from simplest_first(now, less)
    yield from simplest_first(now, (candidate(_complexity(*each), each) for each in plain))


def _complexity(parts: Parts, queries: Points) -> Complexity:
    """Compare records, queries, whether features change, points, labels, numbers, the place."""
    X, y, place, (x, label) = parts
    moved = int((X[place] != x).any())
    everything = np.concatenate([X, x[None, :]])
    different = len(np.unique(everything, axis=0))
    return (
        len(y),
        len(queries),
        moved,
        different,
        costs(queries),
        costs(everything),
        int(y.sum()) + label,
        place,
        int(y[place]),
    )


def _fewer_records(parts: Parts) -> Iterator[Parts]:
    X, y, place, record = parts
    others = np.delete(np.arange(len(y)), place)
    for part in stretches(len(others)):
        kept = np.delete(np.arange(len(y)), others[part])
        yield X[kept], y[kept], int(np.searchsorted(kept, place)), record


def _fewer_queries(queries: Points) -> Iterator[Points]:
    """Each alone; then all without some."""
    count = len(queries)
    for k in range(count) if count > 1 else ():
        yield _frozen(queries[k : k + 1])
    for part in stretches(count):
        if part.stop - part.start < count:
            yield _frozen(np.delete(queries, part, axis=0))


def _plainer(maker: Maker, parts: Parts, queries: Points) -> Iterator[Asked]:
    X, y, place, (x, label) = parts
    for feature in (X[place], maker.data.X[0]):  # the label alone changes
        yield (X, y, place, (feature, label)), queries
    yield (X, y, place, (X[place], maker.other(int(y[place])))), queries
    for each in _other_points(maker, X, x, queries):
        yield (each[0], y, place, (each[1], label)), each[2]
    yield from (((X, each, place, (x, label)), queries) for each in _other_labels(maker, y))
    for row in (X[place], x, *_distinct(X)[:FEW_RECORDS], np.zeros(X.shape[1])):
        for k in range(len(queries)):
            asked = queries.copy()
            asked[k] = row
            yield parts, _frozen(asked)
    first = np.roll(np.arange(len(y)), -place)
    yield (X[first], y[first], 0, (x, label)), queries
    turned = y.copy()
    turned[place] = label
    swapped = X.copy()
    swapped[place] = x
    yield (swapped, turned, place, (X[place], int(y[place]))), queries


def _other_labels(maker: Maker, y: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for part in stretches(len(y)):
        for label in maker.classes[:2]:
            other = y.copy()
            other[part] = label
            yield other


def _other_points(
    maker: Maker, X: Points, x: Point, queries: Points
) -> Iterator[tuple[Points, Point, Points]]:
    """Yield other features of S, of the new record, and of what is asked.

    Points become others that are there, corners or 0 and 1; features become 0 for all; then numbers
    one by one.
    """
    rows, records = np.concatenate([X, x[None, :], queries]), len(X) + 1
    points = _distinct(rows[:records])
    simple = [np.clip(end, maker.low, maker.high) for end in (np.zeros_like(x), np.ones_like(x))]
    ends = (simple, simple[::-1], [maker.low, maker.high]) if len(points) == 2 else ()
    others = points if len(points) <= FEW_RECORDS else []
    for each in (
        *(_renamed(rows, points, two) for two in ends),
        *(_renamed(rows, [one], [other]) for one in others for other in (*simple, *points)),
        _clipped(np.trunc(rows) + 0.0, maker, records),
        *_plainer_columns(rows, simple),
        *_plainer_numbers(rows),
    ):
        yield each[: records - 1], each[records - 1], _frozen(each[records:])


def _plainer_columns(rows: Points, simple: list[Point]) -> Iterator[Points]:
    """Make one feature the same everywhere."""
    for end in simple:
        for column in range(rows.shape[1]):
            same = rows.copy()
            same[:, column] = end[column]
            yield same


def _plainer_numbers(rows: Points) -> Iterator[Points]:
    """Make one number simpler wherever it is."""
    for number in np.unique(rows)[: FEW_NUMBERS // 10].tolist():
        for value in simpler_numbers(number):
            plainer = rows.copy()
            plainer[rows == number] = value
            yield plainer


def _renamed(rows: Points, points: list[Point], others: list[Point]) -> Points:
    """Put other points in the place of some, wherever these are."""
    renamed = rows.copy()
    for point, other in zip(points, others, strict=True):
        renamed[(rows == point).all(axis=1)] = other
    return renamed


def _clipped(rows: Points, maker: Maker, records: int) -> Points:
    """Bring records back into the range; queries may lie anywhere."""
    rows[:records] = np.clip(rows[:records], maker.low, maker.high)
    return rows


def _distinct(rows: Points) -> list[Point]:
    return list(np.unique(rows, axis=0))


def _frozen(queries: Points) -> Points:
    queries = queries.copy()
    queries.flags.writeable = False
    return queries
