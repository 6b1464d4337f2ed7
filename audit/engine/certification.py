"""Certification: every pair is screened, and the worst draw fresh trials, lot by lot."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.budget import Budget
from dpassay.engine.evidence import Lot, parts
from dpassay.engine.guards import Fresh, Guards, Place, drawn_afresh, task
from dpassay.engine.testers.tester import Finalist
from dpassay.targets.groups import PairGroup, Progress
from dpassay.trials.blocks import BlockCounts, joined
from dpassay.trials.executors import Executor
from dpassay.trials.tasks import Task

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Screened:
    """Counts of the screening trials of every group, which no claim has been held against yet.

    `sizes` are the trials per dataset, group by group. `counts` are arrays (2, P, q, K) per group:
    side (base, neighbour), pair, query, symbol. `lots` holds certification trials call by call, by
    lot and dataset, and is filled as claims ask for them, the same for all; `fresh` is what the
    guards have drawn besides.
    """

    sizes: tuple[int, ...]
    counts: tuple[Counts, ...]
    lots: dict[Lot, dict[Place, BlockCounts]] = field(default_factory=dict)
    fresh: Fresh = field(default_factory=dict)

    @property
    def draws(self) -> int:
        """Trials per dataset, at least."""
        return min(self.sizes)

    def of(self, place: Place) -> Counts:
        """Counts (q, K) of the screening trials of a dataset."""
        g, pair = place
        found: Counts = self.counts[g][0, 0] if pair is None else self.counts[g][1, pair]
        return found

    @property
    def trials(self) -> int:
        """Runs of the mechanism, those of the guards apart."""
        screening = zip(self.counts, self.sizes, strict=True)
        certification = sum(size * len(found) for (_, size, _), found in self.lots.items())
        return sum((1 + int(c.shape[1])) * size for c, size in screening) + certification


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Certification:
    """Trials that the bounds of one claim are made of.

    `counts` has an array (q, K) for every dataset.
    """

    counts: dict[Place, Counts]
    lots: tuple[Lot, ...]

    def of(self, finalist: Finalist) -> tuple[Counts, Counts]:
        """Counts (K,) of a finalist on the two sides, in its direction."""
        one, other = (self.counts[finalist.group, pair] for pair in finalist.sides)
        return one[finalist.query], other[finalist.query]

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """Phases and sizes of the lots, if it is not the one that it usually is."""
        return () if len(self.lots) == 1 else parts(self.lots)


def screen(
    executor: Executor, groups: tuple[PairGroup, ...], budget: Budget, progress: Progress
) -> Screened:
    """Run the screening trials of every pair; those of a race have the same coins on all sides."""
    sizes = budget.screening_of(groups)
    done, total = 0, sum(len(group.pairs) for group in groups)
    tasks = [
        Task(group=g, pair=pair, phase=budget.phase, size=sizes[g])
        for g, group in enumerate(groups)
        for pair in (None, *range(len(group.pairs)))
    ]
    drawn, counts = executor.counts(tasks), []
    for group in groups:
        base = next(drawn)
        neighbours = np.empty((len(group.pairs), *base.shape), dtype=np.int64)
        for i in range(len(group.pairs)):
            neighbours[i] = next(drawn)
            done += 1
            progress("screening", done, total)
        counts.append(np.stack([np.broadcast_to(base, neighbours.shape), neighbours]))
    return Screened(sizes=sizes, counts=tuple(counts))


def certified(
    executor: Executor,
    finalists: list[Finalist],
    screened: Screened,
    size: int,
    progress: Progress,
) -> Certification:
    """Draw so many trials of every finalist's pair; `screened` keeps them."""
    pairs, lot = sorted({(each.group, each.pair) for each in finalists}), ("certify", size, 0)
    found = screened.lots.setdefault(lot, {})
    _draw(executor, pairs, found, lot, progress)
    places = {(g, pair) for g, other in pairs for pair in (None, other)}
    counts = {place: found[place].calls.sum(axis=0) for place in places}
    return Certification(counts=counts, lots=(lot,))


def certified_afresh(
    executor: Executor, finalist: Finalist, screened: Screened, lots: Sequence[Lot]
) -> Certification:
    """Draw the lots that a finalist's pair does not have yet, each in a new process."""
    sides: tuple[Place, Place] = (finalist.group, None), (finalist.group, finalist.pair)
    missing = [lot for lot in lots if sides[1] not in screened.lots.get(lot, {})]
    if missing:
        phase, rows, first = missing[0]
        wanted = [(phase, rows, range(first, first + len(missing)))]
        (drawn,), _ = drawn_afresh(executor, sides, wanted, screened.fresh)
        for place, lot in enumerate(missing):
            screened.lots.setdefault(lot, {}).update({side: drawn[side][place] for side in sides})
    counts = {
        side: joined(screened.lots[lot][side] for lot in lots).calls.sum(axis=0) for side in sides
    }
    return Certification(counts=counts, lots=tuple(lots))


def _draw(
    executor: Executor,
    pairs: list[tuple[int, int]],
    found: dict[Place, BlockCounts],
    lot: Lot,
    progress: Progress,
) -> None:
    """Draw a lot of every pair that has none of it yet, from states that are made anew."""
    wanted = [place for place in pairs if place not in found]
    by_group = itertools.groupby(wanted, key=lambda place: place[0])
    sides: list[Place] = [
        (g, pair) for g, some in by_group for pair in (None, *(pair for _, pair in some))
    ]
    drawn, done = executor.drawn([task(side, lot) for side in sides]), 0
    for place in sides:
        found[place] = next(drawn)
        if place[1] is not None:
            done += 1
            progress("certifying", done, len(wanted))


def guards_over(
    executor: Executor,
    finalists: list[Finalist],
    groups: tuple[PairGroup, ...],
    screened: Screened,
    alarm: float,
    trials: Certification,
) -> Guards:
    """Return the guards over all that has been drawn to certify these finalists.

    The largest lots come first: calls are compared where they have many rows.
    """
    places: set[Place] = {(f.group, pair) for f in finalists for pair in (None, f.pair)}
    lots = sorted(trials.lots, key=lambda lot: -lot[1])
    ordered = [place for place in screened.lots[lots[0]] if place in places]
    return Guards(
        groups=groups,
        executor=executor,
        lots=tuple(lots),
        alarm=alarm,
        screened={place: screened.of(place) for place in ordered},
        certified={place: joined(screened.lots[lot][place] for lot in lots) for place in ordered},
        fresh=screened.fresh,
    )
