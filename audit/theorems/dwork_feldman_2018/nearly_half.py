"""Theorem 4.3 for alpha just below 1/2: a learner that needs fewer examples, on every D.

C has all functions on d points. Where one label leads at x, it is answered with probability
1 - a, a = (1 - delta) / (1 + e^epsilon), and where none does, a fair coin: three answers at most,
and any two of them keep (epsilon, delta). On a realizable D all labels at a point are equal, so the
error is 1/2 - (1/2 - a) X, X the mass of the points seen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpassay.theorems.dwork_feldman_2018.private_learning import SMALL, bound
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row

Array = NDArray[np.float64]
STEP = 5e-4
ROUNDING = 1e-12


def answer(epsilon: float) -> float:
    """The chance a of the other label; the learner is checked to be (epsilon, epsilon / 3)-DP."""
    delta = epsilon / 3
    a = (1 - delta) / (1 + math.exp(epsilon))
    for one, other in itertools.permutations((a, 0.5, 1 - a), 2):
        if one > math.exp(epsilon) * other + delta + SMALL:
            raise ArithmeticError(f"not private: {one} against {other}")
    return a


def seen_mass(n: int, d: int) -> float:
    """A mass that n draws see with probability >= 11/12, whatever D on d points is; 0 if none is.

    With q = (1 - p)^n, X has the mean sum of p (1 - q), and its variance is at most the sum of
    p^2 q (1 - q): that two points are seen is negatively correlated. By Cantelli X is below
    mean - sqrt(11 V) with probability 1/12 at most, and sqrt(11 V) <= 11 V / (2 c) + c / 2 for any
    c > 0. What is left is a sum over the points of g(p) = p (1 - q) - 11 p^2 q (1 - q) / (2 c),
    least at p = 1 / d if g is nowhere below its tangent there. The best c of a few is taken.
    """
    q = (1 - 1 / d) ** n
    for times in range(10):
        c = math.ldexp(math.sqrt(11 * q * (1 - q) / d), times)
        if _above_tangent(n, d, 11 / (2 * c)):
            return d * float(_g(np.array([1 / d]), n, 11 / (2 * c))[0]) - c / 2 - ROUNDING
    return 0.0


def _g(p: Array, n: int, weight: float) -> Array:
    seen = -np.expm1(n * np.log1p(-np.minimum(p, 1 - 1e-15)))
    found: Array = p * seen - weight * p**2 * (1 - seen) * seen
    return found


def _slope(p: float, n: int, weight: float) -> float:
    q, dq = (1 - p) ** n, -n * (1 - p) ** (n - 1)
    u, du = q * (1 - q), dq * (1 - 2 * q)
    return float((1 - q) - p * dq - weight * (2 * p * u + p**2 * du))


def _above_tangent(n: int, d: int, weight: float) -> bool:
    """Whether g is nowhere below its tangent at 1 / d.

    On [0, 2 / d] because it is convex: u = q (1 - q) has u <= n p, |u'| <= n and |u''| <= 3 n^2, so
    that (p^2 u)'' <= 6 n p + 3 n^2 p^2. From there on by cells, p to p (1 + step): the difference
    has a slope of at most 2 + 3/2 weight p + |that of the tangent|.
    """
    near = 2 / d
    convex = n * (1 - near) ** (n - 2) * (2 * (1 - near) - n * near)
    if convex <= weight * (6 * n * near + 3 * (n * near) ** 2):
        return False
    p = np.minimum(near * (1 + STEP) ** np.arange(math.ceil(math.log(d) / math.log1p(STEP))), 1.0)
    slope = _slope(1 / d, n, weight)
    tangent = float(_g(np.array([1 / d]), n, weight)[0]) + slope * (p - 1 / d)
    apart = _g(p, n, weight) - tangent
    steepest = 2 + 1.5 * weight * p[1:] + abs(slope)
    least = np.minimum(apart[1:], apart[:-1]) - steepest * np.diff(p) / 2
    return bool(p[-1] == 1.0 and (least > ROUNDING).all())


def cases(_: Effort) -> Iterator[Case]:
    """By d; the smallest for which one was found first."""
    yield {"d": 1000, "epsilon": 0.5, "alpha": 0.49}
    for d, (epsilon, alpha) in itertools.product(
        (10**4, 10**6), ((1.0, 0.485), (1.0, 0.49), (1.0, 0.495), (0.5, 0.49), (2.0, 0.495))
    ):
        yield {"d": d, "epsilon": epsilon, "alpha": alpha}


def enough(d: int, epsilon: float, alpha: float) -> Measured:
    """Examples with which the learner errs by at most alpha with probability 11/12, on every D.

    Looked for up to the printed number; none found proves nothing.
    """
    wanted = (0.5 - alpha) / (0.5 - answer(epsilon))
    low, high = 1, math.floor(bound(d, epsilon, alpha))
    if seen_mass(high, d) < wanted:
        return Measured(claimed=bound(d, epsilon, alpha), lower=0.0, upper=math.inf)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if seen_mass(middle, d) >= wanted else (middle, high)
    return Measured(claimed=bound(d, epsilon, alpha), lower=0.0, upper=high)


ROWS = (
    Row(
        key="dwork-feldman-2018/theorem-4.3/nearly-half",
        checks="alpha just below 1/2: a private learner of all functions on d points needs as many",
        quantity="number of examples with which it learns, on every D",
        method="exact",
        domain="d = 10^3, 10^4, 10^6; eps in {.5, 1, 2}, alpha in {.485, .49, .495}",
        cases=cases,
        measure=enough,
        relation="at least",
        verdict="refuted",
        derivation="Theorem 4.3 just below one half",
    ),
)
