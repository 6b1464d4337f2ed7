"""Theorem 4, and the lower bounds that the overview prints."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import scipy

from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

BINOMIAL = 1e-10
"""Relative error of scipy's binomial sums, more than its tests allow."""


def least(enough: Callable[[int], bool]) -> int:
    """Return the least n >= 0 with enough(n), by doubling and halving; enough is monotone."""
    if enough(0):
        return 0
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def unlearned(n: int, mass: float, gamma: float) -> float:
    """E[max(0, 1 - gamma t)], t binomial (n, mass): twice the least mean error at such a point."""
    t = np.arange(min(n, math.floor(1 / gamma)) + 1)
    return float(scipy.stats.binom.pmf(t, n, mass) @ np.maximum(0.0, 1 - gamma * t))


def theorem_cases(effort: Effort) -> Iterator[Case]:
    """All functions on d points, alpha up to 1/4; for d = 1 nothing is claimed."""
    for d, gamma, alpha in itertools.product(
        effort.of((2, 10, 1000), (2, 3, 10, 100, 1000, 10_000)),
        effort.of((1.0, 0.3, 0.01), (1.0, 0.9, 0.5, 0.3, 0.1, 0.01, 0.001)),
        effort.of((0.25, 0.1, 0.01), (0.25, 0.2, 0.1, 0.05, 0.01, 0.001)),
    ):
        yield {"d": d, "gamma": gamma, "alpha": alpha}


def theorem(d: int, gamma: float, alpha: float) -> Measured:
    """Examples that learning the functions on d points takes, on the distributions of the proof.

    At a point with t examples a gamma-stable learner errs by max(0, 1 - gamma t) / 2 or more, on
    average over its label. Answering it with probability min(1, (1 + gamma t) / 2) is
    gamma-stable, as clip(1/2 + gamma (ones - zeros) / 2), and errs by just that. The lower bound
    leaves out the point of mass 1 - 4 alpha, the upper one has it.
    """
    claimed = (d - 1) / (8 * gamma * alpha)
    share, rest = 4 * alpha / (d - 1), 1 - 4 * alpha

    def needed(n: int) -> bool:
        return 2 * alpha * unlearned(n, share, gamma) <= alpha * (1 + BINOMIAL)

    def enough(n: int) -> bool:
        heavy = rest / 2 * unlearned(n, rest, gamma) if rest else 0.0
        return 2 * alpha * unlearned(n, share, gamma) + heavy <= alpha * (1 - BINOMIAL)

    return Measured(claimed=claimed, lower=least(needed), upper=least(enough))


def agnostic(d: int, alpha: float, beta: float, c: float) -> float:
    """The order c (d + ln(1 / beta)) / alpha^2."""
    return c * (d + math.log(1 / beta)) / alpha**2


def coin_cases(_: Effort) -> Iterator[Case]:
    """Constants c, alpha >= 1/2."""
    for c, alpha in itertools.product((1.0, 1e-3, 1e-6), (0.5, 0.75)):
        yield {"c": c, "d": 1, "alpha": alpha, "beta": 0.5}


def coin(c: float, d: int, alpha: float, beta: float) -> Measured:
    """A fair coin errs by 1/2 on every D, is 0-stable and 0-private, and sees no example."""
    if alpha < 0.5:
        raise ArithmeticError(f"a coin does not learn with error {alpha}")
    return computed(agnostic(d, alpha, beta, c), 0.0, 0.0)


def single_cases(_: Effort) -> Iterator[Case]:
    """Constants c; one function, so d = 0."""
    for c, alpha in itertools.product((1.0, 1e-3, 1e-6), (0.25, 0.01)):
        yield {"c": c, "alpha": alpha, "beta": 0.5}


def single(c: float, alpha: float, beta: float) -> Measured:
    """To answer the one function of H takes no example."""
    return computed(agnostic(0, alpha, beta, c), 0.0, 0.0)


def constants_cases(_: Effort) -> Iterator[Case]:
    """Constants c, each with an alpha below it: one point, H both constants, d = 1."""
    for c, gamma in itertools.product((1.0, 0.1, 1e-3, 1e-6), (0.5, 0.05)):
        yield {"c": c, "gamma": gamma, "alpha": c / 4}


