"""Theorem 4.9 and Corollaries 4.10, 4.11: minimisers of strongly convex losses, and noise.

The losses on the line are |w - y| + (lambda / 2) w^2, y = -1 or 1, w in [-1, 1], f(w, x) = w, with
constant slopes beyond [-1, 1]: L = 1 + lambda. With c = 2 P[1] - 1 their mean on [-1, 1] is
1 - c w + lambda w^2 / 2, least at c / lambda or the end before it. For lambda = 1 that is also the
squared loss but for a constant.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import NDArray

from dpassay.mechanisms.dwork_feldman_2018.erm import ERM
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.dwork_feldman_2018._own_pair import own_change
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

Array = NDArray[np.float64]
ERROR = 1e-10
SHARES = (0.0, 0.25, 0.45, 0.5)
"""Of the label 1; by symmetry up to one half."""


def alone_cases(effort: Effort) -> Iterator[Case]:
    """Sizes."""
    for n in effort.of((1, 2, 3, 4, 10, 100), (1, 2, 3, 4, 10, 100, 1000, 10**4)):
        yield {"n": n}


def alone(n: int) -> Measured:
    """Change of the mean of n - 1 targets 0 and one that goes from 1 to -1, R = 1/n, L = 1 + 1/n.

    It attains 2 L / (lambda (n + 1)), the largest that there can be (docs/findings.md, 'Theorem 4.9
    by itself').
    """
    slope, change = 1 + Fraction(1, n), Fraction(2, n)
    most = 2 * slope / (n + 1)
    return Measured(claimed=float(4 * slope / n), lower=float(change), upper=float(most))


def mean_cases(effort: Effort) -> Iterator[Case]:
    """Losses with a kink, whose lone record is the worst there is."""
    for loss, n in itertools.product(("hinge", "absolute"), effort.of((1, 2, 10), (1, 2, 10, 100))):
        for epsilon in (0.5, 1.0):
            yield {"loss": loss, "n": n, "epsilon": epsilon}


def mean_rate(loss: str, n: int, epsilon: float) -> Measured:
    """Change of a prediction by the lone record; no dataset has more than the corrected rate."""
    erm = ERM(n=n, loss=loss, epsilon=epsilon)
    printed, most = (claim.promised for claim in erm.claims)
    change, error = own_change(erm)
    return Measured(claimed=printed, lower=min(change - error, most), upper=most)


def mean_loss(loss: str, n: int, epsilon: float) -> Measured:
    """Loss in nats of that prediction with noise for the printed rate."""
    found = mean_rate(loss, n, epsilon)
    times = epsilon / found.claimed
    return Measured(claimed=epsilon, lower=found.lower * times, upper=found.upper * times)


def sum_cases(_: Effort) -> Iterator[Case]:
    """From n = 4 on, the last that holds."""
    for n, loss in itertools.product((4, 5, 10), ("hinge", "absolute")):
        yield {"n": n, "loss": loss, "lambda_": 1.0}


def sum_rate(n: int, loss: str, lambda_: float | None, epsilon: float = 1.0) -> Measured:
    """Change of a prediction by the lone record, the regulariser once on the sum."""
    erm = ERM(n=n, loss=loss, lambda_=lambda_, epsilon=epsilon, regulariser="sum")
    printed, most = (claim.promised for claim in erm.claims)
    change, error = own_change(erm)
    return Measured(claimed=printed, lower=change - error, upper=max(most, change))


def sum_loss_cases(_: Effort) -> Iterator[Case]:
    """The lambda of Corollary 4.11."""
    for n, epsilon in itertools.product((4, 5, 10), (1.0, 0.5)):
        yield {"n": n, "epsilon": epsilon}


def sum_loss(n: int, epsilon: float) -> Measured:
    """Loss in nats of the prediction with noise for the printed rate."""
    found = sum_rate(n, "hinge", None, epsilon)
    times = epsilon / found.claimed
    return Measured(claimed=epsilon, lower=found.lower * times, upper=found.upper * times)


def best(c: Array, curvature: float) -> Array:
    """The minimiser of -c w + curvature w^2 / 2 on [-1, 1]."""
    found: Array = np.clip(c / curvature, -1.0, 1.0)
    return found


def excess(n: int, share: float, curvature: float, *, regularised: bool) -> tuple[Array, Array]:
    """Weights w_k that k = 0, ..., n labels 1 make, and their excess loss.

    Of the loss with its curvature, or (`regularised`) of the absolute loss that was minimised with
    a regulariser of that curvature.
    """
    c = 2 * share - 1
    w = best(2 * np.arange(n + 1) / n - 1, curvature)
    own = 0.0 if regularised else curvature
    least = np.sign(c) if regularised else float(best(np.array(c), curvature))
    return w, -c * (w - least) + own / 2 * (w**2 - least**2)


def noise_cost(w: Array, share: float, b: float, curvature: float) -> Array:
    """What Laplace noise of scale b adds: half of it at each kink, and the curvature between."""
    kinks = share * np.exp(-(1 - w) / b) + (1 - share) * np.exp(-(1 + w) / b)
    between = b**2 / 2 * (2 - np.exp(-(1 - w) / b) - np.exp(-(1 + w) / b))
    found: Array = b * kinks + curvature * between
    return found


def expected(n: int, share: float, losses: Array) -> float:
    """Mean over S."""
    return float(scipy.stats.binom.pmf(np.arange(n + 1), n, share) @ losses)


def loss_cases(effort: Effort) -> Iterator[Case]:
    """Sizes, convexities and label shares."""
    sizes = effort.of((1, 2, 5, 20, 100), (1, 2, 3, 5, 10, 20, 50, 100, 1000))
    for n, curvature, share in itertools.product(sizes, (0.05, 0.3, 1.0, 4.0), SHARES):
        yield {"n": n, "curvature": curvature, "share": share}


def without_noise(n: int, curvature: float, share: float) -> Measured:
    """Excess loss, against 4 L^2 / (lambda n)."""
    value = expected(n, share, excess(n, share, curvature, regularised=False)[1])
    return computed(4 * (1 + curvature) ** 2 / (curvature * n), value, ERROR * (1 + curvature))


def noisy_cases(effort: Effort) -> Iterator[Case]:
    """The same with noise."""
    for case, epsilon in itertools.product(loss_cases(effort), (0.1, 1.0, 10.0)):
        yield {**case, "epsilon": epsilon}


def with_noise(n: int, curvature: float, share: float, epsilon: float) -> Measured:
    """Excess loss of the private prediction, noise for the printed rate; both halves."""
    slope = 1 + curvature
    w, over = excess(n, share, curvature, regularised=False)
    over = over + noise_cost(w, share, 4 * slope / (curvature * n * epsilon), curvature)
    claimed = 4 * slope**2 / (curvature * n) * (1 + 1 / epsilon)
    return computed(claimed, expected(n, share, over), ERROR * (1 + claimed))


def alone_loss_cases(effort: Effort) -> Iterator[Case]:
    """Sizes."""
    for n, epsilon in itertools.product(effort.of((1, 4, 100), (1, 4, 100, 10**4)), (0.1, 1.0)):
        yield {"n": n, "epsilon": epsilon}


def alone_loss(n: int, epsilon: float) -> Measured:
    """Loss in nats of the largest change with noise for the printed rate."""
    found = alone(n)
    times = epsilon / found.claimed
    return Measured(claimed=epsilon, lower=found.lower * times, upper=found.upper * times)


def regulariser(n: int, epsilon: float, R: float) -> float:
    """The printed lambda, L_f = L_l = 1."""
    return 2 / (R * math.sqrt(n * epsilon / (1 + epsilon)))


def regulariser_cases(_: Effort) -> Iterator[Case]:
    """Balls, losses and sizes."""
    for n, epsilon, R in itertools.product((1, 10, 1000), (0.1, 1.0, 10.0), (0.5, 1.0, 3.0)):
        yield {"n": n, "epsilon": epsilon, "R": R}


def change_of_objective(n: int, epsilon: float, R: float) -> Measured:
    """Largest lambda ||w||^2 on the ball; equal to the claim."""
    value = regulariser(n, epsilon, R) * R**2
    claimed = 2 * R / math.sqrt(n * epsilon / (1 + epsilon))
    return computed(claimed, value, 16 * UNIT_ROUNDOFF * value)


def regularised_cases(effort: Effort) -> Iterator[Case]:
    """Sizes, losses and label shares."""
    sizes = effort.of((1, 2, 5, 20, 100), (1, 2, 3, 5, 10, 20, 50, 100, 1000))
    for n, epsilon, share in itertools.product(sizes, (0.1, 1.0, 10.0), SHARES):
        yield {"n": n, "epsilon": epsilon, "share": share}


def with_regulariser(n: int, epsilon: float, share: float) -> Measured:
    """Excess absolute loss, lambda w^2 beside the mean, noise for the printed rate."""
    weight = regulariser(n, epsilon, 1.0)
    w, over = excess(n, share, 2 * weight, regularised=True)
    over = over + noise_cost(w, share, 4 / (weight * n * epsilon), 0.0)
    claimed = 4 / math.sqrt(n * epsilon / (1 + epsilon))
    return computed(claimed, expected(n, share, over), ERROR * (1 + claimed))


PAPER = "dwork-feldman-2018"
ROWS = (
    Row(
        key=f"{PAPER}/theorem-4.9/alone",
        checks="without a regulariser; the squared loss has the largest change there can be",
        quantity="change of a prediction",
        method="exact",
        domain="n in {1, 2, 3, 4, 10, 100}, by the sharp rate 2 L/(lambda (n + 1)) all datasets",
        cases=alone_cases,
        measure=alone,
    ),
    Row(
        key=f"{PAPER}/theorem-4.9/mean",
        checks="with lambda ||w||^2 beside the mean of the losses, as Corollary 4.11 takes it",
        quantity="change of a prediction",
        method="exact",
        domain="hinge and absolute loss, n in {1, 2, 10}, by the sharp rate all datasets",
        cases=mean_cases,
        measure=mean_rate,
    ),
    Row(
        key=f"{PAPER}/theorem-4.9/sum",
        checks="with lambda ||w||^2 once beside the sum of the losses, as Corollary 4.11 says",
        quantity="change of a prediction",
        method="exact",
        domain="lambda = 1, hinge and absolute loss, n in {4, 5, 10}",
        cases=sum_cases,
        measure=sum_rate,
        verdict="refuted",
        derivation="The regulariser on the sum",
    ),
    Row(
        key=f"{PAPER}/theorem-4.9-loss/line",
        checks="absolute loss with a curvature of its own (the squared loss for lambda = 1)",
        quantity="expected excess loss",
        method="exact",
        domain="n in {1, 2, 5, 20, 100}, lambda in {.05, .3, 1, 4}, labels 1 in 0 to 50 %",
        cases=loss_cases,
        measure=without_noise,
    ),
    Row(
        key=f"{PAPER}/corollary-4.10/excess-loss",
        checks="the same with Laplace noise for the printed rate",
        quantity="expected excess loss",
        method="exact",
        domain="as Theorem 4.9, excess loss; eps in {.1, 1, 10}",
        cases=noisy_cases,
        measure=with_noise,
    ),
    Row(
        key=f"{PAPER}/corollary-4.10/privacy",
        checks="Laplace noise for the printed rate makes the prediction of Theorem 4.9 eps-DP",
        quantity="loss in nats",
        method="exact",
        domain="n in {1, 4, 100}, eps in {.1, 1}, by the sharp rate all datasets",
        cases=alone_loss_cases,
        measure=alone_loss,
    ),
    Row(
        key=f"{PAPER}/section-4.4-regulariser/objective",
        checks="the largest lambda ||w||^2 in the ball is what is printed",
        quantity="change of the objective",
        method="exact",
        domain="n in {1, 10, 1000}, eps in {.1, 1, 10}, R in {.5, 1, 3}",
        cases=regulariser_cases,
        measure=change_of_objective,
    ),
    Row(
        key=f"{PAPER}/corollary-4.11/excess-loss",
        checks="absolute loss, the regulariser beside the mean, noise for the printed rate",
        quantity="expected excess loss",
        method="exact",
        domain="n in {1, 2, 5, 20, 100}, eps in {.1, 1, 10}, labels 1 in 0 to 50 %",
        cases=regularised_cases,
        measure=with_regulariser,
    ),
    Row(
        key=f"{PAPER}/corollary-4.11/privacy",
        checks="the regulariser beside the mean: the prediction with its noise is eps-DP",
        quantity="loss in nats",
        method="exact",
        domain="hinge and absolute loss, n in {1, 2, 10}, by the sharp rate all datasets",
        cases=mean_cases,
        measure=mean_loss,
    ),
    Row(
        key=f"{PAPER}/corollary-4.11/privacy-sum",
        checks="the regulariser once beside the sum: the prediction with its noise is eps-DP",
        quantity="loss in nats",
        method="exact",
        domain="hinge loss, n in {4, 5, 10}, eps in {.5, 1}",
        cases=sum_loss_cases,
        measure=sum_loss,
        verdict="refuted",
        derivation="The regulariser on the sum",
    ),
)
