"""Standing: the root of the deviance of what a claim allows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import binom, norm

from dpassay.stats.ranking import standing
from dpassay.stats.regions import CurveRegion, LineRegion, Region

REGIONS: tuple[Region, ...] = (
    LineRegion(1.0, 0.0), LineRegion(0.1, 0.0), LineRegion(3.0, 0.0), LineRegion(1.0, 0.01),
    LineRegion(0.0, 0.2), CurveRegion(1.0), CurveRegion(0.1),
)  # fmt: skip
COUNTS = ((20, 0), (3, 0), (100, 0), (60, 10), (99, 30), (100, 20), (100, 84), (45, 30), (12, 1))
N = 100


def by_grid(x: int, y: int, allowed: Region) -> float:
    """The least deviance of a fine grid of pairs on the edge."""
    p0 = np.concatenate([np.geomspace(1e-9, 0.5, 100_001), 1 - np.geomspace(1e-6, 0.5, 100_001)])
    p1 = allowed.edge(p0, both=False)
    p0, p1 = p0[(p1 > 0) & (p1 < 1 - 1e-12)], p1[(p1 > 0) & (p1 < 1 - 1e-12)]
    one, other = x / N, y / N
    least = xlogy(one, one / p1) + xlogy(1 - one, (1 - one) / (1 - p1))
    least += xlogy(other, other / p0) + xlogy(1 - other, (1 - other) / (1 - p0))
    beyond = one > float(allowed.edge(np.array(other), both=False))
    return math.sqrt(2 * N * float(least.min())) if beyond else 0.0


@pytest.mark.parametrize("allowed", REGIONS, ids=str)
def test_it_is_the_least_deviance_of_a_grid(allowed: Region) -> None:
    x, y = np.array(COUNTS).T
    found = standing(x, y, N, allowed=allowed)
    assert found == pytest.approx([by_grid(*each, allowed) for each in COUNTS], rel=0.03, abs=1e-6)


def test_it_grows_where_the_other_side_has_nothing() -> None:
    """Beside 0 of 200, 20 are (2 * 20 ln(1 + 1 / e))^(1/2) above a claim of 1, or nearly."""
    found = standing(np.array([0, 1, 3, 20, 200]), 0, 200, allowed=LineRegion(1.0, 0.0))
    assert np.all(np.diff(found) > 0)
    assert np.all(np.isfinite(found))
    assert found[0] == 0
    assert found[3] == pytest.approx(math.sqrt(40 * math.log(1 + math.exp(-1.0))), rel=0.03)


def test_what_the_claim_allows_counts_for_nothing() -> None:
    allowed = LineRegion(1.0, 0.0)
    assert standing(np.array([0, 10, 50]), np.array([40, 10, 50]), N, allowed=allowed).max() == 0
    assert standing(100, 100, N, allowed=LineRegion(0.0, 1.0)) == 0


@pytest.mark.parametrize("allowed", REGIONS[:5:2], ids=str)
def test_on_the_edge_it_is_about_normal(allowed: Region) -> None:
    """The probability of 2 or more, summed over both binomial laws, beside that of a normal."""
    n, p0 = 400, 0.2
    p1 = float(allowed.edge(np.array(p0), both=False))
    if p1 >= 1:
        p0, p1 = 0.02, float(allowed.edge(np.array(0.02), both=False))
    counts = np.arange(n + 1)
    weights = np.outer(binom.pmf(counts, n, p1), binom.pmf(counts, n, p0))
    found = standing(counts[:, None], counts[None], n, allowed=allowed)
    assert float(weights[found >= 2].sum()) == pytest.approx(norm.sf(2), rel=0.25)
