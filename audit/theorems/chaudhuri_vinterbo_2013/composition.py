"""Sections 1, 2 and 5: composition, the mean, and a budget that is split."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import scipy
from scipy.special import gammaln

from dpassay.mechanisms.dwork_feldman_2018.composition import advanced_composition
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.stats.divergence import privacy_loss
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

ALPHAS = (0.3, 0.5, 1.0, 2.0, 3.0, 5.0)
"""Privacy levels of section 5."""
ROOT_ERROR = 1e-12


def composed_cases(effort: Effort) -> Iterator[Case]:
    """Numbers of answers and their loss."""
    for k, alpha in itertools.product((1, 2, 10, effort.of(100, 500)), (0.01, 0.1, 1.0)):
        yield {"k": k, "alpha": alpha}


def composed(k: int, alpha: float, delta: float) -> tuple[float, float]:
    """Loss at delta of k answers of randomised response, and its error.

    Every alpha-DP answer can be made of one of these (docs/findings.md, 'Composition: the
    interface'), so no k answers lose more.
    """
    right = np.arange(k + 1.0)
    ways = gammaln(k + 1) - gammaln(right + 1) - gammaln(k - right + 1)
    scale = k * np.logaddexp(0.0, alpha)
    error = 64 * UNIT_ROUNDOFF * (1 + k * (1 + alpha))
    log_p = ways + right * alpha - scale
    loss = privacy_loss(log_p, log_p[::-1], delta, law_error=error)
    return float(loss.value), float(loss.error)


def basic(k: int, alpha: float) -> Measured:
    """Loss of k answers."""
    return computed(k * alpha, *composed(k, alpha, 0.0))


def advanced_cases(effort: Effort) -> Iterator[Case]:
    """The same, with delta."""
    for case, delta in itertools.product(composed_cases(effort), (0.9, 0.5, 0.01, 1e-6)):
        yield {**case, "delta": delta}


def advanced(k: int, alpha: float, delta: float) -> Measured:
    """Loss of k answers at this delta."""
    return computed(advanced_composition(alpha, k, delta), *composed(k, alpha, delta))


def mean_cases(effort: Effort) -> Iterator[Case]:
    """Sizes and losses."""
    for n, alpha in itertools.product((1, 2, effort.of(3, 4)), (0.1, 1.0, 5.0)):
        yield {"n": n, "alpha": alpha}


def mean(n: int, alpha: float) -> Measured:
    """Distance of the means of neighbours in units of the noise, over x_i in {0, 1/2, 1}.

    That is the loss of Laplace noise.
    """
    values, worst = (0.0, 0.5, 1.0), 0.0
    for x in itertools.product(values, repeat=n):
        for i, new in itertools.product(range(n), values):
            moved = [*x[:i], new, *x[i + 1 :]]
            worst = max(worst, abs(sum(x) - sum(moved)) / n)
    value = worst * alpha * n
    return computed(alpha, value, 4 * UNIT_ROUNDOFF * value)


def split_cases(_: Effort) -> Iterator[Case]:
    """All settings of section 5."""
    for alpha in ALPHAS:
        yield {"alpha": alpha, "k": 10, "delta": 0.01}


def composed_back(alpha: float, k: int, delta: float) -> float:
    """alpha', the solution of alpha = k (e^alpha' - 1) alpha' + sqrt(2 k log(1/delta)) alpha'."""
    return float(
        scipy.optimize.brentq(
            lambda a: advanced_composition(a, k, delta) - alpha, 0.0, alpha, xtol=ROOT_ERROR
        )
    )


def split(alpha: float, k: int, delta: float) -> Measured:
    """Find alpha / k - alpha', which is to be above 0, and above -.0003 for alpha = .3."""
    apart = alpha / k - composed_back(alpha, k, delta)
    return computed(-0.0003 if math.isclose(alpha, 0.3) else 0.0, apart, 4 * ROOT_ERROR)


PAPER = "chaudhuri-vinterbo-2013"
ROWS = (
    Row(
        key=f"{PAPER}/composition/basic",
        checks="k answers lose at most k alpha",
        quantity="loss of k answers, in nats",
        method="exact",
        domain="k in {1, 2, 10, 100}, alpha in {.01, .1, 1}; randomised response",
        cases=composed_cases,
        measure=basic,
    ),
    Row(
        key=f"{PAPER}/composition/advanced",
        checks="k answers lose at most alpha' but for delta",
        quantity="loss of k answers at delta, in nats",
        method="exact",
        domain="the same, delta in {.9, .5, .01, 1e-6}; optimal composition",
        cases=advanced_cases,
        measure=advanced,
    ),
    Row(
        key=f"{PAPER}/mean/loss",
        checks="the noisy mean loses at most alpha",
        quantity="loss in nats",
        method="exact",
        domain="all x_i in {0, 1/2, 1}, n in {1, 2, 3}, alpha in {.1, 1, 5}",
        cases=mean_cases,
        measure=mean,
    ),
    Row(
        key=f"{PAPER}/section-5-split/solved",
        checks="alpha/k > alpha', but for alpha = .3, where it is above alpha' - .0003",
        quantity="alpha/k - alpha'",
        method="exact",
        domain="the six alpha of section 5, k = 10, delta = .01",
        cases=split_cases,
        measure=split,
        relation="at least",
    ),
)
