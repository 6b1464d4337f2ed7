"""Power against the double sum over all counts, simulation and `detectable`.

Against the definition of `detectable`.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.stats.binomial import leak_lower
from dpassay.stats.power import POWER, detectable, power, tight_pair
from dpassay.stats.scales import Ratio


def double_sum(p1: float, p0: float, epsilon: float, delta: float, n: int, alpha: float) -> float:
    """P[leak_lower > epsilon], every pair of counts asked one by one."""
    x, y = np.arange(n + 1)[:, None], np.arange(n + 1)[None]
    refuted = leak_lower(x, n, y, n, scale=Ratio(delta), alpha=alpha) > epsilon
    return math.fsum((binom.pmf(x, n, p1) * binom.pmf(y, n, p0) * refuted).ravel().tolist())


@pytest.mark.parametrize("n", [60, 200])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.0), (1.0, 0.01), (2.0, 0.1)])
@pytest.mark.parametrize("truth", [0.5, 1.5, 2.5, 6.0])
def test_power_is_the_double_sum(n: int, epsilon: float, delta: float, truth: float) -> None:
    for p1, p0 in (tight_pair(truth, delta), (0.3, 0.3 * math.exp(-truth)), (1.0, 0.2), (0.5, 0.0)):
        for alpha in (0.05, 1e-4):
            found = power(p1, p0, epsilon=epsilon, delta=delta, n=n, alpha=alpha)
            assert found == pytest.approx(double_sum(p1, p0, epsilon, delta, n, alpha), abs=1e-11)


REPEATS = 20_000


@pytest.mark.parametrize(
    ("truth", "n", "alpha"), [(1.2, 1000, 0.05), (1.08, 10_000, 1e-3), (2.0, 100, 0.01)]
)
def test_power_is_the_frequency_of_refutations(truth: float, n: int, alpha: float) -> None:
    """Within the exact two-sided 1 % region of the binomial law that the power stands for."""
    p1, p0 = tight_pair(truth, 0.0)
    expected = power(p1, p0, epsilon=1.0, delta=0.0, n=n, alpha=alpha)
    assert 0.1 < expected < 0.99
    rng = np.random.default_rng(17)
    bounds = leak_lower(
        rng.binomial(n, p1, REPEATS),
        n,
        rng.binomial(n, p0, REPEATS),
        n,
        scale=Ratio(0.0),
        alpha=alpha,
    )
    refuted = int((bounds > 1.0).sum())
    assert binom.ppf(0.005, REPEATS, expected) <= refuted <= binom.isf(0.005, REPEATS, expected)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.01])
@pytest.mark.parametrize(("n", "alpha"), [(300, 0.05), (20_000, 5e-4), (100_000, 1e-6)])
def test_detectable_is_the_smallest_loss_with_power_nine_tenths(
    epsilon: float, delta: float, n: int, alpha: float
) -> None:
    def at(loss: float) -> float:
        return power(*tight_pair(loss, delta), epsilon=epsilon, delta=delta, n=n, alpha=alpha)

    found = detectable(promised=epsilon, scale=Ratio(delta), n=n, alpha=alpha)
    assert epsilon < found < math.inf
    assert at(found) >= POWER
    assert at(found - 2e-6) < POWER


def test_detectable_falls_with_trials_and_rises_with_confidence() -> None:
    found = [
        detectable(promised=1.0, scale=Ratio(0.0), n=n, alpha=0.05)
        for n in (100, 1000, 10_000, 100_000)
    ]
    assert found == sorted(found, reverse=True)
    assert detectable(promised=1.0, scale=Ratio(0.0), n=1000, alpha=1e-3) > found[1]


def test_detectable_is_close_to_the_fast_form() -> None:
    """STATISTICS section 6 for a single test.

    Two limits at alpha / 2 cost up to a factor sqrt 2 and never less than it.
    """
    for n, limit in ((1000, 1.169), (10_000, 1.052), (100_000, 1.016)):
        found = detectable(promised=1.0, scale=Ratio(0.0), n=n, alpha=0.05)
        assert limit - 1 < found - 1 < 1.5 * (limit - 1)


def test_nothing_is_detectable_with_too_few_trials() -> None:
    assert detectable(promised=20.0, scale=Ratio(0.0), n=100, alpha=0.05) == math.inf


@pytest.mark.parametrize("loss", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("delta", [0.0, 0.01, 0.5])
def test_tight_pair_has_its_loss_in_both_directions(loss: float, delta: float) -> None:
    p1, p0 = tight_pair(loss, delta)
    assert math.log((p1 - delta) / p0) == pytest.approx(loss, rel=1e-9)
    assert math.log(((1 - p0) - delta) / (1 - p1)) == pytest.approx(loss, rel=1e-9)
