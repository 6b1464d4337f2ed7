"""Exact law of the stable learner for all functions on d points, in closed form.

For every dataset of n records.

Given T, all labellings of T are there, and the weight of one is a product over the points of T:
labels at different points are independent, and at a point x of T with n_1 records labelled 1 and
n_0 labelled 0 (in all of S) the answer is 1 with probability sigma(epsilon (n_1 - n_0) / 2). At a
point that is not in T the rule answers c. So

    P[h(x) = 1] = p sigma(epsilon (n_1 - n_0) / 2) + (1 - p) c,
    p = P[x in T] = 1 - C(n - n_1 - n_0, n') / C(n, n').
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from dpassay.laws import FiniteLaw
from dpassay.mechanism import Reachable
from dpassay.mechanisms.dagan_feldman_2020.subsets import Gathered
from dpassay.mechanisms.shared.function_class import Functions
from dpassay.mechanisms.shared.hypothesis_class import Points, Rule
from dpassay.numerics import UNIT_ROUNDOFF

MOST_RECORDS = 500
"""All states (n_1, n_0) are listed up to this number of records."""


def law_of_functions(
    data: Gathered, H: Functions, rule: Rule, queries: Points, *, epsilon: float, m: int
) -> FiniteLaw:
    """Law of h(x) at q queries, T a uniformly random subset of m records."""
    spots = queries[:, H.feature]
    at = np.searchsorted(data.X[:, H.feature], spots)
    there = at < len(data.X)
    there[there] = data.X[at[there], H.feature] == spots[there]
    ones, zeros = (np.where(there, counts[at * there], 0) for counts in (data.ones, data.zeros))
    counts = np.stack([ones, zeros, H.elsewhere(rule)[spots.astype(np.int64) - 1]], axis=1)
    return law_of_counts(counts, len(data.place), epsilon=epsilon, m=m)


def law_of_counts(counts: NDArray[np.int64], n: int, *, epsilon: float, m: int) -> FiniteLaw:
    """Law at points with so many records labelled 1 and 0, of n, and rule c, shape (q, 3).

    The probabilities of x in T and of x not in T are each correctly rounded.
    """
    ones, zeros, answer = counts.T
    hit, missed = hit_and_missed(n, m)
    with np.errstate(divide="ignore"):
        log_hit, log_missed = np.log(hit)[ones + zeros], np.log(missed)[ones + zeros]
    log_odds = epsilon / 2 * (ones - zeros)
    log_p = np.stack([log_hit + log_expit(-log_odds), log_hit + log_expit(log_odds)], axis=1)
    grown = np.logaddexp(np.take_along_axis(log_p, answer[:, None], axis=1), log_missed[:, None])
    np.put_along_axis(log_p, answer[:, None], grown, axis=1)
    largest = float(np.abs(log_p[np.isfinite(log_p)]).max(initial=1.0)) + epsilon * n
    return FiniteLaw(log_p=np.minimum(log_p, 0.0), error=16 * UNIT_ROUNDOFF * largest)


@cache
def hit_and_missed(n: int, m: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P[x in T] and P[x not in T] for 0, ..., n records at x."""
    ways = math.comb(n, m)
    missed = [math.comb(n - records, m) for records in range(n + 1)]
    found = (
        np.array([(ways - each) / ways for each in missed]),
        np.array([each / ways for each in missed]),
    )
    for each in found:
        each.flags.writeable = False
    return found


def states_of(
    H: Functions, rule: Rule, n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """All states of a point over datasets of n records, and the moves that one replacement makes.

    None for more than 500.

    Returns
    -------
    counts : int array (s, 3)
        n_1, n_0 and the answer c where x is not in T. A single point is always in T, and has all
        the records.
    moves : int array (m, 2)
    """
    if n > MOST_RECORDS:
        return None
    alone = H.points == 1
    ones, zeros = np.divmod(np.arange((n + 1) ** 2), n + 1)
    kept = ones + zeros == n if alone else ones + zeros <= n
    place = np.where(kept, np.cumsum(kept) - 1, -1).reshape(n + 1, n + 1)
    ones, zeros = ones[kept], zeros[kept]
    moves = []
    for one, zero in ((1, -1),) if alone else ((1, 0), (0, 1), (1, -1)):
        inside = (ones + one <= n) & (zeros + zero >= 0) & (zeros + zero <= n)
        to = np.where(inside, place[np.minimum(ones + one, n), np.clip(zeros + zero, 0, n)], -1)
        moves.append(np.stack([np.flatnonzero(to >= 0), to[to >= 0]], axis=1))
    answers = sorted({int(answer) for answer in H.elsewhere(rule)})
    counts = [np.stack([ones, zeros, np.full_like(ones, answer)], axis=1) for answer in answers]
    every = np.concatenate(moves)
    return np.concatenate(counts), np.concatenate(
        [every + block * len(ones) for block in range(len(answers))]
    )


def reachable_counts(
    H: Functions, rule: Rule, n: int, *, epsilon: float, m: int
) -> Reachable | None:
    """Return the states of a point over all datasets of n records.

    None for more than 500 records.
    """
    found = states_of(H, rule, n)
    if found is None:
        return None
    counts, moves = found
    return Reachable(
        states=tuple(
            f"{one} records labelled 1 and {zero} labelled 0 at the point, and the rule answers {c}"
            for one, zero, c in counts.tolist()
        ),
        law=law_of_counts(counts, n, epsilon=epsilon, m=m),
        moves=moves,
        argument=(
            f"With {n} records, the answer at x depends on how many are at x with label 1 and how "
            "many with label 0, and on the rule's answer where x is not in T. A replacement "
            "moves one record between three places: at x with label 1, at x with label 0, "
            "elsewhere. Every combination of counts and every such move occurs."
        ),
        several=(
            "k replacements move at most k records between the three places, and any k records "
            "can be moved one by one."
        ),
    )
