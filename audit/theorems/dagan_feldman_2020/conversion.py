"""Corollary 1: from stability to privacy by flipping labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.dagan_feldman_2020.stable_learner import needed
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

SMALL = 16 * UNIT_ROUNDOFF
SHARES = {"section 3": 0.5, "overview": 1.0}
"""gamma in units of epsilon alpha."""
EPSILONS = (0.01, 0.5, 0.99)


def flipped_loss(alpha: float, gamma: float) -> float:
    """Largest loss of a gamma-stable answer that is flipped with probability alpha, attained.

    docs/findings.md, 'Corollary 1' and 'Corollary 1 above one half'.
    """
    return math.log1p(abs(1 - 2 * alpha) * gamma / min(alpha, 1 - alpha))


def private_cases(alphas: tuple[float, ...], names: tuple[str, ...]) -> Iterator[Case]:
    """A grid of flips, epsilons and calibrations."""
    for alpha, epsilon, name in itertools.product(alphas, EPSILONS, names):
        yield {"alpha": alpha, "epsilon": epsilon, "calibration": name}


def private(alpha: float, epsilon: float, calibration: str) -> Measured:
    """Loss after flipping with probability alpha, gamma = epsilon alpha or half of it."""
    value = flipped_loss(alpha, SHARES[calibration] * epsilon * alpha)
    return computed(epsilon, value, SMALL)


def corollary_cases(effort: Effort) -> Iterator[Case]:
    """All of (0, 1), in steps."""
    steps = effort.of(20, 200)
    alphas = (1e-6, *(k / steps for k in range(1, steps)), 0.999)
    return private_cases(alphas, ("section 3", "overview"))


def corollary(alpha: float, epsilon: float, calibration: str) -> Measured:
    """Corollary 1 for an error of alpha: the conversion with alpha / 2, which is below 1/2."""
    return private(alpha / 2, epsilon, calibration)


def error_cases(effort: Effort) -> Iterator[Case]:
    """Grids of alpha, and of the best error of H."""
    steps = effort.of(20, 100)
    for k, j in itertools.product(range(1, steps), range(steps + 1)):
        yield {"alpha": k / steps, "best": j / steps}


def flipped_error(flip: float, best: float, excess: float) -> float:
    """Largest excess error after a flip, of an answer with an error in [0, best + excess]."""
    most = min(1.0, best + excess) if flip <= 0.5 else 0.0
    return flip + (1 - 2 * flip) * most - best


def error(alpha: float, best: float) -> Measured:
    """Flip with probability alpha what errs by best + alpha at most: (2 alpha, beta)-PAC."""
    return computed(2 * alpha, flipped_error(alpha, best, alpha), SMALL)


def corollary_error(alpha: float, best: float) -> Measured:
    """Corollary 1 for an error of alpha: the same with alpha / 2."""
    return computed(alpha, flipped_error(alpha / 2, best, alpha / 2), SMALL)


def size_cases(effort: Effort) -> Iterator[Case]:
    """Three decades of alpha, from 1/2 on, and of epsilon."""
    alphas = effort.of((0.5, 0.2, 0.05, 0.005), (0.5, 0.4, 0.2, 0.1, 0.05, 0.01, 1e-3, 1e-4))
    for alpha, epsilon in itertools.product(alphas, (0.5, 0.05, 0.005)):
        yield {"alpha": alpha, "epsilon": epsilon}


def size(alpha: float, epsilon: float) -> Measured:
    """Stable learner's size with alpha / 2 and gamma = epsilon alpha / 4, against the order.

    d log(1 / alpha) / (epsilon alpha^2), from alpha = 1/2 on; above it a coin will do.
    """
    value = needed(alpha / 2, epsilon * alpha / 4)
    first = needed(0.25, epsilon / 8)
    grown = first * math.log(1 / alpha) / math.log(2) * (0.5 / alpha) ** 2
    return computed(grown, value, SMALL * value)


def floor_cases(alphas: tuple[float, ...]) -> Iterator[Case]:
    """Answers that are certain, and others."""
    for alpha, percent in itertools.product(alphas, (100, 0, 25, 50)):
        yield {"alpha": alpha, "percent": percent}


def floor(alpha: float, percent: int) -> Measured:
    """Pr[A(S)(x) = y] after flipping an answer that has y with this probability before."""
    p = percent / 100
    return computed(alpha, alpha + (1 - 2 * alpha) * p, SMALL)


def stable(alpha: float, epsilon: float, calibration: str) -> Measured:
    """Change of a probability after flipping: |1 - 2 alpha| gamma."""
    gamma = SHARES[calibration] * epsilon * alpha
    return computed(gamma, abs(1 - 2 * alpha) * gamma, SMALL)


BELOW = (0.01, 0.1, 0.25, 0.4, 0.5)
ABOVE = (0.6, 0.75, 0.9, 0.99)
FOUND = "Corollary 1 above one half"

ROWS = (
    Row(
        key="dagan-feldman-2020/corollary-1/privacy",
        checks="on all of (0, 1): the conversion with alpha/2 is eps-private, both calibrations",
        quantity="privacy loss, attained",
        method="exact",
        domain="alpha = 1e-6, .05, ..., .95, .999, eps in {.01, .5, .99}",
        cases=corollary_cases,
        measure=corollary,
    ),
    Row(
        key="dagan-feldman-2020/corollary-1/error",
        checks="on all of (0, 1): the conversion with alpha/2 has excess error at most alpha",
        quantity="excess error",
        method="exact",
        domain="alpha = .05, ..., .95, best error of H 0, .05, ..., 1",
        cases=error_cases,
        measure=corollary_error,
    ),
    Row(
        key="dagan-feldman-2020/corollary-1/size",
        checks="d log(1/alpha)/(eps alpha^2): the proof's size grows no faster, thresholds",
        quantity="number of examples, before rounding",
        method="exact",
        domain="alpha in {.5, .2, .05, .005}, eps in {.5, .05, .005}",
        cases=size_cases,
        measure=size,
    ),
    Row(
        key="dagan-feldman-2020/section-1.1-flip/below",
        checks="gamma = eps alpha, flipped with alpha <= 1/2: the ratio is at most e^eps",
        quantity="privacy loss, attained",
        method="exact",
        domain="alpha in {.01, .1, .25, .4, .5}, eps in {.01, .5, .99}",
        cases=lambda _: private_cases(BELOW, ("overview",)),
        measure=private,
    ),
    Row(
        key="dagan-feldman-2020/section-1.1-flip/above",
        checks="the same for alpha > 1/2, which Corollary 1 does not exclude",
        quantity="privacy loss, attained",
        method="exact",
        domain="alpha in {.6, .75, .9, .99}, eps in {.01, .5, .99}",
        cases=lambda _: private_cases(ABOVE, ("overview",)),
        measure=private,
        verdict="refuted",
        derivation=FOUND,
    ),
    Row(
        key="dagan-feldman-2020/section-3-conversion/floor-below",
        checks="Pr[A(S)(x) = y] >= alpha, for alpha <= 1/2",
        quantity="probability of a label",
        method="exact",
        domain="alpha in {.01, .1, .25, .4, .5}, probability before 0, 1/4, 1/2, 1",
        cases=lambda _: floor_cases(BELOW),
        measure=floor,
        relation="at least",
    ),
    Row(
        key="dagan-feldman-2020/section-3-conversion/floor-above",
        checks="Pr[A(S)(x) = y] >= alpha, for alpha > 1/2",
        quantity="probability of a label",
        method="exact",
        domain="alpha in {.6, .75, .9, .99}, probability before 0, 1/4, 1/2, 1",
        cases=lambda _: floor_cases(ABOVE),
        measure=floor,
        relation="at least",
        verdict="refuted",
        derivation=FOUND,
    ),
    Row(
        key="dagan-feldman-2020/section-3-conversion/privacy-below",
        checks="gamma = eps alpha/2, flipped with alpha up to .78: eps-private",
        quantity="privacy loss, attained",
        method="exact",
        domain="alpha in {.01, .1, .25, .4, .5, .6, .75, .78}, eps in {.01, .5, .99}",
        cases=lambda _: private_cases((*BELOW, 0.6, 0.75, 0.78), ("section 3",)),
        measure=private,
    ),
    Row(
        key="dagan-feldman-2020/section-3-conversion/privacy-above",
        checks="the same for alpha from .8363 on, where no eps in (0, 1) is kept",
        quantity="privacy loss, attained",
        method="exact",
        domain="alpha in {.84, .9, .99}, eps in {.01, .5, .99}",
        cases=lambda _: private_cases((0.84, 0.9, 0.99), ("section 3",)),
        measure=private,
        verdict="refuted",
        derivation=FOUND,
    ),
    Row(
        key="dagan-feldman-2020/section-3-conversion/stability",
        checks="A is eps alpha/2-stable after the flip",
        quantity="change of a label's probability",
        method="exact",
        domain="alpha in {.01, ..., .5, .6, .75, .9, .99}, eps in {.01, .5, .99}",
        cases=lambda _: private_cases((*BELOW, *ABOVE), ("section 3",)),
        measure=stable,
    ),
    Row(
        key="dagan-feldman-2020/section-3-conversion/error",
        checks="A is a (2 alpha, beta)-PAC learner",
        quantity="excess error",
        method="exact",
        domain="alpha = .05, ..., .95, best error of H 0, .05, ..., 1",
        cases=error_cases,
        measure=error,
    ),
)
