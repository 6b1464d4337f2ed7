"""Monte Carlo mode: screen every pair, then certify the worst cell of each query on fresh trials."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.auditee import Auditee
from dpassay.bounds import CLOPPER_PEARSON, Bound, Counts, loss_lower, loss_upper, ranking_bound
from dpassay.claims import Claim
from dpassay.evidence import Cell, Evidence, event_labels
from dpassay.plan import DIRECTIONS, Group, Progress, searched
from dpassay.power import detectable
from dpassay.trials import draw

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
    """The cell of a query that is to be certified: place, direction and event, fixed before the certification trials."""

    group: int
    pair: int
    query: int
    direction: int
    event: NDArray[np.bool_]


def monte_carlo_evidence(
    auditee: Auditee, claim: Claim, groups: tuple[Group, ...], budget: Budget, progress: Progress
) -> Evidence:
    """Bound the loss from trials.

    Screening trials of every pair choose, for each query, the pair, direction and event with the largest lower bound.
    Fresh trials of those pairs certify them: lower bounds share alpha / 2 among the queries (Bonferroni), the upper bound
    takes the other half (intersection-union over events, directions and certified cells).
    """
    events = event_masks(len(auditee.labels), claim.delta)
    finalists: list[Finalist] = []
    states = []
    trials, done, total = 0, 0, sum(len(group.pairs) for group in groups)
    screen_draws = int(np.clip(budget.draws * sum(len(group.queries) for group in groups) // total, 100, budget.draws))
    for g, group in enumerate(groups):
        state = auditee.prepare(group.pairs.base)
        states.append(state)
        base = draw(auditee, state, group, None, screen_draws, phase="screen", seed=budget.seed)
        ranking = np.empty((len(group.pairs), 2, len(group.queries), len(events)))
        for i, change in enumerate(group.pairs.changes):
            neighbour = auditee.neighbour(group.pairs.base, state, change)
            counts = draw(auditee, neighbour, group, change, screen_draws, phase="screen", seed=budget.seed)
            for direction, (one, other) in enumerate(((base, counts), (counts, base))):
                ranking[i, direction] = ranking_bound(
                    one @ events.T, screen_draws, other @ events.T, screen_draws, delta=claim.delta, alpha=SCREEN_ALPHA
                )
            done += 1
            progress("screening", done, total)
        trials += screen_draws * (1 + len(group.pairs))
        for query in range(len(group.queries)):
            at_query = ranking[:, :, query]
            pair, direction, event = (int(k) for k in np.unravel_index(np.argmax(at_query), at_query.shape))
            finalists.append(Finalist(group=g, pair=pair, query=query, direction=direction, event=events[event].astype(bool)))
    cells, certify_trials = _certify(auditee, claim, groups, states, budget, finalists, events, progress)
    cell_alpha = budget.alpha / 2 / len(finalists)
    worst = max(cells, key=lambda cell: cell.lower.value)
    return Evidence(
        mode="monte-carlo",
        lower=worst.lower,
        upper=max((cell.upper for cell in cells), key=lambda bound: bound.value),
        cells=tuple(cells),
        worst=worst,
        groups=groups,
        detectable=detectable(epsilon=claim.epsilon, delta=claim.delta, n=budget.draws, alpha=cell_alpha),
        trials=trials + certify_trials,
        alpha=budget.alpha,
        searched=searched(groups) | {"screening_trials": screen_draws, "certified_cells": len(cells)},
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


def _certify(
    auditee: Auditee,
    claim: Claim,
    groups: tuple[Group, ...],
    states: list[Any],
    budget: Budget,
    finalists: list[Finalist],
    events: NDArray[np.int64],
    progress: Progress,
) -> tuple[list[Cell], int]:
    cell_alpha, n = budget.alpha / 2 / len(finalists), budget.draws
    complete = claim.delta == 0 or len(auditee.labels) <= MAX_UNION_LABELS
    cells, trials, done = [], 0, 0
    wanted = sorted({(f.group, f.pair) for f in finalists})
    counted: dict[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
    for g, places in itertools.groupby(wanted, key=lambda place: place[0]):
        group, state = groups[g], states[g]
        base = draw(auditee, state, group, None, n, phase="certify", seed=budget.seed)
        trials += n
        for _, pair in places:
            change = group.pairs.changes[pair]
            neighbour = auditee.neighbour(group.pairs.base, state, change)
            counted[g, pair] = (base, draw(auditee, neighbour, group, change, n, phase="certify", seed=budget.seed))
            trials += n
            done += 1
            progress("certifying", done, len(wanted))
    for finalist in finalists:
        sides = [counts[finalist.query] for counts in counted[finalist.group, finalist.pair]]
        one, other = sides[finalist.direction], sides[1 - finalist.direction]
        x, y = int(one[finalist.event].sum()), int(other[finalist.event].sum())
        counts = Counts(x=x, n1=n, y=y, n0=n)
        faces = [
            loss_upper(a @ events.T, n, b @ events.T, n, delta=claim.delta, alpha=budget.alpha / 2)
            for a, b in (sides, sides[::-1])
        ]
        lower = float(loss_lower(x, n, y, n, delta=claim.delta, alpha=cell_alpha))
        cells.append(
            Cell(
                group=finalist.group,
                pair=finalist.pair,
                query=finalist.query,
                direction=DIRECTIONS[finalist.direction],
                event=event_labels(finalist.event, auditee.labels),
                p1=x / n,
                p0=y / n,
                lower=Bound(value=lower, alpha=cell_alpha, method=CLOPPER_PEARSON, counts=counts),
                upper=Bound(
                    value=float(np.max(faces)) if complete else np.inf,
                    alpha=budget.alpha / 2,
                    method=f"{CLOPPER_PEARSON}, intersection-union over events and directions",
                    counts=counts,
                ),
            )
        )
    return cells, trials


def _table(cells: list[Cell]) -> dict[str, NDArray[np.generic]]:
    return {
        "group": np.array([cell.group for cell in cells]),
        "pair": np.array([cell.pair for cell in cells]),
        "query": np.array([cell.query for cell in cells]),
        "direction": np.array([DIRECTIONS.index(cell.direction) for cell in cells]),
        "lower": np.array([cell.lower.value for cell in cells]),
        "upper": np.array([cell.upper.value for cell in cells]),
    }
