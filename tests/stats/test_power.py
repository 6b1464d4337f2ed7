"""Power against the double sum over all counts, simulation and `detectable`. Against the definition
of `detectable`."""

from __future__ import annotations

import math

import pytest

from dpassay.stats.power import POWER, detectable, power, tight_pair
from dpassay.stats.scales import Ratio


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
    """STATISTICS section 6 for a single test. Two limits at alpha / 2 cost up to a factor sqrt 2
    and never less than it."""
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
