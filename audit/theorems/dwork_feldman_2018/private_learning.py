"""Theorem 4.3: how many examples private prediction needs, and the tail step of its proof."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import scipy

from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

SMALL = 32 * UNIT_ROUNDOFF
TAIL_ERROR = 1e-10
"""Relative error of scipy's binomial tails, more than its tests allow."""


def bound(d: int, epsilon: float, alpha: float) -> float:
    """The printed bound, d / (32 epsilon alpha)."""
    return d / (32 * epsilon * alpha)


def wrong(n: int, epsilon: float, delta: float) -> list[float]:
    """Chance of the minority label by lead j = n, n - 2, ..., >= 0, as small as privacy allows.

    The learner of constants on one point: n labels, of which one has a lead of j over the other,
    are answered by the minority with probability a_j. A replaced label moves the lead by 2.
    """
    a = [0.5] if n % 2 == 0 else [(1 - delta) / (1 + math.exp(epsilon))]
    while len(a) <= n // 2:
        a.append(max(0.0, (a[-1] - delta) / math.exp(epsilon)))
    return a[::-1]


def is_private(a: list[float], n: int, epsilon: float, delta: float) -> bool:
    """Whether that learner is (epsilon, delta)-DP: every neighbouring leads, labels, directions."""
    p = [*(1 - each for each in a), *(a if n % 2 else a[:-1])[::-1]]  # P[label 1], by count of 1
    factor = math.exp(epsilon)
    return all(
        one <= factor * other + delta + SMALL and 1 - one <= factor * (1 - other) + delta + SMALL
        for near, far in itertools.pairwise(p)
        for one, other in ((near, far), (far, near))
    )


def constants_cases(_: Effort) -> Iterator[Case]:
    """One point; one example first, then the larger alpha, the fewer the theorem asks for."""
    yield {"alpha": 0.01, "epsilon": 2.6}
    for alpha, epsilon in itertools.product((0.01, 0.001, 1e-6), (1.0, 0.5, 0.1)):
        yield {"alpha": alpha, "epsilon": epsilon}


def constants(alpha: float, epsilon: float) -> Measured:
    """Examples that learn the two constants on one point, for every D (there is one) and label.

    n equal labels have a lead of n, and every sample of a realizable distribution is that.
    """
    delta, n = epsilon / 3, 0
    while (a := wrong(n, epsilon, delta))[0] > alpha:
        n += 1
    if not is_private(a, n, epsilon, delta):
        raise ArithmeticError(f"not private: {a}")
    return computed(bound(1, epsilon, alpha), n, 0.0)


def coin_cases(_: Effort) -> Iterator[Case]:
    """From one half on."""
    for alpha, d, epsilon in itertools.product((0.5, 0.75, 1.0), (1, 1000), (0.1, 1.0)):
        yield {"d": d, "alpha": alpha, "epsilon": epsilon}


def coin(d: int, alpha: float, epsilon: float) -> Measured:
    """A fair coin errs by one half on every D, loses nothing, and sees no example."""
    error, n = 0.5, 0
    if error > alpha:
        raise ArithmeticError(f"a coin does not learn with error {alpha}")
    return computed(bound(d, epsilon, alpha), n, 0.0)


def functions_cases(effort: Effort) -> Iterator[Case]:
    """All functions on d points, without the point of the remaining mass: d from 2 on."""
    for d, epsilon, alpha in itertools.product(
        (2, 10, 100, 1000),
        (0.01, 0.1, 0.5, 1.0, 2.0, 2.9),
        effort.of((0.25, 0.1, 0.01), (0.25, 0.2, 0.1, 0.03, 0.01, 0.001)),
    ):
        yield {"d": d, "epsilon": epsilon, "alpha": alpha}


