"""Labelled records: which may be proposed, and how a pair of neighbours is made of them.

Nothing that is proposed as data leaves the range that each feature has in the user's data. Where
none of their records is longer than 1, none that is proposed is: such data are normalised.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.pairs import FlipLabel, Replace
from dpassay.search.proposals.families import different
from dpassay.search.proposals.proposal import Proposal, pick, proposal, spread

Point = NDArray[np.float64]
Record = tuple[Point, int]
"""Features and label."""
Parts = tuple[NDArray[np.float64], NDArray[np.int64], int, Record]
"""Features and labels of S, the place that changes, and the record that comes there."""
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
        return self.changed(Labelled(X + 0.0, y), place, (x + 0.0, label), family, queries)

    def changed(
        self,
        base: Labelled,
        place: int,
        record: Record,
        family: str,
        queries: NDArray[np.float64] | None = None,
    ) -> Proposal | None:
        """Return the pair of a dataset that is known to be of the space, and one record replaced.

        None where nothing changes, or the record is none that may be proposed.
        """
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
        return different(asked, len(after) + 1, self.asked)

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

    def drawn(self, rng: np.random.Generator, x: Point, label: int) -> Record:
        """Draw what may come in the place of a record."""
        kind, steps = int(rng.integers(4)), len(self.classes)
        other = self.other(label, int(rng.integers(1, steps)))
        if kind == 0:
            return x, other
        if kind == 1:
            return pick(rng, self.corners), other if rng.random() < 0.5 else label
        row = int(rng.integers(len(self.data)))
        return self.data.X[row], int(self.data.y[row]) if kind == 2 else other
