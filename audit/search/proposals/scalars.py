"""Proposals for lists of numbers between two limits, of which one is replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Values
from dpassay.pairs import ReplaceValue
from dpassay.search.proposals.families import varied
from dpassay.search.proposals.proposal import Proposal, pick, proposal, root, spread

Numbers = NDArray[np.float64]
SMALL = (1, 2, 3, 4, 5, 10)
"""Sizes of small datasets."""
MOST_PLACES = 100
"""So many of the user's numbers are replaced in turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Makes proposals out of lists of numbers.

    Parameters
    ----------
    low, high : float
        Limits of the numbers.
    sizes : tuple of int
        How many numbers a list has at least and at most.
    values : array (n,) or None
        Numbers of the user's own.
    relation : str
        The neighbour relation.
    """

    low: float
    high: float
    sizes: tuple[int, int]
    values: Numbers | None
    relation: str
    marks: Numbers = field(init=False)
    """Numbers that lists are made of: limits, middle and quarters, and whole ones near."""

    def __post_init__(self) -> None:
        low, width = self.low, self.high - self.low
        whole = [each for each in (0.0, 1.0, low + 1, self.high - 1) if low <= each <= self.high]
        parts = [low, self.high, low + width / 2, low + width / 4, low + 3 * width / 4]
        object.__setattr__(self, "marks", np.array(list(dict.fromkeys([*parts, *whole]))))

    def make(self, values: Numbers, place: int, new: float, family: str) -> Proposal | None:
        """Return the pair of a list and the same with one number replaced.

        None where nothing changes, or the list is none of the space.
        """
        inside = values.min() >= self.low and values.max() <= self.high
        if not (inside and self.low <= new <= self.high) or values[place] == new:
            return None
        if not self.takes(len(values)):
            return None
        return proposal(Values(values), ReplaceValue(int(place), float(new)), family, self.relation)

    def takes(self, size: int) -> bool:
        """Whether a list may have so many numbers."""
        return self.sizes[0] <= size <= self.sizes[1]

    @staticmethod
    def parts(found: Proposal) -> tuple[Numbers, int, float]:
        """Return a copy of the list of a proposal, the place, and the new number."""
        base, change = found.base, found.change
        assert isinstance(base, Values)
        assert isinstance(change, ReplaceValue)
        return base.values.copy(), change.index, change.value

    def first(self, rng: np.random.Generator) -> list[Iterator[Proposal]]:
        """Return the families to begin with, those that tell most first."""
        middle = (self.low + self.high) / 2
        return [
            self._own(rng),
            self._constant("all at the lower limit", self.low, (self.high, middle)),
            self._constant("all at the upper limit", self.high, (self.low, middle)),
            self._constant("all in the middle", middle, (self.high, self.low)),
            self._halves(),
            self._spread_out(),
            self._repeated(rng),
            self._subsampled(rng),
            self._random(rng),
        ]

    def more(self, best: Sequence[Proposal], rng: np.random.Generator) -> list[Iterator[Proposal]]:
        """Return the families that are made from the best proposals so far."""
        makers = (
            self._crossed,
            self._stepped,
            self._replaced_otherwise,
            self._resized,
            self._moved,
        )
        return varied(makers, best, rng)

    def _by_size(self) -> list[int]:
        """Sizes as they are tried: the smallest, the largest, and those between."""
        least, most = self.sizes
        between = [least + k for k in spread(most - least + 1, len(SMALL))]
        small = [size for size in SMALL if self.takes(size)]
        return list(dict.fromkeys([*small[:1], most, *small[1:], *between]))

    def _maybe(
        self, family: str, pairs: Iterator[tuple[Numbers, int, float]]
    ) -> Iterator[Proposal]:
        for values, place, new in pairs:
            if (found := self.make(values, place, new, family)) is not None:
                yield found

    def _constant(self, family: str, at: float, others: tuple[float, ...]) -> Iterator[Proposal]:
        """All equal, one of them replaced: first, last, in the middle."""
        return self._maybe(
            family,
            (
                (np.full(size, at), place, new)
                for new in others
                for place_of in (lambda _: 0, lambda size: size - 1, lambda size: size // 2)
                for size in self._by_size()
                for place in (place_of(size),)
            ),
        )

    def _halves(self) -> Iterator[Proposal]:
        """Half of them at each limit, give or take one: the median and the majority change."""

        def pairs() -> Iterator[tuple[Numbers, int, float]]:
            for more in (0, 1):
                for size in self._by_size():
                    values = np.full(size, self.low)
                    values[size // 2 + more :] = self.high
                    yield values, 0, self.high
                    yield values, size - 1, self.low

        return self._maybe("half at each limit", pairs())

    def _spread_out(self) -> Iterator[Proposal]:
        """Evenly spread numbers, one moved from one limit to the other."""

        def pairs() -> Iterator[tuple[Numbers, int, float]]:
            for size in self._by_size():
                values = np.linspace(self.low, self.high, size)
                for place in spread(size, 3):
                    yield values, place, self.high if place < size / 2 else self.low

        return self._maybe("evenly spread", pairs())

    def _repeated(self, rng: np.random.Generator) -> Iterator[Proposal]:
        """Several of each number, sorted or not; one becomes like another."""

        def pairs() -> Iterator[tuple[Numbers, int, float]]:
            while True:
                for size in self._by_size():
                    values = rng.choice(self.marks[: 2 + int(rng.integers(3))], size)
                    values = np.sort(values) if rng.random() < 0.5 else values
                    yield values, int(rng.integers(size)), pick(rng, self.marks)

        return self._maybe("repeated numbers", pairs())

    def _own(self, rng: np.random.Generator) -> Iterator[Proposal]:
        """The user's numbers, each replaced by a limit, and by another of them."""
        if self.values is None:
            return
        values, places = self.values, spread(len(self.values), MOST_PLACES)
        order = [int(np.argmin(values)), int(np.argmax(values)), *places]
        for place in order:
            for new in (self.high, self.low):
                found = self.make(values, place, new, "own numbers")
                if found is not None:
                    yield found
        for place in places:
            found = self.make(values, place, pick(rng, values), "own numbers")
            if found is not None:
                yield found

    def _subsampled(self, rng: np.random.Generator) -> Iterator[Proposal]:
        """Some of the user's numbers."""
        if self.values is None:
            return

        def pairs(values: Numbers) -> Iterator[tuple[Numbers, int, float]]:
            while True:
                for size in self._by_size():
                    few = rng.choice(values, size, replace=size > len(values))
                    yield few, int(rng.integers(size)), pick(rng, (self.high, self.low))

        yield from self._maybe("some of the own numbers", pairs(self.values))

    def _random(self, rng: np.random.Generator) -> Iterator[Proposal]:
        """Numbers drawn anywhere between the limits."""

        def pairs() -> Iterator[tuple[Numbers, int, float]]:
            while True:
                for size in self._by_size():
                    values = rng.uniform(self.low, self.high, size)
                    yield values, int(rng.integers(size)), pick(rng, self.marks)

        return self._maybe("random numbers", pairs())

    def _crossed(
        self, found: Proposal, best: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Mix the numbers of two lists."""
        (values, place, new), (other, _, _) = self.parts(found), self.parts(pick(rng, best))
        taken = rng.random(len(values)) < 0.5
        taken[place] = False
        values[taken] = np.resize(other, len(values))[taken]
        return self.make(values, place, new, f"{root(found.family)}, crossed")

    def _stepped(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Change one number of both datasets."""
        values, place, new = self.parts(found)
        values[int(rng.integers(len(values)))] = pick(rng, self.marks)
        return self.make(values, place, new, f"{root(found.family)}, one step")

    def _replaced_otherwise(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Replace another number, or by another one."""
        values, place, new = self.parts(found)
        if rng.random() < 0.5:
            new = pick(rng, self.marks)
        else:
            place = int(rng.integers(len(values)))
        return self.make(values, place, new, f"{root(found.family)}, replaced otherwise")

    def _resized(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Leave a number out, or put more like one of them in."""
        values, place, new = self.parts(found)
        at = int(rng.integers(len(values)))
        if rng.random() < 0.5 and len(values) > 1 and at != place:
            values = np.delete(values, at)
            place -= at < place
        else:
            room = self.sizes[1] - len(values)
            values = np.append(values, np.full(min(room, pick(rng, (1, 2, 5, 20))), values[at]))
        return self.make(values, place, new, f"{root(found.family)}, resized")

    def _moved(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Put the numbers in another order: sorted, or at random."""
        values, place, new = self.parts(found)
        size = len(values)
        order = np.argsort(values, kind="stable") if rng.random() < 0.3 else rng.permutation(size)
        place = int(np.flatnonzero(order == place)[0])
        return self.make(values[order], place, new, f"{root(found.family)}, reordered")
