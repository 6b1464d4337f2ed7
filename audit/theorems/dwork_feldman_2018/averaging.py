"""Lemma 4.6, averages of predictors on r blocks, and Corollary 4.7, which is made of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import scipy
from scipy.special import xlog1py

from dpassay.mechanisms.dwork_feldman_2018.averaged import Averaged
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.dwork_feldman_2018.noise import agnostic_loss, extra_error
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

ERROR = 1e-11
"""Relative error of a binomial tail."""


def stability_cases(effort: Effort) -> Iterator[Case]:
    """Blocks of classifiers, whose rate is 1."""
    for r in range(1, effort.of(50, 400)):
        yield {"r": r}


def stability(r: int) -> Measured:
    """Largest change of the mean of r classifiers, over all votes and changes of one block."""
    known = Averaged(r=r).reachable()
    if known is None:
        raise ArithmeticError("the votes are not all states")
    values = known.law.table[:, 0]
    value = float(np.abs(values[known.moves[:, 0]] - values[known.moves[:, 1]]).max())
    return computed(1 / r, value, 4 * UNIT_ROUNDOFF)


def mean_cases(effort: Effort) -> Iterator[Case]:
    """Laws on four predictions by sevenths, every loss, up to some blocks."""
    weights = [w for w in itertools.product(range(5), repeat=4) if sum(w) == 4]
    for r, loss in itertools.product(range(1, effort.of(4, 6)), ("absolute", "squared", "hinge")):
        for weight in weights:
            yield {"weights": list(weight), "loss": loss, "r": r}


PREDICTIONS = (Fraction(-2), Fraction(0), Fraction(1, 2), Fraction(3))
LOSSES = {
    "absolute": lambda a: abs(a - 1),
    "squared": lambda a: (a - 1) ** 2 / 2,
    "hinge": lambda a: max(Fraction(0), 1 - a),
}


def mean(weights: list[int], loss: str, r: int) -> Measured:
    """Expected loss of the mean of r independent predictions, against that of one; exact."""
    law = {a: Fraction(w, sum(weights)) for a, w in zip(PREDICTIONS, weights, strict=True) if w}
    total = {Fraction(0): Fraction(1)}
    for _ in range(r):
        more: dict[Fraction, Fraction] = {}
        for (s, p), (a, q) in itertools.product(total.items(), law.items()):
            more[s + a] = more.get(s + a, Fraction(0)) + p * q
        total = more
    one = sum((q * LOSSES[loss](a) for a, q in law.items()), Fraction(0))
    found = sum((p * LOSSES[loss](s / r) for s, p in total.items()), Fraction(0))
    return Measured(claimed=float(one), lower=float(found), upper=float(found))


def failures_cases(_: Effort) -> Iterator[Case]:
    """Blocks that fail rarely, and often."""
    for r, beta in itertools.product((1, 2, 10, 1000), (0.5, 0.1, 1e-3, 1e-9)):
        yield {"r": r, "beta": beta}


def failures(r: int, beta: float) -> Measured:
    """Chance that one block or more fails: all that it takes for a loss without limits.

    If no block does, the mean is below v by convexity. If one predicts r v + 1 and the others are
    right, |mean| is above v.
    """
    value = float(-np.expm1(xlog1py(r, -beta)))
    return computed(r * beta, value, ERROR * value)


def blocks(alpha: float, epsilon: float) -> int:
    """Return r = 2 / (alpha epsilon) of Corollary 4.7, rounded up where it is no whole number."""
    return math.ceil(Fraction(2) / (Fraction(str(alpha)) * Fraction(str(epsilon))))


def noise_cases(_: Effort) -> Iterator[Case]:
    """Both up to 1."""
    for alpha, epsilon in itertools.product((1.0, 0.4, 0.1, 0.01), (1.0, 0.5, 0.1)):
        yield {"alpha": alpha, "epsilon": epsilon}


def noise(alpha: float, epsilon: float) -> Measured:
    """Error that the noise adds at a point, over all votes, against the half of alpha left to it.

    The other half is Lemma 4.6, row 'mean': the mean excess of r blocks is at most that of one.
    """
    r = blocks(alpha, epsilon)
    value = extra_error(r, epsilon)
    return computed(alpha / 2, value, 64 * UNIT_ROUNDOFF * (1 + r * epsilon) * value)


def private(alpha: float, epsilon: float) -> Measured:
    """Loss of the label."""
    return agnostic_loss(blocks(alpha, epsilon), alpha, epsilon)


def one_point_cases(_: Effort) -> Iterator[Case]:
    """Few blocks first."""
    for alpha, epsilon, beta in itertools.product((0.4, 0.1, 0.01), (1.0,), (0.25, 0.3, 0.5)):
        yield {"alpha": alpha, "epsilon": epsilon, "beta": beta}


def vote_error(wrong: np.ndarray, r: int, epsilon: float) -> np.ndarray:
    """Chance of the wrong label where so many of r vote for it."""
    b, w = 1 / (r * epsilon), wrong / r
    found: np.ndarray = w + b / 2 * (np.exp(-w / b) - np.exp(-(1 - w) / b))
    return found


def one_point(alpha: float, epsilon: float, beta: float) -> Measured:
    """Chance that M errs by more than alpha on one point, label 0.

    Each block is wrong there with probability 2 beta alpha epsilon, as A may.
    """
    r, p = blocks(alpha, epsilon), 2 * beta * alpha * epsilon
    error = vote_error(np.arange(r + 1), r, epsilon)
    enough = int(np.argmax(error > alpha * (1 + 1e-9)))
    value = float(scipy.stats.binom.sf(enough - 1, r, p))
    return computed(beta, value, ERROR * value)


def two_points_cases(_: Effort) -> Iterator[Case]:
    """Few blocks first."""
    for alpha, epsilon, beta in ((0.1, 1.0, 0.05), (0.01, 1.0, 0.05), (0.01, 0.8, 0.05)):
        yield {"alpha": alpha, "epsilon": epsilon, "beta": beta, "short": 1e-4}


def two_points(alpha: float, epsilon: float, beta: float, short: float) -> Measured:
    """The same on two points, of which the lighter one has mass (1 - short) alpha / 2.

    A block errs on the lighter point, as A may, and with its own coin on both, with probability
    (1 - short) 2 beta alpha epsilon. The rest of what A may fail is for blocks that misjudge which
    mass is below alpha / 2: none of them must be there.
    """
    r, p = blocks(alpha, epsilon), 2 * beta * alpha * epsilon
    mass = (1 - short) * alpha / 2
    light, heavy = vote_error(np.array([r, 1]), r, epsilon)
    if mass * light + (1 - mass) * heavy <= alpha * (1 + 1e-9):
        return Measured(claimed=beta, lower=0.0, upper=1.0)
    value = math.exp(r * math.log1p(-short * p)) - math.exp(r * math.log1p(-p))
    return Measured(claimed=beta, lower=value * (1 - ERROR), upper=1.0)


PAPER = "dwork-feldman-2018"
ROWS = (
    Row(
        key=f"{PAPER}/lemma-4.6/stability",
        checks="the mean of r classifiers on r blocks has rate 1/r, for every learner and dataset",
        quantity="change of the mean",
        method="exact",
        domain="r = 1, ..., 49, every number of votes",
        cases=stability_cases,
        measure=stability,
    ),
    Row(
        key=f"{PAPER}/lemma-4.6/mean",
        checks="the expected loss of the mean is at most that of one prediction",
        quantity="expected loss",
        method="exact",
        domain="35 laws on four predictions, up to 3 blocks, absolute, squared and hinge loss",
        cases=mean_cases,
        measure=mean,
    ),
    Row(
        key=f"{PAPER}/lemma-4.6/failures",
        checks="Pr[loss >= v] <= r beta, where one block that fails is enough",
        quantity="probability",
        method="exact",
        domain="r in {1, 2, 10, 1000}, beta in {.5, .1, 1e-3, 1e-9}",
        cases=failures_cases,
        measure=failures,
    ),
    Row(
        key=f"{PAPER}/corollary-4.7/privacy",
        checks="the label is eps-DP",
        quantity="loss in nats",
        method="exact",
        domain="alpha in {1, .4, .1, .01}, eps in {1, .5, .1}, every number of votes",
        cases=noise_cases,
        measure=private,
    ),
    Row(
        key=f"{PAPER}/corollary-4.7/noise",
        checks="the noise adds alpha/2 at most; the rest of the mean excess is Lemma 4.6",
        quantity="extra error at a point, over all votes",
        method="exact",
        domain="alpha in {1, .4, .1, .01}, eps in {1, .5, .1}, every number of votes",
        cases=noise_cases,
        measure=noise,
    ),
    Row(
        key=f"{PAPER}/corollary-4.7/one-point",
        checks="M built with confidence 2 beta alpha eps a block fails with probability beta at "
        "most: a learner on one point",
        quantity="probability of an error above alpha",
        method="exact",
        domain="alpha in {.4, .1, .01}, eps = 1, beta in {.25, .3, .5}",
        cases=one_point_cases,
        measure=one_point,
        verdict="refuted",
        derivation="Corollary 4.7: the confidence",
    ),
    Row(
        key=f"{PAPER}/corollary-4.7/two-points",
        checks="the same for small beta: a learner that errs on a point of mass alpha/2",
        quantity="probability of an error above alpha, from below",
        method="exact",
        domain="alpha in {.1, .01}, eps in {1, .8}, beta = .05",
        cases=two_points_cases,
        measure=two_points,
        verdict="refuted",
        derivation="Corollary 4.7: the confidence",
    ),
)
