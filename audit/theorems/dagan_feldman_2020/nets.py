"""Lemma 1: how many random points are a net."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dpassay.mechanisms.shared.vc import net_choices, net_failure
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

RELATIVE = 1e-11
"""Relative error of a probability: sums and products of positive numbers, a few hundred of them."""


def corner_cases(effort: Effort) -> Iterator[Case]:
    """Constants C, each with alpha = beta so near 1 that C (...) / alpha <= 1."""
    for C in effort.of((1, 8, 64), (1, 8, 64, 1000, 10**6)):
        yield {"C": C, "alpha": 1 - 1 / (8 * C), "beta": 1 - 1 / (8 * C)}


def corner(C: float, alpha: float, beta: float) -> Measured:
    """Chance that n' = ceil(C (d ln(1/alpha) + ln(1/beta)) / alpha) points are a net.

    H on [0, 1]: the indicators 1[. = x] of single points, and the constant 1; d = 2. D uniform. At
    one point x, 1[. = x] and the constant agree, and everywhere else they differ: one point is no
    alpha-net. Two different points are one: all indicators that agree on them differ on mass 0,
    and only the constant says 1 at both.
    """
    n = max(1, math.ceil(C * (2 * math.log(1 / alpha) + math.log(1 / beta)) / alpha))
    return computed(1 - beta, 0.0 if n == 1 else 1.0, 0.0)


def missing(N: int, m: int, alpha: float, *, replaced: bool) -> float:
    """Chance that m of N points on a line, drawn uniformly, are no alpha-net for thresholds.

    With replacement, by the number of different points among them, a Markov chain.
    """
    if not replaced:
        return float(1 - Fraction(net_choices(N, m, alpha), math.comb(N, m)))
    chance = np.zeros(min(m, N) + 1)
    chance[0] = 1.0
    for _ in range(m):
        stay = chance * np.arange(len(chance)) / N
        moved = chance * (1 - np.arange(len(chance)) / N)
        chance = stay + np.concatenate([[0.0], moved[:-1]])
    return math.fsum(
        p * missing(N, k, alpha, replaced=False) for k, p in enumerate(chance.tolist()) if p
    )


def thresholds_cases(effort: Effort) -> Iterator[Case]:
    """Sizes from 8 / alpha on, where the derivation begins."""
    for alpha, times in itertools.product((0.5, 0.25, 0.1), (8, 16, 32)):
        yield {"N": effort.of(60, 200), "m": math.ceil(times / alpha), "alpha": alpha}


def thresholds(N: int, m: int, alpha: float) -> Measured:
    """Exact chance of no net, against the derived bound tau (tau - 1) 2^(-alpha m / 2)."""
    allowed = net_failure(alpha, m, lambda points: points + 1)
    value = missing(N, m, alpha, replaced=True)
    return computed(allowed, value, RELATIVE * value)


def without_cases(effort: Effort) -> Iterator[Case]:
    """Every size up to N."""
    N = effort.of(40, 120)
    for alpha, m in itertools.product((0.5, 0.25, 0.1), range(1, N + 1)):
        yield {"N": N, "m": m, "alpha": alpha}


def without(N: int, m: int, alpha: float) -> Measured:
    """Chance of no net without replacement, against that with it."""
    allowed = missing(N, m, alpha, replaced=True)
    value = missing(N, m, alpha, replaced=False)
    return computed(allowed, value, RELATIVE * (value + allowed))


ROWS = (
    Row(
        key="dagan-feldman-2020/lemma-1/corner",
        checks="some constant C in O(.) holds for all alpha, beta in (0, 1)",
        quantity="probability of a net",
        method="exact",
        domain="C in {1, 8, 64}, alpha = beta = 1 - 1/(8C); points and the constant 1, d = 2",
        cases=corner_cases,
        measure=corner,
        relation="at least",
        verdict="refuted",
        derivation="Lemma 1 where alpha and beta are near 1",
    ),
    Row(
        key="dagan-feldman-2020/lemma-1/thresholds",
        checks="with the constant derived in mechanisms/shared/vc.py, on a line",
        quantity="probability of no net",
        method="exact",
        domain="60 points, alpha in {.5, .25, .1}, m in {8, 16, 32}/alpha",
        cases=thresholds_cases,
        measure=thresholds,
    ),
    Row(
        key="dagan-feldman-2020/lemma-1-without/thresholds",
        checks="without replacement a net is at least as likely as with it, on a line",
        quantity="probability of no net",
        method="exact",
        domain="40 points, every m, alpha in {.5, .25, .1}",
        cases=without_cases,
        measure=without,
    ),
)
