"""Monte Carlo mode: screen every pair, then certify each query's worst cells on fresh trials."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.budget import Budget
from dpassay.engine.certification import (
    Certification,
    Certifier,
    Screened,
    guards_over,
    screen_whole,
)
from dpassay.engine.early import Stopped
from dpassay.engine.evidence import Cell, Evidence
from dpassay.engine.guards import LOOKS, Place
from dpassay.engine.testers.interface import CellEffort, Finalist, Tester
from dpassay.stats.alpha import Spending
from dpassay.stats.bounds import Bound
from dpassay.stats.power import Screening
from dpassay.targets.groups import DIRECTIONS, PairGroup, Progress, searched
from dpassay.trials.executors import Executor


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
    spending = replace(budget.spending(groups, profiled=tester.profiled), bounded=tester.bounded)
    choose = partial(_chosen, tester, groups, budget, spending.each_lower)
    screened, finalists, trials = _certified(
        executor, groups, screened, budget, spending, choose, progress
    )
    planned, stopped = spending, trials.stopped
    if stopped is not None:
        spending = replace(spending, stopped=True)
        finalists = [_rechosen(each, tester, screened, trials, spending) for each in finalists]
    guards = guards_over(executor, finalists, groups, screened, budget.alarm, trials)
    guards.varied(_bounded(finalists))
    alphas = spending.each_lower, spending.each_upper
    certified = [tester.certified(each, *trials.of(each), alphas) for each in finalists]
    badness = _badness(stopped)
    cells = tuple(
        _with_profile(max(cells, key=badness), trials, tester, spending)
        for _, cells in itertools.groupby(certified, key=attrgetter("group", "query"))
    )
    worst = max(cells, key=badness)
    guards.asked_again(worst.group, worst.pair)
    if stopped is not None or worst.lower.value > tester.promised:
        found = next(
            each for each in finalists if each.place == (worst.group, worst.pair, worst.query)
        )
        refutes = partial(_refutes, found, tester, budget.alpha / len(LOOKS))
        guards.confirmed(*found.place, refutes)
    effort = CellEffort(
        n=budget.draws,
        alpha=planned.each_lower,
        screening=Screening(
            draws=min(budget.screening_of(groups)),
            pairs=max(len(group.pairs) for group in groups),
            finalists=budget.finalists(groups),
        ),
    )
    sizes = zip(groups, screened.sizes, strict=True)
    screening_trials = sum((1 + len(group.pairs)) * n for group, n in sizes)
    return Evidence(
        mode="monte-carlo",
        lower=worst.lower,
        upper=_largest(finalists, certified, trials, tester, spending),
        cells=cells,
        worst=worst,
        groups=groups,
        sight=tester.sight(finalists, effort),
        trials=screening_trials + screened.certification_trials,
        alpha=budget.alpha,
        spending=spending,
        searched=searched(groups)
        | {"screening_trials": screened.draws, "certified_cells": len(certified)},
        table=_table(certified),
        stopped=stopped,
        parts=trials.parts,
    )


def _chosen(
    tester: Tester, groups: tuple[PairGroup, ...], budget: Budget, alpha: float, screened: Screened
) -> list[Finalist]:
    """Choose the finalists of every query."""
    each = budget.finalists(groups)
    return [
        finalist
        for g, group in enumerate(groups)
        for query in range(len(group.queries))
        for finalist in _finalists(
            tester, screened, (g, query), min(each, len(group.pairs)), alpha, budget.draws
        )
    ]


def _certified(
    executor: Executor,
    groups: tuple[PairGroup, ...],
    screened: Screened,
    budget: Budget,
    spending: Spending,
    choose: Callable[[Screened], list[Finalist]],
    progress: Progress,
) -> tuple[Screened, list[Finalist], Certification]:
    """Certify the finalists; of a screening in two parts, those of the first alone if that does."""
    certifier = Certifier(
        executor=executor,
        finalists=choose(screened),
        screened=screened,
        sizes=budget.lots,
        spending=spending,
        progress=progress,
    )
    if screened.left and budget.stop_early:
        trials = certifier.stopped_within(max(1, len(budget.lots) - 2))
        if trials is not None:
            return screened, certifier.finalists, trials
    if screened.left:
        screened = screen_whole(executor, groups, screened, progress)
        certifier = replace(certifier, screened=screened, finalists=choose(screened))
    return screened, certifier.finalists, certifier.certify()


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
        found.append(
            Finalist(
                group=g,
                pair=pair,
                query=query,
                direction=direction,
                event=event,
                apparent=bound,
                frequency=frequency,
                method=tester.choose(event, one, other, n, alpha),
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
    return replace(finalist, method=method)


def _refutes(
    finalist: Finalist, tester: Tester, alpha: float, counts: Mapping[Place, NDArray[np.int64]]
) -> bool:
    """Return whether counts of both sides of a finalist refute the claim by themselves."""
    sides = Certification(counts=dict(counts), lots=()).of(finalist)
    return tester.lower(finalist, *sides, alpha).value > tester.promised


def _largest(
    finalists: list[Finalist],
    cells: list[Cell],
    trials: Certification,
    tester: Tester,
    spending: Spending,
) -> Bound:
    """Bound the largest leak of all certified cells from above, by one test at undivided alpha."""
    found = 0.0
    for finalist, cell in sorted(
        zip(finalists, cells, strict=True), key=lambda both: -both[1].upper.value
    ):
        if cell.upper.value > found:  # else it cannot be the largest at a larger alpha either
            found = tester.upper(finalist, *trials.of(finalist), spending.largest_upper, found)
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
