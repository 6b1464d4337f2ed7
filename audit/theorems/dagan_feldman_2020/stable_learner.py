"""Theorem 1: the stable learner with the constants of its proof."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from dpassay.mechanisms.shared.vc import exponential_size, net_size, sauer_shelah
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed


def stability_cases(effort: Effort) -> Iterator[Case]:
    """A grid of gamma and n with gamma n / 3 >= 1."""
    gammas = (0.01, 0.1, 0.3, 0.5, 0.9, 0.99)
    for gamma, n in itertools.product(gammas, effort.of((10, 401, 10_001), (10, 31, 101, 401))):
        if gamma * n >= 3:
            yield {"gamma": gamma, "n": n}


def stability(gamma: float, n: int) -> Measured:
    """Lemma 7 with gamma / 3 for gamma: change of a label's probability, for every H and S.

    At most eta + (1 - eta) tanh(epsilon / 4), eta = n' / n, epsilon = gamma / 3; attained for odd
    n (docs/findings.md, 'The stable learner').
    """
    eta, epsilon = math.floor(gamma * n / 3) / n, gamma / 3
    value = eta + (1 - eta) * math.tanh(epsilon / 4)
    return computed(gamma, value, 16 * UNIT_ROUNDOFF)


def growth_cases(effort: Effort) -> Iterator[Case]:
    """Decades of alpha and of gamma, from alpha = 1/2 on; above it a coin needs no example."""
    alphas = effort.of((0.5, 0.2, 0.05, 0.005), (0.5, 0.4, 0.2, 0.1, 0.05, 0.01, 1e-3, 1e-4))
    for alpha, gamma in itertools.product(alphas, (0.5, 0.05, 0.005)):
        yield {"alpha": alpha, "gamma": gamma}


def needed(alpha: float, gamma: float, d: int = 1) -> float:
    """What stability costs in the proof: Lemma 7 with alpha / 5 and gamma / 3.

    N^net and N^exp are those of mechanisms/shared/vc.py, with Lemma 2's growth function (that of
    thresholds for d = 1); n = n' / gamma is not rounded.
    """
    fine, third = alpha / 5, gamma / 3
    subset = net_size(fine, fine, lambda points: sauer_shelah(d, points))
    return max(subset / third, exponential_size(sauer_shelah(d, subset), third, fine))


def growth(alpha: float, gamma: float) -> Measured:
    """What the proof needs, against the growth of d log(1 / alpha) / (gamma alpha) from 1/2 on.

    The second term, (d + log(1 / beta)) / alpha^2, is Lemma 3 with alpha / 5.
    """
    grown = 0.5 * math.log(1 / alpha) / (math.log(2) * alpha)
    value = needed(alpha, gamma)
    return computed(needed(0.5, gamma) * grown, value, 16 * UNIT_ROUNDOFF * value)


def dimension_cases(effort: Effort) -> Iterator[Case]:
    """Dimensions, and decades of alpha from 1/2 on."""
    for d, alpha in itertools.product(
        effort.of((1, 2, 5, 10, 100), (1, 2, 3, 5, 10, 30, 100, 300)), (0.5, 0.2, 0.05, 0.005)
    ):
        yield {"d": d, "alpha": alpha, "gamma": 0.05}


def dimension(d: int, alpha: float, gamma: float) -> Measured:
    """What the proof needs for dimension d, with H_T itself, against d log(1 / alpha) / alpha.

    From d = 1 and alpha = 1/2 on. The size of H_T is (e n' / d)^d, in which d cancels.
    """
    grown = d * math.log(1 / alpha) / math.log(2) * 0.5 / alpha
    value = needed(alpha, gamma, d)
    return computed(needed(0.5, gamma) * grown, value, 16 * UNIT_ROUNDOFF * value)


def restated(d: int, alpha: float, gamma: float) -> Measured:
    """The same against d log(d / alpha) / alpha, Theorem 3."""
    grown = d * math.log(d / alpha) / math.log(2) * 0.5 / alpha
    value = needed(alpha, gamma, d)
    return computed(needed(0.5, gamma) * grown, value, 16 * UNIT_ROUNDOFF * value)


def free_cases(effort: Effort) -> Iterator[Case]:
    """Decades of alpha from 1/2 on, gamma = alpha."""
    for alpha in effort.of((0.5, 0.1, 0.01, 1e-3, 1e-4), (0.5, 0.3, 0.1, 0.01, 1e-3, 1e-4, 1e-5)):
        yield {"alpha": alpha}


def free(alpha: float) -> Measured:
    """What alpha-stability costs, against log(1 / alpha) / alpha^2; learning takes 1 / alpha^2."""
    value = needed(alpha, alpha)
    grown = needed(0.5, 0.5) * math.log(1 / alpha) / math.log(2) * (0.5 / alpha) ** 2
    return computed(grown, value, 16 * UNIT_ROUNDOFF * value)


ROWS = (
    Row(
        key="dagan-feldman-2020/theorem-1/stability",
        checks="the algorithm of the proof, run with gamma/3, is gamma-stable, for every H and S",
        quantity="change of a label's probability",
        method="exact",
        domain="six gamma from .01 to .99, n in {10, 401, 10001}",
        cases=stability_cases,
        measure=stability,
    ),
    Row(
        key="dagan-feldman-2020/theorem-1/growth",
        checks=(
            "d log(1/alpha)/(gamma alpha): the proof's size for thresholds grows no faster, from "
            "alpha = 1/2 on"
        ),
        quantity="number of examples, before rounding",
        method="exact",
        domain="alpha in {.5, .2, .05, .005}, gamma in {.5, .05, .005}",
        cases=growth_cases,
        measure=growth,
    ),
    Row(
        key="dagan-feldman-2020/theorem-1/dimension",
        checks=(
            "log(1/alpha) is right for d > 1 too: the proof's size with Lemma 2's growth, without "
            "Remark 1"
        ),
        quantity="number of examples, before rounding",
        method="exact",
        domain="d in {1, 2, 5, 10, 100}, alpha in {.5, .2, .05, .005}, gamma = .05",
        cases=dimension_cases,
        measure=dimension,
    ),
    Row(
        key="dagan-feldman-2020/theorem-3/growth",
        checks="log(d/alpha): the same size grows no faster; loose by log(d/alpha)/log(1/alpha)",
        quantity="number of examples, before rounding",
        method="exact",
        domain="d in {1, 2, 5, 10, 100}, alpha in {.5, .2, .05, .005}, gamma = .05",
        cases=dimension_cases,
        measure=restated,
    ),
    Row(
        key="dagan-feldman-2020/section-1.1-free/growth",
        checks="gamma = alpha: as many examples as learning takes, times log(1/alpha)",
        quantity="number of examples, before rounding",
        method="exact",
        domain="alpha in {.5, .1, .01, 1e-3, 1e-4}, thresholds",
        cases=free_cases,
        measure=free,
    ),
)
