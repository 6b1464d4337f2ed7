"""Error probability of the certified bounds, enumerated on the boundary of the claim. At most
alpha, and not idle."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.stats.event_leak import leak_lower, leak_upper
from dpassay.stats.scales import Ratio
from tests.statistical.boundary import boundary

ALPHA = 0.05
POINTS = 400
CLAIMS = [(epsilon, delta) for epsilon in (0.1, 0.5, 1.0, 2.0, 3.0) for delta in (0.0, 0.01)]


@functools.cache
def bounds_of_all_counts(n: int, delta: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper bound for every pair of counts, shape (n + 1, n + 1)."""
    x, y = np.arange(n + 1)[:, None], np.arange(n + 1)[None]
    return leak_lower(x, n, y, n, scale=Ratio(delta), alpha=ALPHA), leak_upper(
        x, n, y, n, scale=Ratio(delta), alpha=ALPHA
    )


def probability(
    wrong: NDArray[np.bool_], n: int, p1: NDArray[np.float64], p0: NDArray[np.float64]
) -> NDArray[np.float64]:
    """P[(X, Y) is one of the wrong pairs of counts] at every point of the grid."""
    counts = np.arange(n + 1)
    first, second = binom.pmf(counts, n, p1[:, None]), binom.pmf(counts, n, p0[:, None])
    found: NDArray[np.float64] = np.sum((first @ wrong.astype(float)) * second, axis=1)
    return found


@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_a_true_claim_is_refuted_with_probability_at_most_alpha(
    n: int, epsilon: float, delta: float
) -> None:
    lower, _ = bounds_of_all_counts(n, delta)
    error = probability(lower > epsilon, n, *boundary(epsilon, delta, POINTS, 20))
    assert error.max() <= ALPHA
    # STATISTICS section 2 found a worst case of .002 to .018 at these n; this grid is finer and
    # finds .0200 at one claim
    assert 0.001 < error.max() < 0.021


@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_a_loss_exceeds_its_upper_bound_with_probability_at_most_alpha(
    n: int, epsilon: float, delta: float
) -> None:
    _, upper = bounds_of_all_counts(n, delta)
    p1, p0 = boundary(epsilon, delta, POINTS, 20)
    inside = math.exp(epsilon) * p0 + delta <= 1  # beyond, the loss is smaller than epsilon
    error = probability(upper < epsilon, n, p1[inside], p0[inside])
    assert error.max() <= ALPHA
    assert error.max() > 0.001


def test_the_enumeration_notices_a_bound_that_is_too_bold() -> None:
    """At 4 alpha the error is above alpha somewhere, so the test above can fail."""
    n, x, y = 100, np.arange(101)[:, None], np.arange(101)[None]
    bold = leak_lower(x, n, y, n, scale=Ratio(0.0), alpha=8 * ALPHA)
    assert probability(bold > 1.0, n, *boundary(1.0, 0.0, POINTS, 20)).max() > ALPHA
