"""Reference tables of STATISTICS. Median bounds of the Stouffer and the accuracy test (section 2),
`detectable` (section 6)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.stats.lower_bounds import accuracy_lower
from dpassay.stats.power import detectable, tight_pair
from dpassay.stats.scales import Ratio
from tests.stats.inverted import stouffer_lower

ALPHA = 0.05
TABLE_REPEATS = 100
"""The table's medians scatter as those of so many simulations do."""
ASK = 80

CASES = [
    ("RR 0.1", None, 0.1, 10_000, 0.0767, 0.0766, 0.0767),
    ("RR 1", None, 1.0, 1_000, 0.909, 0.906, 0.916),
    ("RR 1", None, 1.0, 10_000, 0.971, 0.973, 0.976),
    ("RR 1", None, 1.0, 100_000, 0.9909, 0.9911, 0.9925),
    ("RR 1", None, 1.0, 1_000_000, 0.9971, 0.9967, 0.9972),
    ("RR 4", None, 4.0, 1_000, 3.616, 3.611, 3.718),
    ("RR 4", None, 4.0, 10_000, 3.878, 3.881, 3.914),
    ("rare", 1e-3, 3.0, 10_000, 2.468, 2.383, None),
    ("rare", 1e-3, 3.0, 100_000, 2.832, 2.804, None),
]
BY_STOUFFER = [
    pytest.param(*case, marks=pytest.mark.slow) if case[3] >= 1_000_000 else pytest.param(*case)
    for case in CASES
]
BY_ACCURACY = [case for case in CASES if case[6] is not None]
ARGUMENTS = ("case", "rare", "epsilon", "n", "limit", "stouffer", "accuracy")


def pair(rare: float | None, epsilon: float) -> tuple[float, float]:
    return tight_pair(epsilon, 0.0) if rare is None else (rare * math.exp(epsilon), rare)


def median_error(spread: float, repeats: int) -> float:
    """Four standard errors of a median of nearly normal numbers."""
    return 4 * math.sqrt(math.pi / 2) * spread / math.sqrt(repeats)


@pytest.mark.parametrize(ARGUMENTS, BY_STOUFFER)
def test_median_of_stouffer(
    case: str,
    rare: float | None,
    epsilon: float,
    n: int,
    limit: float,
    stouffer: float,
    accuracy: float | None,
) -> None:
    """Half of the bounds are below the table's median, within the scatter of both. And half are
    not."""
    p1, p0 = pair(rare, epsilon)
    rng = np.random.default_rng(2018)
    counts = zip(rng.binomial(n, p1, ASK).tolist(), rng.binomial(n, p0, ASK).tolist(), strict=True)
    bounds = np.array(
        [stouffer_lower(x, n, y, n, scale=Ratio(0.0), alpha=ALPHA) for x, y in counts]
    )
    spread = float(bounds.std())
    assert abs(float(np.median(bounds)) - stouffer) <= math.hypot(
        median_error(spread, TABLE_REPEATS), median_error(spread, ASK)
    )
    # near the asymptotic limit, from which it differs by a small part of its distance to the truth
    assert abs(float(np.median(bounds)) - limit) <= median_error(spread, ASK) + 0.2 * (
        epsilon - limit
    )
    assert int((bounds > epsilon).sum()) <= binom.isf(0.005, ASK, ALPHA)


@pytest.mark.parametrize(ARGUMENTS, BY_ACCURACY)
def test_median_of_accuracy(
    case: str,
    rare: float | None,
    epsilon: float,
    n: int,
    limit: float,
    stouffer: float,
    accuracy: float,
) -> None:
    """Exact: the median of a rising function of x + n - y ~ Bin(2n, p1) for a symmetric pair."""
    p1, p0 = pair(rare, epsilon)
    assert p1 + p0 == pytest.approx(1)
    correct = int(binom.ppf(0.5, 2 * n, p1))
    exact = accuracy_lower(
        min(correct, n), n - max(0, correct - n), n, scale=Ratio(0.0), alpha=ALPHA
    )
    spread = 1 / math.sqrt(2 * n * p1 * p0)  # of the log odds
    assert abs(exact - accuracy) <= median_error(spread, TABLE_REPEATS)
    assert exact < epsilon
    assert exact > limit - 0.01 * (epsilon - limit)


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
