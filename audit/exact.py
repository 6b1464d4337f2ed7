"""Exact mode: the true loss of every cell, from the mechanism's own law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.auditee import Auditee
from dpassay.bounds import EXACT_LAW, Bound, Computed
from dpassay.claims import Claim
from dpassay.errors import AuditeeError
from dpassay.evidence import AnySize, Cell, Evidence, Fit, event_labels
from dpassay.laws import FiniteLaw
from dpassay.loss import Loss, privacy_loss
from dpassay.plan import DIRECTIONS, Group, Progress, searched
from dpassay.trials import draw

FIT_DRAWS = 2000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Laws:
    """Laws of one group: the base dataset and each of its P neighbours, at q queries.

    Parameters
    ----------
    base : array (q, K)
    neighbours : array (P, q, K)
        Log-probabilities.
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
    error, rows = law.error, np.empty((len(changes), *law.log_p.shape))
    for i, change in enumerate(changes):
        neighbour = auditee.law(auditee.neighbour(base, state, change), group.queries, f"the neighbour with {change}")
        if neighbour is None:
            return None
        rows[i], error = neighbour.log_p, max(error, neighbour.error)
        if i == 0:
            _same_from_scratch(auditee, group, neighbour)
        progress("pairs", i + 1, len(changes))
    return Laws(base=law.log_p, neighbours=rows, error=error)


def _same_from_scratch(auditee: Auditee, group: Group, updated: FiniteLaw) -> None:
    """Raise `AuditeeError` if the first neighbour has another law when it is prepared from scratch than by `update`."""
    change = group.pairs.changes[0]
    where = f"the neighbour with {change}"
    law = auditee.law(auditee.prepare(change.apply(group.pairs.base)), group.queries, where)
    if law is None or np.abs(law.p - updated.p).max() > 2 * max(law.error, updated.error):
        raise AuditeeError(f"update and prepare disagree on {where}: their laws differ")


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
        loss = both_directions(law, claim.delta)
        certain = loss.certain
        pairs, queries = loss.epsilon.shape[1:]
        for query in range(queries):
            direction, pair = np.unravel_index(np.argmax(certain[:, :, query]), (2, pairs))
            cells.append(_cell(auditee, law, loss, (g, int(direction), int(pair), query)))
        for name, column in zip(("direction", "pair", "query"), np.indices(loss.epsilon.shape), strict=True):
            columns[name].append(column.ravel())
        columns["group"].append(np.full(loss.epsilon.size, g))
        columns["loss"].append(loss.epsilon.ravel())
        highest = max(highest, float(np.max(loss.epsilon + loss.error)))
    worst = max(cells, key=lambda cell: cell.lower.value)
    return Evidence(
        mode="exact",
        lower=worst.lower,
        upper=Bound(value=highest, alpha=0.0, method=EXACT_LAW),
        cells=tuple(cells),
        worst=worst,
        groups=groups,
        detectable=claim.epsilon + (0.0 if worst.exact is None else worst.exact.error),
        trials=0,
        alpha=0.0,
        searched=searched(groups),
        any_size=any_size(auditee, claim),
        fit=fit,
        table={name: np.concatenate(parts) for name, parts in columns.items()},
    )


def both_directions(law: Laws, delta: float) -> Loss:
    """Loss of every cell of a group, leading indices (direction, pair, query)."""
    base = np.broadcast_to(law.base, law.neighbours.shape)
    return privacy_loss(np.stack([base, law.neighbours]), np.stack([law.neighbours, base]), delta, law.error)


def any_size(auditee: Auditee, claim: Claim) -> AnySize | None:
    """Worst loss over all datasets of any size, where the mechanism's reachable states tell it."""
    reachable = auditee.reachable()
    if reachable is None:
        return None
    one, other = reachable.moves.T
    log_p = reachable.law.log_p
    loss = privacy_loss(
        np.concatenate([log_p[one], log_p[other]]),
        np.concatenate([log_p[other], log_p[one]]),
        claim.delta,
        reachable.law.error,
    )
    worst = int(np.argmax(loss.certain))
    first, second = np.concatenate([one, other])[worst], np.concatenate([other, one])[worst]
    return AnySize(
        loss=float(loss.epsilon[worst]),
        error=float(loss.error[worst]),
        states=(reachable.states[first], reachable.states[second]),
        argument=reachable.argument,
    )


def goodness_of_fit(auditee: Auditee, group: Group, seed: int) -> Fit | None:
    """Test `sample` against `distribution` on the base dataset and on the first neighbour of a group.

    Two-sided exact binomial tests at every query and label, Bonferroni over all of them.
    """
    base, change = group.pairs.base, group.pairs.changes[0]
    state = auditee.prepare(base)
    p_values: list[NDArray[np.float64]] = []
    for side, side_state in ((None, state), (change, auditee.neighbour(base, state, change))):
        where = "the base dataset" if side is None else f"the neighbour with {side}"
        law = auditee.law(side_state, group.queries, where)
        if law is None:
            return None
        counts = draw(auditee, side_state, group, side, FIT_DRAWS, phase="fit", seed=seed)
        p_values.append(two_sided(counts, FIT_DRAWS, law))
    every = np.concatenate(p_values)
    return Fit(draws=FIT_DRAWS, tests=every.size, p_value=min(1.0, float(every.min()) * every.size))


def two_sided(counts: NDArray[np.int64], n: int, law: FiniteLaw) -> NDArray[np.float64]:
    """P-value of each label's count, shape (q, K): twice the smaller exact binomial tail, at most 1."""
    p = law.p
    tails = np.minimum(binom.cdf(counts, n, p), binom.sf(counts - 1, n, p))
    p_values: NDArray[np.float64] = np.minimum(1.0, 2 * tails)
    return p_values


def _cell(auditee: Auditee, law: Laws, loss: Loss, place: tuple[int, int, int, int]) -> Cell:
    g, direction, pair, query = place
    sides = (law.base[query], law.neighbours[pair, query])
    event = loss.event[direction, pair, query]
    exact = Computed(value=float(loss.epsilon[direction, pair, query]), error=float(loss.error[direction, pair, query]))
    return Cell(
        group=g,
        pair=pair,
        query=query,
        direction=DIRECTIONS[direction],
        event=event_labels(event, auditee.labels),
        p1=float(np.exp(sides[direction])[event].sum()),
        p0=float(np.exp(sides[1 - direction])[event].sum()),
        lower=exact.lower,
        upper=exact.upper,
        exact=exact,
    )
