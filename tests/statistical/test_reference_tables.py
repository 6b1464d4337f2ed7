"""Reference tables of STATISTICS: median 95 % lower bounds (section 2), `detectable` (6)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.stats.event_leak import leak_lower
from dpassay.stats.lower_bounds import accuracy_lower
from dpassay.stats.power import detectable, tight_pair
from dpassay.stats.scales import Ratio
from tests.stats.inverted import stouffer_lower

ALPHA = 0.05
REPEATS = 200_001
TABLE_REPEATS = 100
"""The table's medians scatter as those of so many simulations do; ours are exact, or made from
`REPEATS` or `ASK`."""
ASK = 80


@dataclass(frozen=True)
class Row:
    """One row of the table: medians, the asymptotic limit, and our exact median."""

    epsilon: float
    n: int
    limit: float
    clopper_pearson: float
    exact: float
    stouffer: float
    accuracy: float | None
    rare: float | None = None

    @property
    def pair(self) -> tuple[float, float]:
        if self.rare is None:
            return tight_pair(self.epsilon, 0.0)
        return self.rare * math.exp(self.epsilon), self.rare


ROWS = [
    Row(0.1, 10_000, 0.0767, 0.0606, 0.06056, 0.0766, 0.0767),
    Row(1.0, 1_000, 0.909, 0.856, 0.8591, 0.906, 0.916),
    Row(1.0, 10_000, 0.971, 0.958, 0.9556, 0.973, 0.976),
    Row(1.0, 100_000, 0.9909, 0.9863, 0.98604, 0.9911, 0.9925),
    Row(1.0, 1_000_000, 0.9971, 0.9951, 0.99558, 0.9967, 0.9972),
    Row(4.0, 1_000, 3.616, 3.536, 3.5387, 3.611, 3.718),
    Row(4.0, 10_000, 3.878, 3.856, 3.8530, 3.881, 3.914),
    Row(3.0, 10_000, 2.468, 2.219, 2.2606, 2.383, None, rare=1e-3),
    Row(3.0, 100_000, 2.832, 2.740, 2.7613, 2.804, None, rare=1e-3),
]
BY_STOUFFER = [
    pytest.param(row, marks=pytest.mark.slow) if row.n >= 1_000_000 else pytest.param(row)
    for row in ROWS
]


def median_error(spread: float, repeats: int) -> float:
    """Four standard errors of a median of nearly normal numbers."""
    return 4 * math.sqrt(math.pi / 2) * spread / math.sqrt(repeats)


@pytest.mark.parametrize("row", [row for row in ROWS if row.n > 10_000], ids=str)
def test_simulated_median_of_clopper_pearson(row: Row) -> None:
    rng = np.random.default_rng(2018)
    x, y = (rng.binomial(row.n, p, REPEATS) for p in row.pair)
    bounds = leak_lower(x, row.n, y, row.n, scale=Ratio(0.0), alpha=ALPHA)
    median, spread = float(np.median(bounds)), float(bounds.std())
    assert abs(median - row.exact) <= median_error(spread, REPEATS)
    assert abs(median - row.clopper_pearson) <= median_error(spread, TABLE_REPEATS)


@pytest.mark.parametrize("row", [row for row in ROWS if row.n <= 10_000], ids=str)
def test_exact_median_of_clopper_pearson(row: Row) -> None:
    """From the two binomial laws: half of the probability lies on either side of it."""
    (p1, p0), n = row.pair, row.n
    x, y = (np.arange(binom.ppf(1e-12, n, p), binom.isf(1e-12, n, p) + 1) for p in (p1, p0))
    bounds = leak_lower(x[:, None], n, y[None], n, scale=Ratio(0.0), alpha=ALPHA).ravel()
    mass = (binom.pmf(x, n, p1)[:, None] * binom.pmf(y, n, p0)[None]).ravel()
    order = np.argsort(bounds)
    median = float(bounds[order][np.searchsorted(np.cumsum(mass[order]), 0.5)])
    assert median == pytest.approx(row.exact, abs=1e-4)
    spread = math.sqrt(max(0.0, mass @ bounds**2 - (mass @ bounds) ** 2))
    assert abs(median - row.clopper_pearson) <= median_error(spread, TABLE_REPEATS)


@pytest.mark.parametrize("row", BY_STOUFFER, ids=str)
def test_median_of_stouffer(row: Row) -> None:
    """Half of the bounds are below the table's median, within the scatter of both. And half are
    not."""
    rng, n = np.random.default_rng(2018), row.n
    counts = zip(*(rng.binomial(n, p, ASK).tolist() for p in row.pair), strict=True)
    bounds = np.array(
        [stouffer_lower(x, n, y, n, scale=Ratio(0.0), alpha=ALPHA) for x, y in counts]
    )
    median, spread = float(np.median(bounds)), float(bounds.std())
    scatter = math.hypot(median_error(spread, TABLE_REPEATS), median_error(spread, ASK))
    assert abs(median - row.stouffer) <= scatter
    # near the asymptotic limit, from which it differs by a small part of its distance to the truth
    apart = median_error(spread, ASK) + 0.2 * (row.epsilon - row.limit)
    assert abs(median - row.limit) <= apart
    assert int((bounds > row.epsilon).sum()) <= binom.isf(0.005, ASK, ALPHA)


@pytest.mark.parametrize("row", [row for row in ROWS if row.accuracy is not None], ids=str)
def test_median_of_accuracy(row: Row) -> None:
    """Exact: the median of a rising function of x + n - y ~ Bin(2n, p1) for a symmetric pair."""
    (p1, p0), n = row.pair, row.n
    assert p1 + p0 == pytest.approx(1)
    correct = int(binom.ppf(0.5, 2 * n, p1))
    x, y = min(correct, n), n - max(0, correct - n)
    exact = accuracy_lower(x, y, n, scale=Ratio(0.0), alpha=ALPHA)
    spread = 1 / math.sqrt(2 * n * p1 * p0)  # of the log odds
    assert row.accuracy is not None
    assert abs(exact - row.accuracy) <= median_error(spread, TABLE_REPEATS)
    assert row.limit - 0.01 * (row.epsilon - row.limit) < exact < row.epsilon


@pytest.mark.parametrize(
    ("epsilon", "n", "reference"),
    [
        (1.0, 1_000, 1.169), (1.0, 10_000, 1.052), (1.0, 100_000, 1.016), (0.1, 1_000, 0.2335),
        (0.1, 10_000, 0.1417), (0.1, 100_000, 0.1131),
    ],
)  # fmt: skip
def test_detectable_of_stouffer(epsilon: float, n: int, reference: float) -> None:
    found = detectable(promised=epsilon, scale=Ratio(0.0), n=n, alpha=ALPHA, method="stouffer")
    assert found == pytest.approx(reference, rel=0.01)
    assert found - epsilon == pytest.approx(reference - epsilon, rel=0.04)
