"""Monte Carlo mode: screen every pair, then certify each query's worst cells on fresh trials."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.evidence import Cell, Evidence
from dpassay.engine.guards import Fresh, Guards, Place
from dpassay.engine.testers.interface import Looked, Tester
from dpassay.stats.alpha import Spending
from dpassay.stats.bounds import Bound
from dpassay.stats.health import ALARM
from dpassay.stats.power import Screening
from dpassay.targets.groups import DIRECTIONS, Group, Progress, searched
from dpassay.trials.blocks import Counts
from dpassay.trials.executors import Executor
from dpassay.trials.tasks import Task

LEAST_SCREENING = 100
FINALISTS = 4
"""So many cells are certified at least, if there are so many pairs; one per query where there are
more queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much is spent on one result.

    Parameters
    ----------
    draws : int
        Certification trials per side and finalist; the screening of all pairs together costs about
        as much again.
    alpha : float
        Error probability of the result.
    alarm : float
        Probability that the guards of the result fail by chance, at most.
    """

    draws: int
    alpha: float
    alarm: float = ALARM

    def finalists(self, groups: tuple[Group, ...]) -> int:
        """Pairs that are certified per query."""
        return max(1, -(-FINALISTS // sum(len(group.queries) for group in groups)))

    def screening(self, groups: tuple[Group, ...]) -> int:
        """Screening trials per dataset."""
        queries, pairs = (
            sum(len(group.queries) for group in groups),
            sum(len(group.pairs) for group in groups),
        )
        return int(
            np.clip(
                self.draws * queries * self.finalists(groups) // pairs, LEAST_SCREENING, self.draws
            )
        )

    def screening_of(self, groups: tuple[Group, ...]) -> tuple[int, ...]:
        """Screening trials per dataset of each group.

        More where a direction was learned, since all it has is one pair.
        """
        least = self.screening(groups)
        return tuple(
            max(least, self.draws // 4) if group.kind == "learned" else least for group in groups
        )

    def spending(self, groups: tuple[Group, ...], *, profiled: bool) -> Spending:
        """Where alpha goes."""
        each = self.finalists(groups)
        cells = sum(min(each, len(group.pairs)) * len(group.queries) for group in groups)
        return Spending(
            alpha=self.alpha,
            cells=cells,
            queries=sum(len(group.queries) for group in groups),
            profiled=profiled,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalist:
    """A cell that is to be certified.

    Place, direction, event and test, fixed before the certification trials.
    """

    group: int
    pair: int
    query: int
    direction: int
    event: int
    looked: Looked

    @property
    def method(self) -> Any:
        """The test."""
        return self.looked.method


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Screened:
    """Counts of the screening trials of every group, which no claim has been held against yet.

    Parameters
    ----------
    draws : int
        Trials per dataset, at least.
    counts : tuple of int array (2, P, q, K)
        Per group: side (base, neighbour), pair, query, symbol.
    certified : dict
        Counts of certification trials by (group, pair); filled as claims ask for them, the same for
        all.
    calls : dict
        The same call by call, by dataset.
    fresh : dict
        What the guards have drawn besides.
    """

    draws: int
    counts: tuple[NDArray[np.int64], ...]
    certified: dict[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.int64]]] = field(
        default_factory=dict
    )
    calls: dict[Place, Counts] = field(default_factory=dict)
    fresh: Fresh = field(default_factory=dict)

    def of(self, place: Place) -> NDArray[np.int64]:
        """Counts (q, K) of the screening trials of a dataset."""
        g, pair = place
        found: NDArray[np.int64] = self.counts[g][0, 0] if pair is None else self.counts[g][1, pair]
        return found


def screen(
    executor: Executor, groups: tuple[Group, ...], budget: Budget, progress: Progress
) -> Screened:
    """Run the screening trials of every pair.

    Together about as many as the certification trials.
    """
    done, total, draws = 0, sum(len(group.pairs) for group in groups), budget.screening_of(groups)
    sides = [
        (g, pair) for g, group in enumerate(groups) for pair in (None, *range(len(group.pairs)))
    ]
    drawn = executor.counts(
        [Task(group=g, pair=pair, phase="screen", size=draws[g]) for g, pair in sides]
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
    return Screened(draws=min(draws), counts=tuple(counts))


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
    spending, each = budget.spending(groups, profiled=tester.profiled), budget.finalists(groups)
    finalists = [
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
    _certify(executor, finalists, screened, budget, progress)
    guards = _guards(executor, finalists, groups, screened, budget)
    guards.varied()
    certified = [_cell(finalist, screened, tester, spending) for finalist in finalists]
    by_query = [
        list(cells)
        for _, cells in itertools.groupby(certified, key=lambda cell: (cell.group, cell.query))
    ]
    worst_first = [max(cells, key=lambda cell: cell.lower.value) for cells in by_query]
    cells = tuple(_with_profile(cell, screened, tester, spending) for cell in worst_first)
    worst = max(cells, key=lambda cell: cell.lower.value)
    guards.asked_again(worst.group, worst.pair)
    if worst.lower.value > tester.promised:
        guards.confirmed(worst.group, worst.pair)
    certified_datasets = len(screened.certified) + len({g for g, _ in screened.certified})
    screening_trials = sum(
        (1 + len(group.pairs)) * n
        for group, n in zip(groups, budget.screening_of(groups), strict=True)
    )
    screening = Screening(
        draws=screened.draws, pairs=max(len(group.pairs) for group in groups), finalists=each
    )
    return Evidence(
        mode="monte-carlo",
        lower=worst.lower,
        upper=_largest(finalists, certified, screened, tester, spending),
        cells=cells,
        worst=worst,
        groups=groups,
        sight=tester.sight(
            [f.looked for f in finalists], budget.draws, spending.each_lower, screening
        ),
        trials=screening_trials + certified_datasets * budget.draws,
        alpha=budget.alpha,
        spending=spending,
        searched=searched(groups)
        | {"screening_trials": screened.draws, "certified_cells": len(certified)},
        table=_table(certified),
    )


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
                group=g, pair=pair, query=query, direction=direction, event=event, looked=looked
            )
        )
    return found


def _certify(
    executor: Executor,
    finalists: list[Finalist],
    screened: Screened,
    budget: Budget,
    progress: Progress,
) -> None:
    """Draw fresh trials of every finalist's pair that has none yet.

    States are made anew, whatever the screening did to them.
    """
    wanted = sorted({(f.group, f.pair) for f in finalists} - set(screened.certified))
    by_group = [
        (g, [pair for _, pair in places])
        for g, places in itertools.groupby(wanted, key=lambda place: place[0])
    ]
    sides = [(g, pair) for g, pairs in by_group for pair in (None, *pairs)]
    drawn = executor.drawn(
        [Task(group=g, pair=pair, phase="certify", size=budget.draws) for g, pair in sides]
    )
    done = 0
    for g, pairs in by_group:
        base = screened.calls[g, None] = next(drawn)
        for pair in pairs:
            neighbour = screened.calls[g, pair] = next(drawn)
            screened.certified[g, pair] = base.calls.sum(axis=0), neighbour.calls.sum(axis=0)
            done += 1
            progress("certifying", done, len(wanted))


def _guards(
    executor: Executor,
    finalists: list[Finalist],
    groups: tuple[Group, ...],
    screened: Screened,
    budget: Budget,
) -> Guards:
    """Set the guards over all that has been drawn to certify these finalists."""
    places: set[Place] = {(f.group, pair) for f in finalists for pair in (None, f.pair)}
    ordered = [place for place in screened.calls if place in places]
    return Guards(
        groups=groups,
        executor=executor,
        draws=budget.draws,
        alarm=budget.alarm,
        screened={place: screened.of(place) for place in ordered},
        certified={place: screened.calls[place] for place in ordered},
        fresh=screened.fresh,
    )


def _cell(finalist: Finalist, screened: Screened, tester: Tester, spending: Spending) -> Cell:
    one, other = _certified(finalist, screened)
    found = tester.certify(
        finalist.event, finalist.method, one, other, (spending.each_lower, spending.each_upper)
    )
    return Cell(
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


def _certified(
    finalist: Finalist, screened: Screened
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the certification counts of a cell, in its direction."""
    base, neighbour = (
        counts[finalist.query] for counts in screened.certified[finalist.group, finalist.pair]
    )
    return (neighbour, base) if finalist.direction else (base, neighbour)


def _largest(
    finalists: list[Finalist],
    cells: list[Cell],
    screened: Screened,
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
            one, other = _certified(finalist, screened)
            found = tester.upper(finalist.method, one, other, spending.largest_upper, found)
    return replace(
        cells[0].upper, value=found, alpha=spending.largest_upper, counts=None, histograms=None
    )


def _with_profile(cell: Cell, screened: Screened, tester: Tester, spending: Spending) -> Cell:
    one, other = (counts[cell.query] for counts in screened.certified[cell.group, cell.pair])
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
