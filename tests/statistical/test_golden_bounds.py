"""Golden numbers of STATISTICS section 2, column Clopper-Pearson with Bonferroni. Median one-sided
95 % lower bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.stats.event_leak import leak_lower
from dpassay.stats.scales import Ratio

ALPHA = 0.05
CASES = [
    ("RR 0.1", 1 / (1 + math.exp(0.1)), 0.1, 10_000, 0.0606, 0.06056),
    ("RR 1", 1 / (1 + math.e), 1.0, 1_000, 0.856, 0.8591),
    ("RR 1", 1 / (1 + math.e), 1.0, 10_000, 0.958, 0.9556),
    ("RR 1", 1 / (1 + math.e), 1.0, 100_000, 0.9863, 0.98604),
    ("RR 1", 1 / (1 + math.e), 1.0, 1_000_000, 0.9951, 0.99558),
    ("RR 4", 1 / (1 + math.exp(4)), 4.0, 1_000, 3.536, 3.5387),
    ("RR 4", 1 / (1 + math.exp(4)), 4.0, 10_000, 3.856, 3.8530),
    ("rare", 1e-3, 3.0, 10_000, 2.219, 2.2606),
    ("rare", 1e-3, 3.0, 100_000, 2.740, 2.7613),
]
ARGUMENTS = ("case", "p0", "epsilon", "n", "golden", "exact")
REPEATS = 200_001
TABLE_REPEATS = 100
"""The table's medians scatter as those of so many simulations do; ours are exact, or made from
`REPEATS`."""


def median_error(spread: float, repeats: int) -> float:
    """Four standard errors of a median of nearly normal numbers."""
    return 4 * math.sqrt(math.pi / 2) * spread / math.sqrt(repeats)


@pytest.mark.parametrize(ARGUMENTS, [case for case in CASES if case[3] > 10_000])
def test_simulated_median(
    case: str, p0: float, epsilon: float, n: int, golden: float, exact: float
) -> None:
    rng = np.random.default_rng(2018)
    p1 = math.exp(epsilon) * p0
    bounds = leak_lower(
        rng.binomial(n, p1, REPEATS),
        n,
        rng.binomial(n, p0, REPEATS),
        n,
        scale=Ratio(0.0),
        alpha=ALPHA,
    )
    median, spread = float(np.median(bounds)), float(bounds.std())
    assert abs(median - exact) <= median_error(spread, REPEATS)
    assert abs(median - golden) <= median_error(spread, TABLE_REPEATS)


@pytest.mark.parametrize(ARGUMENTS, [case for case in CASES if case[3] <= 10_000])
def test_exact_median(
    case: str, p0: float, epsilon: float, n: int, golden: float, exact: float
) -> None:
    """From the two binomial laws: half of the probability lies on either side of it."""
    p1 = math.exp(epsilon) * p0
    x, y = (np.arange(binom.ppf(1e-12, n, p), binom.isf(1e-12, n, p) + 1) for p in (p1, p0))
    bounds = leak_lower(x[:, None], n, y[None], n, scale=Ratio(0.0), alpha=ALPHA).ravel()
    mass = (binom.pmf(x, n, p1)[:, None] * binom.pmf(y, n, p0)[None]).ravel()
    order = np.argsort(bounds)
    median = float(bounds[order][np.searchsorted(np.cumsum(mass[order]), 0.5)])
    assert median == pytest.approx(exact, abs=1e-4)
    spread = math.sqrt(max(0.0, mass @ bounds**2 - (mass @ bounds) ** 2))
    assert abs(median - golden) <= median_error(spread, TABLE_REPEATS)
