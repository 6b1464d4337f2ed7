"""Vectors of true answers: the classic patterns of pairs, and what can be made of the best.

The patterns are those of Ding, Wang, Wang, Zhang and Kifer, 'Detecting violations of differential
privacy' (2018), table 1: they are moves of a vector, here made from several base vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Values
from dpassay.errors import as_real, is_count, require
from dpassay.pairs import Shift
from dpassay.relations import answers_relation
from dpassay.search.proposals.proposal import (
    Proposal,
    Space,
    Way,
    mixed,
    pick,
    proposal,
    root,
    varied,
)
from dpassay.search.proposals.shrinking import (
    Complexity,
    costs,
    simpler_numbers,
    simplest_first,
    stretches,
)

Vector = NDArray[np.float64]
Parts = tuple[Vector, Vector]
"""A base and a move, in units of the sensitivity."""
CONSTANTS = (1.0, 0.0, 2.0, 5.0, 10.0, 100.0)
"""Answers that are all alike, in units of the sensitivity."""
FRACTIONS = (0.5, 0.25, 0.1)
"""Parts of the sensitivity by which answers are moved."""
DECIMALS = 12
"""Answers are measured so finely, in units of the sensitivity."""
MOST_ALONE = 64
"""Numbers that are made simpler one by one; of more, only stretches are."""
SCALES = (0.0, 2.0, 5.0, 20.0)
"""What a base is multiplied with."""


@dataclass(frozen=True, slots=True)
class Answers(Space):
    """Vectors of true answers to queries; one record moves each by at most the sensitivity.

    Parameters
    ----------
    size : int
        Number of answers, >= 1.
    sensitivity : float
        By how much an answer may differ between neighbours; finite and > 0.
    low, high : float
        Limits of the answers; none by default. Answers below 0 are tried too unless `low` is 0.
    moved : int, optional
        How many answers may differ between neighbours, from 1 to `size`; all of them by default. A
        record that is counted in one bin of a histogram moves one.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    """

    size: int
    sensitivity: float = 1.0
    low: float = -math.inf
    high: float = math.inf
    moved: int | None = None

    def __post_init__(self) -> None:
        require(is_count(self.size), "size", self.size, "an integer >= 1")
        few = self.moved is None or (is_count(self.moved) and self.moved <= self.size)
        require(few, "moved", self.moved, f"an integer from 1 to {self.size}")
        moved, low, high = map(as_real, (self.sensitivity, self.low, self.high))
        require(0 < moved < math.inf, "sensitivity", self.sensitivity, "a finite number > 0")
        require(
            low < high, "low, high", (self.low, self.high), "numbers, the first below the other"
        )
        values = {"size": int(self.size), "sensitivity": moved, "low": low, "high": high}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def relation(self) -> str:
        """`answers-D`, D being the sensitivity; `answers-D-in-m` where at most m answers move."""
        return answers_relation(self.sensitivity, self.moved)

    @property
    def words(self) -> str:
        """Their number, and how far neighbours are apart."""
        what = "1 true answer" if self.size == 1 else f"{self.size} true answers"
        each = "which" if self.size == 1 else "each of which"
        if self.size > 1 and self.moved is not None:
            each = "one of which" if self.moved == 1 else f"up to {self.moved} of which"
        return f"{what}, {each} a change moves by at most {self.sensitivity:g}"

    def first(self, rng: np.random.Generator, most: int) -> list[Proposal]:
        """The classic patterns, then random moves; see `Space.first`."""
        patterns = [self._pattern(name, move) for name, move in PATTERNS.items()]
        families = [
            *patterns,
            self._drawn(rng, "random signs", self._random_signs),
            self._drawn(rng, "some answers moved", self._some_moved),
            self._drawn(rng, "a part of the sensitivity", self._fractions),
        ]
        return mixed(families, most)

    def more(self, best: Sequence[Proposal], rng: np.random.Generator, most: int) -> list[Proposal]:
        """Other bases and moves; see `Space.more`."""
        return mixed(varied(WAYS, best, rng, self._parts, self._make), most, best)

    def smaller(self, found: Proposal) -> Iterator[Proposal]:
        """Fewer answers moved, by all of the sensitivity; see `Space.smaller`."""
        base, by = self._parts(found)
        family = root(found.family)
        tried = [*((base, few) for few in _fewer_moved(by)), *((new, by) for new in _simpler(base))]
        return simplest_first(
            _complexity(base, by),
            [(_complexity(*each), partial(self._make, each, family)) for each in tried],
        )

    def _make(self, parts: Parts, family: str) -> Proposal | None:
        """Return a pair; None where nothing moves, too much does, or an answer is out of limits."""
        base, by = parts
        most = self.size if self.moved is None else int(self.moved)
        start = base * self.sensitivity
        moved = np.clip(by, -1.0, 1.0) * self.sensitivity
        end = start + moved
        inside = (
            min(start.min(), end.min()) >= self.low and max(start.max(), end.max()) <= self.high
        )
        few = bool((end != start).any()) and np.count_nonzero(moved) <= most
        if not (inside and np.isfinite(end).all() and few):
            return None
        return proposal(Values(start), Shift(tuple(moved.tolist())), family, self.relation)

    def _parts(self, found: Proposal) -> Parts:
        """Return the base and the move of a proposal, in units of the sensitivity."""
        base, change = found.base, found.change
        assert isinstance(base, Values)
        assert isinstance(change, Shift)
        start, by = base.values / self.sensitivity, np.array(change.by) / self.sensitivity
        return np.round(start, DECIMALS), by

    def _pattern(self, name: str, move: Callable[[int, int], Vector]) -> Iterator[Proposal]:
        """Make one pattern from every base; the answer that stands out is the first, the last."""
        places = dict.fromkeys((0, self.size - 1, self.size // 2))
        for base in self._bases():
            for place in places:
                by = move(self.size, place)
                start = base + (by < 0) if name == "X-shape" else _lifted(base, by)
                if (found := self._make((start, by), name)) is not None:
                    yield found

    def _bases(self) -> Iterator[Vector]:
        """Yield base vectors, in units of the sensitivity."""
        size, count = self.size, np.arange(self.size, dtype=np.float64)
        yield np.ones(size)
        yield np.where(count % 2 == 1, 1.0, 0.0)  # on either side of a threshold between them
        yield np.zeros(size)
        for limit in (self.high, self.low):
            if np.isfinite(limit):
                yield np.full(size, limit / self.sensitivity)
                yield np.where(count == 0, limit / self.sensitivity, 0.0)
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
        self, rng: np.random.Generator, family: str, move: Callable[[np.random.Generator], Vector]
    ) -> Iterator[Proposal]:
        """Go on for ever with random bases and moves."""
        while True:
            base, by = self._random_base(rng), self._few(rng, move(rng))
            found = self._make((_lifted(base, by), by), family)
            yield self._inside(rng, family) if found is None else found

    def _inside(self, rng: np.random.Generator, family: str) -> Proposal:
        """Make a pair that keeps to the limits: one answer moved away from the nearer limit."""
        low, high = (limit / self.sensitivity for limit in (self.low, self.high))
        start = low if np.isfinite(low) else high - 1.0
        room = min(1.0, high - start)
        by = np.zeros(self.size)
        by[int(rng.integers(self.size))] = room
        found = self._make((np.full(self.size, start), by), family)
        assert found is not None
        return found

    def _few(self, rng: np.random.Generator, by: Vector) -> Vector:
        """Leave no more answers moved than may be."""
        places = np.flatnonzero(by)
        if self.moved is not None and len(places) > self.moved:
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


def _crossed(parts: Parts, other: Callable[[], Parts], rng: np.random.Generator) -> Parts:
    """Take the base of one and the move of another, or a part of the answers of each."""
    (base, by), (rival, move) = parts, other()
    if rng.random() < 0.5:
        return base, move
    mask = rng.random(len(base)) < 0.5
    return np.where(mask, base, rival), np.where(mask, by, move)


def _stepped(parts: Parts, _: Any, rng: np.random.Generator) -> Parts:
    """Move one answer of the base, or by how much it is moved."""
    base, by = parts
    place = int(rng.integers(len(base)))
    if rng.random() < 0.5:
        base[place] += pick(rng, (-5.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 5.0))
    else:
        by[place] = pick(rng, [step for step in (-1.0, 0.0, 1.0) if step != by[place]])
    return base, by


def _scaled(parts: Parts, _: Any, rng: np.random.Generator) -> Parts:
    """Scale the base, shift all of it, or draw its answers far apart."""
    base, by = parts
    kind = int(rng.integers(3))
    if kind == 0:
        return base * pick(rng, SCALES), by
    if kind == 1:
        return base + pick(rng, (-2.0, -1.0, 1.0, 2.0, 5.0, 20.0)), by
    return base + np.arange(len(base))[:: pick(rng, (-1, 1))] * pick(rng, (1.0, 10.0)), by


def _sparser(parts: Parts, _: Any, rng: np.random.Generator) -> Parts:
    """Move fewer answers."""
    base, by = parts
    moved = np.flatnonzero(by)
    kept = rng.choice(moved, int(rng.integers(1, len(moved) + 1)), replace=False)
    few = np.zeros(len(base))
    few[kept] = by[kept]
    return base, few


def _reordered(parts: Parts, _: Any, rng: np.random.Generator) -> Parts:
    """Put the answers in another order."""
    base, by = parts
    order = rng.permutation(len(base))
    return base[order], by[order]


WAYS: dict[str, Way[Parts]] = {
    "crossed": _crossed,
    "one step": _stepped,
    "base scaled": _scaled,
    "fewer moved": _sparser,
    "reordered": _reordered,
}
"""How the best pairs so far are varied."""


def _lifted(base: Vector, by: Vector) -> Vector:
    """Raise all answers of a base, unless some are below 0, until none falls below 0.

    Many answers are counts.
    """
    return base if base.min() < 0 else base - min(0.0, float((base + by).min()))


def _one_above(size: int, place: int) -> Vector:
    by = np.zeros(size)
    by[place] = 1.0
    return by


def _halves(size: int, place: int, low: int) -> Vector:
    by = np.where(np.arange(size) < low, -1.0, 1.0)
    return by if place == 0 else by[::-1]


PATTERNS: dict[str, Callable[[int, int], Vector]] = {
    "one above": _one_above,
    "one below": lambda size, place: -_one_above(size, place),
    "one above rest below": lambda size, place: 2 * _one_above(size, place) - 1,
    "one below rest above": lambda size, place: 1 - 2 * _one_above(size, place),
    "half and half": lambda size, place: _halves(size, place, (size + 1) // 2),
    "all above": lambda size, _: np.ones(size),
    "all below": lambda size, _: -np.ones(size),
    "X-shape": lambda size, place: _halves(size, place, size // 2),
}
"""How each pattern moves so many answers, in units of the sensitivity.

