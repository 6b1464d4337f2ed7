"""Exact law of the stable learner for all functions on d points, in closed form and for every dataset of n records.

Given T, all labellings of T are there, and the weight of one is a product over the points of T: the labels at different points are
independent, and at a point x of T with n_1 records labelled 1 and n_0 labelled 0 (in all of S) the answer is 1 with probability
sigma(epsilon (n_1 - n_0) / 2). At a point that is not in T the rule answers c. So

    P[h(x) = 1] = p sigma(epsilon (n_1 - n_0) / 2) + (1 - p) c,   p = P[x in T] = 1 - C(n - n_1 - n_0, n') / C(n, n').
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from dpassay.laws import FiniteLaw
from dpassay.mechanism import Reachable
from dpassay.mechanisms.classes import Functions, Labels, Points, Rule
from dpassay.mechanisms.subsets import Gathered
from dpassay.rounding import UNIT_ROUNDOFF

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
    return law_of_counts(ones, zeros, H.elsewhere(rule)[spots.astype(np.int64) - 1], len(data.place), epsilon=epsilon, m=m)


def law_of_counts(
    ones: NDArray[np.int64], zeros: NDArray[np.int64], elsewhere: Labels, n: int, *, epsilon: float, m: int
) -> FiniteLaw:
    """Law at points with so many records labelled 1 and 0, of n, and the answer c of the rule; arrays (q,).

    The probabilities of x in T and of x not in T are each correctly rounded.
    """
    hit, missed = hit_and_missed(n, m)
    with np.errstate(divide="ignore"):
        log_hit, log_missed = np.log(hit)[ones + zeros], np.log(missed)[ones + zeros]
    log_odds = epsilon / 2 * (ones - zeros)
    log_p = np.stack([log_hit + log_expit(-log_odds), log_hit + log_expit(log_odds)], axis=1)
    answer = elsewhere.astype(np.int64)[:, None]
    grown = np.logaddexp(np.take_along_axis(log_p, answer, axis=1), log_missed[:, None])
    np.put_along_axis(log_p, answer, grown, axis=1)
    largest = float(np.abs(log_p[np.isfinite(log_p)]).max(initial=1.0)) + epsilon * n
    return FiniteLaw(log_p=np.minimum(log_p, 0.0), error=16 * UNIT_ROUNDOFF * largest)


@cache
def hit_and_missed(n: int, m: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P[x in T] and P[x not in T] for 0, ..., n records at x."""
    ways = math.comb(n, m)
    missed = [math.comb(n - records, m) for records in range(n + 1)]
    found = np.array([(ways - each) / ways for each in missed]), np.array([each / ways for each in missed])
    for each in found:
        each.flags.writeable = False
    return found


def reachable_counts(H: Functions, rule: Rule, n: int, *, epsilon: float, m: int) -> Reachable | None:
    """Return the states of a point over all datasets of n records; None for more than 500 records.

    They are n_1, n_0 and the answer c where x is not in T; a single point is always in T, and has all the records.
    """
    if n > MOST_RECORDS:
        return None
    alone = H.points == 1
    pairs = [(ones, zeros) for ones in range(n + 1) for zeros in (range(n - ones, n - ones + 1) if alone else range(n - ones + 1))]
    answers = sorted({bool(answer) for answer in H.elsewhere(rule)})
    place = {pair: i for i, pair in enumerate(pairs)}
    steps = ((1, -1),) if alone else ((1, 0), (0, 1), (1, -1))
    moves = [
        (place[ones, zeros], place[ones + one, zeros + zero])
        for ones, zeros in pairs
        for one, zero in steps
        if (ones + one, zeros + zero) in place
    ]
    ones, zeros = np.array(pairs).T
    law = law_of_counts(
        np.tile(ones, len(answers)), np.tile(zeros, len(answers)), np.repeat(np.array(answers), len(ones)), n, epsilon=epsilon, m=m
    )
    several = [np.array(moves) + block * len(pairs) for block in range(len(answers))]
    return Reachable(
        states=tuple(f"{one} ones and {zero} zeros at the point, else {int(c)}" for c in answers for one, zero in pairs),
        law=law,
        moves=np.concatenate(several),
        argument=(
            f"Of {n} records the answer at x depends on how many are at x with label 1 and with label 0, and on the rule's answer"
            " where x is not in T. A replacement moves one record between three places: at x with 1, at x with 0, elsewhere."
            " Every count occurs, and every such move."
        ),
        several="k replacements move at most k records between the three places, and any such k records can be replaced one by one.",
    )
