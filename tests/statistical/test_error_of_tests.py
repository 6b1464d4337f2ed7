"""Error of every test of two counts, enumerated at the boundary of the claim; none is idle."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.stats.event_leak import leak_lower, leak_upper
from dpassay.stats.lower_bounds import accuracy_lower
from dpassay.stats.scales import DifferenceScale, Ratio, Scale
from tests.statistical.boundary import boundary, error_of, largest_rejected
from tests.stats.inverted import fisher_rejects, stouffer_rejects

Array = NDArray[np.float64]
ALPHA = 0.05
POINTS = 250
CLAIMS = [(epsilon, delta) for epsilon in (0.1, 0.5, 1.0, 2.0, 3.0) for delta in (0.0, 0.01)]
SOME = [*CLAIMS[::3], (0.1, 0.01), (1.0, 0.0)]
at_all_claims = pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
STOUFFER = {100: 0.0355, 300: 0.0415, 1000: 0.0445}
"""The worst case reaches at least this at every claim. STATISTICS section 2: .036-.041, .042-.044
and .046-.050; found here: .0358-.0415, .0418-.0461 (.0444 without the claims that have a delta) and
.0446-.0476."""


@functools.cache
def frontier(
    n1: int, n0: int, epsilon: float, delta: float, alpha: float, test: Any
) -> NDArray[np.int64]:
    """For each x the largest y that the test rejects."""
    claim = {"epsilon": epsilon, "delta": delta, "alpha": alpha}
    return largest_rejected(lambda x, y: test(x, n1, y, n0, **claim), n1, n0)


def worst_error(
    n1: int,
    n0: int,
    epsilon: float,
    delta: float,
    alpha: float = ALPHA,
    test: Any = stouffer_rejects,
) -> float:
    """Largest P[rejected] on the boundary of the claim."""
    largest = frontier(n1, n0, epsilon, delta, alpha, test)
    return float(error_of(largest, n0, *boundary(epsilon, delta, POINTS, 50)).max())


@functools.cache
def bounds_of_all_counts(n: int, delta: float) -> tuple[Array, Array]:
    """Lower and upper bound by Clopper-Pearson for every pair of counts, shape (n + 1, n + 1)."""
    x, y = np.arange(n + 1)[:, None], np.arange(n + 1)[None]
    return (
        leak_lower(x, n, y, n, scale=Ratio(delta), alpha=ALPHA),
        leak_upper(x, n, y, n, scale=Ratio(delta), alpha=ALPHA),
    )


def probability(wrong: NDArray[np.bool_], n: int, p1: Array, p0: Array) -> Array:
    """P[(X, Y) is one of the wrong pairs of counts] at every pair of probabilities."""
    first, second = (binom.pmf(np.arange(n + 1), n, p[:, None]) for p in (p1, p0))
    found: Array = np.sum((first @ wrong.astype(float)) * second, axis=1)
    return found


@pytest.mark.parametrize("n", [100, 300])
@at_all_claims
def test_clopper_pearson_errs_with_probability_at_most_alpha(
    n: int, epsilon: float, delta: float
) -> None:
    lower, upper = bounds_of_all_counts(n, delta)
    p1, p0 = boundary(epsilon, delta, 400, 20)
    # STATISTICS section 2 found a worst case of .002 to .018 at these n; this grid is finer and
    # finds .0200 at one claim
    assert 0.001 < probability(lower > epsilon, n, p1, p0).max() < 0.021 < ALPHA
    inside = math.exp(epsilon) * p0 + delta <= 1  # beyond, the loss is smaller than epsilon
    assert 0.001 < probability(upper < epsilon, n, p1[inside], p0[inside]).max() <= ALPHA


FISHER = {100: (0.008, 0.024), 300: (0.009, 0.026)}
"""The worst case lies between these. STATISTICS section 2: .008-.023 and .009-.025; found here, on
a denser grid of null points: up to .0238 and .0258. About half of alpha is the price of the
chi-squared reference for discrete tails."""


@pytest.mark.parametrize(
    ("n", "epsilon", "delta"),
    [*((100, *claim) for claim in CLAIMS), *((300, *claim) for claim in SOME)],
)
def test_fisher_refutes_a_true_claim_with_probability_at_most_alpha(
    n: int, epsilon: float, delta: float
) -> None:
    worst = worst_error(n, n, epsilon, delta, test=fisher_rejects)
    assert FISHER[n][0] <= worst <= FISHER[n][1] < ALPHA


@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize("gamma", [0.01, 0.1, 0.5])
def test_a_true_stability_is_refuted_with_probability_at_most_alpha(n: int, gamma: float) -> None:
    """p1 <= p0 + gamma is the claim (0, gamma); Stouffer on one label, accuracy on both."""
    assert 0.03 < worst_error(n, n, 0.0, gamma) <= ALPHA
    assert 0.03 < accuracy_error(n, 0.0, gamma, DifferenceScale(), gamma) <= ALPHA


def within_reach(n0: int, epsilon: float, delta: float, alpha: float) -> bool:
    """Whether any count refutes the claim. Not where even y = 0 is likely at the p0 that lets p1 be
    1."""
    return (1 - (1 - delta) * math.exp(-epsilon)) ** n0 < alpha


@pytest.mark.parametrize(
    ("n", "epsilon", "delta"),
    [
        *((n, *claim) for n in (100, 300) for claim in CLAIMS),
        *(pytest.param(1000, *CLAIMS[k], marks=pytest.mark.slow) for k in (0, 5, 8)),
    ],
)
def test_stouffer_refutes_a_true_claim_with_probability_at_most_alpha(
    n: int, epsilon: float, delta: float
) -> None:
    assert STOUFFER[n] < worst_error(n, n, epsilon, delta) <= ALPHA


@pytest.mark.parametrize(("n1", "n0"), [(100, 60), (60, 100), (200, 20)])
@pytest.mark.parametrize(("epsilon", "delta"), SOME)
def test_stouffer_with_unequal_numbers_of_trials(
    n1: int, n0: int, epsilon: float, delta: float
) -> None:
    worst = worst_error(n1, n0, epsilon, delta)
    if within_reach(n0, epsilon, delta, ALPHA):
        assert 0.027 < worst <= ALPHA
    else:
        assert worst == 0


@pytest.mark.parametrize("alpha", [0.2, 1e-3, 1e-7])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.01), (3.0, 0.0)])
def test_stouffer_at_other_levels(alpha: float, epsilon: float, delta: float) -> None:
    worst = worst_error(100, 100, epsilon, delta, alpha)
    if within_reach(100, epsilon, delta, alpha):
        assert 0.4 * alpha < worst <= alpha
    else:
        assert worst == 0


def test_the_enumeration_notices_a_bold_test() -> None:
    """A test that rejects one y more for each x, and tests at a larger alpha, exceed alpha."""
    bold = frontier(100, 100, 1.0, 0.0, ALPHA, stouffer_rejects) + 1
    assert error_of(bold, 100, *boundary(1.0, 0.0, POINTS, 50)).max() > ALPHA
    assert worst_error(100, 100, 1.0, 0.0, 1.5 * ALPHA) > ALPHA
    n, x, y = 100, np.arange(101)[:, None], np.arange(101)[None]
    limits = leak_lower(x, n, y, n, scale=Ratio(0.0), alpha=8 * ALPHA)
    assert probability(limits > 1.0, n, *boundary(1.0, 0.0, 400, 20)).max() > ALPHA


def accuracy_null(epsilon: float, delta: float) -> tuple[Array, Array]:
    """Points on both faces of the claim for a binary pair, and inside it. All of them satisfy both
    inequalities."""
    e = math.exp(epsilon)
    corner = (1 - delta) / (1 + e)
    even = np.linspace(0, 1, POINTS)
    # p0
    parts = [even, 1 - 10 ** (-5 * even), 10 ** (-5 * even)]
    first = corner * np.unique(np.concatenate(parts))
    grid = np.linspace(0, 1, 41)
    inside1, inside0 = (half.ravel() for half in np.meshgrid(grid, grid))
    kept = (inside1 <= e * inside0 + delta) & (1 - inside0 <= e * (1 - inside1) + delta)
    # face 1; face 2, its mirror image; the inside
    p1 = np.concatenate([e * first + delta, 1 - first, inside1[kept]])
    p0 = np.concatenate([first, 1 - (e * first + delta), inside0[kept]])
    assert (p1 <= e * p0 + delta + 1e-12).all()
    assert (1 - p0 <= e * (1 - p1) + delta + 1e-12).all()
    # where the two faces meet: the least favourable pair
    assert np.hypot(p1 - (1 - corner), p0 - corner).min() < 1e-12
    return np.clip(p1, 0.0, 1.0), np.clip(p0, 0.0, 1.0)


def accuracy_error(n: int, epsilon: float, delta: float, scale: Scale, promised: float) -> float:
    """Largest P[the accuracy test rejects] where the claim (epsilon, delta) holds."""
    every = range(2 * n + 1)
    limits = [
        accuracy_lower(min(k, n), n - max(0, k - n), n, scale=scale, alpha=ALPHA) for k in every
    ]
    correct = [k for k, limit in enumerate(limits) if limit > promised]
    assert correct == list(every)[correct[0] :]
    (p1, p0), counts = accuracy_null(epsilon, delta), np.arange(n + 1)
    missed = binom.cdf(n + counts - correct[0], n, p0[:, None])
    return float(np.sum(binom.pmf(counts, n, p1[:, None]) * missed, axis=1).max())


@pytest.mark.parametrize("n", [100, 300])
@at_all_claims
def test_accuracy_refutes_a_true_claim_with_probability_at_most_alpha(
    n: int, epsilon: float, delta: float
) -> None:
    # STATISTICS section 2: .036 to .047; .0322 at one claim with a delta
    least = 0.0355 if delta == 0 else 0.03
    assert least < accuracy_error(n, epsilon, delta, Ratio(delta), epsilon) <= ALPHA
