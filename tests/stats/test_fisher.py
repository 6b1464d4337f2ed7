"""Fisher's combination against a twin from its definition. On a dense grid of the nuisance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom, chi2

from dpassay.stats.event_leak import leak_lower
from dpassay.stats.scales import DifferenceScale, Ratio
from tests.stats.inverted import fisher_lower, fisher_rejects, stouffer_lower


def twin(x: int, n1: int, y: int, n0: int, epsilon: float, delta: float, alpha: float) -> float:
    """Smallest statistic on a dense grid of the nuisance interval, less the critical value."""
    side = alpha / 1000
    low = float(beta.ppf(side, y, n0 - y + 1)) if y else 0.0
    high = float(beta.isf(side, y + 1, n0 - y)) if y < n0 else 1.0
    p0 = np.linspace(low, high, 40_001)
    p1 = np.minimum(1.0, math.exp(epsilon) * p0 + delta)
    with np.errstate(divide="ignore"):
        statistic = -np.log(binom.sf(x - 1, n1, p1)) - np.log(binom.cdf(y, n0, p0))
    return float(statistic.min()) - float(chi2.isf(alpha - alpha / 500, 4)) / 2


CASES = [
    (x, n1, y, n0, epsilon, delta, alpha)
    for x, n1, y, n0 in (
        (8, 100, 1, 100), (30, 100, 2, 60), (5, 40, 0, 200), (60, 60, 40, 60), (15, 200, 15, 200),
    )
    for epsilon, delta in ((0.1, 0.0), (1.0, 0.0), (1.0, 0.01), (0.0, 0.05), (2.5, 0.0))
    for alpha in (0.05, 1e-4)
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rejects_where_the_twin_does(case: tuple[int, int, int, int, float, float, float]) -> None:
    x, n1, y, n0, epsilon, delta, alpha = case
    margin = twin(*case)
    found = fisher_rejects(x, n1, y, n0, epsilon=epsilon, delta=delta, alpha=alpha)
    if abs(margin) > 1e-3:
        assert found == (margin > 0 and x > delta * n1)
    else:
        assert not (found and margin < 0)


@pytest.mark.parametrize("scale", [Ratio(), Ratio(0.01), DifferenceScale()])
def test_the_bound_inverts_the_test(scale: Ratio | DifferenceScale) -> None:
    x, n1, y, n0, alpha = 25, 200, 3, 300, 0.01
    bound = fisher_lower(x, n1, y, n0, scale=scale, alpha=alpha)
    reach = float(scale.between(x / n1, y / n0)) - bound
    assert bound > 0
    assert reach > 0
    for t, refuted in ((bound, True), (bound + 0.01 * reach, False), (0.99 * bound, True)):
        epsilon, delta = scale.at(t)
        assert fisher_rejects(x, n1, y, n0, epsilon=epsilon, delta=delta, alpha=alpha) == refuted


def test_it_is_the_best_for_rare_events_only() -> None:
    """Expected counts of 12 against 1: better than Stouffer and Clopper-Pearson. With a hundred
    times as many, Stouffer is."""
    bounds = (fisher_lower, stouffer_lower, leak_lower)
    rare = [float(bound(12, 1000, 0, 1000, scale=Ratio(), alpha=0.001)) for bound in bounds]
    frequent = [
        float(bound(1200, 100_000, 100, 100_000, scale=Ratio(), alpha=0.001)) for bound in bounds
    ]
    assert rare[0] == max(rare)
    assert frequent[1] == max(frequent)
    assert frequent[0] > frequent[2]