One of them stands out where the pattern has such a one; the others are there in both orders of the
answers. Each is audited in both directions, so that S and S' need not change places.
"""


def _complexity(base: Vector, by: Vector) -> Complexity:
    """Count answers that are moved, those that are moved by a part; then look at the base."""
    parts = np.abs(by)
    partly = int(((parts > 0) & (parts < 1)).sum())
    return int((by != 0).sum()), partly, costs(by), costs(base)


def _fewer_moved(by: Vector) -> Iterator[Vector]:
    """Yield moves of one answer alone, of fewer answers, and by more or up instead of down."""
    moved = np.flatnonzero(by)
    for place in moved[:MOST_ALONE]:
        alone = np.zeros(len(by))
        alone[place] = by[place]
        yield alone
    for part in stretches(len(moved)):
        few = by.copy()
        few[moved[part]] = 0.0
        yield few
    yield np.sign(by)
    yield np.abs(by)
    for place in moved[:MOST_ALONE]:
        for step in (np.sign(by[place]), abs(by[place])):
            other = by.copy()
            other[place] = step
            yield other


def _simpler(values: Vector) -> Iterator[Vector]:
    """Yield lists with some numbers simpler: whole stretches of them, then one by one."""
    for part in stretches(len(values)):
        if len(values) > MOST_ALONE and part.stop - part.start == 1:
            break
        for new in (0.0, 1.0):
            other = values.copy()
            other[part] = new
            yield other
    for place in range(min(len(values), MOST_ALONE)):
        for new in simpler_numbers(float(values[place])):
            other = values.copy()
            other[place] = new
            yield other
