"""Exact mode: the true leak of every cell, from the mechanism's own law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.auditee import Auditee
from dpassay.bounds import EXACT_LAW, Bound, Computed
from dpassay.claims import DP, Claim
from dpassay.codings import Labels
from dpassay.errors import AuditeeError
from dpassay.evidence import AnySize, Cell, Evidence, Fit, event_labels
from dpassay.laws import FiniteLaw, Law, PointLaw
from dpassay.loss import Loss
from dpassay.plan import DIRECTIONS, Group, Progress, searched
from dpassay.profile import exact_profile, grid_for
from dpassay.scales import ExactLeak, exact_leak
from dpassay.seeds import stream
from dpassay.trials import draw

FIT_DRAWS = 2000
POINT_DRAWS = 10
POINT_ROUNDING = 1e-9
"""Predictions without coins are drawn so often, and must agree with the law up to this part of themselves."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Laws:
    """Laws of one group: the base dataset and each of its P neighbours, at q queries.

    Parameters
    ----------
    base : array (q, K)
    neighbours : array (P, q, K)
        Log-probabilities of labels; predictions (K = 1) where there are no coins.
    error : float
        Bound on the numerical error of each of them.
    """

    base: NDArray[np.float64]
    neighbours: NDArray[np.float64]
    error: float


def group_laws(auditee: Auditee, group: Group, progress: Progress) -> Laws | None:
    """Compute the law of every dataset of a group, retraining only what each change touches.

    Returns
    -------
    Laws or None
        None where the mechanism has no exact law for these data.
    """
    base, changes = group.pairs.base, group.pairs.changes
    state = auditee.prepare(base)
    law = auditee.law(state, group.queries, "the base dataset")
    if law is None:
        return None
    error, rows = law.error, np.empty((len(changes), *law.table.shape))
    for i, change in enumerate(changes):
        neighbour = auditee.law(auditee.neighbour(base, state, change), group.queries, f"the neighbour with {change}")
        if neighbour is None:
            return None
        rows[i], error = neighbour.table, max(error, neighbour.error)
        if i == 0:
            _same_from_scratch(auditee, group, neighbour)
        progress("pairs", i + 1, len(changes))
    return Laws(base=law.table, neighbours=rows, error=error)


def _same_from_scratch(auditee: Auditee, group: Group, updated: Law) -> None:
    """Raise `AuditeeError` if the first neighbour has another law when it is prepared from scratch than by `update`."""
    change = group.pairs.changes[0]
    where = f"the neighbour with {change}"
    law = auditee.law(auditee.prepare(change.apply(group.pairs.base)), group.queries, where)
    if law is None or np.abs(_numbers(law) - _numbers(updated)).max() > 2 * max(law.error, updated.error):
        raise AuditeeError(f"update and prepare disagree on {where}: their laws differ")


def _numbers(law: Law) -> NDArray[np.float64]:
    return law.p if isinstance(law, FiniteLaw) else law.values


def exact_evidence(
    auditee: Auditee, claim: Claim, groups: tuple[Group, ...], laws: tuple[Laws, ...], fit: Fit | None
) -> Evidence:
    """Hold the exact laws of all groups against a claim.

    Parameters
    ----------
    auditee, claim
        What is audited, and against what.
    groups, laws
        The plan, and `group_laws` of each of its groups.
    fit : Fit or None
        Outcome of `goodness_of_fit`.

    Returns
    -------
    Evidence
        `lower` and `upper` are the worst loss minus and plus its numerical error.
    """
    cells: list[Cell] = []
    highest = 0.0
    columns: dict[str, list[NDArray[np.generic]]] = {name: [] for name in ("group", "pair", "query", "direction", "loss")}
    for g, law in enumerate(laws):
        loss = both_directions(law, exact_leak(claim))
        certain = loss.certain
        pairs, queries = loss.value.shape[1:]
        for query in range(queries):
            direction, pair = np.unravel_index(np.argmax(certain[:, :, query]), (2, pairs))
            cells.append(_cell(auditee, claim, law, loss, (g, int(direction), int(pair), query)))
        for name, column in zip(("direction", "pair", "query"), np.indices(loss.value.shape), strict=True):
            columns[name].append(column.ravel())
        columns["group"].append(np.full(loss.value.size, g))
        columns["loss"].append(loss.value.ravel())
        highest = max(highest, float(np.max(loss.value + loss.error)))
    worst = max(cells, key=lambda cell: cell.lower.value)
    return Evidence(
        mode="exact",
        lower=worst.lower,
        upper=Bound(value=highest, alpha=0.0, method=EXACT_LAW),
        cells=tuple(cells),
        worst=worst,
        groups=groups,
        detectable=claim.promised + (0.0 if worst.exact is None else worst.exact.error),
        trials=0,
        alpha=0.0,
        searched=searched(groups),
        any_size=any_size(auditee, claim),
        fit=fit,
        table={name: np.concatenate(parts) for name, parts in columns.items()},
    )


