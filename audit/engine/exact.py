"""Exact mode: the true leak of every cell, from the mechanism's own law."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.engine.evidence import AnySize, Cell, DetectionCurve, Evidence, GoodnessOfFit
from dpassay.engine.kinds import leaks_of
from dpassay.engine.readings import Leaks
from dpassay.errors import TargetError
from dpassay.laws import FiniteLaw, Law, NoiseLaw, PointLaw
from dpassay.mechanism import Reachable
from dpassay.relations import answers_moved, records_replaced
from dpassay.seeds import stream
from dpassay.stats.binomial_law import at_most, more_than
from dpassay.stats.bounds import Bound, Computed
from dpassay.stats.divergence import CellLoss
from dpassay.stats.methods import EXACT_LAW
from dpassay.targets.groups import DIRECTIONS, PairGroup, Progress, searched
from dpassay.targets.guard import AuditTarget
from dpassay.trials.blocks import draw
from dpassay.trials.encoders import Bins, Coding, Labels

FIT_DRAWS = 2000
CELL_COLUMNS = ("group", "pair", "query", "direction", "loss", "lower", "upper")
PLACES_AT_ONCE = 1 << 18
"""Pairs times queries whose leaks are computed together, so that what this needs does not grow."""
POINT_DRAWS = 10
POINT_ROUNDING = 1e-9
"""Predictions without coins are drawn so often, and must agree with the law up to this part of
themselves."""
FIT_LEVELS = np.array([0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99])
"""Numbers are counted between these quantiles of their law on the base dataset."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Laws:
    """Laws of one group: the base dataset (q, K) and its P neighbours (P, q, K), at q queries.

    The entries are log-probabilities of labels, or values (K = 1) of numbers, each within `error`;
    `law`, that of the base dataset, says what they mean.
    """

    base: NDArray[np.float64]
    neighbours: NDArray[np.float64]
    error: float
    law: Law


def group_laws(target: AuditTarget, group: PairGroup, progress: Progress) -> Laws | None:
    """Compute the law of every dataset of a group, retraining only what each change touches.

    Return None where the mechanism has no exact law for these data, or none that all of its claims
    can be read off.
    """
    base, changes = group.pairs.base, group.pairs.changes
    state = target.prepare(base)
    law = target.law(state, group.queries, "the base dataset")
    if law is None or any(leaks_of(claim, law, target.labels) is None for claim in target.claims):
        return None
    error, rows = law.error, np.empty((len(changes), *law.table.shape))
    for i, change in enumerate(changes):
        neighbour = target.law(
            target.neighbour(base, state, change), group.queries, f"the neighbour with {change}"
        )
        if neighbour is None:
            return None
        check_alike(law, neighbour, f"the neighbour with {change}")
        rows[i], error = neighbour.table, max(error, neighbour.error)
        if i == 0:
            _same_from_scratch(target, group, neighbour)
        progress("pairs", i + 1, len(changes))
    return Laws(base=law.table, neighbours=rows, error=error, law=law)


def check_alike(law: Law, other: Law, where: str) -> None:
    """Raise `TargetError` unless two datasets have laws of one kind, with the same noise."""
    if type(law) is not type(other):
        raise TargetError(
            f"distribution on {where} is a {type(other).__name__}, elsewhere a {type(law).__name__}"
        )
    if not (isinstance(law, NoiseLaw) and isinstance(other, NoiseLaw)):
        return
    if (law.noise, law.low, law.high) != (other.noise, other.low, other.high):
        raise TargetError(
            f"distribution on {where} has another noise or other limits; they may not depend on "
            "the data"
        )


def _same_from_scratch(target: AuditTarget, group: PairGroup, updated: Law) -> None:
    """Raise `TargetError` if `update` and `prepare` give the first neighbour different laws."""
    change = group.pairs.changes[0]
    where = f"the neighbour with {change}"

    def numbers(law: Law) -> NDArray[np.float64]:
        return law.p if isinstance(law, FiniteLaw) else law.values

    law = target.law(target.scratch(group.pairs.base, change), group.queries, where)
    most = 2 * max(updated.error, 0.0 if law is None else law.error)
    if law is None or np.abs(numbers(law) - numbers(updated)).max() > most:
        raise TargetError(f"update and prepare disagree on {where}: their laws differ")


