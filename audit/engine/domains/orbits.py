"""Exhaustive mode by symmetry: one dataset stands for all that it can be reordered and moved to.

Let the law of M(S, x) not depend on the order of the records of S, and let it move along with a
group G that acts on the points and labels of a domain: M(gS, gx) has the law of M(S, x), its two
answers exchanged where g exchanges the labels. Then a dataset matters as a multiset, and one
multiset of each orbit of G is a *representative*.

Every pair of neighbours is covered. Two ordered datasets that differ in k places or fewer have
n - k places in common: a multiset C of n - k records, the *core*, so that they are C + A and C + B
with multisets A and B of k records. Some g moves C onto its representative. So gC + gA and gC + gB
are met when every core that is a representative is filled up in all ways, and their laws at gx are
those of the two datasets at x, with the answers of both exchanged or of neither: the leak is the
same, as every claim treats the two answers alike. Conversely gC + A and gC + B, written with the
core behind, are ordered datasets that differ in k places or fewer: nothing else is met.

Leaks are of pairs of laws. Where a law has one number, the log-odds of one of two labels or a
value, no pair that lies between two laws leaks more than these two: of labels such a pair is a
post-processing of the outer two, p -> a p + b, and values in between are nearer to each other; an
error of the first of two datasets is largest at the greatest. So of all fillings of a core the
least and the greatest are read, both ways. Their leak plus its numerical error bounds the others
too, as it allows for both laws to be farther out by the error of a law. Laws of more than two
labels are read pair by pair. With few different rows no pair is read twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.dataset_laws import LawsOf, StateLaws
from dpassay.engine.domains.domain import CHECKED, Domain
from dpassay.engine.domains.symmetries import (
    AT_ONCE,
    Counts,
    Element,
    Numbering,
    Symmetries,
    multisets,
    sorted_records,
)
from dpassay.engine.readings import Leaks
from dpassay.errors import TargetError
from dpassay.laws import Law
from dpassay.seeds import stream
from dpassay.stats.bounds import Computed
from dpassay.targets.groups import Progress
from dpassay.targets.guard import AuditTarget

FEW_LAWS = 2_500
"""Of so few different rows every leak that was read is kept."""

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The worst pair at one query."""

    loss: Computed
    choice: tuple[int, ...]  # a dataset, as record numbers
    other: tuple[int, ...]  # its neighbour, likewise
    # what their laws have in the table at this query
    rows: tuple[Array, Array]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrbitLaws:
    """Laws of every representative of a domain at every query."""

    n: int  # records in a dataset
    group: Symmetries
    numbering: Numbering
    numbers: NDArray[np.int64]  # (M,) of the representatives, ascending
    ids: NDArray[np.int32]  # (M, points): which row each of them has at each point
    rows: Array  # (L, K), different; see `Law.table`
    exchanged: Ids  # (L,): the row with answers exchanged; itself if nothing does that
    error: float  # bound on the numerical error of each entry
    law: Law  # one of them: what the rows mean
    checked: int  # representatives compared with a reordered and a moved dataset

    def worst(self, leaks: Leaks, k: int) -> tuple[list[Worst], float, int]:
        """Find the worst neighbours that differ in k records or fewer, of each query.

        With them come the most that any loss of the domain can be, and how many leaks were
        read.
        """
        reader = Reader(leaks, self.rows, self.error)
        points = self.group.points
        best = np.full(points, -np.inf)
        found: dict[int, tuple[Counts, Counts, Counts]] = {}
        added = self.numbering.counts(np.arange(multisets(2 * points, k)), k)
        few, outwards = self.rows.shape[1] <= 2, self.rows[:, -1]
        if self.rows.shape[1] == 2:
            outwards = outwards - self.rows[:, 0]  # log-odds
        for cores in self._cores(k, len(added)):
            ids = self._filled(cores, added)
            for pair in outermost(ids, outwards) if few else every_pair(ids):
                certain = reader.certain(*(np.take_along_axis(ids, each, 1) for each in pair))
                one, other = (np.broadcast_to(each, certain.shape) for each in pair)
                certain[one == other] = -np.inf  # the dataset itself
                flat = certain.reshape(-1, points)
                places = np.argmax(flat, axis=0)
                for x in np.flatnonzero(flat[places, np.arange(points)] > best).tolist():
                    core, way = np.unravel_index(places[x], certain.shape[:-1])
                    best[x] = flat[places[x], x]
                    found[x] = (cores[core], added[one[core, way, x]], added[other[core, way, x]])
        return (
            [self._moved(x, best, found, leaks) for x in range(points)],
            reader.highest,
            reader.compared,
        )

    def _cores(self, k: int, ways: int) -> Iterator[Counts]:
        """Yield the representatives of n - k records, a portion at a time."""
        size = self.n - k
        numbers = self.group.representatives(size, self.numbering)
        portion = max(1, AT_ONCE // (ways * 2 * self.group.points))
        for start in range(0, len(numbers), portion):
            yield self.numbering.counts(numbers[start : start + portion], size)

    def _filled(self, cores: Counts, added: Counts) -> Ids:
        """Return the rows of every core with every addition, shape (cores, additions, points)."""
        counts = (cores[:, None] + added).reshape(-1, added.shape[1])
        known = self.group.canonical(counts, self.numbering)
        place = np.searchsorted(self.numbers, known.number)
        ids = self.ids[place[:, None], known.to].astype(np.int64)
        ids = np.where(known.exchanged[:, None], self.exchanged[ids], ids)
        return ids.reshape(len(cores), len(added), -1)

    def _moved(
        self, query: int, best: Array, found: dict[int, tuple[Counts, Counts, Counts]], leaks: Leaks
    ) -> Worst:
        """Return the worst pair at a query: the worst at all points of its orbit, moved there."""
        moves = {x: self.group.moving(x, query) for x in range(len(best))}
        at = max((x for x, move in moves.items() if move is not None), key=lambda x: best[x])
        move, (core, one, other) = moves[at], found[at]
        assert move is not None
        records = move.of_records
        # the changed records first, so that the others keep their places
        choices = [
            tuple(records[[*sorted_records(each), *sorted_records(core)]].tolist())
            for each in (one, other)
        ]
        ids = self._filled(core[None], np.stack([one, other]))[0, :, at]
        row, row0 = self.rows[self.exchanged[ids] if move.exchanged else ids]
        loss = leaks.loss(row, row0, self.error)
        computed = Computed(value=float(loss.value), error=float(loss.error), least=leaks.least)
        return Worst(loss=computed, choice=choices[0], other=choices[1], rows=(row, row0))


@dataclass(slots=True, eq=False)
class Reader:
    """Reads the leak of pairs of rows; with few rows, of every pair once."""

    leaks: Leaks
    rows: Array
    error: float
    highest: float = -np.inf
    compared: int = 0
    _kept: Array | None = None

    def certain(self, one: Ids, other: Ids) -> Array:
        """Return the leaks from rows to rows, by their numbers, less the numerical error."""
        keys = one * len(self.rows) + other
        if len(self.rows) > FEW_LAWS:
            different, places = np.unique(keys, return_inverse=True)
            read: Array = self._read(different)[places.reshape(keys.shape)]
            return read
        if self._kept is None:
            self._kept = np.full(len(self.rows) ** 2, np.nan)
        new = keys[np.isnan(self._kept[keys])]
        if new.size:
            different = np.unique(new)
            self._kept[different] = self._read(different)
        kept: Array = self._kept[keys]
        return kept

    def _read(self, keys: Ids) -> Array:
        found = np.empty(len(keys))
        for part in _portions(len(keys), self.rows.shape[1] * len(keys)):
            one, other = np.divmod(keys[part], len(self.rows))
            loss = self.leaks.loss(self.rows[one], self.rows[other], self.error)
            self.highest = max(self.highest, float(np.max(loss.value + loss.error)))
            found[part] = loss.certain
        self.compared += len(keys)
        return found


def outermost(ids: Ids, outwards: Array) -> Iterator[tuple[Ids, Ids]]:
    """Yield the fillings with the least and the greatest law of each core at each query.

    Both ways, shape (cores, 2, points). Where all laws are equal these are two fillings all the
    same.
    """
    places = outwards[ids]
    least, greatest = places.argmin(axis=1), places.argmax(axis=1)
    greatest = np.where(least == greatest, ids.shape[1] - 1, greatest)
    yield np.stack([least, greatest], axis=1), np.stack([greatest, least], axis=1)


def every_pair(ids: Ids) -> Iterator[tuple[Ids, Ids]]:
    """Yield all pairs of fillings, a portion at a time, shape (1, pairs, 1)."""
    ways = ids.shape[1]
    for part in _portions(ways**2, ids.size * ways):
        one, other = np.divmod(np.arange(part.start, part.stop), ways)
        yield one[None, :, None], other[None, :, None]


def _portions(length: int, numbers: int) -> Iterator[slice]:
    """Cut a length so that the numbers that go with it are at most about `AT_ONCE` at a time."""
    width = max(1, length * AT_ONCE // max(1, numbers))
    for start in range(0, length, width):
        yield slice(start, min(length, start + width))


def orbit_laws(
    target: AuditTarget,
    domain: Domain,
    group: Symmetries,
    seed: int,
    progress: Progress,
    laws_of: LawsOf | None = None,
) -> OrbitLaws:
    """Compute the law of every representative, and check what the mechanism declares on them.

    It declares that its records are exchangeable, and the symmetries. The seed is that of the
    datasets that are checked. `laws_of` computes the laws of the representatives elsewhere, but not
    those for the check. A mechanism without an exact law, or with a false declaration, raises
    `TargetError`.
    """
    n, numbering = domain.n, Numbering.of(2 * group.points, domain.n)
    numbers = group.representatives(n, numbering)
    assert len(numbers) == group.orbits(n), "Burnside's lemma"
    laws = StateLaws(target=target, queries=domain.queries, among=str(domain), elsewhere=laws_of)
    known: dict[bytes, int] = {}
    ids = np.empty((len(numbers), group.points), dtype=np.int32)
    for i, law in enumerate(laws.each(map(domain.dataset, _records(numbering, numbers, n)))):
        ids[i] = _ids(known, law.table)
        if i % 256 == 255 or i + 1 == len(numbers):
            progress("representatives", i + 1, len(numbers))
    exchanged = np.arange(len(known))
    if any(each.exchanged for each in group.elements):
        _ids(known, _rows(known)[:, ::-1])  # some of them may be new
        exchanged = np.array(_ids(known, _rows(known)[:, ::-1]))
    assert laws.first is not None
    checked = np.arange(len(numbers))  # all of them, or so many at random
    if len(numbers) > CHECKED:
        rng = stream(seed, "symmetry", "chosen")
        checked = np.sort(rng.choice(len(numbers), size=CHECKED, replace=False))
    found = OrbitLaws(
        n=n,
        group=group,
        numbering=numbering,
        numbers=numbers,
        ids=ids,
        rows=_rows(known),
        exchanged=exchanged,
        error=laws.error,
        law=laws.first,
        checked=len(checked),
    )
    _check(found, domain, laws, checked, seed, progress)
    return found


def _records(numbering: Numbering, numbers: NDArray[np.int64], n: int) -> Iterator[list[int]]:
    """Yield the sorted records of multisets."""
    portion = max(1, AT_ONCE // len(numbering.table))
    for start in range(0, len(numbers), portion):
        yield from map(sorted_records, numbering.counts(numbers[start : start + portion], n))


def _ids(known: dict[bytes, int], table: Array) -> list[int]:
    """Return the number of each row of laws, a new one if it was not met before."""
    return [known.setdefault(row.tobytes(), len(known)) for row in table + 0.0]  # no -0.0


def _rows(known: dict[bytes, int]) -> Array:
    """Return the different rows of laws by their numbers."""
    return np.frombuffer(b"".join(known)).reshape(len(known), -1)


def _check(
    found: OrbitLaws, domain: Domain, laws: StateLaws, chosen: Ids, seed: int, progress: Progress
) -> None:
    """Raise `TargetError` if a representative in a random order, or moved, has another law.

    Each is also taken in descending order, as far from its own as can be.
    """
    rng, group = stream(seed, "symmetry", "checked"), found.group
    datasets = _records(found.numbering, found.numbers[chosen], found.n)
    alone = len(group.elements) == 1 and not group.whole
    still = Element(tuple(range(group.points)))
    for done, (i, records) in enumerate(zip(chosen.tolist(), datasets, strict=True), 1):
        here = found.rows[found.ids[i]]
        shuffled = rng.permutation(records).tolist()
        for order in (records[::-1], shuffled):
            if not _alike(here, laws.of(*domain.dataset(order)), still, found.error):
                raise TargetError(
                    "declares exchangeable records, but has different laws on the datasets "
                    f"{tuple(records)} and {tuple(order)} (numbers of records)"
                )
        if not alone:
            element = group.drawn(rng)
            moved = element.of_records[shuffled].tolist()
            if not _alike(here, laws.of(*domain.dataset(moved)), element, found.error):
                raise TargetError(
                    f"declares the symmetries {', '.join(group.keys)}, but its law does not move "
                    f"along from the dataset {tuple(records)} to {tuple(moved)} (numbers of "
                    "records)"
                )
        if done % 256 == 0 or done == len(chosen):
            progress("symmetry checks", done, len(chosen))


def _alike(here: Array, there: Law, element: Element, error: float) -> bool:
    """Return whether a law, moved back, is equal within the numerical errors."""
    table = there.table[list(element.to)]
    table = table[:, ::-1] if element.exchanged else table
    with np.errstate(invalid="ignore"):
        near = np.abs(table - here) <= error + there.error
    return bool((near | (table == here)).all())
