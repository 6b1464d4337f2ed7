"""Monte Carlo mode: screen every pair, then certify each query's worst cells on fresh trials."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.claims import Claim
from dpassay.engine.certification import (
    Certification,
    Finalist,
    Screened,
    certify,
    guards_over,
    stopped_within,
)
from dpassay.engine.early import Stopped, lots
from dpassay.engine.evidence import Cell, Evidence
from dpassay.engine.guards import Place
from dpassay.engine.testers.interface import Drawn, Looked, Tester
from dpassay.stats.alpha import Spending
from dpassay.stats.bounds import Bound
from dpassay.stats.health import ALARM
from dpassay.stats.power import Screening
from dpassay.targets.groups import DIRECTIONS, Group, Progress, searched
from dpassay.targets.guard import AuditTarget
from dpassay.trials.executors import Executor
from dpassay.trials.tasks import Task

LEAST_SCREENING = 100
SURE = 1.645
"""A standard normal variable is above minus this with probability 0.95."""
HALF_LINES = 4
"""The half-lines of a number err as so many independent events do, about."""
FIRST = 16
"""The first part of a screening in two parts is so many times smaller than the whole."""
FINALISTS = 4
"""So many cells are certified at least, if there are so many pairs; one per query where there are
more queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much is spent on one result.

    Parameters
    ----------
    draws : int
        Certification trials per side and finalist; the screening of all pairs together costs as
        much again at most, and a tenth of it where there is next to nothing to choose.
    alpha : float
        Error probability of the result.
    alarm : float
        Probability that the guards of the result fail by chance, at most.
    stop_early : bool
        Whether a claim may be refuted before all certification trials are drawn.
    events : int
        About so many events that err independently are looked at in a pair.
    """

    draws: int
    alpha: float
    alarm: float = ALARM
    stop_early: bool = False
    events: int = 2

    @property
    def lots(self) -> tuple[int, ...]:
        """Into what lots the certification trials are cut."""
        return lots(self.draws, early=self.stop_early)

    def about(self, claim: Claim) -> Budget:
        """Return what is spent on a claim; one about means runs on, nothing proven stops it."""
        return replace(self, stop_early=self.stop_early and claim.stops_early)

    def of(self, target: AuditTarget) -> Budget:
        """Return what is spent on a mechanism: as many events as it has labels."""
        return replace(self, events=len(target.labels) if target.numbers is None else HALF_LINES)

    def finalists(self, groups: tuple[Group, ...]) -> int:
        """Pairs that are certified per query."""
        return max(1, -(-FINALISTS // sum(len(group.queries) for group in groups)))

    def screening(self, groups: tuple[Group, ...]) -> int:
        """Screening trials per dataset.

        As many as choosing takes, but no more than make all of them about as many as the
        certification trials. A leak that n trials at error probability a refute with a probability
        of 0.95 lies (z_a + z_.05) standard errors above the claim. In s trials these are less by
        the factor sqrt(s / n), and must exceed the highest of all other events that just keep the
        claim, at about the quantile q of as many as there are for each finalist: hence

            s / n = ((q + z_.05) / (z_a + z_.05))^2,

        a tenth where there are two events of few pairs. It is about where the trials of the whole
        audit are fewest for the same `detectable` (docs/statistics.md has them).
        """
        queries, pairs = (
            sum(len(group.queries) for group in groups),
            sum(len(group.pairs) for group in groups),
        )
        finalists = self.finalists(groups)
        rivals = max(2.0, self.events * pairs / min(finalists, pairs))
        cells = queries * min(finalists, pairs)
        lead, needed = (-float(ndtri(share)) for share in (1 / rivals, self.alpha / cells))
        part = ((lead + SURE) / (max(lead, needed) + SURE)) ** 2
        most = min(1.0, queries * finalists / pairs)
        return max(min(LEAST_SCREENING, self.draws), int(self.draws * min(part, most)))

    def screening_of(self, groups: tuple[Group, ...]) -> tuple[int, ...]:
        """Screening trials per dataset of each group.

        More where a direction was learned, since all it has is one pair.
        """
        least = self.screening(groups)
        return tuple(
            max(least, self.draws // 4) if group.kind == "learned" else least for group in groups
        )

    def screening_lots(self, groups: tuple[Group, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Screening trials per dataset of each group: of the first part, and of the rest.

        There are two parts where trials may end early and every pair is certified anyway. Then the
        screening chooses events and directions alone, and its first part finds gross leaks; a first
        round of looks at the certification costs nothing, as its trials are drawn in any case.
        """
        whole, each = self.screening_of(groups), self.finalists(groups)
        first = tuple(max(LEAST_SCREENING, n // FIRST) for n in whole)
        split = len(self.lots) > 1 and all(len(group.pairs) <= each for group in groups)
        if not (split and all(n < most for n, most in zip(first, whole, strict=True))):
            return whole, ()
        return first, tuple(most - n for n, most in zip(first, whole, strict=True))

    def spending(self, groups: tuple[Group, ...], *, profiled: bool) -> Spending:
        """Where alpha goes."""
        each = self.finalists(groups)
        cells = sum(min(each, len(group.pairs)) * len(group.queries) for group in groups)
        return Spending(
            alpha=self.alpha,
            cells=cells,
            queries=sum(len(group.queries) for group in groups),
            profiled=profiled,
            looks=len(self.lots),
            rounds=2 if self.screening_lots(groups)[1] else 1,
        )


def screen(
    executor: Executor, groups: tuple[Group, ...], budget: Budget, progress: Progress
) -> Screened:
    """Run the screening trials of every pair, or the first part of them."""
    first, left = budget.screening_lots(groups)
    counts = _screening(executor, groups, first, 0, progress)
    return Screened(sizes=first, counts=counts, left=left)


def _whole(
    executor: Executor, groups: tuple[Group, ...], screened: Screened, progress: Progress
) -> Screened:
    """Run the screening trials that are left, once for all claims."""
    if not screened.whole:
        more = _screening(executor, groups, screened.left, 1, progress)
        screened.whole.append(
            replace(
                screened,
                sizes=tuple(map(sum, zip(screened.sizes, screened.left, strict=True))),
                counts=tuple(map(np.add, screened.counts, more)),
                left=(),
            )
        )
    return screened.whole[0]


def _screening(
    executor: Executor,
    groups: tuple[Group, ...],
    sizes: tuple[int, ...],
    lot: int,
    progress: Progress,
) -> tuple[NDArray[np.int64], ...]:
    """Return the counts of a lot of screening trials; see `Screened`."""
    done, total = 0, sum(len(group.pairs) for group in groups)
    sides = [
        (g, pair) for g, group in enumerate(groups) for pair in (None, *range(len(group.pairs)))
    ]
    drawn = executor.counts(
        [Task(group=g, pair=pair, phase="screen", size=sizes[g], lot=lot) for g, pair in sides]
    )
    counts = []
    for group in groups:
        base = next(drawn)
        neighbours = np.empty((len(group.pairs), *base.shape), dtype=np.int64)
        for i in range(len(group.pairs)):
            neighbours[i] = next(drawn)
            done += 1
            progress("screening", done, total)
        counts.append(np.stack([np.broadcast_to(base, neighbours.shape), neighbours]))
    return tuple(counts)


def monte_carlo_evidence(
    tester: Tester,
    groups: tuple[Group, ...],
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
    spending = replace(budget.spending(groups, profiled=tester.profiled), bounded=tester.bounded)
    each = budget.finalists(groups)

    def chosen(screened: Screened) -> list[Finalist]:
        """Choose the finalists of every query."""
        return [
            finalist
            for g, group in enumerate(groups)
            for query in range(len(group.queries))
            for finalist in _finalists(
                tester,
                screened,
                (g, query),
                min(each, len(group.pairs)),
                spending.each_lower,
                budget.draws,
            )
        ]

    finalists, sizes, trials = chosen(screened), budget.lots, None
    if screened.left and budget.stop_early:
        looks = max(1, len(sizes) - 2)
        trials = stopped_within(executor, finalists, screened, sizes, looks, spending, progress)
    if trials is None:
        if screened.left:
            screened = _whole(executor, groups, screened, progress)
            finalists = chosen(screened)
        trials = certify(executor, finalists, screened, sizes, spending, progress)
    planned, stopped = spending, trials.stopped
    if stopped is not None:
        spending = replace(spending, stopped=True)
        finalists = [_rechosen(each, tester, screened, trials, spending) for each in finalists]
    guards = guards_over(executor, finalists, groups, screened, budget.alarm, trials)
    guards.varied(_bounded(finalists))
    certified = _cells(finalists, trials, tester, spending)
    by_query = [
        list(cells)
        for _, cells in itertools.groupby(certified, key=lambda cell: (cell.group, cell.query))
    ]
    badness = _badness(stopped)
    worst_first = [max(cells, key=badness) for cells in by_query]
    cells = tuple(_with_profile(cell, trials, tester, spending) for cell in worst_first)
    worst = max(cells, key=badness)
    guards.asked_again(worst.group, worst.pair)
    if stopped is not None or worst.lower.value > tester.promised:
        guards.confirmed(worst.group, worst.pair)
    screening_trials = sum(
        (1 + len(group.pairs)) * n for group, n in zip(groups, screened.sizes, strict=True)
    )
    screening = Screening(
        draws=min(budget.screening_of(groups)),
        pairs=max(len(group.pairs) for group in groups),
        finalists=each,
    )
    return Evidence(
        mode="monte-carlo",
        lower=worst.lower,
        upper=_largest(finalists, certified, trials, tester, spending),
        cells=cells,
        worst=worst,
        groups=groups,
        sight=tester.sight(
            [f.looked for f in finalists], budget.draws, planned.each_lower, screening
        ),
        trials=screening_trials + screened.certification_trials,
        alpha=budget.alpha,
        spending=spending,
        searched=searched(groups)
        | {"screening_trials": screened.draws, "certified_cells": len(certified)},
        table=_table(certified),
        stopped=stopped,
        parts=trials.parts,
    )


def _bounded(finalists: list[Finalist]) -> dict[Place, set[int]]:
    """Return at which queries counts of each dataset enter a bound."""
    found: dict[Place, set[int]] = {}
    for finalist in finalists:
        for pair in (None, finalist.pair):
            found.setdefault((finalist.group, pair), set()).add(finalist.query)
    return found


def _badness(stopped: Stopped | None) -> Callable[[Cell], tuple[bool, float]]:
    """Return what orders cells: by lower bound, but first the one that an e-process refuted."""
    place = None if stopped is None else (stopped.group, stopped.pair, stopped.query)
    return lambda cell: ((cell.group, cell.pair, cell.query) == place, cell.lower.value)


def _finalists(
    tester: Tester, screened: Screened, place: tuple[int, int], number: int, alpha: float, n: int
) -> list[Finalist]:
    """Return the pairs of a query that look worst, each in its worse direction."""
    g, query = place
    sides = screened.counts[g][:, :, query]
    ranking, events = tester.rank(sides)
    looks = sum(counts.size for counts in screened.counts)
    found = []
    for pair in np.argsort(-ranking.max(axis=0), kind="stable")[:number].tolist():
        direction = int(ranking[:, pair].argmax())
        event = int(events[direction, pair])
        one, other = sides[direction, pair], sides[1 - direction, pair]
        bound, frequency = tester.apparent(event, one, other, looks)
        looked = Looked(
            apparent=bound, frequency=frequency, method=tester.choose(event, one, other, n, alpha)
        )
        found.append(
            Finalist(
                group=g,
                pair=pair,
                query=query,
                direction=direction,
                event=event,
                looked=looked,
                gamble=tester.gamble(event),
            )
        )
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
    return replace(finalist, looked=replace(finalist.looked, method=method))


def _cells(
    finalists: list[Finalist], trials: Certification, tester: Tester, spending: Spending
) -> list[Cell]:
    """Certify every finalist."""
    drawn = [Drawn(each.event, each.method, *trials.of(each)) for each in finalists]
    bounds = tester.certify(drawn, (spending.each_lower, spending.each_upper))
    return [
        Cell(
            group=finalist.group,
            pair=finalist.pair,
            query=finalist.query,
            direction=DIRECTIONS[finalist.direction],
            event=tester.event(finalist.event, finalist.group, finalist.query),
            p1=found.p1,
            p0=found.p0,
            lower=found.lower,
            upper=found.upper,
            estimate=found.estimate,
        )
        for finalist, found in zip(finalists, bounds, strict=True)
    ]


def _largest(
    finalists: list[Finalist],
    cells: list[Cell],
    trials: Certification,
    tester: Tester,
    spending: Spending,
) -> Bound:
    """Bound the largest leak of all certified cells from above.

    By one test over all of them, at an undivided alpha.
    """
    found = 0.0
    for finalist, cell in sorted(
        zip(finalists, cells, strict=True), key=lambda both: -both[1].upper.value
    ):
        if cell.upper.value > found:  # else it cannot be the largest at a larger alpha either
            one, other = trials.of(finalist)
            found = tester.upper(finalist.method, one, other, spending.largest_upper, found)
    return replace(
        cells[0].upper, value=found, alpha=spending.largest_upper, counts=None, histograms=None
    )


def _with_profile(cell: Cell, trials: Certification, tester: Tester, spending: Spending) -> Cell:
    one, other = (trials.counts[cell.group, pair][cell.query] for pair in (None, cell.pair))
    return replace(cell, profile=tester.profile(one, other, spending.each_profile))


def _table(cells: list[Cell]) -> dict[str, NDArray[np.generic]]:
    return {
        "group": np.array([cell.group for cell in cells]),
        "pair": np.array([cell.pair for cell in cells]),
        "query": np.array([cell.query for cell in cells]),
        "direction": np.array([DIRECTIONS.index(cell.direction) for cell in cells]),
        "lower": np.array([cell.lower.value for cell in cells]),
        "upper": np.array([cell.upper.value for cell in cells]),
    }
