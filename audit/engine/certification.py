"""Certification: every pair is screened, and the worst draw fresh trials, lot by lot."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.budget import Budget
from dpassay.engine.evidence import Lot, Stopped, parts
from dpassay.engine.guards import Fresh, Guards, Place
from dpassay.engine.testers.tester import Finalist
from dpassay.seeds import stream
from dpassay.stats.alpha import Spending
from dpassay.stats.eprocess import deal, log_e_of, threshold
from dpassay.targets.groups import PairGroup, Progress
from dpassay.trials.blocks import BlockCounts, joined
from dpassay.trials.executors import Executor
from dpassay.trials.tasks import Task

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Screened:
    """Counts of the screening trials of every group, which no claim has been held against yet.

    `sizes` are the trials per dataset, group by group, and `left` how many more there will be
    unless the first ones are enough; `whole` holds the screening with these, once they are drawn.
    `counts` are arrays (2, P, q, K) per group: side (base, neighbour), pair, query, symbol. `lots`
    holds certification trials call by call, by lot and dataset, and is filled as claims ask for
    them, the same for all; `fresh` is what the guards have drawn besides.
    """

    sizes: tuple[int, ...]
    counts: tuple[Counts, ...]
    left: tuple[int, ...] = ()
    lots: dict[Lot, dict[Place, BlockCounts]] = field(default_factory=dict)
    fresh: Fresh = field(default_factory=dict)
    whole: list[Screened] = field(default_factory=list)

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
    def certification_trials(self) -> int:
        """Runs of the mechanism since the screening, those of the guards apart."""
        return sum(size * len(found) for (_, size, _), found in self.lots.items())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Certification:
    """Trials that the bounds of one claim are made of.

    `counts` has an array (q, K) for every dataset. Nothing of the lots in `before`, drawn before an
    e-process refuted the claim, is in it.
    """

    counts: dict[Place, Counts]
    lots: tuple[Lot, ...]
    before: tuple[Lot, ...] = ()
    stopped: Stopped | None = None

    def of(self, finalist: Finalist) -> tuple[Counts, Counts]:
        """Counts (K,) of a finalist on the two sides, in its direction."""
        one, other = (self.counts[finalist.group, pair] for pair in finalist.sides)
        return one[finalist.query], other[finalist.query]

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """Phases and sizes of the lots, if it is not the one that it usually is."""
        return () if len(self.lots) == 1 and self.stopped is None else parts(self.lots)


def screen(
    executor: Executor, groups: tuple[PairGroup, ...], budget: Budget, progress: Progress
) -> Screened:
    """Run the screening trials of every pair, or the first part of them."""
    first, left = budget.screening_lots(groups)
    counts = _screening(executor, groups, first, 0, progress)
    return Screened(sizes=first, counts=counts, left=left)


def screen_whole(
    executor: Executor, groups: tuple[PairGroup, ...], screened: Screened, progress: Progress
) -> Screened:
    """Run the screening trials that are left, once for all claims."""
    if not screened.whole:
        sizes = tuple(map(sum, zip(screened.sizes, screened.left, strict=True)))
        more = _screening(executor, groups, screened.left, 1, progress)
        counts = tuple(map(np.add, screened.counts, more))
        screened.whole.append(replace(screened, sizes=sizes, counts=counts, left=()))
    return screened.whole[0]


def _screening(
    executor: Executor,
    groups: tuple[PairGroup, ...],
    sizes: tuple[int, ...],
    lot: int,
    progress: Progress,
) -> tuple[Counts, ...]:
    """Return the counts of a lot of screening trials; see `Screened`."""
    done, total = 0, sum(len(group.pairs) for group in groups)
    tasks = [
        Task(group=g, pair=pair, phase="screen", size=sizes[g], lot=lot)
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
    return tuple(counts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Certifier:
    """Draws trials of every finalist's pair, lot by lot, and looks at e-processes in between.

    `screened` keeps what is drawn. `sizes` are of the lots; a look follows each but the last.
    `spending` says what refutes at a look.
    """

    executor: Executor
    finalists: list[Finalist]
    screened: Screened
    sizes: tuple[int, ...]
    spending: Spending
    progress: Progress

    def certify(self) -> Certification:
        """Draw all lots; if a look refutes, fresh trials for the bounds instead of the rest."""
        found = self.stopped_within(len(self.sizes) - 1)
        if found is not None:
            return found
        self._draw(self._lots[-1])
        return self._certification(self._lots)

    def grown(self, enough: Callable[[Certification], bool | None]) -> Certification | None:
        """Draw lots until all so far are `enough`; None where it says so, or they never are."""
        for k, lot in enumerate(self._lots, 1):
            self._draw(lot)
            found = self._certification(self._lots[:k])
            if (ends := enough(found)) is not False:
                return found if ends else None
        return None

    def stopped_within(self, looks: int) -> Certification | None:
        """Draw lots for so many looks; return what came if one of them refutes, else None."""
        pairs = np.zeros((len(self.finalists), 4), dtype=np.int64)
        for k, lot in enumerate(self._lots[:looks]):
            self._draw(lot)
            pairs += self._dealt(lot)
            drawn = self._lots[: k + 1]
            stopped = self._refuted(pairs, drawn)
            if stopped is not None:
                fresh = ("fresh", self.sizes[k + 1], k)
                self._draw(fresh)
                return self._certification((fresh,), drawn, stopped)
        return None

    @property
    def _lots(self) -> tuple[Lot, ...]:
        return tuple(("certify", size, k) for k, size in enumerate(self.sizes))

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        """Group and pair of the finalists, each once."""
        return sorted({(each.group, each.pair) for each in self.finalists})

    def _draw(self, lot: Lot) -> None:
        """Draw a lot of every pair that has none of it yet, from states that are made anew."""
        phase, size, number = lot
        found = self.screened.lots.setdefault(lot, {})
        wanted = [place for place in self._pairs if place not in found]
        by_group = itertools.groupby(wanted, key=lambda place: place[0])
        sides: list[Place] = [
            (g, pair) for g, some in by_group for pair in (None, *(pair for _, pair in some))
        ]
        drawn = self.executor.drawn(
            [Task(group=g, pair=pair, phase=phase, size=size, lot=number) for g, pair in sides]
        )
        done = 0
        for place in sides:
            found[place] = next(drawn)
            if place[1] is not None:
                done += 1
                self.progress("certifying", done, len(wanted))

    def _certification(
        self, lots: tuple[Lot, ...], before: tuple[Lot, ...] = (), stopped: Stopped | None = None
    ) -> Certification:
        """Add up the lots that the bounds are made of."""
        datasets: set[Place] = {(g, pair) for g, other in self._pairs for pair in (None, other)}
        counts: dict[Place, Counts] = {}
        for place in datasets:
            first, *more = (self.screened.lots[lot][place].calls.sum(axis=0) for lot in lots)
            counts[place] = sum(more, first)
        return Certification(counts=counts, lots=lots, before=before, stopped=stopped)

    def _dealt(self, lot: Lot) -> Counts:
        """Deal the trials of a lot into pairs of both sides, call by call, shape (finalists, 4)."""
        phase, size, number = lot
        found = np.zeros((len(self.finalists), 4), dtype=np.int64)
        for place, each in enumerate(self.finalists):
            if each.gamble is None:
                raise TypeError("there is no e-process of this claim")
            calls = [self.screened.lots[lot][each.group, pair].calls for pair in each.sides]
            one, other = (side[:, each.query] for side in calls)
            task = Task(group=each.group, pair=each.pair, phase=phase, size=size, lot=number)
            rng = stream(*self.executor.stream(task), "dealt", each.query)
            x, y = one @ each.gamble.event, other @ each.gamble.event
            found[place] = deal(x, y, one.sum(axis=1), rng).sum(axis=0)
        return found

    def _refuted(self, pairs: Counts, drawn: tuple[Lot, ...]) -> Stopped | None:
        """Look at the e-process of every finalist."""
        values = [
            float(log_e_of(counts, each.gamble.allowed))
            for counts, each in zip(pairs, self.finalists, strict=True)
            if each.gamble is not None
        ]
        needed = threshold(self.spending.each_sequential)
        place = int(np.argmax(values))
        if values[place] < needed:
            return None
        worst = self.finalists[place]
        no_event, only_other, only_one, both = pairs[place].tolist()
        return Stopped(
            trials=sum(size for _, size, _ in drawn),
            of=sum(self.sizes),
            log_e=values[place],
            log_threshold=needed,
            pairs=(no_event, only_other, only_one, both),
            group=worst.group,
            pair=worst.pair,
            query=worst.query,
            parts=parts(drawn),
        )


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
    lots = sorted((*trials.before, *trials.lots), key=lambda lot: -lot[1])
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