def exact_evidence(
    target: AuditTarget,
    claim: Claim,
    groups: tuple[PairGroup, ...],
    laws: tuple[Laws, ...],
    fit: GoodnessOfFit | None,
) -> Evidence:
    """Hold the exact laws of all groups against a claim.

    `laws` are `group_laws` of each of the groups; `fit` is the outcome of `goodness_of_fit`.
    `lower` and `upper` are the worst loss minus and plus its numerical error; no probability is
    above 1.
    """
    cells: list[Cell] = []
    highest, most = -np.inf, target.most(claim) if claim.share else np.inf
    columns: dict[str, list[NDArray[np.generic]]] = {name: [] for name in CELL_COLUMNS}
    for g, law in enumerate(laws):
        leaks = readable(target, claim, law.law)
        loss = both_directions(law, leaks)
        certain = loss.certain
        pairs, queries = loss.value.shape[1:]
        for query in range(queries):
            place = np.unravel_index(np.argmax(certain[:, :, query]), (2, pairs))
            direction, pair = map(int, place)
            at = direction, pair, query
            value, error = float(loss.value[at]), float(loss.error[at])
            exact = Computed(value=value, error=error, least=leaks.least)
            sides = law.base[query], law.neighbours[pair, query]
            cells.append(exact_cell(leaks, sides, exact, law.error, (g, *at), most))
        # none above the largest possible leak, but for the rounding of the leak itself
        upper = np.minimum(loss.value + loss.error, np.maximum(loss.value, most))
        lower = np.maximum(certain, leaks.least)
        found = (*np.indices(loss.value.shape, np.int32), loss.value, lower, upper)
        columns["group"].append(np.full(loss.value.size, g, np.int32))
        names = ("direction", "pair", "query", "loss", "lower", "upper")
        for name, column in zip(names, found, strict=True):
            columns[name].append(column.ravel())
        highest = max(highest, float(np.max(upper)))
    worst = max(cells, key=lambda cell: cell.lower.value)
    return Evidence(
        mode="exact",
        lower=worst.lower,
        upper=Bound(value=highest, alpha=0.0, method=EXACT_LAW),
        cells=tuple(cells),
        worst=worst,
        groups=groups,
        sight=DetectionCurve(
            detectable=claim.promised + (0.0 if worst.exact is None else worst.exact.error)
        ),
        trials=0,
        alpha=0.0,
        searched=searched(groups),
        any_size=any_size(target, claim),
        fit=fit,
        table={name: np.concatenate(columns.pop(name)) for name in CELL_COLUMNS},
    )


def readable(target: AuditTarget, claim: Claim, law: Law) -> Leaks:
    """Return how a claim reads laws of this kind, or raise `TargetError` where it cannot."""
    leaks = leaks_of(claim, law, target.labels)
    if leaks is None:
        raise TargetError(
            f"{claim} cannot be read off a {type(law).__name__}; use mode monte-carlo"
        )
    return leaks


