"""Theorem 4.1: soft majority of r predictors, its privacy, its error, and its r."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

EPSILONS = (0.1, 0.5, 1.0, 3.0)
ALPHAS = (0.01, 0.05, 0.25, 0.9)


def blocks(alpha: float, epsilon: float) -> int:
    """The printed r, ceil(6 ln(4 / alpha) / epsilon)."""
    return math.ceil(6 * math.log(4 / alpha) / epsilon)


def privacy_cases(effort: Effort) -> Iterator[Case]:
    """Every r up to a size, by epsilon."""
    for r, epsilon in itertools.product(range(1, effort.of(100, 1000) + 1), EPSILONS):
        yield {"r": r, "epsilon": epsilon}


def privacy(r: int, epsilon: float) -> Measured:
    """Largest loss of a label between any two neighbouring numbers of votes.

    A replaced record moves one vote of r, whatever the learner; so the numbers of votes are all
    states there are.
    """
    logits = epsilon / 2 * (2 * np.arange(r + 1) - r)
    losses = np.abs(np.diff([log_expit(logits), log_expit(-logits)], axis=1))
    return computed(epsilon, float(losses.max()), 16 * UNIT_ROUNDOFF * (1 + epsilon * r))


def worst_error(r: int, epsilon: float, mean: float) -> float:
    """Largest error of the soft majority of r predictors that err `mean` / r on average.

    Which predictors err at which points is free: over a point drawn from D the number K of wrong
    votes has any law on 0, ..., r with this mean. So the largest error is the concave hull of
    k -> sigma(epsilon (2 k - r) / 2) at the mean: the best chord over it.
    """
    k = np.arange(r + 1)
    error: NDArray[np.float64] = expit(epsilon / 2 * (2 * k - r))
    low, high = k[k <= mean][:, None], k[k >= mean][None, :]
    share = np.where(high > low, (mean - low) / np.maximum(high - low, 1), 0.0)
    return float(((1 - share) * error[low] + share * error[high]).max())


def utility_cases(effort: Effort) -> Iterator[Case]:
    """A grid of errors and losses."""
    epsilons = effort.of(EPSILONS, (0.01, 0.03, *EPSILONS, 10.0))
    for alpha, epsilon in itertools.product(ALPHAS, epsilons):
        yield {"alpha": alpha, "epsilon": epsilon}


def utility(alpha: float, epsilon: float) -> Measured:
    """Worst error at the printed r, each predictor erring by alpha / 4, against alpha."""
    r = blocks(alpha, epsilon)
    value = worst_error(r, epsilon, alpha * r / 4)
    return computed(alpha, value, 16 * UNIT_ROUNDOFF * (1 + epsilon * r))


def size(alpha: float, epsilon: float) -> Measured:
    """Least r from which on the worst error is at most alpha, against the printed r."""
    printed = blocks(alpha, epsilon)
    least = printed + 1
    while least > 1 and worst_error(least - 1, epsilon, alpha * (least - 1) / 4) <= alpha:
        least -= 1
    return computed(printed, least, 0.0)


def coins_cases(effort: Effort) -> Iterator[Case]:
    """With beta below what a single answer can err, hand-sized first."""
    for alpha, epsilon in itertools.product((0.5, 0.1), effort.of((1.0, 0.1), (1.0, 0.1, 0.01))):
        yield {"alpha": alpha, "epsilon": epsilon, "beta": alpha**3 / 1000}


def coins(alpha: float, epsilon: float, beta: float) -> Measured:
    """Chance that the function drawn errs by more than alpha where X is one point.

    All r predictors are right there, so it is wrong with probability sigma(-epsilon r / 2).
    """
    value = float(expit(-epsilon * blocks(alpha, epsilon) / 2))
    return computed(beta, value, 64 * UNIT_ROUNDOFF * (1 - math.log(value)) * value)


def exponent_cases(_: Effort) -> Iterator[Case]:
    """Errors that are asked for."""
    for alpha in (0.5, 0.1, 0.01):
        yield {"alpha": alpha}


def exponent(alpha: float) -> Measured:
    """e^(-ln(alpha/4)), as printed, against alpha/4; e^(ln(alpha/4)) is meant."""
    value = math.exp(-math.log(alpha / 4))
    return computed(alpha / 4, value, 64 * UNIT_ROUNDOFF * value)


ROWS = (
    Row(
        key="dwork-feldman-2018/theorem-4.1/privacy",
        checks="the algorithm of the proof is eps-DP prediction, for every learner and dataset",
        quantity="loss in nats",
        method="exact",
        domain="every number of votes of r = 1, ..., 100 predictors, four eps",
        cases=privacy_cases,
        measure=privacy,
    ),
    Row(
        key="dwork-feldman-2018/theorem-4.1/utility",
        checks="its error is at most alpha if each of r predictors errs by alpha/4",
        quantity="largest error over all ways in which the predictors can err together",
        method="exact",
        domain="alpha in {.01, .05, .25, .9}, eps in {.1, .5, 1, 3}",
        cases=utility_cases,
        measure=utility,
    ),
    Row(
        key="dwork-feldman-2018/theorem-4.1/r",
        checks="r = ceil(6 ln(4/alpha)/eps) predictors are enough",
        quantity="number of predictors that is enough",
        method="exact",
        domain="alpha in {.01, .05, .25, .9}, eps in {.1, .5, 1, 3}",
        cases=utility_cases,
        measure=size,
    ),
    Row(
        key="dwork-feldman-2018/theorem-4.1/answer-coins",
        checks="confidence 1 - beta counts the coins of the answer too, as Definition 3.2 reads: "
        "one point, all predictors right",
        quantity="probability of an error above alpha",
        method="exact",
        domain="alpha in {.5, .1}, eps in {1, .1}, beta = alpha^3/1000",
        cases=coins_cases,
        measure=coins,
        verdict="refuted",
        derivation="Theorem 4.1: whose confidence",
    ),
    Row(
        key="dwork-feldman-2018/theorem-4.1-exponent/printed",
        checks="a step of the proof: e^(-ln(alpha/4)) is at most alpha/4",
        quantity="e^(-ln(alpha/4))",
        method="exact",
        domain="alpha in {.5, .1, .01}",
        cases=exponent_cases,
        measure=exponent,
        verdict="refuted",
        derivation="Two steps of proofs",
    ),
)
