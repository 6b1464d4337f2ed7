"""Monte Carlo mode: screen every pair, then certify each query's worst cells on fresh trials."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import attrgetter

import numpy as np

from dpassay.claims import Claim
from dpassay.engine.baseline_cells import Raw, certified_again
from dpassay.engine.budget import SCREENED, Budget, Race
from dpassay.engine.certification import (
    Certification,
    Counts,
    Screened,
    certified,
    certified_afresh,
    guards_over,
    screen,
)
from dpassay.engine.directions import OpenExecutor, learned
from dpassay.engine.evidence import Cell, Evidence, Lot
from dpassay.engine.guards import LOOKS, PROCESSES, Place, dispersion
from dpassay.engine.kinds import kind_of
from dpassay.engine.testers.tester import CellEffort, Finalist, Tester
from dpassay.errors import TargetError
from dpassay.stats.alpha import Spending
from dpassay.stats.bounds import Bound
from dpassay.stats.paired import Joint, just_above, needed
from dpassay.stats.power import Screening
from dpassay.targets.groups import DIRECTIONS, PairGroup, Progress, foretell, searched
from dpassay.targets.guard import AuditTarget
from dpassay.trials.encoders import Bins, Coding, Labels, Pilot, Rounded, bins_from
from dpassay.trials.executors import Executor
from dpassay.trials.tasks import Task

Accepted = Callable[[Claim], Sequence[Raw]]
"""Returns the cells that an accepted record lists for a claim."""
GROWTH = 0.3
"""From look to look of a race, all trials grow by this part."""
EARLIEST = 48
"""So many pairs of runs may say that all that a race may have will not do."""
FIRST_PROOF = (
    "The audit ended with its first proof, and the leak may be far larger: --no-stop-early "
    "(stop_early = false) goes on and bounds it."
)
SLOW = 1e-3
"""A run that takes more seconds is slow: the overhead of a call hardly matters beside it."""
BASELINE_DRAWS = 2
"""Trials at the cells of a baseline, in units of the budget: an accepted record's own counts are no
sharper than they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The trials drawn for one way of counting: at most `most` runs."""

    runner: Executor
    groups: tuple[PairGroup, ...]
    codings: tuple[Coding, ...]
    progress: Progress
    most: int
    _screened: dict[Budget, Screened] = field(default_factory=dict)
    _paces: list[float] = field(default_factory=list)  # seconds a run

    def screened(self, budget: Budget) -> Screened:
        """Return the screening on a budget, once for all claims."""
        if budget not in self._screened:
            began = time.perf_counter()
            found = self._screened[budget] = screen(self.runner, self.groups, budget, self.progress)
            pace = (time.perf_counter() - began) / found.trials
            told = max(self._paces, default=0.0) > SLOW
            self._paces.append(pace)
            # the few runs of a race show the pace of a slow function only
            if not told and (pace > SLOW or not isinstance(budget, Race)):
                foretell(self.progress, self.most, pace, pace * self.most)
        return self._screened[budget]


@dataclass(frozen=True, slots=True)
class Sampling:
    """The sampled way to know about one mechanism; the `accepted` cells are counted again."""

    target: AuditTarget
    groups: tuple[PairGroup, ...]
    budget: Budget
    open_executor: OpenExecutor
    progress: Progress
    accepted: Accepted
    raced: bool
    _trials: dict[tuple[bool, int], Trials | TargetError] = field(default_factory=dict)
    _groups: list[PairGroup] = field(default_factory=list)  # with those that were learned

    def hold(self, claim: Claim) -> Evidence:
        """Hold the trials against a claim; those that need the same counts share them.

        Raise TargetError if the mechanism fails; the same for every claim that needs these counts.
        """
        if claim.computed:
            raise TargetError(
                f"it has no exact law for these data, and {claim} is held against computed errors "
                "only"
            )
        found, spent = None, 0
        for race in self.budget.races(self.groups) if self.raced else ():
            trials, few, tester = self._screened(claim, race)
            with suppress(TargetError):  # the whole audit meets it again, and says why
                how = few, race, trials.runner, self.progress
                if found := raced_evidence(tester, trials.groups, *how):
                    break
            spent += few.trials
        if found is None:
            budget = self.budget.after_race if self.raced else self.budget
            trials, whole, tester = self._screened(claim, budget)
            found = monte_carlo_evidence(
                tester, trials.groups, whole, budget, trials.runner, self.progress
            )
        found = replace(found, trials=found.trials + spent)
        if len(claim.points) > 1:
            found = replace(found, point=tester.claim)
        cells, draws = self.accepted(claim), BASELINE_DRAWS * self.budget.draws
        again = certified_again(
            cells, trials.groups, trials.codings, self.target.labels, self.open_executor, draws
        )
        return replace(found, again=again) if again else found

    def _screened(self, claim: Claim, budget: Budget) -> tuple[Trials, Screened, Tester]:
        """Return the trials, the screening, and the tester of the point exceeded most clearly."""
        # labels are not cut into bins: nothing depends on a pilot
        key = claim.means, 0 if self.target.numbers is None or claim.means else budget.pilot
        if key not in self._trials:
            try:
                self._trials[key] = self._opened(*key)
            except TargetError as error:
                self._trials[key] = error
        trials = self._trials[key]
        if isinstance(trials, TargetError):
            raise trials
        bins = tuple(coding for coding in trials.codings if isinstance(coding, Bins))
        testers = [kind_of(point, self.target, bins) for point in claim.points]
        screened = trials.screened(budget)
        every = [c[:, :, query] for c in screened.counts for query in range(c.shape[2])]

        def clear(tester: Tester) -> float:
            return max(0.0, *(float(tester.rank(sides)[0].max()) for sides in every))

        return trials, screened, max(testers, key=clear) if len(testers) > 1 else testers[0]

    def _opened(self, means: bool, pilot: int) -> Trials:
        if not self._groups:
            draws = self.budget.screening(self.groups), self.budget.draws // 2
            more = learned(self.target, self.groups, draws, self.open_executor, self.progress)
            self._groups.extend((*self.groups, *more))
        groups = tuple(self._groups)
        codings: tuple[Coding, ...] = (Labels(self.target.labels),) * len(groups)
        if self.target.numbers is not None and means:
            codings = (Rounded(*self.target.numbers),) * len(groups)
        elif pilot:  # it says where to cut
            runner = self.open_executor(groups, (Pilot(),) * len(groups))
            places = range(len(groups))
            tasks = [Task(group=g, pair=None, phase="pilot", size=pilot) for g in places]
            codings = tuple(bins_from(quantiles) for quantiles in runner.counts(tasks))
        runner = self.open_executor(groups, codings)
        races = [*self.budget.races(groups)] if self.raced else []
        most = sum(each.most(groups) for each in (*races, self.budget))
        return Trials(
            runner=runner, groups=groups, codings=codings, progress=self.progress, most=most
        )


def monte_carlo_evidence(
    tester: Tester,
    groups: tuple[PairGroup, ...],
    screened: Screened,
    budget: Budget,
    executor: Executor,
    progress: Progress,
) -> Evidence:
    """Bound the leak from trials.

    The screening trials choose, for each query, the pairs that leak most, with direction, event and
    the test that is to be expected to give the highest bound. Fresh trials of those pairs certify
    them, at the error probabilities of `Spending`.
    """
    finalists = _finalists(tester, groups, screened, budget)
    trials = certified(executor, finalists, screened, budget.draws, progress)
    return _evidence(tester, groups, screened, budget, executor, finalists, trials)


def raced_evidence(
    tester: Tester,
    groups: tuple[PairGroup, ...],
    screened: Screened,
    budget: Race,
    executor: Executor,
    progress: Progress,
) -> Evidence | None:
    """Bound the leak of the cell that looks worst, as soon as its trials refute the claim.

    Each run on S and its partner on S' start from the same generator state, in new processes where
    nothing is left of what the screening has seen. Return None where the trials that the budget
    allows do not refute or promise too little, or where the screening shows no leak above the
    claim; a single cell is screened too little for that.
    """
    spending = budget.spending(groups, profiled=False)
    some = _finalists(tester, groups, screened, budget)
    found = max(some, key=attrgetter("leads"))
    sides = screened.counts[found.group][:, found.pair, found.query]
    seen = tester.seen(found, sides[found.direction], sides[1 - found.direction])
    if screened.draws >= SCREENED[0] and tester.leak(*seen) <= tester.promised:
        return None
    places = [(found.group, None), (found.group, found.pair)]
    lines, enough = tester.lines(just_above(tester.promised)), needed(spending.each_lower)
    lots: list[Lot] = []
    phase = "paired"
    for look in itertools.count():
        drawn = sum(size for _, size, _ in lots)
        more = PROCESSES if look == 0 else PROCESSES // 4
        rows = max(1, round(drawn * GROWTH / more))
        if drawn + more * rows > budget.draws:
            return None
        # nobody knows how many it takes, and the first processes do not show the pace
        progress("certifying", drawn, max(EARLIEST, 2 * drawn))
        lots += [(phase, rows, len(lots) + number) for number in range(more)]
        trials = certified_afresh(executor, found, screened, lots)
        calls = {side: [screened.lots[lot][side].calls for lot in lots] for side in places}
        one, other = (np.concatenate(calls[side])[:, found.query] for side in places)
        joint = Joint.of(tester.payoffs, tester.unit, (one.T @ other).astype(float))
        # trials that depend on each other count for less, even where no guard detects it
        part = replace(joint, seen=joint.seen / dispersion(calls, found.query))
        evidence = min(each.log_evidence(lines) for each in (joint, part))
        wealth = joint.log_wealth(lines)
        event, direction = np.unravel_index(int(wealth.max(axis=(2, 3)).argmax()), wealth.shape[:2])
        if evidence >= enough:
            break
        # sides that avoid each other show less than independent ones
        phase = "apart" if joint.covariance(int(event)) < 0 else "paired"
        promises = float(wealth.max()) / joint.pairs * budget.draws
        if joint.pairs >= EARLIEST and promises < enough:
            return None
    found = replace(found, event=int(event), direction=int(direction))
    bound = Bound(
        value=joint.lower(tester.lines, tester.promised, spending.each_lower),
        alpha=spending.each_lower,
        method="paired",
        joint=joint,
    )
    proof = _evidence(tester, groups, screened, budget, executor, [found], trials, bound)
    first = {"first_proof": True, "notes": [FIRST_PROOF]}
    return replace(proof, searched=proof.searched | first)


def _refutes(
    tester: Tester, finalist: Finalist, counts: Mapping[Place, Counts], alpha: float
) -> bool:
    """Return whether counts of both sides refute the claim by themselves."""
    sides = Certification(counts=dict(counts), lots=()).of(finalist)
    return tester.lower(finalist, *sides, alpha).value > tester.promised


def _spending(tester: Tester, groups: tuple[PairGroup, ...], budget: Budget) -> Spending:
    spending = budget.spending(groups, profiled=tester.profiled)
    return replace(spending, bounded=spending.bounded and tester.bounded)


def _evidence(
    tester: Tester,
    groups: tuple[PairGroup, ...],
    screened: Screened,
    budget: Budget,
    executor: Executor,
    finalists: list[Finalist],
    trials: Certification,
    bound: Bound | None = None,
) -> Evidence:
    """Bound what the trials of finalists show, once the guards have looked at them.

    The `bound` of a race is made already, and there is none from above.
    """
    spending = _spending(tester, groups, budget)
    # the guards look at the queries whose counts enter a bound, and only then there are bounds
    guards = guards_over(executor, finalists, groups, screened, budget.alarm, trials)
    bounded: dict[Place, set[int]] = {}
    for each in finalists:
        for pair in (None, each.pair):
            bounded.setdefault((each.group, pair), set()).add(each.query)
    guards.varied(bounded)
    alphas = spending.each_lower, spending.each_upper if bound is None else spending.alpha
    every = [tester.certified(each, *trials.of(each), alphas) for each in finalists]
    if bound is not None:
        every = [_raced(each, bound) for each in every]
    badness = attrgetter("lower.value")
    cells = tuple(
        _with_profile(max(some, key=badness), trials, tester, spending)
        for _, some in itertools.groupby(every, key=attrgetter("group", "query"))
    )
    worst = max(cells, key=badness)
    refuted = worst.lower.value > tester.promised
    # what a race certifies has been drawn in new processes already
    confirmed = refuted and bound is None
    guards.asked_again(worst.group, worst.pair, confirmed=confirmed)
    if confirmed:
        at = worst.group, worst.pair, worst.query
        suspect = next(each for each in finalists if each.place == at)
        alpha = budget.alpha / len(LOOKS)
        guards.confirmed(*at, lambda counts: _refutes(tester, suspect, counts, alpha))
    screening = Screening(
        draws=min(budget.screening_of(groups)),
        pairs=max(len(group.pairs) for group in groups),
        finalists=budget.finalists(groups),
    )
    effort = CellEffort(n=budget.draws, alpha=spending.each_lower, screening=screening)
    return Evidence(
        mode="monte-carlo",
        lower=worst.lower,
        upper=worst.upper if bound else _largest(finalists, every, trials, tester, spending),
        cells=cells,
        worst=worst,
        groups=groups,
        sight=tester.sight(effort, finalists),
        trials=screened.trials,
        alpha=budget.alpha,
        spending=spending,
        searched=searched(groups)
        | {"screening_trials": screened.draws, "certified_cells": len(every)},
        table={
            "group": np.array([cell.group for cell in every]),
            "pair": np.array([cell.pair for cell in every]),
            "query": np.array([cell.query for cell in every]),
            "direction": np.array([DIRECTIONS.index(cell.direction) for cell in every]),
            "lower": np.array([cell.lower.value for cell in every]),
            "upper": np.array([cell.upper.value for cell in every]),
        },
        parts=trials.parts,
    )


def _finalists(
    tester: Tester, groups: tuple[PairGroup, ...], screened: Screened, budget: Budget
) -> list[Finalist]:
    """Return the pairs of each query that look worst, each in its worse direction."""
    spending, number = _spending(tester, groups, budget), budget.finalists(groups)
    looks = sum(counts.size for counts in screened.counts)
    found = []
    for g, group in enumerate(groups):
        for query in range(len(group.queries)):
            sides = screened.counts[g][:, :, query]
            ranking, events = tester.rank(sides)
            for pair in np.argsort(-ranking.max(axis=0), kind="stable")[:number].tolist():
                direction = int(ranking[:, pair].argmax())
                event = int(events[direction, pair])
                one, other = sides[direction, pair], sides[1 - direction, pair]
                bound, frequency = tester.apparent(event, one, other, looks)
                method = tester.choose(event, one, other, budget.draws, spending.each_lower)
                finalist = Finalist(
                    leads=float(ranking[direction, pair]),
                    group=g,
                    pair=pair,
                    query=query,
                    direction=direction,
                    event=event,
                    apparent=bound,
                    frequency=frequency,
                    method=method,
                )
                found.append(finalist)
    return found


def _raced(cell: Cell, bound: Bound) -> Cell:
    """Return a cell with the bound of a race, and none from above."""
    lower = replace(bound, counts=cell.lower.counts, histograms=cell.lower.histograms)
    return replace(cell, lower=lower, upper=replace(cell.upper, value=math.inf, alpha=0.0))


def _largest(
    finalists: list[Finalist],
    cells: list[Cell],
    trials: Certification,
    tester: Tester,
    spending: Spending,
) -> Bound:
    """Bound the largest leak of all certified cells from above, by one test at undivided alpha."""
    found, alpha = 0.0, spending.largest_upper
    both = zip(finalists, cells, strict=True)
    for finalist, cell in sorted(both, key=lambda each: -each[1].upper.value):
        if cell.upper.value > found:  # else it cannot be the largest at a larger alpha either
            found = tester.upper(finalist, *trials.of(finalist), alpha, found)
    return replace(cells[0].upper, value=found, alpha=alpha, counts=None, histograms=None)


def _with_profile(cell: Cell, trials: Certification, tester: Tester, spending: Spending) -> Cell:
    if not spending.profiled:
        return cell
    one, other = (trials.counts[cell.group, pair][cell.query] for pair in (None, cell.pair))
    return replace(cell, profile=tester.profile(one, other, spending.each_profile))
