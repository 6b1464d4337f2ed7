"""Pairs of labelled records to begin with: own ones changed, small ones, ones on a boundary."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from dpassay.search.proposals.families import made, sizes_up_to
from dpassay.search.proposals.proposal import Proposal, spread
from dpassay.search.proposals.records import NEAR, Maker, Parts, Point, Record

SIZES = (2, 3, 10, 1, 5, 20, 4, 6, 7)
"""Sizes of small datasets, in the order in which they are tried."""
SMALLEST = 4
"""Up to this size datasets are enumerated."""
MOST_OWN = 200
"""So many of the user's records are changed in turns."""


def first_records(maker: Maker, rng: np.random.Generator) -> list[Iterator[Proposal]]:
    """Return the families to begin with, those that tell most first."""

    def own(family: str, changes: Iterator[tuple[int, Record]]) -> Iterator[Proposal]:
        """Change the user's records."""
        return made(lambda change: maker.changed(maker.data, *change, family), changes)

    def maybe(family: str, pairs: Iterator[Parts]) -> Iterator[Proposal]:
        return made(lambda parts: maker.make(parts, family), pairs)

    return [
        own("label of an own record flipped", _flips(maker)),
        maybe("small dataset", _small(maker)),
        maybe("votes one apart", _votes(maker)),
        own("own record replaced by another", _others(maker, rng)),
        maybe("all of one class", _one_class(maker)),
        maybe("all points equal", _equal_points(maker)),
        maybe("record moved to the other end", _to_the_other_end(maker)),
        own("own record replaced by an extreme", _extremes(maker)),
        maybe("points at the extremes", _corners(maker)),
        own("own record made a duplicate", _duplicates(maker, rng)),
        maybe("a class without records", _missing_class(maker)),
        maybe("some of the own records", _subsampled(maker, rng)),
    ]


def _sizes(maker: Maker) -> list[int]:
    return sizes_up_to(len(maker.data), SIZES, fixed=maker.fixed)


def _flips(maker: Maker) -> Iterator[tuple[int, Record]]:
    for step in range(1, len(maker.classes)):
        for place in spread(len(maker.data), MOST_OWN):
            yield place, (maker.data.X[place], maker.other(int(maker.data.y[place]), step))


def _others(maker: Maker, rng: np.random.Generator) -> Iterator[tuple[int, Record]]:
    """By the farthest own record of another class, then by any."""
    X, y = maker.data.X, maker.data.y
    for k, place in enumerate(spread(len(maker.data), MOST_OWN) * 2):
        rivals = np.flatnonzero(y != y[place])[:NEAR]
        if k < len(maker.data) and len(rivals):
            apart = np.abs(X[rivals] - X[place]).sum(axis=1)
            chosen = int(rivals[int(np.argmax(apart))])
        else:
            chosen = int(rng.integers(len(y)))
        yield place, (X[chosen], int(y[chosen]))


def _extremes(maker: Maker) -> Iterator[tuple[int, Record]]:
    """By either corner of the range, then with one feature at an end of its range."""
    for k, place in enumerate(spread(len(maker.data), MOST_OWN)):
        x, label = maker.data.X[place], int(maker.data.y[place])
        for end in maker.corners[::-1]:
            yield place, (end, label if k % 2 else maker.other(label))
        one = x.copy()
        column = k % len(x)
        end = maker.high if x[column] < maker.high[column] else maker.low
        one[column] = end[column]
        yield place, (one, label)


def _duplicates(maker: Maker, rng: np.random.Generator) -> Iterator[tuple[int, Record]]:
    """By the features of another with either label."""
    for place in spread(len(maker.data), MOST_OWN):
        like = int(rng.integers(len(maker.data)))
        label = int(maker.data.y[like])
        yield place, (maker.data.X[like], maker.other(label) if rng.random() < 0.5 else label)


def _points(maker: Maker) -> list[Point]:
    """Two or more points: the own record nearest the middle of each class, and corners."""
    X, y = maker.data.X, maker.data.y
    found = []
    for label in maker.classes[:3]:
        rows = np.flatnonzero(y == label)
        if len(rows):
            apart = np.abs(X[rows] - X[rows].mean(axis=0)).sum(axis=1)
            found.append(X[rows[int(np.argmin(apart))]])
    kept: list[Point] = []
    for point in (*found, *maker.corners):
        if not any((point == each).all() for each in kept):
            kept.append(point)
    return kept


