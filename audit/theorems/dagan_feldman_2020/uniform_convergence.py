"""Lemma 3: uniform convergence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.seeds import stream
from dpassay.theorems.effort import SHARE, Effort
from dpassay.theorems.row import Case, Measured, Row, computed
from dpassay.theorems.sampled import frequency

GRID = tuple(itertools.product((0.2, 0.1), (0.3, 0.1)))


def sample_size(d: int, alpha: float, beta: float, C: float) -> int:
    """ceil(C (d + ln(1 / beta)) / alpha^2), at least 1."""
    return max(1, math.ceil(C * (d + math.log(1 / beta)) / alpha**2))


def single_cases(effort: Effort) -> Iterator[Case]:
    """Constants C, each with beta so near 1 that one example is enough of them."""
    for C in effort.of((1, 8, 64), (1, 8, 64, 1000, 10**6)):
        yield {"C": C, "alpha": 0.25, "beta": 1 - 1 / (32 * C)}


def single(C: float, alpha: float, beta: float) -> Measured:
    """H has one function, so d = 0, and it errs with probability 1/2: |1/2 - X/n| <= alpha."""
    n = sample_size(0, alpha, beta, C)
    low, high = math.ceil(n * (0.5 - alpha)), math.floor(n * (0.5 + alpha))
    good = sum(math.comb(n, x) for x in range(low, high + 1))
    return computed(1 - beta, good / 2**n, UNIT_ROUNDOFF if good else 0.0)


def thresholds_cases(effort: Effort) -> Iterator[Case]:
    """A grid of alpha and beta, which share the row's error probability."""
    for alpha, beta in GRID:
        trials = effort.of(2000, 50_000)
        yield {"alpha": alpha, "beta": beta, "trials": trials, "seed": effort.seed}


def thresholds(alpha: float, beta: float, trials: int, seed: int) -> Measured:
    """How often some threshold deviates by more than alpha, C = 1, labels of a fair coin.

    Points uniform on [0, 1], so L_D = 1/2 for all thresholds. In the order of the points, moving
    the threshold over one adds an error or takes one away: n (L_S - 1/2) is a walk, begun where
    the threshold is below all points.
    """
    n = sample_size(1, alpha, beta, 1.0)
    rng = stream(seed, "dagan-feldman-2020/lemma-3/thresholds", alpha, beta)
    labels = rng.integers(0, 2, size=(trials, n))
    steps = np.concatenate([np.sum(1 - labels, axis=1, keepdims=True), 2 * labels - 1], axis=1)
    deviation = np.abs(np.cumsum(steps, axis=1) / n - 0.5).max(axis=1)
    found = int((deviation > alpha).sum())
    return frequency(beta, found, trials, alpha=SHARE / len(GRID))


ROWS = (
    Row(
        key="dagan-feldman-2020/lemma-3/single",
        checks="d = 0: some constant C in Omega(.) holds for all beta in (0, 1)",
        quantity="probability that all of H is within alpha",
        method="exact",
        domain="C in {1, 8, 64}, alpha = 1/4, beta = 1 - 1/(32C); one function",
        cases=single_cases,
        measure=single,
        relation="at least",
        verdict="refuted",
        derivation="Lemma 3 for a class of one function",
    ),
    Row(
        key="dagan-feldman-2020/lemma-3/thresholds",
        checks="thresholds (d = 1) with C = 1, labels of a fair coin",
        quantity="probability that some threshold is off by more than alpha",
        method="certified",
        domain="alpha in {.2, .1}, beta in {.3, .1}; 2,000 samples each",
        cases=thresholds_cases,
        measure=thresholds,
        verdict="not refuted",
    ),
)
