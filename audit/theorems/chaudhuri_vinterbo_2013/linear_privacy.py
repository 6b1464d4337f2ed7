"""Section 4.1: Algorithms 3 and 4, and the losses they are run with."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import LOSSES, SCORES
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.chaudhuri_vinterbo_2013._audited import loss_of
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

PAPER = "chaudhuri-vinterbo-2013"
Array = NDArray[np.float64]


def linear_cases(effort: Effort) -> Iterator[Case]:
    """All datasets of a few records at two points, and own worst pairs of more records."""
    losses, alphas = ("logistic", "huber"), effort.of((1.0,), (0.1, 1.0, 3.0))
    few, more = ((2, 2), (effort.of(4, 5), 2)), effort.of((50,), (1, 5, 50, 400))
    lambdas = effort.of((0.5, 0.01), (2.0, 0.5, 0.1, 0.01, 0.001))
    for (n, points), loss, lambda_, alpha in itertools.product(
        (*few, *((n, None) for n in more)), losses, lambdas, alphas
    ):
        yield {"n": n, "points": points, "loss": loss, "lambda_": lambda_, "alpha": alpha}


def objective(n: int, points: int | None, loss: str, lambda_: float, alpha: float) -> Measured:
    """Loss of the bin of the weight; bins are short where own pairs lose most."""
    claimed = alpha + 2 * math.log1p(LOSSES[loss](0.5).c / (lambda_ * n))
    given = {"loss": loss, "lambda_": lambda_, "alpha": alpha}
    return _loss(claimed, "objective-perturbation", given, n, points)


def output(n: int, points: int | None, loss: str, lambda_: float, alpha: float) -> Measured:
    """Loss of the weight itself."""
    given = {"loss": loss, "lambda_": lambda_, "alpha": alpha, "release": "vector"}
    return _loss(alpha, "output-perturbation", given, n, points)


def _loss(
    claimed: float, target: str, given: dict[str, Any], n: int, points: int | None
) -> Measured:
    given |= {"n": n, "m": 0}
    if points is None:
        return loss_of(claimed, target, given)
    given["feature_scale"] = str(float(points))
    return loss_of(claimed, target, given, domain=(n, points))


def hinge_cases(_: Effort) -> Iterator[Case]:
    """Shorter and shorter intervals."""
    for length in (1.0, 1e-2, 1e-3, 1e-6):
        yield {"lambda_": 0.1, "alpha": 1.0, "length": length}


def hinge(lambda_: float, alpha: float, length: float) -> Measured:
    """Loss by [1, 1 + length) for the hinge loss, D = {1, -1} and D' = {-1, -1} (label times x).

    Shorter intervals show more, as w = 1 has a chance of its own on D and none on D'.

    On D all -R/(alpha n/2) between lambda and lambda + 1/2 lead to w = 1, and those up to lambda (1
    + length) + 1/2 into the interval. On D' it is (lambda w + 1) for every w above -1.
    """
    half = alpha  # alpha n / 2

    def between(low: float, high: float) -> float:
        return math.exp(-half * low) * -math.expm1(-half * (high - low)) / 2

    first = between(lambda_, lambda_ * (1 + length) + 0.5)
    second = between(lambda_ + 1, lambda_ * (1 + length) + 1)
    error = 64 * UNIT_ROUNDOFF * (1 + 1 / (lambda_ * length))
    return Measured(claimed=alpha, lower=math.log(first / second) - error, upper=math.inf)


def slope_cases(effort: Effort) -> Iterator[Case]:
    """Losses on a grid of margins."""
    for g in ("logistic", "hinge", "ramp"):
        yield {"g": g, "steps": effort.of(400, 2000)}


def slope(g: str, steps: int) -> Measured:
    """Steepest slope between any two margins of a grid on [-20, 20]; ||x|| <= 1 carries it over."""
    z = np.linspace(-20.0, 20.0, steps + 1)
    values = SCORES[g].g(z)
    rise = np.abs(values[:, None] - values)[~np.eye(len(z), dtype=bool)]
    run = np.abs(z[:, None] - z)[~np.eye(len(z), dtype=bool)]
    return computed(1.0, float((rise / run).max()), 1e-11)


def zero_one_cases(_: Effort) -> Iterator[Case]:
    """Larger and larger L."""
    for exponent in range(0, 16, 3):
        yield {"L": 10.0**exponent}


def zero_one(L: float) -> Measured:
    """Slope of the 0/1 loss between w = 0 and w = 1/(2 L), whatever L is."""
    w = 1 / (2 * L)
    wrong = [float(w * 1.0 <= 0), float(0 * 1.0 <= 0)]
    return computed(L, abs(wrong[0] - wrong[1]) / w, 0.0)


ROWS = (
    Row(
        key=f"{PAPER}/section-4.1-algorithms/algorithm-4",
        checks="Algorithm 4 loses at most alpha",
        quantity="loss of the weight, in nats",
        method="exact",
        domain="logistic and Huber: all of 2 or 4 records at 1/2 and 1; own worst pairs of 50",
        cases=linear_cases,
        measure=output,
    ),
    Row(
        key=f"{PAPER}/section-4.1-algorithms/algorithm-3",
        checks="Algorithm 3 loses at most alpha + 2 log(1 + c/(lambda n)), c bounding l''",
        quantity="loss of a bin of the weight, in nats",
        method="exact",
        domain="logistic and Huber: all of 2 or 4 records at 1/2 and 1; own worst pairs of 50",
        cases=linear_cases,
        measure=objective,
    ),
    Row(
        key=f"{PAPER}/section-4.1-algorithms/hinge",
        checks="Algorithm 3 with the hinge loss, c = 0, without the conditions that are not named",
        quantity="loss in nats, from below by an interval of weights",
        method="exact",
        domain="two records, lambda = .1, alpha = 1, intervals from 1 down to 1e-6",
        cases=hinge_cases,
        measure=hinge,
        verdict="refuted",
        derivation="Algorithm 3 with the hinge loss",
    ),
    Row(
        key=f"{PAPER}/section-4.1-lipschitz/one",
        checks="logistic, hinge and ramp loss are 1-Lipschitz",
        quantity="steepest slope",
        method="exact",
        domain="all pairs of 401 margins on [-20, 20]",
        cases=slope_cases,
        measure=slope,
    ),
    Row(
        key=f"{PAPER}/section-4.1-lipschitz/zero-one",
        checks="the 0/1 loss is steeper than every L somewhere",
        quantity="slope between two weights",
        method="exact",
        domain="L = 1, 1e3, ..., 1e15",
        cases=zero_one_cases,
        measure=zero_one,
        relation="at least",
    ),
)
