"""Symmetries of a domain of labelled points, and one representative for each orbit of datasets.

An element of the group moves the points of a domain and keeps the labels 0 and 1, or exchanges
them. It acts on a record (x, y), and so on a multiset of records. Record number 2 x + y is the
point number x with the label y.

Multisets of records are numbered in the order of their sorted records. A multiset of m records of R
kinds is a row of R counts that sum to m. Its number is the number of multisets that come before it
when each is written as its records in ascending order: the combinatorial number system. Numbers are
all that has to be kept of a million of them.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.wording import SYMMETRIES, order_and
from dpassay.errors import TargetError
from dpassay.targets.guard import AuditTarget

Places = NDArray[np.int64]
Counts = NDArray[np.int64]

EXCHANGED = ("labels", "turns")
"""Those that exchange the labels, and with them the two answers."""
FEW_POINTS = 24
"""If more points and more records than these are there, there are millions of orbits."""
AT_ONCE = 2**20
"""Numbers that are held at a time."""
MOST_NUMBERED = 2**62
"""More multisets than this have no number."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbering:
    """Numbers of the multisets of up to `most` records of R kinds.

    Entry (j, l) of the table (R, most + 1) says how many multisets of l - 1 records there are
    of the kinds j, ..., R - 1; 0 for l = 0. So many come before a multiset that leaves l
    records for the kinds behind j, of those that agree with it before j.
    """

    table: NDArray[np.int64]

    @classmethod
    def of(cls, kinds: int, most: int) -> Numbering:
        """Return the numbering of multisets of up to `most` records of so many kinds, >= 1.

        There are fewer than 2^62 of these.
        """
        rows = [
            [0, *(multisets(kinds - kind, left - 1) for left in range(1, most + 1))]
            for kind in range(kinds)
        ]
        return cls(np.array(rows, dtype=np.int64))

    def number(self, counts: Counts) -> NDArray[np.int64]:
        """Return the number of each multiset, for counts (M, R)."""
        left = counts.sum(axis=1, keepdims=True) - np.cumsum(counts, axis=1)
        found = np.zeros(len(counts), dtype=np.int64)
        for kind, row in enumerate(self.table):
            found += row[left[:, kind]]
        return found

    def counts(self, numbers: NDArray[np.int64], size: int) -> Counts:
        """Return the counts (M, R) of the multisets of `size` records with these numbers."""
        found = np.empty((len(numbers), len(self.table)), dtype=np.int64)
        numbers, left = numbers.copy(), np.full(len(numbers), size)
        for kind, row in enumerate(self.table):
            after = np.searchsorted(row, numbers, side="right") - 1
            if kind == len(self.table) - 1:
                after = np.zeros_like(left)
            found[:, kind] = left - after
            numbers -= row[after]
            left = after
        return found


def multisets(kinds: int, size: int) -> int:
    """Return how many multisets of `size` records there are of so many kinds, >= 1."""
    return math.comb(size + kinds - 1, size)


def sorted_records(counts: Counts) -> list[int]:
    """Return the records of one multiset, ascending."""
    found: list[int] = np.repeat(np.arange(len(counts)), counts).tolist()
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Canonical:
    """The representatives of some multisets, and what moves each of them there."""

    number: NDArray[np.int64]  # (M,) of the representative
    to: Places  # (M, points): where each point goes
    exchanged: NDArray[np.bool_]  # (M,): whether the labels are exchanged


@dataclass(frozen=True, slots=True)
class Element:
    """One element of the group."""

    to: tuple[int, ...]  # where each point goes
    exchanged: bool = False  # whether the labels are exchanged

    @property
    def of_records(self) -> Places:
        """Return where each record goes."""
        to = np.array(self.to)[:, None]
        found: Places = (2 * to + (np.arange(2) ^ self.exchanged)).ravel()
        return found

    def after(self, first: Element) -> Element:
        """Return what `first` and then this one do."""
        return Element(tuple(self.to[x] for x in first.to), self.exchanged ^ first.exchanged)

    @property
    def cycles(self) -> list[int]:
        """Lengths of the cycles in which it moves the records."""
        to, left, found = self.of_records.tolist(), set(range(2 * len(self.to))), []
        while left:
            length, at = 0, next(iter(left))
            while at in left:
                left.remove(at)
                at, length = to[at], length + 1
            found.append(length)
        return found