def both_directions(law: Laws, leak: ExactLeak) -> Loss:
    """Leak of every cell of a group, leading indices (direction, pair, query)."""
    base = np.broadcast_to(law.base, law.neighbours.shape)
    return leak(np.stack([base, law.neighbours]), np.stack([law.neighbours, base]), law.error)


def any_size(auditee: Auditee, claim: Claim) -> AnySize | None:
    """Worst loss over all datasets of any size, where the mechanism's reachable states tell it."""
    reachable = auditee.reachable()
    if reachable is None:
        return None
    one, other = reachable.moves.T
    log_p = reachable.law.log_p
    loss = exact_leak(claim)(
        np.concatenate([log_p[one], log_p[other]]), np.concatenate([log_p[other], log_p[one]]), reachable.law.error
    )
    worst = int(np.argmax(loss.certain))
    first, second = np.concatenate([one, other])[worst], np.concatenate([other, one])[worst]
    return AnySize(
        loss=float(loss.value[worst]),
        error=float(loss.error[worst]),
        states=(reachable.states[first], reachable.states[second]),
        argument=reachable.argument,
    )


def goodness_of_fit(auditee: Auditee, group: Group, seed: int) -> Fit | None:
    """Test `sample` against `distribution` on the base dataset and on the first neighbour of a group.

    Two-sided exact binomial tests at every query and label, Bonferroni over all of them; without coins, equality.
    """
    base, change = group.pairs.base, group.pairs.changes[0]
    state = auditee.prepare(base)
    p_values: list[NDArray[np.float64]] = []
    for side, side_state in ((None, state), (change, auditee.neighbour(base, state, change))):
        where = "the base dataset" if side is None else f"the neighbour with {side}"
        law = auditee.law(side_state, group.queries, where)
        if law is None:
            return None
        if isinstance(law, PointLaw):
            answers = auditee.sample(side_state, group.queries, POINT_DRAWS, stream(seed, "fit"), where)
            p_values.append((np.abs(answers - law.values) <= law.error + POINT_ROUNDING * np.abs(law.values)).astype(float))
            continue
        coding = Labels(auditee.labels)
        counts = draw(auditee, side_state, group, side, FIT_DRAWS, coding, phase="fit", seed=seed)
        p_values.append(two_sided(counts, FIT_DRAWS, law))
    every = np.concatenate([each.ravel() for each in p_values])
    return Fit(draws=FIT_DRAWS, tests=every.size, p_value=min(1.0, float(every.min()) * every.size))


def two_sided(counts: NDArray[np.int64], n: int, law: FiniteLaw) -> NDArray[np.float64]:
    """P-value of each label's count, shape (q, K): twice the smaller exact binomial tail, at most 1."""
    p = law.p
    tails = np.minimum(binom.cdf(counts, n, p), binom.sf(counts - 1, n, p))
    p_values: NDArray[np.float64] = np.minimum(1.0, 2 * tails)
    return p_values


def _cell(auditee: Auditee, claim: Claim, law: Laws, loss: Loss, place: tuple[int, int, int, int]) -> Cell:
    g, direction, pair, query = place
    sides = (law.base[query], law.neighbours[pair, query])
    event = loss.event[direction, pair, query]
    exact = Computed(value=float(loss.value[direction, pair, query]), error=float(loss.error[direction, pair, query]))
    return Cell(
        group=g,
        pair=pair,
        query=query,
        direction=DIRECTIONS[direction],
        event=event_labels(event, auditee.labels),
        p1=of_event(sides[direction], event),
        p0=of_event(sides[1 - direction], event),
        profile=exact_profile(*sides, grid_for(claim.promised), law.error) if isinstance(claim, DP) else None,
        lower=exact.lower,
        upper=exact.upper,
        exact=exact,
    )


def of_event(row: NDArray[np.float64], event: NDArray[np.bool_]) -> float:
    """Probability of an event; the prediction itself where there are no events."""
    return float(np.exp(row)[event].sum()) if event.size else float(row[0])
