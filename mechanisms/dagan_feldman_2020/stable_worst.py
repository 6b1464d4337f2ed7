"""Worst cases of the stable learner, by the exact law.

What an exhaustive search of small domains found, for any n.

A point that T does not hit is answered by the rule that chooses representatives. Of n equal records
one is replaced: it is in T with probability eta = n'/n, and nothing is known of its place
otherwise. So the answer there changes by about eta times what one record decides, and where the
rule always answers the same, the other label goes from impossible to possible: epsilon is infinite.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.laws import FiniteLaw
from dpassay.mechanism import WorstCase
from dpassay.mechanisms.dagan_feldman_2020.subsets import columns_of
from dpassay.mechanisms.shared.function_class import Functions
from dpassay.mechanisms.shared.hypothesis_class import HypothesisClass, Points, Rule
from dpassay.mechanisms.shared.plane_classes import Halfspaces
from dpassay.pairs import Replace
from dpassay.stats.divergence import CellLoss, label_difference, privacy_loss

LawOf = Callable[[Labelled, Points], FiniteLaw | None]


def places_of(H: HypothesisClass) -> tuple[Points, Points]:
    """A few points of the domain for records, and for queries: three of the line.

    Five, and nine, of the plane.

    None for a class that is not one of ours, whose domain is not known.
    """
    columns = columns_of(H, 0)
    side = min(3, H.points) if type(H) is Functions or type(H) is Halfspaces else 3
    spots = np.array(list(itertools.product(range(1, side + 1), repeat=len(columns))), dtype=float)
    queries = np.ones((len(spots) if columns else 0, max(columns, default=0) + 1))
    queries[:, columns] = spots if columns else 0.0
    return queries[:: 2 if len(spots) == 9 else 1], queries


def equal_records(law: LawOf, n: int, places: Points, queries: Points) -> tuple[WorstCase, ...]:
    """Of n - 1 equal records and another one, which is replaced.

    The worst change of a probability, and the worst loss.

    Parameters
    ----------
    law : callable
        Law of a dataset at queries.
    n : int
        Records.
    places : array (p, columns)
        Where records may be.
    queries : array (q, columns)

    Returns
    -------
    tuple of WorstCase
        Both, or the one that is both; empty where there is no law or no neighbour.
    """
    found = []
    records = [(place, label) for place in range(len(places)) for label in (0, 1)]
    for at, label in records:
        X, y = places[np.full(n, at)], np.full(n, label)
        bases = [Replace(0, places[place], new).apply(Labelled(X, y)) for place, new in records]
        laws = [law(base, queries) for base in bases]
        for i, j in itertools.combinations(range(len(records)), 2):
            p, q = laws[i], laws[j]
            if p is None or q is None:
                return ()
            gamma, epsilon = (np.round(each, 12) for each in both_ways(p, q))
            found += [
                (gamma[query], epsilon[query], bases[i], bases[j], query)
                for query in range(len(queries))
            ]
    if not found:
        return ()
    changed = max(found, key=lambda each: each[0])
    lost = max(found, key=lambda each: (each[1], each[0]))
    whole = "change of a probability" + (" and the largest loss" if lost is changed else "")
    told = [(changed, whole)] + ([] if lost is changed else [(lost, "loss")])
    return tuple(
        _case(one, other, queries[query : query + 1], largest)
        for (_, _, one, other, query), largest in told
    )


def balanced(n: int, places: Points) -> WorstCase:
    """Of the rule `adverse`.

    All records but one at the second place of three, half of them labelled 1; the other goes
    across.

    Parameters
    ----------
    n : int
        Records; half of n - 1 is rounded up.
    places : array (3, columns)
        1, 2 and 3 on the line.
    """
    base = Labelled(places[np.minimum(np.arange(n), 1)], np.arange(n) % 2)
    one, across = Replace(0, places[0], 1).apply(base), Replace(0, places[2], 0)
    how = (
        f"{n - 1} records at 2, half of them labelled 1, and the record (1, 1), which is replaced "
        "by (3, 0)"
    )
    reason = (
        "representatives for T = {1} answer 1 at point 2, those for T = {3} answer 0; those for T "
        "= {2} differ at every point"
    )
    return WorstCase.of(one, across, how=how, reason=reason, query=places[1:2])


def both_ways(p: FiniteLaw, q: FiniteLaw) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Change of a label's probability, and loss, in the worse direction at each query."""
    measures: tuple[Callable[..., CellLoss], Callable[..., CellLoss]] = (
        label_difference,
        privacy_loss,
    )
    gamma, epsilon = (
        np.maximum(measure(p.log_p, q.log_p).value, measure(q.log_p, p.log_p).value)
        for measure in measures
    )
    return gamma, epsilon


def _case(one: Labelled, other: Labelled, query: Points, largest: str) -> WorstCase:
    change = Replace(0, other.X[0], int(other.y[0]))
    reason = f"by the law, this is the largest {largest} of all such pairs at a few points"
    alike = len(np.unique(np.column_stack([one.X, one.y]), axis=0)) == 1
    return WorstCase.of(
        one,
        change,
        how=f"{len(one)} equal records, one of which is replaced"
        if alike
        else f"{len(one) - 1} equal records and one other, which is replaced",
        reason=reason,
        query=query,
    )


def exposed_counts(
    law: FiniteLaw,
    counts: NDArray[np.int64],
    moves: NDArray[np.int64],
    n: int,
    H: Functions,
    rule: Rule,
) -> tuple[WorstCase, ...]:
    """Of all functions: the worst moves of a point's counts, of all there are, as two datasets.

    Parameters
    ----------
    law : FiniteLaw
        Of the states, as for `functions_law.reachable_counts`.
    counts, moves : int arrays (s, 3), (m, 2)
        `functions_law.states_of`.
    n : int
        Records.
    H, rule
        The class, and what it answers at a point that T does not hit.
    """
    p, q = (FiniteLaw(log_p=law.log_p[each], error=law.error) for each in moves.T)
    gamma, epsilon = both_ways(p, q)
    change, loss = int(np.argmax(gamma)), int(np.lexsort((gamma, epsilon))[-1])
    answers = H.elsewhere(rule).tolist()
    cases = []
    for move in sorted({change, loss}):
        (ones, zeros, answer), (ones_after, zeros_after, _) = counts[moves[move]].tolist()
        spot = answers.index(bool(answer)) + 1 if H.points > 1 else 1
        other = 1 if spot > 1 else 2
        X = np.full((n, H.feature + 1), float(other))
        X[: ones + zeros] = spot
        y = (np.arange(n) < ones).astype(np.int64)
        gone = 0 if ones_after < ones else ones if zeros_after < zeros else n - 1
        label = int(ones_after > ones)
        x = np.full(H.feature + 1, float(spot if label or zeros_after > zeros else other))
        how = (
            f"{ones} records labelled 1 and {zeros} labelled 0 at one point, {n - ones - zeros} "
            "elsewhere, one of them replaced"
        )
        largest = " and the largest ".join(
            name
            for name, worst in (("change of a probability", change), ("loss", loss))
            if worst == move
        )
        reason = (
            f"by the law, this move to {ones_after} and {zeros_after} is the largest {largest} of "
            "all moves of the counts at a point"
        )
        cases.append(
            WorstCase.of(
                Labelled(X, y),
                Replace(gone, x, label),
                how=how,
                reason=reason,
                query=np.full((1, H.feature + 1), float(spot)),
            )
        )
    return tuple(cases)