@dataclass(frozen=True)
class Symmetries:
    """The group that some symmetries generate on the points of a domain."""

    sides: tuple[int, ...]  # points of each side of the domain
    keys: tuple[str, ...] = ()  # of `SYMMETRIES`; none of them for the trivial group

    @property
    def points(self) -> int:
        """Number of points."""
        return math.prod(self.sides)

    @property
    def words(self) -> str:
        """Return what may be done to a dataset, the order of its records included."""
        return order_and(self.keys)

    @property
    def whole(self) -> bool:
        """Return whether it has every permutation of the points."""
        return "points" in self.keys

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """All elements, the identity first; of all permutations of the points only the identity."""
        generators = [] if self.whole else list(self._generators())
        if "labels" in self.keys or (self.whole and "turns" in self.keys):
            generators.append(Element(tuple(range(self.points)), exchanged=True))
        known = {Element(tuple(range(self.points))): None}
        todo = list(known)
        while todo:
            more = [each.after(todo[0]) for each in generators]
            todo = todo[1:] + [each for each in dict.fromkeys(more) if each not in known]
            known |= dict.fromkeys(more)
        return tuple(known)

    def _generators(self) -> Iterator[Element]:
        grid = np.arange(self.points).reshape(self.sides)
        axes = range(grid.ndim)
        if "reflections" in self.keys:
            yield from (Element(tuple(np.flip(grid, axis).ravel().tolist())) for axis in axes)
        if "turns" in self.keys:
            yield Element(tuple(np.flip(grid).ravel().tolist()), exchanged=True)
        if "coordinates" in self.keys:
            for one, other in itertools.combinations(axes, 2):
                if self.sides[one] == self.sides[other]:
                    yield Element(tuple(np.swapaxes(grid, one, other).ravel().tolist()))

    def canonical(self, counts: Counts, numbering: Numbering) -> Canonical:
        """Return the representative of each multiset: the first of its orbit.

        Where all permutations of the points are allowed, the points are sorted by their counts, the
        largest first; of a few elements each is tried.
        """
        best: Canonical | None = None
        for element in self.elements:
            if self.whole:
                moved, to = _points_sorted(counts[:, element.of_records])
            else:
                moved = counts[:, np.argsort(element.of_records)]
                to = np.broadcast_to(np.array(element.to), (len(counts), self.points))
            number = numbering.number(moved)
            exchanged = np.full(len(counts), element.exchanged)
            if best is None:
                best = Canonical(number, to, exchanged)
                continue
            less = number < best.number
            best = Canonical(
                np.where(less, number, best.number),
                np.where(less[:, None], to, best.to),
                np.where(less, exchanged, best.exchanged),
            )
        assert best is not None
        return best

    def representatives(self, size: int, numbering: Numbering) -> NDArray[np.int64]:
        """Return the numbers of all representatives of `size` records, ascending.

        Take a record away from a multiset, and move the rest onto its representative: so each orbit
        is met if every record is put to every representative that is smaller by one.
        """
        if len(self.elements) == 1 and not self.whole:
            return np.arange(multisets(2 * self.points, size))
        found = np.zeros(1, dtype=np.int64)
        records = np.eye(2 * self.points, dtype=np.int64)
        portion = max(1, AT_ONCE // records.size)
        for smaller in range(size):
            grown = []
            for start in range(0, len(found), portion):
                counts = numbering.counts(found[start : start + portion], smaller)
                more = (counts[:, None] + records).reshape(-1, 2 * self.points)
                grown.append(np.unique(self.canonical(more, numbering).number))
            found = np.unique(np.concatenate(grown))
        return found

    def orbits(self, size: int) -> int:
        """Return how many orbits of multisets there are, by Burnside's lemma.

        The mean number of multisets that an element leaves as they are. With very many points and
        records it is a lower bound, above a million.
        """
        if not self.whole:
            return sum(_fixed(each.cycles, size) for each in self.elements) // len(self.elements)
        # further points than records stay empty, and are all alike
        points, total = min(self.points, size, FEW_POINTS), 0
        size = size if points < FEW_POINTS else FEW_POINTS
        for lengths in _partitions(points):
            times = Counter(lengths)
            alike = math.prod(each**k * math.factorial(k) for each, k in times.items())
            for element in self.elements:
                cycles = [
                    each  # of the records, from those of the points
                    for length in lengths
                    for each in (
                        (2 * length,) if element.exchanged and length % 2 else (length, length)
                    )
                ]
                total += math.factorial(points) // alike * _fixed(cycles, size)
        return total // (math.factorial(points) * len(self.elements))

    def moving(self, one: int, other: int) -> Element | None:
        """Return an element that moves a point to another; None where there is none."""
        if self.whole:
            to = list(range(self.points))
            to[one], to[other] = other, one
            return Element(tuple(to))
        return next((each for each in self.elements if each.to[one] == other), None)

    def drawn(self, rng: np.random.Generator) -> Element:
        """Draw an element, each as likely."""
        element = self.elements[int(rng.integers(len(self.elements)))]
        if not self.whole:
            return element
        return Element(tuple(rng.permutation(self.points).tolist()), element.exchanged)


def group_of(target: AuditTarget, sides: tuple[int, ...]) -> Symmetries:
    """Return the group that a mechanism declares on a domain with these sides.

    A false declaration raises `TargetError`: a name that is none of `SYMMETRIES`, or an
    exchange of answers of which it has not two.
    """
    keys = target.symmetries(sides)
    for key in keys:
        if key not in SYMMETRIES:
            raise TargetError(
                f"symmetries returned {key!r:.40}; expected some of {', '.join(SYMMETRIES)}"
            )
        if key in EXCHANGED and len(target.labels) != 2:
            raise TargetError(
                f"symmetries returned '{key}', which exchanges two answers; its answers are not "
                "two labels"
            )
    return Symmetries(sides, tuple(dict.fromkeys(keys)))


def _points_sorted(counts: Counts) -> tuple[Counts, Places]:
    """Sort the points of each multiset by their counts, the largest first; say where each goes."""
    code = counts[:, 0::2] * (int(counts.max(initial=0)) + 1) + counts[:, 1::2]
    order = np.argsort(-code, axis=1, kind="stable")
    pairs = counts.reshape(len(counts), -1, 2)
    moved = np.take_along_axis(pairs, order[:, :, None], axis=1).reshape(counts.shape)
    return moved, np.argsort(order, axis=1)


def _fixed(cycles: Sequence[int], size: int) -> int:
    """Count the multisets of `size` records that have equal counts along each cycle."""
    ways = [1] + [0] * size
    for length in cycles:
        for m in range(length, size + 1):
            ways[m] += ways[m - length]
    return ways[size]


def _partitions(total: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield each way to write a number as a sum, the largest term first."""
    if total == 0:
        yield ()
    for first in range(min(total, largest or total), 0, -1):
        for rest in _partitions(total - first, first):
            yield (first, *rest)