def constants(c: float, gamma: float, alpha: float) -> Measured:
    """Equal labels that clip(1/2 + gamma (ones - zeros) / 2) learns without error.

    A replaced label moves ones - zeros by 2 and the probability by gamma. alpha is at most 1/4.
    """
    n = least(lambda m: 0.5 + gamma * m / 2 >= 1)
    return computed(c / (gamma * alpha), n, 0.0)


def bits_cases(_: Effort) -> Iterator[Case]:
    """Small alpha and beta up to 1/4."""
    for alpha, beta in itertools.product((0.125, 0.05, 0.01), (0.25, 0.1, 0.01, 1e-6)):
        yield {"alpha": alpha, "beta": beta}


def bits(alpha: float, beta: float) -> Measured:
    """Examples without which the labels 1 with probability 1/2 + alpha and 1/2 - alpha are mixed.

    With 1/2 +- a, a > alpha, no answer has excess error <= alpha for both, so some learner's
    chance of failure is at least half the overlap of the two laws of n labels: P[X < n/2] +
    P[X = n/2] / 2, X binomial (n, 1/2 + a). n must be so large that this is at most beta; a goes
    to alpha.
    """

    def enough(n: int) -> bool:
        """Odd n = 2m + 1 alone: an even n is no better than the odd one below it."""
        return float(scipy.stats.binom.cdf(n, 2 * n + 1, 0.5 + alpha)) <= beta * (1 + BINOMIAL)

    return Measured(
        claimed=math.log(1 / beta) / (16 * alpha**2), lower=2 * least(enough) + 1, upper=math.inf
    )


FOUND = "The lower bounds of the overview"

ROWS = (
    Row(
        key="dagan-feldman-2020/theorem-4/functions",
        checks="any gamma-stable learner needs (d - 1)/(8 gamma alpha), alpha <= 1/4",
        quantity="number of examples on the proof's distributions, for the best learner",
        method="exact",
        domain="d in {2, 10, 1000}, gamma in {1, .3, .01}, alpha in {.25, .1, .01}",
        cases=theorem_cases,
        measure=theorem,
        relation="at least",
    ),
    Row(
        key="dagan-feldman-2020/section-1.1-lower/coin",
        checks="alpha >= 1/2: some c in Omega((d + log(1/beta))/alpha^2)",
        quantity="number of examples with which a fair coin learns",
        method="exact",
        domain="c in {1, 1e-3, 1e-6}, alpha in {.5, .75}, d = 1, beta = 1/2",
        cases=coin_cases,
        measure=coin,
        relation="at least",
        verdict="refuted",
        derivation=FOUND,
    ),
    Row(
        key="dagan-feldman-2020/section-1.1-lower/single",
        checks="d = 0: some c in Omega((d + log(1/beta))/alpha^2)",
        quantity="number of examples with which a class of one function is learned",
        method="exact",
        domain="c in {1, 1e-3, 1e-6}, alpha in {.25, .01}, beta = 1/2",
        cases=single_cases,
        measure=single,
        relation="at least",
        verdict="refuted",
        derivation=FOUND,
    ),
    Row(
        key="dagan-feldman-2020/section-1.1-lower/constants",
        checks="d = 1: some c in Omega(d/(gamma alpha)), alpha <= 1/4; Theorem 4 has d - 1",
        quantity="number of examples with which the constants on one point are learned",
        method="exact",
        domain="c in {1, .1, 1e-3, 1e-6}, alpha = c/4, gamma in {.5, .05}",
        cases=constants_cases,
        measure=constants,
        relation="at least",
        verdict="refuted",
        derivation=FOUND,
    ),
    Row(
        key="dagan-feldman-2020/section-1.1-lower/bits",
        checks="log(1/beta)/alpha^2 with c = 1/16 for d >= 1, alpha <= 1/8, beta <= 1/4",
        quantity="number of examples that any learner of two constants needs",
        method="exact",
        domain="alpha in {.125, .05, .01}, beta in {.25, .1, .01, 1e-6}",
        cases=bits_cases,
        measure=bits,
        relation="at least",
    ),
    Row(
        key="dagan-feldman-2020/section-1.1-best-lower/coin",
        checks="alpha >= 1/2: some c in Omega(.); both terms are positive",
        quantity="number of examples with which a fair coin learns, and loses nothing",
        method="exact",
        domain="c in {1, 1e-3, 1e-6}, alpha in {.5, .75}, d = 1, beta = 1/2; the second term",
        cases=coin_cases,
        measure=coin,
        relation="at least",
        verdict="refuted",
        derivation=FOUND,
    ),
)