def least_error(n: int, share: float, epsilon: float, delta: float) -> float:
    """Least mean error at a point of mass `share`, by group privacy, of any private learner.

    With t examples of the point, t flipped labels make an error p a right answer: 1 - p <=
    e^(epsilon t) p + delta_t, delta_t = delta (e^(epsilon t) - 1) / (e^epsilon - 1).
    """
    t = np.arange(min(n, 2000) + 1)
    growth = np.exp(np.minimum(epsilon * t, 600.0))
    group = delta * (growth - 1) / math.expm1(epsilon)
    return float(scipy.stats.binom.pmf(t, n, share) @ np.maximum(0.0, (1 - group) / (1 + growth)))


def functions(d: int, epsilon: float, alpha: float) -> Measured:
    """Examples that any (epsilon, epsilon / 3)-private learner needs on the proof's distribution.

    Its mean error on the d - 1 points of mass 4 alpha / (d - 1) is at most 1/4 + 1/12 = 1/3. That
    is what the proof uses; its tail step is not needed.
    """
    share, delta = 4 * alpha / (d - 1), min(1.0, epsilon / 3)

    def too_few(n: int) -> bool:
        return least_error(n, share, epsilon, delta) > 1 / 3 + TAIL_ERROR

    low, high = 0, 1
    while too_few(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if too_few(middle) else (low, middle)
    return Measured(claimed=bound(d, epsilon, alpha), lower=low + 1, upper=math.inf)


def tail_cases(_: Effort) -> Iterator[Case]:
    """From hand-sized d on; the proof takes d 'larger than some fixed constant'."""
    for d, inverse in itertools.product((8, 1000, 10**6), (1, 2, 4, 8, 12, 16, 20, 24, 100)):
        yield {"d": d, "inverse_epsilon": inverse}


def tail(d: int, inverse_epsilon: int) -> Measured:
    """Chance that more than 1 / (4 epsilon) of d / (8 epsilon) uniform points are point i."""
    n, most = d * inverse_epsilon // 8, inverse_epsilon // 4
    value = float(scipy.stats.binom.sf(most, n, 1 / d))
    return computed(1 / 24, value, TAIL_ERROR * value)


ROWS = (
    Row(
        key="dwork-feldman-2018/theorem-4.3/constants",
        checks="d = 1: a private learner of the two constants on one point needs as many examples",
        quantity="number of examples with which it learns",
        method="exact",
        domain="(alpha, eps) = (.01, 2.6); alpha in {1e-2, 1e-3, 1e-6}, eps in {1, .5, .1}",
        cases=constants_cases,
        measure=constants,
        relation="at least",
        verdict="refuted",
        derivation="Theorem 4.3 for one point and for a coin",
    ),
    Row(
        key="dwork-feldman-2018/theorem-4.3/coin",
        checks="alpha >= 1/2: a fair coin needs as many examples",
        quantity="number of examples with which it learns",
        method="exact",
        domain="alpha in {.5, .75, 1}, d in {1, 1000}, eps in {.1, 1}",
        cases=coin_cases,
        measure=coin,
        relation="at least",
        verdict="refuted",
        derivation="Theorem 4.3 for one point and for a coin",
    ),
    Row(
        key="dwork-feldman-2018/theorem-4.3/functions",
        checks="alpha <= 1/4, d >= 2: any private learner needs as many on the proof's D",
        quantity="number of examples that it needs, by group privacy",
        method="exact",
        domain="d in {2, 10, 100, 1000}, six eps from .01 to 2.9, alpha in {.25, .1, .01}",
        cases=functions_cases,
        measure=functions,
        relation="at least",
    ),
    Row(
        key="dwork-feldman-2018/theorem-4.3-tail/binomial",
        checks="S includes more than 1/(4 eps) points equal to i with probability at most 1/24",
        quantity="probability",
        method="exact",
        domain="d in {8, 10^3, 10^6}, 1/eps in {1, 2, 4, 8, 12, 16, 20, 24, 100}",
        cases=tail_cases,
        measure=tail,
        verdict="refuted",
        derivation="The tail step of Theorem 4.3",
    ),
)
