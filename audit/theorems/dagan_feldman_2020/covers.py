"""How many functions H_T and G_T have (sections 1.1 and 3, Remark 1), and what G_T can lose."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from dpassay.mechanisms.shared.vc import cover, net_size, sauer_shelah
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

SMALL = 64 * UNIT_ROUNDOFF


def cardinality_cases(effort: Effort) -> Iterator[Case]:
    """Dimensions, n, and sizes of T from 1 to n."""
    for d, n in itertools.product((1, 2, 3, 10), effort.of((2, 10, 100), (2, 3, 5, 10, 100, 400))):
        for size in sorted({1, 2, math.ceil(n / 2), n}):
            yield {"d": d, "n": n, "size": size}


def cardinality(d: int, n: int, size: int) -> Measured:
    """Most labellings of |T| points, against 2 n^d: |T| (|T| - 1) ... is counted no more often."""
    return computed(float(2 * n**d), float(sauer_shelah(d, size)), 0.0)


def corner_cases(effort: Effort) -> Iterator[Case]:
    """Constants C, each with an alpha so near 1 that (1 / alpha)^(C d) < 2."""
    for C in effort.of((1, 8, 64), (1, 8, 64, 1000, 10**6)):
        yield {"C": C, "alpha": 1 - 1 / (8 * C)}


def corner(C: int, alpha: float) -> Measured:
    """Functions of H_T, thresholds, T of one point: all 0 and all 1. G_T has both.

    They differ on all of T, and that is more than alpha |T|.
    """
    table = np.array([[False], [True]])
    found = len(cover(table, alpha))
    return computed(math.exp(-C * math.log(alpha)), float(found), SMALL * C)


def halves_cases(effort: Effort) -> Iterator[Case]:
    """Dimensions, and decades of alpha from 1/2 on."""
    for d, alpha in itertools.product(
        effort.of((1, 2, 10, 100), (1, 2, 3, 10, 30, 100)), (0.5, 0.1, 0.01, 1e-3)
    ):
        yield {"d": d, "alpha": alpha}


def log_labellings(d: int, alpha: float) -> float:
    """Logarithm of most labellings of as many points as a net takes, beta = 1/2."""
    return math.log(sauer_shelah(d, net_size(alpha, 0.5, lambda m: sauer_shelah(d, m))))


def halves(d: int, alpha: float) -> Measured:
    """ln|H_T| against 8 d ln(1 / alpha)."""
    value = log_labellings(d, alpha)
    return computed(8 * d * math.log(1 / alpha), value, SMALL * value)


def greedy_cases(effort: Effort) -> Iterator[Case]:
    """Sizes of T and alphas up to 1/2."""
    for size, alpha in itertools.product(
        effort.of((1, 10, 100), (1, 2, 3, 10, 100, 300)), (0.5, 0.3, 0.1, 0.01)
    ):
        yield {"size": size, "alpha": alpha}


def thresholds_on(size: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Labellings of `size` points on a line by thresholds, with fewer and fewer ones."""
    return np.arange(size)[None, :] >= np.arange(size + 1)[:, None]


def greedy(size: int, alpha: float) -> Measured:
    """Functions of a greedy G_T, thresholds, against (1 / alpha)^2."""
    return computed(alpha**-2, len(cover(thresholds_on(size), alpha)), SMALL * alpha**-2)


def best_of_cover(inverse: int) -> float:
    """Least error of G_T on labels of a threshold, alpha = 1 / inverse, T an alpha-net.

    N = inverse^3 points. T: the multiples of N alpha but the last, and so many of the last N
    alpha points that the others are no more than alpha of T. No gap has more than N alpha points.
    The greedy cover has functions that differ on more than alpha |T| places of T.
    """
    N = inverse**3
    step = N // inverse
    spread = np.arange(step, N, step)
    crowd = np.arange(N - step + 1, N - step + 1 + inverse * len(spread) - len(spread))
    T = np.concatenate([spread, crowd])
    gaps = np.diff(np.concatenate([[0], T, [N + 1]])) - 1
    if gaps.max() > step or crowd[-1] > N:
        raise ArithmeticError("T is no alpha-net")
    table = thresholds_on(len(T))
    kept = cover(table, 1 / inverse)
    # with j zeros on T the threshold is at the next point of T, or above all of them
    starts = np.append(T, N + 1)[kept]
    labels = np.arange(1, N + 1) >= N // 2
    return min(float(((np.arange(1, N + 1) >= t) != labels).mean()) for t in starts)


def net_cases(effort: Effort) -> Iterator[Case]:
    """Constants C, each with an alpha at which C alpha is exceeded."""
    for C, inverse in effort.of(((3, 10), (8, 20)), ((3, 10), (8, 20), (20, 50))):
        yield {"C": C, "inverse_alpha": inverse}


def net(C: int, inverse_alpha: int) -> Measured:
    """Least error on S of G_T for labels of a threshold, which has none, against C alpha."""
    return computed(C / inverse_alpha, best_of_cover(inverse_alpha), SMALL)


ROWS = (
    Row(
        key="dagan-feldman-2020/section-1.1-cover/corner",
        checks="some C: |H_T| <= (1/alpha)^(C d) for all alpha in (0, 1)",
        quantity="number of functions",
        method="exact",
        domain="C in {1, 8, 64}, alpha = 1 - 1/(8C), thresholds, one point",
        cases=corner_cases,
        measure=corner,
        verdict="refuted",
        derivation="Covers where alpha is near 1",
    ),
    Row(
        key="dagan-feldman-2020/section-1.1-cover/halves",
        checks="alpha <= 1/2: |H_T| <= (1/alpha)^(8 d), for as large a T as a net takes",
        quantity="ln of the number of functions",
        method="exact",
        domain="d in {1, 2, 10, 100}, alpha in {.5, .1, .01, 1e-3}",
        cases=halves_cases,
        measure=halves,
    ),
    Row(
        key="dagan-feldman-2020/section-3-cardinality/twice",
        checks="|H_T| <= 2 n^d",
        quantity="most labellings of |T| points",
        method="exact",
        domain="d in {1, 2, 3, 10}, n in {2, 10, 100}, |T| in {1, 2, n/2, n}",
        cases=cardinality_cases,
        measure=cardinality,
    ),
    Row(
        key="dagan-feldman-2020/remark-1/corner",
        checks="some C: |G_T| <= (1/alpha)^(C d) for all alpha in (0, 1)",
        quantity="number of functions",
        method="exact",
        domain="C in {1, 8, 64}, alpha = 1 - 1/(8C), thresholds, one point",
        cases=corner_cases,
        measure=corner,
        verdict="refuted",
        derivation="Covers where alpha is near 1",
    ),
    Row(
        key="dagan-feldman-2020/remark-1/greedy",
        checks="alpha <= 1/2: a greedy G_T of thresholds has at most (1/alpha)^2 functions",
        quantity="number of functions",
        method="exact",
        domain="|T| in {1, 10, 100}, alpha in {.5, .3, .1, .01}",
        cases=greedy_cases,
        measure=greedy,
    ),
    Row(
        key="dagan-feldman-2020/remark-1/net",
        checks="G_T of a T that is an alpha-net, as Lemma 7 asks, loses at most C alpha",
        quantity="least error of G_T on S, on labels of a function of H",
        method="exact",
        domain="C in {3, 8}, alpha = 1/10, 1/20, thresholds on 1/alpha^3 points",
        cases=net_cases,
        measure=net,
        verdict="refuted",
        derivation="A net is not enough for Remark 1",
    ),
)