def both_directions(law: Laws, leaks: Leaks) -> CellLoss:
    """Leak of every cell of a group, leading indices (direction, pair, query); no events."""
    shape = (2, *law.neighbours.shape[:2])
    value, error = np.empty(shape), np.empty(shape)
    step = max(1, PLACES_AT_ONCE // shape[2])
    for begin in range(0, shape[1], step):
        there = law.neighbours[begin : begin + step]
        here = np.broadcast_to(law.base, there.shape)
        found = leaks.loss(np.stack([here, there]), np.stack([there, here]), law.error)
        value[:, begin : begin + step], error[:, begin : begin + step] = found.value, found.error
    return CellLoss(value=value, event=np.zeros((*shape, 0), dtype=bool), error=error)


def any_size(target: AuditTarget, claim: Claim) -> AnySize | None:
    """Worst loss over all datasets of any size, where the mechanism's reachable states tell it."""
    if answers_moved(claim.relation) is not None:
        return None  # its moves are of records
    reachable, k = target.reachable(), records_replaced(claim.relation)
    if reachable is None or (k > 1 and not reachable.several):
        return None
    one, other = moves_of(reachable, k).T
    table, leaks = reachable.law.table, readable(target, claim, reachable.law)
    ways, back = np.concatenate([one, other]), np.concatenate([other, one])
    loss = leaks.loss(table[ways], table[back], reachable.law.error)
    worst = int(np.argmax(loss.certain))
    first, second = ways[worst], back[worst]
    return AnySize(
        loss=float(loss.value[worst]),
        error=float(loss.error[worst]),
        states=(reachable.states[first], reachable.states[second]),
        argument=reachable.argument if k == 1 else f"{reachable.argument} {reachable.several}",
        of=reachable.of,
    )


def moves_of(reachable: Reachable, k: int) -> NDArray[np.int64]:
    """Pairs of states that are up to k moves apart, shape (m, 2), each once."""
    if k == 1:
        return reachable.moves
    size, (one, other) = len(reachable.states), reachable.moves.T
    graph = scipy.sparse.csr_array((np.ones(len(one)), (one, other)), shape=(size, size))
    distance = scipy.sparse.csgraph.shortest_path(graph, directed=False, unweighted=True)
    return np.argwhere(np.triu((distance >= 1) & (distance <= k)))


def goodness_of_fit(target: AuditTarget, group: PairGroup, seed: int) -> GoodnessOfFit | None:
    """Test `sample` against `distribution` on the base dataset and a group's first neighbour.

    Two-sided exact binomial tests at every query and label, Bonferroni over all of them; numbers
    are counted in bins; without coins, equality.
    """
    base, change = group.pairs.base, group.pairs.changes[0]
    state = target.prepare(base)
    p_values: list[NDArray[np.float64]] = []
    for side, side_state in ((None, state), (change, target.neighbour(base, state, change))):
        where = "the base dataset" if side is None else f"the neighbour with {side}"
        law = target.law(side_state, group.queries, where)
        if law is None:
            return None
        if isinstance(law, PointLaw):
            rng = stream(seed, "fit")
            answers = target.sample(side_state, group.queries, POINT_DRAWS, rng, where)
            near = law.error + POINT_ROUNDING * np.abs(law.values)
            p_values.append((np.abs(answers - law.values) <= near).astype(float))
            continue
        coding, expected = coded(target, law)
        counts = draw(target, side_state, group, side, FIT_DRAWS, coding, phase="fit", seed=seed)
        p_values.append(two_sided(counts, FIT_DRAWS, expected))
    every = np.concatenate([each.ravel() for each in p_values])
    draws = POINT_DRAWS if isinstance(law, PointLaw) else FIT_DRAWS
    p_value = min(1.0, float(every.min()) * every.size)
    return GoodnessOfFit(draws=draws, tests=every.size, p_value=p_value)


def coded(target: AuditTarget, law: FiniteLaw | NoiseLaw) -> tuple[Coding, FiniteLaw]:
    """Return how answers are counted to be compared with a law, and the law of the symbols."""
    if isinstance(law, FiniteLaw):
        return Labels(target.labels), law
    quantiles = law.values[:, None] + law.noise.quantile(FIT_LEVELS)
    edges = np.clip(quantiles, np.nextafter(law.low, np.inf), law.high)
    return Bins(edges), law.binned(edges)


def two_sided(counts: NDArray[np.int64], n: int, law: FiniteLaw) -> NDArray[np.float64]:
    """Return p-values (q, K) of label counts: twice the smaller exact binomial tail, at most 1."""
    tails = np.minimum(at_most(counts, n, law.p), more_than(counts - 1, n, law.p))
    p_values: NDArray[np.float64] = np.minimum(1.0, 2 * tails)
    return p_values


def exact_cell(
    leaks: Leaks,
    sides: tuple[NDArray[np.float64], NDArray[np.float64]],
    exact: Computed,
    error: float,
    place: tuple[int, int, int, int],
    most: float = np.inf,
) -> Cell:
    """Return the worst cell of a query.

    `sides` are its rows in the tables of the two laws, known up to `error`; `place` is its group,
    direction, pair and query. No leak is above `most`.
    """
    group, direction, pair, query = place
    event, p1, p0 = leaks.seen(sides[direction], sides[1 - direction], exact.value)
    return Cell(
        group=group,
        pair=pair,
        query=query,
        direction=DIRECTIONS[direction],
        event=event,
        p1=p1,
        p0=p0,
        profile=leaks.profile(*sides, error),
        lower=exact.lower,
        upper=replace(exact.upper, value=min(exact.upper.value, max(exact.value, most))),
        exact=exact,
    )
