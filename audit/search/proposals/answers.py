"""Proposals for vectors of true answers: the classic patterns, and what can be made of the best.

The patterns are those of Ding, Wang, Wang, Zhang and Kifer, 'Detecting violations of differential
privacy' (2018), table 1: they are moves of a vector, here made from several base vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Values
from dpassay.pairs import Shift
from dpassay.search.proposals.families import varied
from dpassay.search.proposals.proposal import Proposal, pick, proposal, root

Vector = NDArray[np.float64]
CONSTANTS = (1.0, 0.0, 2.0, 5.0, 10.0, 100.0)
"""Answers that are all alike, in units of the sensitivity."""
FRACTIONS = (0.5, 0.25, 0.1)
"""Parts of the sensitivity by which answers are moved."""
DECIMALS = 12
"""Answers are measured so finely, in units of the sensitivity."""
SCALES = (0.0, 2.0, 5.0, 20.0)
"""What a base is multiplied with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Makes proposals out of vectors that are measured in units of the sensitivity.

    Parameters
    ----------
    size : int
        Number of answers.
    unit : float
        The sensitivity.
    low, high : float
        Limits of the answers, in their own units.
    relation : str
        The neighbour relation.
    moved : int
        So many answers are moved at most.
    """

    size: int
    unit: float
    low: float
    high: float
    relation: str
    moved: int

    def make(self, base: Vector, by: Vector, family: str) -> Proposal | None:
        """Return the pair of a base and a move, in units of the sensitivity.

        None where nothing moves, too much does, or an answer leaves its limits.
        """
        start = base * self.unit
        moved = np.clip(by, -1.0, 1.0) * self.unit
        end = start + moved
        inside = (
            min(start.min(), end.min()) >= self.low and max(start.max(), end.max()) <= self.high
        )
        few = bool((end != start).any()) and np.count_nonzero(moved) <= self.moved
        if not (inside and np.isfinite(end).all() and few):
            return None
        return proposal(Values(start), Shift(tuple(moved.tolist())), family, self.relation)

    def vectors(self, found: Proposal) -> tuple[Vector, Vector]:
        """Return the base and the move of a proposal, in units of the sensitivity."""
        base, change = found.base, found.change
        assert isinstance(base, Values)
        assert isinstance(change, Shift)
        start, by = base.values / self.unit, np.array(change.by) / self.unit
        return np.round(start, DECIMALS), by

    def first(self, rng: np.random.Generator) -> list[Iterator[Proposal]]:
        """Return the families to begin with, those that tell most first."""
        patterns = [self._pattern(name, move) for name, move in PATTERNS.items()]
        return [
            *patterns,
            self._drawn(rng, "random signs", self._random_signs),
            self._drawn(rng, "some answers moved", self._some_moved),
            self._drawn(rng, "a part of the sensitivity", self._fractions),
        ]

    def more(self, best: Sequence[Proposal], rng: np.random.Generator) -> list[Iterator[Proposal]]:
        """Return the families that are made from the best proposals so far."""
        makers = (self._crossed, self._stepped, self._scaled, self._sparser, self._reordered)
        return varied(makers, best, rng)

    def _pattern(self, name: str, move: Callable[[int, int], Vector]) -> Iterator[Proposal]:
        """Make one pattern from every base; the answer that stands out is the first, the last."""
        places = dict.fromkeys((0, self.size - 1, self.size // 2))
        for base in self._bases():
            for place in places:
                by = move(self.size, place)
                start = base + (by < 0) if name == "X-shape" else _lifted(base, by)
                if (found := self.make(start, by, name)) is not None:
                    yield found

    def _bases(self) -> Iterator[Vector]:
        """Yield base vectors, in units of the sensitivity."""
        size, count = self.size, np.arange(self.size, dtype=np.float64)
        yield np.ones(size)
        yield np.where(count % 2 == 1, 1.0, 0.0)  # on either side of a threshold between them
        yield np.zeros(size)
        for limit in (self.high, self.low):
            if np.isfinite(limit):
                yield np.full(size, limit / self.unit)
                yield np.where(count == 0, limit / self.unit, 0.0)
        yield count
        yield np.where(count >= size // 2, 5.0, 0.0)
        yield 10 * count[::-1]
        for constant in CONSTANTS[2:]:
            yield np.full(size, constant)
        yield -np.ones(size)

    def _random_base(self, rng: np.random.Generator) -> Vector:
        kind = int(rng.integers(3))
        if kind == 0:
            return np.full(self.size, pick(rng, CONSTANTS))
        if kind == 1:
            return rng.integers(0, 3, self.size).astype(float)
        high, low = float(pick(rng, (1.0, 5.0, 20.0))), float(pick(rng, (0.0, 1.0)))
        return np.where(rng.random(self.size) < 0.5, high + low, low)

    def _drawn(
        self,
        rng: np.random.Generator,
        family: str,
        move: Callable[[np.random.Generator], Vector],
    ) -> Iterator[Proposal]:
        """Go on for ever with random bases and moves."""
        while True:
            base, by = self._random_base(rng), self._few(rng, move(rng))
            found = self.make(_lifted(base, by), by, family)
            yield self._inside(rng, family) if found is None else found

    def _inside(self, rng: np.random.Generator, family: str) -> Proposal:
        """Make a pair that keeps to the limits: one answer moved away from the nearer limit."""
        low, high = (limit / self.unit for limit in (self.low, self.high))
        start = low if np.isfinite(low) else high - 1.0
        room = min(1.0, high - start)
        by = np.zeros(self.size)
        by[int(rng.integers(self.size))] = room
        found = self.make(np.full(self.size, start), by, family)
        assert found is not None
        return found

    def _few(self, rng: np.random.Generator, by: Vector) -> Vector:
        """Leave no more answers moved than may be."""
        places = np.flatnonzero(by)
        if len(places) > self.moved:
            by[rng.choice(places, len(places) - self.moved, replace=False)] = 0.0
        return by

    def _random_signs(self, rng: np.random.Generator) -> Vector:
        return np.where(rng.random(self.size) < 0.5, -1.0, 1.0)

    def _some_moved(self, rng: np.random.Generator) -> Vector:
        by = rng.integers(-1, 2, self.size).astype(float)
        by[int(rng.integers(self.size))] = pick(rng, (-1.0, 1.0))
        return by

    def _fractions(self, rng: np.random.Generator) -> Vector:
        by = self._some_moved(rng)
        by *= np.array(FRACTIONS)[rng.integers(len(FRACTIONS), size=self.size)]
        return by

    def _crossed(
        self, found: Proposal, best: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Take the base of one and the move of another, or a part of the answers of each."""
        (base, by), (other, move) = self.vectors(found), self.vectors(pick(rng, best))
        if rng.random() < 0.5:
            return self.make(base, move, f"{root(found.family)}, crossed")
        mask = rng.random(self.size) < 0.5
        crossed = np.where(mask, base, other), np.where(mask, by, move)
        return self.make(*crossed, f"{root(found.family)}, crossed")

    def _stepped(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Move one answer of the base, or by how much it is moved."""
        base, by = self.vectors(found)
        place = int(rng.integers(self.size))
        if rng.random() < 0.5:
            base[place] += pick(rng, (-5.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 5.0))
        else:
            by[place] = pick(rng, [step for step in (-1.0, 0.0, 1.0) if step != by[place]])
        return self.make(base, by, f"{root(found.family)}, one step")

    def _scaled(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Scale the base, shift all of it, or draw its answers far apart."""
        base, by = self.vectors(found)
        kind = int(rng.integers(3))
        if kind == 0:
            base = base * pick(rng, SCALES)
        elif kind == 1:
            base = base + pick(rng, (-2.0, -1.0, 1.0, 2.0, 5.0, 20.0))
        else:
            base = base + np.arange(self.size)[:: pick(rng, (-1, 1))] * pick(rng, (1.0, 10.0))
        return self.make(base, by, f"{root(found.family)}, base scaled")

    def _sparser(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Move fewer answers."""
        base, by = self.vectors(found)
        moved = np.flatnonzero(by)
        kept = rng.choice(moved, int(rng.integers(1, len(moved) + 1)), replace=False)
        few = np.zeros(self.size)
        few[kept] = by[kept]
        return self.make(base, few, f"{root(found.family)}, fewer moved")

    def _reordered(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Put the answers in another order."""
        base, by = self.vectors(found)
        order = rng.permutation(self.size)
        return self.make(base[order], by[order], f"{root(found.family)}, reordered")


def _lifted(base: Vector, by: Vector) -> Vector:
    """Raise all answers of a base, unless some are below 0, until none falls below 0.

    Many answers are counts.
    """
    return base if base.min() < 0 else base - min(0.0, float((base + by).min()))


def _one_above(size: int, place: int) -> Vector:
    by = np.zeros(size)
    by[place] = 1.0
    return by


def _one_above_rest_below(size: int, place: int) -> Vector:
    return 2 * _one_above(size, place) - 1


def _half_half(size: int, place: int) -> Vector:
    up = np.where(np.arange(size) < (size + 1) // 2, -1.0, 1.0)
    return up if place == 0 else up[::-1]


def _x_shape(size: int, place: int) -> Vector:
    down = np.where(np.arange(size) < size // 2, -1.0, 1.0)
    return down if place == 0 else down[::-1]


PATTERNS: dict[str, Callable[[int, int], Vector]] = {
    "one above": _one_above,
    "one below": lambda size, place: -_one_above(size, place),
    "one above rest below": _one_above_rest_below,
    "one below rest above": lambda size, place: -_one_above_rest_below(size, place),
    "half and half": _half_half,
    "all above": lambda size, _: np.ones(size),
    "all below": lambda size, _: -np.ones(size),
    "X-shape": _x_shape,
}
"""How each pattern moves so many answers, in units of the sensitivity.

One of them stands out where the pattern has such a one; the others are there in both orders of the
answers. Each is audited in both directions, so that S and S' need not change places.
"""
