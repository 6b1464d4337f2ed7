"""Proposals for labelled records: own ones changed, small datasets, datasets on the boundary.

Nothing that is proposed as data leaves the range that each feature has in the user's data. Where
none of their records is longer than 1, none that is proposed is: such data are normalised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.pairs import FlipLabel, Replace
from dpassay.search.proposals.proposal import Proposal, pick, proposal, root, spread

Point = NDArray[np.float64]
Record = tuple[Point, int]
"""Features and label."""
Parts = tuple[NDArray[np.float64], NDArray[np.int64], int, Record]
"""Features and labels of S, the place that changes, and the record that comes there."""
SIZES = (2, 3, 10, 1, 5, 20, 4, 6, 7)
"""Sizes of small datasets, in the order in which they are tried."""
SMALLEST = 4
"""Up to this size datasets are enumerated."""
MOST_OWN = 200
"""So many of the user's records are changed in turns."""
NEAR = 200
"""Among so many records the nearest one of another class is looked for."""
SHORTER, LEAST_PART = 0.95, 1e-3
"""How the way to a corner is shortened, and where that ends."""
SLACK = 1e-9
"""Relative rounding of lengths that are meant to be 1."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Maker:
    """Makes proposals out of labelled records.

    Parameters
    ----------
    data : Labelled
        The user's records.
    fixed : bool
        Whether every dataset has as many.
    asked : int
        Queries of a proposal at most, >= 1.
    relation : str
        The neighbour relation.
    """

    data: Labelled
    fixed: bool
    asked: int
    relation: str
    classes: tuple[int, ...] = field(init=False)
    """Labels that records may have, at least two."""
    low: Point = field(init=False)
    high: Point = field(init=False)
    """Least and greatest value of each feature."""
    whole: NDArray[np.bool_] = field(init=False)
    """Which features have whole values only."""
    norms: tuple[int, ...] = field(init=False)
    """In which norms no record is longer than 1."""
    corners: tuple[Point, Point] = field(init=False)
    """Points at the lower and the upper ends of all features, or as near as records may lie."""
    far: Point = field(init=False)
    """A point far away, where queries may lie."""

    def __post_init__(self) -> None:
        X, labels = self.data.X, np.unique(self.data.y).tolist()
        classes = labels if len(labels) > 1 else sorted({0, *(labels if labels != [0] else [1])})
        norms = [k for k in (1, 2) if (np.linalg.norm(X, k, axis=1) <= 1 + SLACK).all()]
        facts = {
            "classes": tuple(classes),
            "low": X.min(axis=0),
            "high": X.max(axis=0),
            "whole": (np.round(X) == X).all(axis=0),
            "norms": tuple(norms),
        }
        for name, value in facts.items():
            object.__setattr__(self, name, value)
        away = self.high + 10 * (self.high - self.low + 1)
        object.__setattr__(self, "corners", (self._towards(self.low), self._towards(self.high)))
        object.__setattr__(self, "far", self.fitted(away))

    def _towards(self, corner: Point) -> Point:
        """Go from the mean of the records to a corner, as far as records may lie."""
        mean, part = self.data.X.mean(axis=0), 1.0
        while True:
            point = mean + part * (corner - mean) if part < 1 else corner
            point = np.where(self.whole, np.trunc(point), point)
            if part < LEAST_PART or self.holds(point[None, :]):
                return point
            part *= SHORTER

    def fitted(self, point: Point) -> Point:
        """Return where a query may lie: shortened as the records are, whole where they are."""
        for norm in self.norms:
            point = point / max(1.0, float(np.linalg.norm(point, norm)))
        return np.where(self.whole, np.trunc(point), point)

    def holds(self, X: NDArray[np.float64]) -> bool:
        """Whether records with these features may be proposed."""
        inside = np.array_equal(np.clip(X, self.low, self.high), X)
        return inside and all(
            float(np.linalg.norm(X, norm, axis=1).max()) <= 1 + SLACK for norm in self.norms
        )

    def make(
        self, parts: Parts, family: str, queries: NDArray[np.float64] | None = None
    ) -> Proposal | None:
        """Return the pair of a dataset and the same with one record replaced.

        None where nothing changes, or the dataset is none of the space.

        Parameters
        ----------
        parts
            See `Parts`.
        family : str
        queries : array (q, d), optional
            What is asked; by default what belongs to this pair.
        """
        X, y, place, (x, label) = parts
        if len(y) > len(self.data) or (self.fixed and len(y) != len(self.data)):
            return None
        if not self.holds(X):
            return None
        return self._of(Labelled(X + 0.0, y), place, (x + 0.0, label), family, queries)

    def _of(
        self,
        base: Labelled,
        place: int,
        record: Record,
        family: str,
        queries: NDArray[np.float64] | None = None,
    ) -> Proposal | None:
        x, label = record
        same = bool((base.X[place] == x).all())
        if (same and base.y[place] == label) or not self.holds(x[None, :]):
            return None
        flip = same and {int(base.y[place]), label} == {0, 1}
        change = FlipLabel(place) if flip else Replace(place, x, label)
        asked = self._queries(base, place, x) if queries is None else queries
        return proposal(base, change, family, self.relation, asked)

    @staticmethod
    def parts(found: Proposal) -> Parts:
        """Return copies of what a proposal is made of."""
        base, change = found.base, found.change
        assert isinstance(base, Labelled)
        X, y = base.X.copy(), base.y.copy()
        if isinstance(change, FlipLabel):
            return X, y, change.index, (X[change.index].copy(), 1 - int(y[change.index]))
        assert isinstance(change, Replace)
        return X, y, change.index, (np.array(change.x, dtype=np.float64), int(change.y))

    def _queries(self, base: Labelled, place: int, x: Point) -> NDArray[np.float64]:
        """Ask at the changed record before and after, again, at others, between them, far away."""
        before, other = base.X[place], self._rival(base, place)
        between = self.middle(before, other)
        corner = self.corners[int((before <= (self.low + self.high) / 2).all())]
        after = () if (before == x).all() else (x,)
        asked = np.array([before, *after, before, other, between, corner, self.far])
        again = len(after) + 1
        alike = (asked[:, None] == asked).all(axis=2)
        new = np.argmax(alike, axis=1) == np.arange(len(asked))
        new[again] = True  # a repeat of the first
        return _frozen(asked[new][: self.asked])

    def middle(self, one: Point, other: Point) -> Point:
        """Return the point between two, whole where the user's records are."""
        point = one + (other - one) / 2
        return np.where(self.whole, np.floor(point), point)

    def _rival(self, base: Labelled, place: int) -> Point:
        """Return the nearest record of another class, else the farthest of the same."""
        near = np.array(spread(len(base), NEAR))
        apart = np.abs(base.X[near] - base.X[place]).sum(axis=1)
        rivals = base.y[near] != base.y[place]
        if rivals.any():
            apart = np.where(rivals, -apart, -np.inf)
        rival: Point = base.X[near[int(np.argmax(apart))]]
        return rival

    def other(self, label: int, step: int = 1) -> int:
        """Return another class than this."""
        if label not in self.classes:
            return self.classes[0]
        count = len(self.classes)
        return self.classes[(self.classes.index(label) + 1 + (step - 1) % (count - 1)) % count]

    def first(self, rng: np.random.Generator) -> list[Iterator[Proposal]]:
        """Return the families to begin with, those that tell most first."""
        return [
            self._own("label of an own record flipped", self._flips()),
            self._small(),
            self._votes(),
            self._own("own record replaced by another", self._others(rng)),
            self._one_class(),
            self._equal_points(),
            self._to_the_other_end(),
            self._own("own record replaced by an extreme", self._extremes()),
            self._corners(),
            self._own("own record made a duplicate", self._duplicates(rng)),
            self._missing_class(),
            self._subsampled(rng),
        ]

    def _own(self, family: str, changes: Iterator[tuple[int, Record]]) -> Iterator[Proposal]:
        """Change the user's records."""
        for place, record in changes:
            if (found := self._of(self.data, place, record, family)) is not None:
                yield found

    def _places(self) -> tuple[int, ...]:
        return spread(len(self.data), MOST_OWN)

    def _flips(self) -> Iterator[tuple[int, Record]]:
        for step in range(1, len(self.classes)):
            for place in self._places():
                yield place, (self.data.X[place], self.other(int(self.data.y[place]), step))

    def _others(self, rng: np.random.Generator) -> Iterator[tuple[int, Record]]:
        """By the farthest own record of another class, then by any."""
        X, y = self.data.X, self.data.y
        for k, place in enumerate(self._places() * 2):
            rivals = np.flatnonzero(y != y[place])[:NEAR]
            if k < len(self.data) and len(rivals):
                apart = np.abs(X[rivals] - X[place]).sum(axis=1)
                chosen = int(rivals[int(np.argmax(apart))])
            else:
                chosen = int(rng.integers(len(y)))
            yield place, (X[chosen], int(y[chosen]))

    def _extremes(self) -> Iterator[tuple[int, Record]]:
        """By either corner of the range, then with one feature at an end of its range."""
        for k, place in enumerate(self._places()):
            x, label = self.data.X[place], int(self.data.y[place])
            for end in self.corners[::-1]:
                yield place, (end, label if k % 2 else self.other(label))
            one = x.copy()
            column = k % len(x)
            end = self.high if x[column] < self.high[column] else self.low
            one[column] = end[column]
            yield place, (one, label)

    def _duplicates(self, rng: np.random.Generator) -> Iterator[tuple[int, Record]]:
        """By the features of another with either label."""
        for place in self._places():
            like = int(rng.integers(len(self.data)))
            label = int(self.data.y[like])
            yield place, (self.data.X[like], self.other(label) if rng.random() < 0.5 else label)

    def _sizes(self) -> list[int]:
        count = len(self.data)
        sizes = [count] if self.fixed else dict.fromkeys([SIZES[0], count, *SIZES[1:]])
        return [size for size in sizes if size <= count]

    def _points(self) -> list[Point]:
        """Two or more points: the own record nearest the middle of each class, and corners."""
        X, y = self.data.X, self.data.y
        found = []
        for label in self.classes[:3]:
            rows = np.flatnonzero(y == label)
            if len(rows):
                apart = np.abs(X[rows] - X[rows].mean(axis=0)).sum(axis=1)
                found.append(X[rows[int(np.argmin(apart))]])
        kept: list[Point] = []
        for point in (*found, *self.corners):
            if not any((point == each).all() for each in kept):
                kept.append(point)
        return kept

    def _maybe(self, family: str, pairs: Iterator[Parts]) -> Iterator[Proposal]:
        for parts in pairs:
            if (found := self.make(parts, family)) is not None:
                yield found

    def _small(self) -> Iterator[Proposal]:
        """Enumerate the smallest datasets and their neighbours, up to the order of records."""
        records = [(x, label) for x in self._points()[:2] for label in self.classes[:3]]

        def pairs() -> Iterator[Parts]:
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

        return self._maybe("small dataset", pairs())

    def _votes(self) -> Iterator[Proposal]:
        """Labels as many of the one class as of the other, give or take one."""

        def pairs() -> Iterator[Parts]:
            for second, first in (self.classes[:2], self.classes[1::-1]):
                for size in self._sizes():
                    X, y = self._cycled(size), np.full(size, first)
                    y[(size + 1) // 2 :] = second  # the first class has one more, or as many
                    last = (size - 1) // 2
                    for place in (0, last):
                        yield X, y, place, (X[place], second)
                    yield X[::-1], y[::-1], size - 1, (X[0], second)

        return self._maybe("votes one apart", pairs())

    def _cycled(self, size: int) -> NDArray[np.float64]:
        """Return features of so many records: own ones that are spread, again where they end."""
        rows = sorted(spread(len(self.data), size))
        cycled: NDArray[np.float64] = self.data.X[np.resize(rows, size)]
        return cycled

    def _one_class(self) -> Iterator[Proposal]:
        """All of one class, but for the record that changes on one side."""

        def pairs() -> Iterator[Parts]:
            for label in self.classes:
                for size in self._sizes():
                    X = self._cycled(size)
                    for place in (0, size - 1, size // 2):
                        yield X, np.full(size, label), place, (X[place], self.other(label))

        return self._maybe("all of one class", pairs())

    def _equal_points(self) -> Iterator[Proposal]:
        """All points equal: labels tied, or one of them changed; or one point moved away."""

        def pairs() -> Iterator[Parts]:
            points = self._points()
            for k, point in enumerate(points):
                away = points[k - 1]
                for size in self._sizes():
                    X, tied = np.tile(point, (size, 1)), np.full(size, self.classes[0])
                    tied[size // 2 :] = self.classes[1]
                    yield X, tied, 0, (point, self.classes[1])
                    yield X, tied, size - 1, (point, self.classes[0])
                    yield X, tied, 0, (away, self.classes[0])

        return self._maybe("all points equal", pairs())

    def _to_the_other_end(self) -> Iterator[Proposal]:
        """One record goes from one end of all features to the other, past all the others.

        The others are at its first point, or between the ends in order; their labels are all other
        than its own, or take turns. So whatever is cut by content or by order shifts.
        """

        def pairs() -> Iterator[Parts]:
            low, high = self.corners
            for one, other in (self.classes[:2], self.classes[1::-1]):
                for size in self._sizes():
                    X, y = np.tile(low, (size, 1)), np.full(size, other)
                    y[0] = one
                    yield X, y, 0, (high, other)
                    X = X + np.linspace(0, 1, size)[:, None] * (high - low)
                    X = np.clip(np.where(self.whole, np.floor(X), X), self.low, self.high)
                    yield X, np.where(np.arange(size) % 2, other, one), 0, (high, one)
                    yield X[::-1], y[::-1], size - 1, (high, other)

        return self._maybe("record moved to the other end", pairs())

    def _corners(self) -> Iterator[Proposal]:
        """Points at both ends of every feature; one goes to the other end."""

        def pairs() -> Iterator[Parts]:
            ends = np.array(self.corners)
            for size in self._sizes():
                for start in (0, 1):
                    sides = (np.arange(size) + start) % 2
                    y = np.array(self.classes)[sides]
                    for place in (0, size - 1):
                        end = 1 - int(sides[place])
                        yield ends[sides], y, place, (ends[end], self.classes[end])
                        yield ends[sides], y, place, (ends[end], int(y[place]))

        return self._maybe("points at the extremes", pairs())

    def _missing_class(self) -> Iterator[Proposal]:
        """Of three or more classes one is empty, until a record comes into it."""

        def pairs() -> Iterator[Parts]:
            for missing in self.classes[::-1]:
                rest = [label for label in self.classes if label != missing]
                for size in self._sizes():
                    X, y = self._cycled(size), np.resize(rest, size)
                    for place in (0, size - 1):
                        yield X, y, place, (X[place], missing)

        return self._maybe(
            "a class without records", pairs() if len(self.classes) > 2 else iter(())
        )

    def _subsampled(self, rng: np.random.Generator) -> Iterator[Proposal]:
        """Some of the own records, one of them replaced by another or its label flipped."""

        def pairs() -> Iterator[Parts]:
            while True:
                for size in self._sizes():
                    rows = rng.integers(len(self.data), size=size)
                    X, y, place = self.data.X[rows], self.data.y[rows], int(rng.integers(size))
                    yield X, y, place, self._record(rng, X[place], int(y[place]))

        return self._maybe("some of the own records", pairs())

    def _record(self, rng: np.random.Generator, x: Point, label: int) -> Record:
        """Draw what may come in the place of a record."""
        kind, steps = int(rng.integers(4)), len(self.classes)
        other = self.other(label, int(rng.integers(1, steps)))
        if kind == 0:
            return x, other
        if kind == 1:
            return pick(rng, self.corners), other if rng.random() < 0.5 else label
        row = int(rng.integers(len(self.data)))
        return self.data.X[row], int(self.data.y[row]) if kind == 2 else other

    def more(self, best: Sequence[Proposal], rng: np.random.Generator) -> list[Iterator[Proposal]]:
        """Return the families that are made from the best proposals so far."""
        makers = (
            self._asked_elsewhere,
            self._crossed,
            self._stepped,
            self._replaced_otherwise,
            self._resized,
            self._moved,
        )
        return [self._varied(make, best, rng) for make in makers]

    def _varied(
        self,
        make: Callable[[Proposal, Sequence[Proposal], np.random.Generator], Proposal | None],
        best: Sequence[Proposal],
        rng: np.random.Generator,
    ) -> Iterator[Proposal]:
        """Vary the best proposals in turns, for ever."""
        while best:
            for each in best:
                found = make(each, best, rng)
                yield each if found is None else found

    def _asked_elsewhere(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal:
        """Ask the same pair at other points: of the dataset, between two, at a step from one."""
        base = found.base
        assert isinstance(base, Labelled)
        width = self.high - self.low
        asked = found.queries.copy()
        for k in range(len(asked)) if rng.random() < 0.5 else [int(rng.integers(len(asked)))]:
            kind, row = int(rng.integers(4)), base.X[int(rng.integers(len(base)))]
            if kind == 0:
                asked[k] = row
            elif kind == 1:
                asked[k] = self.middle(asked[k], row)
            elif kind == 2:
                column = int(rng.integers(len(row)))
                asked[k, column] += pick(rng, (-1.0, -0.1, 0.1, 1.0)) * width[column]
            else:
                asked[k] = self.data.X[int(rng.integers(len(self.data)))]
            asked[k] = self.fitted(asked[k])
        family = f"{root(found.family)}, asked elsewhere"
        return proposal(base, found.change, family, self.relation, _frozen(asked))

    def _crossed(
        self, found: Proposal, best: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Mix the records of two datasets."""
        (X, y, place, record), (other, labels, _, _) = map(self.parts, (found, pick(rng, best)))
        rows = np.resize(np.arange(len(labels)), len(y))
        taken = rng.random(len(y)) < 0.5
        taken[place] = False
        X[taken], y[taken] = other[rows[taken]], labels[rows[taken]]
        return self.make((X, y, place, record), f"{root(found.family)}, crossed")

    def _stepped(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Change one record of both datasets: its label, one feature, or all of it."""
        X, y, place, record = self.parts(found)
        row, kind = int(rng.integers(len(y))), int(rng.integers(4))
        if kind == 0:
            y[row] = self.other(int(y[row]), int(rng.integers(1, len(self.classes))))
        elif kind == 1:
            column = int(rng.integers(X.shape[1]))
            X[row, column] = pick(rng, (self.low, self.high))[column]
        elif kind == 2:
            X[row] = X[place]
        else:
            X[row], y[row] = self._record(rng, X[row], int(y[row]))
        return self.make((X, y, place, record), f"{root(found.family)}, one step")

    def _replaced_otherwise(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Replace another record, or by another one."""
        base, change = found.base, found.change
        assert isinstance(base, Labelled)
        if rng.random() < 0.5 and isinstance(change, Replace):
            place, record = int(rng.integers(len(base))), (change.x, int(change.y))
        else:
            place = change.index if rng.random() < 0.5 else int(rng.integers(len(base)))
            record = self._record(rng, base.X[place], int(base.y[place]))
        return self._of(base, place, record, f"{root(found.family)}, replaced otherwise")

    def _resized(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Leave a record out, or put more like one of them in."""
        X, y, place, record = self.parts(found)
        row = int(rng.integers(len(y)))
        if rng.random() < 0.5 and row != place:
            X, y = np.delete(X, row, axis=0), np.delete(y, row)
            place -= row < place
        else:
            copies = np.full(int(pick(rng, (1, 2, 5))), row)
            X, y = np.concatenate([X, X[copies]]), np.concatenate([y, y[copies]])
        return self.make((X, y, place, record), f"{root(found.family)}, resized")

    def _moved(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Put the records in another order."""
        X, y, place, record = self.parts(found)
        order = rng.permutation(len(y))
        place = int(np.flatnonzero(order == place)[0])
        return self.make((X[order], y[order], place, record), f"{root(found.family)}, reordered")


def _frozen(queries: NDArray[np.float64]) -> NDArray[np.float64]:
    queries.flags.writeable = False
    return queries
