"""Monte Carlo mode: screen every pair, then certify the worst cell of each query on fresh trials."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.auditee import Auditee
from dpassay.bounds import Bound, Counts, loss_upper, plug_in, ranking_bound
from dpassay.claims import Claim
from dpassay.evidence import Cell, Evidence, event_labels
from dpassay.executors import Executor
from dpassay.lower_bounds import NAMES, Method, choose, lower_bound
from dpassay.plan import DIRECTIONS, Group, Progress, searched
from dpassay.power import detectable
from dpassay.shards import Task

SCREEN_ALPHA = 0.05
"""Cells are ranked by a lower bound at this level; it chases no tiny counts, and certifies nothing."""
MAX_UNION_LABELS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much is spent on one result.

    Parameters
    ----------
    draws : int
        Certification trials per side and finalist; the screening of all pairs together costs about as much again.
    alpha : float
        Error probability of the result: half of it for the lower bounds, half for the upper.
    seed : int
        Root seed.
    """

    draws: int
    alpha: float
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Finalist:
    """The cell of a query that is to be certified: place, direction, event and test, fixed before the certification trials."""

    group: int
    pair: int
    query: int
    direction: int
    event: NDArray[np.bool_]
    method: Method


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Screened:
    """Label counts of the screening trials of every group, which no claim has been held against yet.

    Parameters
    ----------
    draws : int
        Trials per dataset.
    counts : tuple of int array (2, P, q, K)
        Per group: side (base, neighbour), pair, query, label.
    certified : dict
        Counts of certification trials by (group, pair); filled as claims ask for them, the same for all.
    """

    draws: int
    counts: tuple[NDArray[np.int64], ...]
    certified: dict[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=dict)