def _small(maker: Maker) -> Iterator[Parts]:
    """Enumerate the smallest datasets and their neighbours, up to the order of records."""
    records = [(x, label) for x in _points(maker)[:2] for label in maker.classes[:3]]
    for size in range(1, SMALLEST + 1):
        rests = combinations_with_replacement(range(len(records)), size - 1)
        swaps = list(combinations(range(len(records)), 2))
        for turn, (rest, (one, other)) in enumerate(
            (rest, swap) for rest in rests for swap in swaps
        ):
            place = (0, size - 1)[turn % 2]
            chosen = [*rest[:place], one, *rest[place:]]
            X = np.array([records[k][0] for k in chosen])
            y = np.array([records[k][1] for k in chosen])
            yield X, y, place, records[other]


def _votes(maker: Maker) -> Iterator[Parts]:
    """Labels as many of the one class as of the other, give or take one."""
    for second, first in (maker.classes[:2], maker.classes[1::-1]):
        for size in _sizes(maker):
            X, y = _cycled(maker, size), np.full(size, first)
            y[(size + 1) // 2 :] = second  # the first class has one more, or as many
            last = (size - 1) // 2
            for place in (0, last):
                yield X, y, place, (X[place], second)
            yield X[::-1], y[::-1], size - 1, (X[0], second)


def _cycled(maker: Maker, size: int) -> NDArray[np.float64]:
    """Return features of so many records: own ones that are spread, again where they end."""
    rows = sorted(spread(len(maker.data), size))
    cycled: NDArray[np.float64] = maker.data.X[np.resize(rows, size)]
    return cycled


def _one_class(maker: Maker) -> Iterator[Parts]:
    """All of one class, but for the record that changes on one side."""
    for label in maker.classes:
        for size in _sizes(maker):
            X = _cycled(maker, size)
            for place in (0, size - 1, size // 2):
                yield X, np.full(size, label), place, (X[place], maker.other(label))


def _equal_points(maker: Maker) -> Iterator[Parts]:
    """All points equal: labels tied, or one of them changed; or one point moved away."""
    points = _points(maker)
    for k, point in enumerate(points):
        away = points[k - 1]
        for size in _sizes(maker):
            X, tied = np.tile(point, (size, 1)), np.full(size, maker.classes[0])
            tied[size // 2 :] = maker.classes[1]
            yield X, tied, 0, (point, maker.classes[1])
            yield X, tied, size - 1, (point, maker.classes[0])
            yield X, tied, 0, (away, maker.classes[0])


def _to_the_other_end(maker: Maker) -> Iterator[Parts]:
    """One record goes from one end of all features to the other, past all the others.

    The others are at its first point, or between the ends in order; their labels are all other
    than its own, or take turns. So whatever is cut by content or by order shifts.
    """
    low, high = maker.corners
    for one, other in (maker.classes[:2], maker.classes[1::-1]):
        for size in _sizes(maker):
            X, y = np.tile(low, (size, 1)), np.full(size, other)
            y[0] = one
            yield X, y, 0, (high, other)
            X = X + np.linspace(0, 1, size)[:, None] * (high - low)
            X = np.clip(np.where(maker.whole, np.floor(X), X), maker.low, maker.high)
            yield X, np.where(np.arange(size) % 2, other, one), 0, (high, one)
            yield X[::-1], y[::-1], size - 1, (high, other)


def _corners(maker: Maker) -> Iterator[Parts]:
    """Points at both ends of every feature; one goes to the other end."""
    ends = np.array(maker.corners)
    for size in _sizes(maker):
        for start in (0, 1):
            sides = (np.arange(size) + start) % 2
            y = np.array(maker.classes)[sides]
            for place in (0, size - 1):
                end = 1 - int(sides[place])
                yield ends[sides], y, place, (ends[end], maker.classes[end])
                yield ends[sides], y, place, (ends[end], int(y[place]))


def _missing_class(maker: Maker) -> Iterator[Parts]:
    """Of three or more classes one is empty, until a record comes into it."""
    if len(maker.classes) <= 2:
        return
    for missing in maker.classes[::-1]:
        rest = [label for label in maker.classes if label != missing]
        for size in _sizes(maker):
            X, y = _cycled(maker, size), np.resize(rest, size)
            for place in (0, size - 1):
                yield X, y, place, (X[place], missing)


def _subsampled(maker: Maker, rng: np.random.Generator) -> Iterator[Parts]:
    """Some of the own records, one of them replaced by another or its label flipped."""
    while True:
        for size in _sizes(maker):
            rows = rng.integers(len(maker.data), size=size)
            X, y, place = maker.data.X[rows], maker.data.y[rows], int(rng.integers(size))
            yield X, y, place, maker.drawn(rng, X[place], int(y[place]))
