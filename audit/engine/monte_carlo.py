"""Monte Carlo mode: screen every pair, then certify each query's worst cells on fresh trials."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.engine.baseline_cells import Raw, certified_again
from dpassay.engine.budget import Budget
from dpassay.engine.certification import (
    Certification,
    Certifier,
    Screened,
    guards_over,
    screen,
    screen_whole,
)
from dpassay.engine.directions import OpenExecutor, learned
from dpassay.engine.evidence import Cell, Evidence
from dpassay.engine.guards import LOOKS, Place
from dpassay.engine.kinds import kind_of
from dpassay.engine.testers.tester import CellEffort, Finalist, Tester
from dpassay.errors import TargetError
from dpassay.stats.alpha import Spending
from dpassay.stats.bounds import Bound
from dpassay.stats.power import Screening
from dpassay.targets.groups import DIRECTIONS, PairGroup, Progress, searched
from dpassay.targets.guard import AuditTarget
from dpassay.trials.blocks import BLOCK
from dpassay.trials.encoders import Bins, Coding, Labels, Pilot, Rounded, bins_from
from dpassay.trials.executors import Executor
from dpassay.trials.tasks import Task

Accepted = Callable[[Claim], Sequence[Raw]]
"""Returns the cells that an accepted record lists for a claim."""
BASELINE_DRAWS = 2
"""Trials at the cells of a baseline, in units of the budget: an accepted record's own counts are no
sharper than they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The trials drawn for one way of counting."""

    runner: Executor
    groups: tuple[PairGroup, ...]
    codings: tuple[Coding, ...]
    screened: Screened


@dataclass(frozen=True, slots=True)
class Sampling:
    """The sampled way to know about one mechanism; the `accepted` cells are counted again."""

    target: AuditTarget
    groups: tuple[PairGroup, ...]
    budget: Budget
    open_executor: OpenExecutor
    progress: Progress
    accepted: Accepted
    _trials: dict[bool, Trials | TargetError] = field(default_factory=dict)

    def hold(self, claim: Claim) -> Evidence:
        """Hold the trials against a claim; those that need the same counts share them.

        Raise TargetError if the mechanism fails; the same for every claim that needs these counts.
        """
        if claim.computed:
            raise TargetError(
                f"it has no exact law for these data, and {claim} is held against computed errors "
                "only"
            )
        if claim.means not in self._trials:
            try:
                self._trials[claim.means] = self._screen(means=claim.means)
            except TargetError as error:
                self._trials[claim.means] = error
        trials = self._trials[claim.means]
        if isinstance(trials, TargetError):
            raise trials
        bins = tuple(coding for coding in trials.codings if isinstance(coding, Bins))
        testers = [kind_of(point, self.target, bins) for point in claim.points]

        def clear(tester: Tester) -> float:
            """Return how clearly the worst cell exceeds a point, in standard deviations, or 0."""
            every = (c[:, :, query] for c in trials.screened.counts for query in range(c.shape[2]))
            return max(0.0, *(float(tester.rank(sides)[0].max()) for sides in every))

        tester = max(testers, key=clear) if len(testers) > 1 else testers[0]
        found = monte_carlo_evidence(
            tester, trials.groups, trials.screened, self.budget, trials.runner, self.progress
        )
        if len(testers) > 1:
            found = replace(found, point=tester.claim)
        cells, draws = self.accepted(claim), BASELINE_DRAWS * self.budget.draws
        again = certified_again(
            cells, trials.groups, trials.codings, self.target.labels, self.open_executor, draws
        )
        return replace(found, again=again) if again else found

    def _screen(self, *, means: bool) -> Trials:
        draws = self.budget.screening(self.groups), self.budget.draws // 2
        more = learned(self.target, self.groups, draws, self.open_executor, self.progress)
        groups = (*self.groups, *more)
        codings: tuple[Coding, ...] = (Labels(self.target.labels),) * len(groups)
        if self.target.numbers is not None and means:
            codings = (Rounded(*self.target.numbers),) * len(groups)
        elif self.target.numbers is not None:  # a pilot says where to cut
            pilot = self.open_executor(groups, (Pilot(),) * len(groups))
            places = range(len(groups))
            tasks = [Task(group=g, pair=None, phase="pilot", size=BLOCK) for g in places]
            codings = tuple(bins_from(quantiles) for quantiles in pilot.counts(tasks))
        runner = self.open_executor(groups, codings)
        screened = screen(runner, groups, self.budget, self.progress)
        return Trials(runner=runner, groups=groups, codings=codings, screened=screened)


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
    if tester.gamble(0) is None:  # nothing proven stops it early
        budget = replace(budget, stop_early=False)
    planned = replace(budget.spending(groups, profiled=tester.profiled), bounded=tester.bounded)
    certified = _certified(tester, groups, screened, budget, executor, planned, progress)
    return _bounded(tester, groups, budget, executor, planned, *certified)


def gross_evidence(
    tester: Tester,
    groups: tuple[PairGroup, ...],
    screened: Screened,
    budget: Budget,
    executor: Executor,
    progress: Progress,
) -> Evidence | None:
    """Bound one leak from ever more trials, until the bound refutes; None where it will not.

    Every look has a share of alpha of its own, so that the bounds of all looks hold together.
    """
    planned = replace(budget.spending(groups, profiled=tester.profiled), bounded=tester.bounded)
    certifier = _certifier(tester, groups, screened, budget, executor, planned, progress)
    (finalist,) = certifier.finalists

    def enough(trials: Certification) -> bool | None:
        """Say whether the bound refutes the claim; None where more trials promise little."""
        sides = trials.of(finalist)
        bound = tester.lower(finalist, *sides, planned.each_lower).value
        leak = tester.leak(*tester.seen(finalist, *sides))
        shrinks = math.sqrt(sum(size for _, size, _ in trials.lots) / budget.draws)
        later = leak - (leak - bound) * shrinks if math.isfinite(leak) else math.inf
        return True if bound > tester.promised else None if later <= tester.promised else False

    trials = certifier.grown(enough)
    if trials is None:
        return None
    how = budget, executor, planned, screened, [finalist], trials
    return _bounded(tester, groups, *how)


def _bounded(
    tester: Tester,
    groups: tuple[PairGroup, ...],
    budget: Budget,
    executor: Executor,
    planned: Spending,
    screened: Screened,
    finalists: list[Finalist],
    trials: Certification,
) -> Evidence:
    """Bound what the trials of finalists show, once the guards have looked at them."""
    spending, stopped = planned, trials.stopped
    if stopped is not None:
        spending = replace(planned, stopped=True)
        finalists = [_rechosen(each, tester, screened, trials, spending) for each in finalists]

    # the guards look at the queries whose counts enter a bound, and only then there are bounds
    guards = guards_over(executor, finalists, groups, screened, budget.alarm, trials)
    bounded: dict[Place, set[int]] = {}
    for each in finalists:
        for pair in (None, each.pair):
            bounded.setdefault((each.group, pair), set()).add(each.query)
    guards.varied(bounded)
    alphas = spending.each_lower, spending.each_upper
    certified = [tester.certified(each, *trials.of(each), alphas) for each in finalists]
    place = None if stopped is None else (stopped.group, stopped.pair, stopped.query)

    def badness(cell: Cell) -> tuple[bool, float]:
        """Order cells by lower bound, but first the one that an e-process refuted."""
        return (cell.group, cell.pair, cell.query) == place, cell.lower.value

    cells = tuple(
        _with_profile(max(some, key=badness), trials, tester, spending)
        for _, some in itertools.groupby(certified, key=attrgetter("group", "query"))
    )
    worst = max(cells, key=badness)
    guards.asked_again(worst.group, worst.pair)
    if stopped is not None or worst.lower.value > tester.promised:
        at = worst.group, worst.pair, worst.query
        suspect = next(each for each in finalists if each.place == at)

        def refutes(counts: Mapping[Place, NDArray[np.int64]]) -> bool:
            """Return whether counts of both sides refute the claim by themselves."""
            sides = Certification(counts=dict(counts), lots=()).of(suspect)
            bound = tester.lower(suspect, *sides, budget.alpha / len(LOOKS))
            return bound.value > tester.promised

        guards.confirmed(*at, refutes)
    screening = Screening(
        draws=min(budget.screening_of(groups)),
        pairs=max(len(group.pairs) for group in groups),
        finalists=budget.finalists(groups),
    )
    effort = CellEffort(n=budget.draws, alpha=planned.each_lower, screening=screening)
    sizes = zip(groups, screened.sizes, strict=True)
    screening_trials = sum((1 + len(group.pairs)) * n for group, n in sizes)
    return Evidence(
        mode="monte-carlo",
        lower=worst.lower,
        upper=_largest(finalists, certified, trials, tester, spending),
        cells=cells,
        worst=worst,
        groups=groups,
        sight=tester.sight(effort, finalists),
        trials=screening_trials + screened.certification_trials,
        alpha=budget.alpha,
        spending=spending,
        searched=searched(groups)
        | {"screening_trials": screened.draws, "certified_cells": len(certified)},
        table={
            "group": np.array([cell.group for cell in certified]),
            "pair": np.array([cell.pair for cell in certified]),
            "query": np.array([cell.query for cell in certified]),
            "direction": np.array([DIRECTIONS.index(cell.direction) for cell in certified]),
            "lower": np.array([cell.lower.value for cell in certified]),
            "upper": np.array([cell.upper.value for cell in certified]),
        },
        stopped=stopped,
        parts=trials.parts,
    )


def _certified(
    tester: Tester,
    groups: tuple[PairGroup, ...],
    screened: Screened,
    budget: Budget,
    executor: Executor,
    planned: Spending,
    progress: Progress,
) -> tuple[Screened, list[Finalist], Certification]:
    """Certify the finalists; of a screening in two parts, those of the first alone if that does."""
    how = budget, executor, planned, progress
    certifier, trials = _certifier(tester, groups, screened, *how), None
    if screened.left and budget.stop_early:
        trials = certifier.stopped_within(max(1, len(budget.lots) - 2))
    if trials is None:
        if screened.left:
            screened = screen_whole(executor, groups, screened, progress)
            certifier = _certifier(tester, groups, screened, *how)
        trials = certifier.certify()
    return screened, certifier.finalists, trials


def _certifier(
    tester: Tester,
    groups: tuple[PairGroup, ...],
    screened: Screened,
    budget: Budget,
    executor: Executor,
    planned: Spending,
    progress: Progress,
) -> Certifier:
    """Return what certifies the pairs that look worst after a screening."""
    each_query = budget.finalists(groups)
    finalists = [
        finalist
        for g, group in enumerate(groups)
        for query in range(len(group.queries))
        for finalist in _finalists(
            tester, screened, g, query, min(each_query, len(group.pairs)), planned, budget
        )
    ]
    return Certifier(
        executor=executor,
        finalists=finalists,
        screened=screened,
        sizes=budget.lots,
        spending=planned,
        progress=progress,
    )


def _finalists(
    tester: Tester,
    screened: Screened,
    group: int,
    query: int,
    number: int,
    spending: Spending,
    budget: Budget,
) -> list[Finalist]:
    """Return the pairs of a query that look worst, each in its worse direction."""
    sides = screened.counts[group][:, :, query]
    ranking, events = tester.rank(sides)
    looks = sum(counts.size for counts in screened.counts)
    found = []
    for pair in np.argsort(-ranking.max(axis=0), kind="stable")[:number].tolist():
        direction = int(ranking[:, pair].argmax())
        event = int(events[direction, pair])
        one, other = sides[direction, pair], sides[1 - direction, pair]
        bound, frequency = tester.apparent(event, one, other, looks)
        finalist = Finalist(
            group=group,
            pair=pair,
            query=query,
            direction=direction,
            event=event,
            apparent=bound,
            frequency=frequency,
            method=tester.choose(event, one, other, budget.draws, spending.each_lower),
            gamble=tester.gamble(event),
        )
        found.append(finalist)
    return found


def _rechosen(
    finalist: Finalist,
    tester: Tester,
    screened: Screened,
    trials: Certification,
    spending: Spending,
) -> Finalist:
    """Return a finalist with the test for as many fresh trials as there are, by its screening."""
    sides = screened.counts[finalist.group][:, finalist.pair, finalist.query]
    one, other = sides[finalist.direction], sides[1 - finalist.direction]
    n = sum(size for _, size, _ in trials.lots)
    method = tester.choose(finalist.event, one, other, n, spending.each_lower)
    return replace(finalist, method=method)


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
    one, other = (trials.counts[cell.group, pair][cell.query] for pair in (None, cell.pair))
    return replace(cell, profile=tester.profile(one, other, spending.each_profile))
