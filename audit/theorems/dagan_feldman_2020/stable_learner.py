"""Theorem 1: the stable learner with the constants of its proof."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from dpassay.mechanisms.shared.vc import exponential_size, net_size
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


def needed(alpha: float, gamma: float) -> float:
    """What stability costs in the proof, for thresholds: Lemma 7 with alpha / 5 and gamma / 3.

    N^net and N^exp are those of mechanisms/shared/vc.py; n = n' / gamma is not rounded.
    """
    fine, third = alpha / 5, gamma / 3
    subset = net_size(fine, fine, lambda points: points + 1)
    return max(subset / third, exponential_size(subset + 1, third, fine))


def growth(alpha: float, gamma: float) -> Measured:
    """What the proof needs, against the growth of d log(1 / alpha) / (gamma alpha) from 1/2 on.

    The second term, (d + log(1 / beta)) / alpha^2, is Lemma 3 with alpha / 5.
    """
    grown = 0.5 * math.log(1 / alpha) / (math.log(2) * alpha)
    value = needed(alpha, gamma)
    return computed(needed(0.5, gamma) * grown, value, 16 * UNIT_ROUNDOFF * value)


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
)
