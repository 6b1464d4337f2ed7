"""Definition 1.1, an interface that is asked adaptively, and the composition that it refers to."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.mechanisms.dwork_feldman_2018.composition import (
    advanced_composition,
    optimal_composition,
)
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

Array = NDArray[np.float64]


def answers(r: int, epsilon: float) -> tuple[Array, Array]:
    """Chances of answer 1 of soft majority on two neighbours, by which vote moves, both ways.

    Whatever a query generator asks, one vote of the answer moves by one or none does.
    """
    one = expit(epsilon / 2 * (2 * np.arange(r + 1) - r))
    p, q = np.concatenate([one[:-1], one[1:]]), np.concatenate([one[1:], one[:-1]])
    return p, q


def adaptive_cases(effort: Effort) -> Iterator[Case]:
    """Answers and votes."""
    for m, r in itertools.product(effort.of((1, 2, 3), (1, 2, 3, 4)), (1, 2, 3, 8)):
        for epsilon in (0.1, 1.0):
            yield {"m": m, "r": r, "epsilon": epsilon}


def transcript_loss(r: int, epsilon: float, m: int) -> float:
    """Largest loss of a transcript of m answers, by any adaptive Q: that of one, m times."""
    p, q = answers(r, epsilon)
    one = max(float(np.log(p / q).max()), float(np.log((1 - p) / (1 - q)).max()))
    return m * one


def adaptive(m: int, r: int, epsilon: float) -> Measured:
    """Loss in nats of m answers with loss epsilon / m each, against epsilon."""
    value = transcript_loss(r, epsilon / m, m)
    return computed(epsilon, value, 64 * m * UNIT_ROUNDOFF * (1 + epsilon * r))


def repeated(m: int, r: int, epsilon: float) -> Measured:
    """Loss in nats of m answers with loss epsilon each, against m epsilon."""
    value = transcript_loss(r, epsilon, m)
    return computed(m * epsilon, value, 64 * m * UNIT_ROUNDOFF * (1 + epsilon * r))


def composition_cases(effort: Effort) -> Iterator[Case]:
    """Answers, losses and deltas."""
    for m, epsilon, delta in itertools.product(
        effort.of((1, 2, 10, 50), (1, 2, 3, 10, 30, 50, 60)), (0.01, 0.1, 1.0), (1e-2, 1e-6)
    ):
        yield {"m": m, "epsilon": epsilon, "delta_prime": delta}


def basic(m: int, epsilon: float, delta_prime: float) -> Measured:
    """The least loss of m answers at delta', against m epsilon."""
    value = optimal_composition(epsilon, m, delta_prime)
    return computed(m * epsilon, value, 1e-9 * value)


def advanced(m: int, epsilon: float, delta_prime: float) -> Measured:
    """The same against Theorem 3.20 of the book that is cited."""
    value = optimal_composition(epsilon, m, delta_prime)
    return computed(advanced_composition(epsilon, m, delta_prime), value, 1e-9 * value)


PAPER = "dwork-feldman-2018"
ROWS = (
    Row(
        key=f"{PAPER}/definition-1.1/any-generator",
        checks="m answers with fresh coins and loss eps/m each keep eps for every adaptive Q",
        quantity="largest loss of a transcript, in nats",
        method="exact",
        domain="soft majority, r in {1, 2, 3, 8}, up to 3 answers, eps in {.1, 1}, every Q",
        cases=adaptive_cases,
        measure=adaptive,
    ),
    Row(
        key=f"{PAPER}/composition/transcript",
        checks="m answers of an eps-DP prediction with fresh coins keep m eps, for every Q",
        quantity="largest loss of a transcript, in nats",
        method="exact",
        domain="soft majority, r in {1, 2, 3, 8}, up to 3 answers, eps in {.1, 1}, every Q",
        cases=adaptive_cases,
        measure=repeated,
    ),
    Row(
        key=f"{PAPER}/composition/basic",
        checks="the least eps* of m eps-DP answers at delta' is at most m eps",
        quantity="eps* of any m eps-DP answers, in nats",
        method="exact",
        domain="m in {1, 2, 10, 50}, eps in {.01, .1, 1}, delta' in {1e-2, 1e-6}",
        cases=composition_cases,
        measure=basic,
    ),
    Row(
        key=f"{PAPER}/composition/advanced",
        checks="it is at most sqrt(2 m ln(1/delta')) eps + m eps (e^eps - 1), as the book has it",
        quantity="eps* of any m eps-DP answers, in nats",
        method="exact",
        domain="m in {1, 2, 10, 50}, eps in {.01, .1, 1}, delta' in {1e-2, 1e-6}",
        cases=composition_cases,
        measure=advanced,
    ),
)
