"""Lemma 4.5 and the agnostic prediction made with it: noise, its privacy, and what it costs.

A convex loss l has E l(v + zeta) - l(v) = E of the integral of l'' against (b / 2) e^(-|t - v| / b)
for Laplace zeta of scale b: a kink of 2 L at v costs most among L-Lipschitz losses, L b.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from dpassay.mechanisms.dwork_feldman_2018.noisy_average import NoisyAverage
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

EPSILONS = (0.1, 0.5, 1.0, 4.0)
GAMMAS = (0.04, 0.5, 1.0)
ERROR = 32 * UNIT_ROUNDOFF


def scale_cases(_: Effort) -> Iterator[Case]:
    """Rates and losses; the witness of the printed scale first."""
    yield {"epsilon": 0.5, "gamma": 1.0}
    for epsilon, gamma in itertools.product(EPSILONS, GAMMAS):
        yield {"epsilon": epsilon, "gamma": gamma}


def shift_loss(gamma: float, scale: float) -> float:
    """Largest loss of Laplace noise whose centre moves by gamma: attained before both centres."""
    return gamma / scale


def meant_scale(epsilon: float, gamma: float) -> Measured:
    """With scale gamma / epsilon."""
    value = shift_loss(gamma, gamma / epsilon)
    return computed(epsilon, value, ERROR * value)


def printed_scale(epsilon: float, gamma: float) -> Measured:
    """With scale epsilon / gamma."""
    value = shift_loss(gamma, epsilon / gamma)
    return computed(epsilon, value, ERROR * value)


def kink_cases(_: Effort) -> Iterator[Case]:
    """Distances of the kink from the prediction; 0 is the worst."""
    for epsilon, gamma, L in itertools.product(EPSILONS, GAMMAS, (0.5, 1.0, 3.0)):
        yield {"epsilon": epsilon, "gamma": gamma, "L": L, "away": [0.0, 0.1, 1.0, 10.0]}


def kink(epsilon: float, gamma: float, L: float, away: list[float]) -> Measured:
    """Largest extra loss by noise of L |a - y|, |v - y| in `away`."""
    b = gamma / epsilon
    value = max(L * b * math.exp(-each / b) for each in away)
    return computed(L * gamma / epsilon, value, ERROR * value)


def smooth_cases(_: Effort) -> Iterator[Case]:
    """From sigma = 1/2 on, which is hand-sized; then on both sides of 1."""
    for sigma, ratio in itertools.product((0.5, 0.1, 0.99, 1.0, 2.0, 10.0), (1.0, 0.1, 25.0)):
        yield {"sigma": sigma, "gamma": ratio, "epsilon": 1.0}


def smooth_extra(sigma: float, gamma: float, epsilon: float) -> float:
    """Extra loss by noise of sigma (a - y)^2 / 2: sigma E zeta^2 / 2, wherever v is."""
    return sigma * 2 * (gamma / epsilon) ** 2 / 2


def smooth_printed(sigma: float, gamma: float, epsilon: float) -> Measured:
    """Against sigma^2 gamma^2 / epsilon^2."""
    value = smooth_extra(sigma, gamma, epsilon)
    return computed(sigma**2 * gamma**2 / epsilon**2, value, ERROR * value)


def smooth_proof(sigma: float, gamma: float, epsilon: float) -> Measured:
    """Against sigma gamma^2 / epsilon^2."""
    value = smooth_extra(sigma, gamma, epsilon)
    return computed(sigma * gamma**2 / epsilon**2, value, ERROR * value)


def any_cases(_: Effort) -> Iterator[Case]:
    """Where no M keeps the printed bound: sigma below epsilon^2 / (8 cosh(epsilon / 2)^2)."""
    for sigma, epsilon in ((0.0625, 1.0), (0.125, 2.4), (0.01, 0.5)):
        yield {"sigma": sigma, "epsilon": epsilon}


def smooth_any(sigma: float, epsilon: float) -> Measured:
    """The least extra loss of any M, gamma = 1, at the worse of A(S, x) = 0 and A(S', x) = 1.

    The loss is sigma (a - y)^2 / 2, y the prediction of A. An answer o that has the chances p on S
    and q on S' adds p o^2 + q (1 - o)^2 >= p q / (p + q) to the two mean squares. As p / q is
    between e^-epsilon and e^epsilon that is (p + q) e^epsilon / (1 + e^epsilon)^2 or more; over all
    answers p + q is 2. Answers 1 / (1 + e^epsilon) and 1 less that, the nearer one e^epsilon times
    as often, attain it.
    """
    value = sigma / 2 / (4 * math.cosh(epsilon / 2) ** 2)
    return computed(sigma**2 / epsilon**2, value, ERROR * value)


def projected_cases(_: Effort) -> Iterator[Case]:
    """Predictions by quarters, on both sides of [0, 1]."""
    for quarters, y in itertools.product(range(-8, 13), (0, 1)):
        yield {"f": quarters / 4, "y": y}


def projected(f: float, y: int) -> Measured:
    """Chance of the other label, against |y - f|; quarters are exact."""
    return computed(abs(y - f), abs(y - min(1.0, max(0.0, f))), 0.0)


def agnostic_cases(effort: Effort) -> Iterator[Case]:
    """With r = ceil(1 / (epsilon alpha)), hand-sized first."""
    for alpha, epsilon in itertools.product(
        (0.5, 0.1, effort.of(0.01, 0.001)), (1.0, 0.5, 0.1, 0.01)
    ):
        yield {"r": math.ceil(1 / (epsilon * alpha)), "alpha": alpha, "epsilon": epsilon}


def extra_error(r: int, epsilon: float) -> float:
    """Largest amount by which truncated noise raises the chance of a label, over all votes."""
    b, w = 1 / (r * epsilon), np.arange(r + 1) / r
    return float((b / 2 * (np.exp(-w / b) - np.exp(-(1 - w) / b))).max())


def agnostic_error(r: int, alpha: float, epsilon: float) -> Measured:
    """Extra error, against alpha."""
    value = extra_error(r, epsilon)
    return computed(alpha, value, ERROR * (1 + r * epsilon) * value)


def agnostic_loss(r: int, alpha: float, epsilon: float) -> Measured:  # noqa: ARG001
    """Largest loss of the label, over all votes and both labels."""
    known = NoisyAverage(epsilon=epsilon, r=r).reachable()
    if known is None:
        raise ArithmeticError("the votes are not all states")
    log_p = known.law.log_p  # type: ignore[union-attr]
    losses = np.abs(log_p[known.moves[:, 0]] - log_p[known.moves[:, 1]])
    return computed(epsilon, float(losses.max()), 2 * known.law.error)


PAPER = "dwork-feldman-2018"
ROWS = (
    Row(
        key=f"{PAPER}/lemma-4.5/privacy",
        checks="Laplace noise of scale gamma/eps, as the proof uses it, makes the answer eps-DP",
        quantity="loss in nats where the prediction moves by gamma",
        method="exact",
        domain="eps in {.1, .5, 1, 4}, gamma in {.04, .5, 1}",
        cases=scale_cases,
        measure=meant_scale,
    ),
    Row(
        key=f"{PAPER}/lemma-4.5/printed-scale",
        checks="Laplace noise of scale eps/gamma, as printed, makes the answer eps-DP",
        quantity="loss in nats where the prediction moves by gamma",
        method="exact",
        domain="eps in {.1, .5, 1, 4}, gamma in {.04, .5, 1}",
        cases=scale_cases,
        measure=printed_scale,
        verdict="refuted",
        derivation="The scale in Lemma 4.5",
    ),
    Row(
        key=f"{PAPER}/lemma-4.5-1/kink",
        checks="noise costs L gamma/eps at most; the absolute loss is the worst of all convex ones",
        quantity="extra loss by noise",
        method="exact",
        domain="eps in {.1, .5, 1, 4}, gamma in {.04, .5, 1}, L in {.5, 1, 3}, kink 0 to 10 away",
        cases=kink_cases,
        measure=kink,
    ),
    Row(
        key=f"{PAPER}/lemma-4.5-2/printed",
        checks="noise costs sigma^2 gamma^2/eps^2 at most, as printed: the squared loss",
        quantity="extra loss by noise",
        method="exact",
        domain="sigma in {.1, .5, .99, 1, 2, 10}, gamma/eps in {.1, 1, 25}",
        cases=smooth_cases,
        measure=smooth_printed,
        verdict="refuted",
        derivation="Lemma 4.5(2) for small sigma",
    ),
    Row(
        key=f"{PAPER}/lemma-4.5-2/any-algorithm",
        checks="some eps-DP M, not only Laplace noise, keeps the printed bound: two datasets",
        quantity="least extra loss of any M",
        method="exact",
        domain="(sigma, eps) in {(1/16, 1), (1/8, 2.4), (.01, .5)}, gamma = 1, squared loss",
        cases=any_cases,
        measure=smooth_any,
        verdict="refuted",
        derivation="Lemma 4.5(2) for small sigma",
    ),
    Row(
        key=f"{PAPER}/lemma-4.5-2/proof",
        checks="noise costs sigma gamma^2/eps^2 at most, as the proof ends: the squared loss",
        quantity="extra loss by noise",
        method="exact",
        domain="sigma in {.1, .5, .99, 1, 2, 10}, gamma/eps in {.1, 1, 25}",
        cases=smooth_cases,
        measure=smooth_proof,
    ),
    Row(
        key=f"{PAPER}/section-4.3-reduction/projected",
        checks="projecting a prediction to [0, 1] never raises its distance from a label",
        quantity="chance of the other label",
        method="exact",
        domain="predictions -2, -7/4, ..., 3, both labels",
        cases=projected_cases,
        measure=projected,
    ),
    Row(
        key=f"{PAPER}/section-2.1-agnostic/error",
        checks="with r = ceil(1/(eps alpha)) predictors noise adds alpha to the error at most",
        quantity="extra error at a point, over all votes",
        method="exact",
        domain="alpha in {.5, .1, .01}, eps in {1, .5, .1, .01}, every number of votes",
        cases=agnostic_cases,
        measure=agnostic_error,
    ),
    Row(
        key=f"{PAPER}/section-2.1-agnostic/privacy",
        checks="the label made from the truncated noisy vote is eps-DP",
        quantity="loss in nats",
        method="exact",
        domain="alpha in {.5, .1, .01}, eps in {1, .5, .1, .01}, every number of votes",
        cases=agnostic_cases,
        measure=agnostic_loss,
    ),
)