def screen(executor: Executor, groups: tuple[Group, ...], budget: Budget, progress: Progress) -> Screened:
    """Run the screening trials of every pair: together about as many as the certification trials."""
    done, total = 0, sum(len(group.pairs) for group in groups)
    draws = int(np.clip(budget.draws * sum(len(group.queries) for group in groups) // total, 100, budget.draws))
    sides = [(g, pair) for g, group in enumerate(groups) for pair in (None, *range(len(group.pairs)))]
    drawn = executor.counts([Task(group=g, pair=pair, phase="screen", size=draws) for g, pair in sides])
    counts = []
    for group in groups:
        base = next(drawn)
        neighbours = np.empty((len(group.pairs), *base.shape), dtype=np.int64)
        for i in range(len(group.pairs)):
            neighbours[i] = next(drawn)
            done += 1
            progress("screening", done, total)
        counts.append(np.stack([np.broadcast_to(base, neighbours.shape), neighbours]))
    return Screened(draws=draws, counts=tuple(counts))


def monte_carlo_evidence(
    auditee: Auditee,
    claim: Claim,
    groups: tuple[Group, ...],
    screened: Screened,
    budget: Budget,
    executor: Executor,
    progress: Progress,
) -> Evidence:
    """Bound the loss from trials.

    The screening trials choose, for each query, the pair, direction and event with the largest lower bound, and the test
    that is to be expected to give the highest one. Fresh trials of those pairs certify them: lower bounds share alpha / 2
    among the queries (Bonferroni), the upper bound takes the other half (intersection-union over events, directions and
    certified cells).
    """
    events = event_masks(len(auditee.labels), claim.delta)
    cell_alpha = budget.alpha / 2 / sum(len(group.queries) for group in groups)
    finalists = [
        _finalist(screened, (g, query), events, claim.delta, cell_alpha, budget.draws)
        for g, group in enumerate(groups)
        for query in range(len(group.queries))
    ]
    _certify(executor, finalists, screened, budget, progress)
    cells = [_cell(finalist, screened, claim, auditee.labels, events, budget, cell_alpha) for finalist in finalists]
    worst = max(cells, key=lambda cell: cell.lower.value)
    certified_datasets = len(screened.certified) + len({g for g, _ in screened.certified})
    screened_datasets = sum(1 + len(group.pairs) for group in groups)
    return Evidence(
        mode="monte-carlo",
        lower=worst.lower,
        upper=max((cell.upper for cell in cells), key=lambda bound: bound.value),
        cells=tuple(cells),
        worst=worst,
        groups=groups,
        detectable=max(
            detectable(epsilon=claim.epsilon, delta=claim.delta, n=budget.draws, alpha=cell_alpha, method=method)
            for method in {finalist.method for finalist in finalists}
        ),
        trials=screened_datasets * screened.draws + certified_datasets * budget.draws,
        alpha=budget.alpha,
        searched=searched(groups) | {"screening_trials": screened.draws, "certified_cells": len(cells)},
        table=_table(cells),
    )


def event_masks(labels: int, delta: float) -> NDArray[np.int64]:
    """Return the events to look at, shape (events, K) of 0 and 1.

    Single labels suffice for delta = 0 and for two labels; else every subset, up to K = 10.
    """
    if delta == 0 or labels == 2 or labels > MAX_UNION_LABELS:
        return np.eye(labels, dtype=np.int64)
    subsets = itertools.product((0, 1), repeat=labels)
    return np.array([subset for subset in subsets if 0 < sum(subset) < labels], dtype=np.int64)


def _finalist(
    screened: Screened, place: tuple[int, int], events: NDArray[np.int64], delta: float, alpha: float, n: int
) -> Finalist:
    g, query = place
    sides = screened.counts[g][:, :, query] @ events.T
    ranking = ranking_bound(sides, screened.draws, sides[::-1], screened.draws, delta=delta, alpha=SCREEN_ALPHA)
    direction, pair, event = (int(k) for k in np.unravel_index(np.argmax(ranking), ranking.shape))
    x, y = (int(sides[side, pair, event]) for side in (direction, 1 - direction))
    method = choose(x, y, screened.draws, n, labels=events.shape[1], delta=delta, alpha=alpha)
    return Finalist(group=g, pair=pair, query=query, direction=direction, event=events[event].astype(bool), method=method)


def _certify(executor: Executor, finalists: list[Finalist], screened: Screened, budget: Budget, progress: Progress) -> None:
    """Draw fresh trials of every finalist's pair that has none yet; states are made anew, whatever the screening did to them."""
    wanted = sorted({(f.group, f.pair) for f in finalists} - set(screened.certified))
    by_group = [(g, [pair for _, pair in places]) for g, places in itertools.groupby(wanted, key=lambda place: place[0])]
    sides = [(g, pair) for g, pairs in by_group for pair in (None, *pairs)]
    drawn = executor.counts([Task(group=g, pair=pair, phase="certify", size=budget.draws) for g, pair in sides])
    done = 0
    for g, pairs in by_group:
        base = next(drawn)
        for pair in pairs:
            screened.certified[g, pair] = (base, next(drawn))
            done += 1
            progress("certifying", done, len(wanted))


def _cell(
    finalist: Finalist,
    screened: Screened,
    claim: Claim,
    labels: tuple[int, ...],
    events: NDArray[np.int64],
    budget: Budget,
    alpha: float,
) -> Cell:
    n = budget.draws
    sides = [counts[finalist.query] for counts in screened.certified[finalist.group, finalist.pair]]
    one, other = sides[finalist.direction], sides[1 - finalist.direction]
    counts = Counts(x=int(one[finalist.event].sum()), n1=n, y=int(other[finalist.event].sum()), n0=n)
    faces = [
        loss_upper(a @ events.T, n, b @ events.T, n, delta=claim.delta, alpha=budget.alpha / 2) for a, b in (sides, sides[::-1])
    ]
    complete = claim.delta == 0 or len(labels) <= MAX_UNION_LABELS
    return Cell(
        group=finalist.group,
        pair=finalist.pair,
        query=finalist.query,
        direction=DIRECTIONS[finalist.direction],
        event=event_labels(finalist.event, labels),
        p1=counts.x / n,
        p0=counts.y / n,
        lower=lower_bound(finalist.method, counts, delta=claim.delta, alpha=alpha),
        upper=Bound(
            value=float(np.max(faces)) if complete else np.inf,
            alpha=budget.alpha / 2,
            method=f"{NAMES['clopper-pearson']}, intersection-union over events and directions",
            counts=counts,
        ),
        estimate=plug_in(counts, claim.delta),
    )


def _table(cells: list[Cell]) -> dict[str, NDArray[np.generic]]:
    return {
        "group": np.array([cell.group for cell in cells]),
        "pair": np.array([cell.pair for cell in cells]),
        "query": np.array([cell.query for cell in cells]),
        "direction": np.array([DIRECTIONS.index(cell.direction) for cell in cells]),
        "lower": np.array([cell.lower.value for cell in cells]),
        "upper": np.array([cell.upper.value for cell in cells]),
    }
