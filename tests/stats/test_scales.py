"""Scales: the number that measures a leak, and the null hypothesis that it stands for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.claims import DP, GDP, PredictionStability, Stability
from dpassay.stats.bounds import Counts
from dpassay.stats.divergence import label_difference, prediction_difference
from dpassay.stats.event_leak import leak_lower, leak_upper
from dpassay.stats.lower_bounds import NAMES, Method, lower_bound
from dpassay.stats.scales import DifferenceScale, Ratio, Scale, ShiftScale, scale_of

SCALES: tuple[Scale, ...] = (Ratio(), Ratio(0.05), DifferenceScale(), ShiftScale())


def test_scales_of_claims() -> None:
    assert scale_of(DP(epsilon=1.0, delta=0.1)) == Ratio(0.1)
    assert scale_of(Stability(gamma=0.1)) == DifferenceScale()
    assert scale_of(GDP(mu=1.0)) == ShiftScale()
    with pytest.raises(TypeError, match="no claim about events"):
        scale_of(PredictionStability(gamma=0.1))


@given(st.sampled_from(SCALES), st.floats(0.001, 0.95), st.floats(0.001, 0.9))
def test_a_pair_lies_on_the_boundary_of_the_null_that_its_leak_stands_for(
    scale: Scale, p1: float, p0: float
) -> None:
    leak = float(scale.between(p1, p0))
    if not 0 <= leak < math.inf:
        return
    assert p1 == pytest.approx(float(scale.allowed(leak).edge(np.array(p0), both=False)), rel=1e-9)
    if not isinstance(scale, ShiftScale):
        epsilon, delta = scale.at(leak)
        assert p1 == pytest.approx(math.exp(epsilon) * p0 + delta, rel=1e-9)


@given(st.sampled_from(SCALES), st.floats(0.001, 0.99))
def test_the_tight_pair_has_its_leak_through_both_labels(scale: Scale, leak: float) -> None:
    p1, p0 = scale.allowed(leak).tight
    assert float(scale.between(p1, p0)) == pytest.approx(leak, abs=1e-9)
    assert float(scale.between(1 - p0, 1 - p1)) == pytest.approx(leak, abs=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_the_spread_is_that_of_the_plug_in_leak(scale: Scale) -> None:
    rng, n = np.random.default_rng(6), 20_000
    p1, p0 = 0.6, 0.3
    leaks = scale.between(rng.binomial(n, p1, 4000) / n, rng.binomial(n, p0, 4000) / n)
    assert float(leaks.std()) * math.sqrt(n) == pytest.approx(scale.spread(p1, p0), rel=0.05)


def test_differences_of_labels_by_hand() -> None:
    p, q = np.log([0.5, 0.3, 0.2]), np.log([0.25, 0.4, 0.35])
    found = label_difference(p, q)
    assert float(found.value) == pytest.approx(0.25, abs=1e-15)
    assert found.event.tolist() == [True, False, False]
    assert float(label_difference(p, p).value) == 0
    with np.errstate(divide="ignore"):
        assert float(label_difference(np.log([1.0, 0.0]), np.log([0.0, 1.0])).value) == 1
    assert float(label_difference(p, q, law_error=0.1).error) > 0.05


def test_differences_of_predictions_by_hand() -> None:
    found = prediction_difference(np.array([[0.5], [0.1]]), np.array([[0.2], [0.4]]), 0.01)
    np.testing.assert_allclose(found.value, [0.3, 0.0], atol=1e-15)
    assert (found.error >= 0.02).all()
    assert found.event.shape == (2, 0)


@pytest.mark.parametrize("method", NAMES)
def test_bounds_on_a_difference_lie_below_it(method: Method) -> None:
    counts = Counts(x=700, n1=1000, y=400, n0=1000)
    found = lower_bound(method, counts, scale=DifferenceScale(), alpha=0.05).value
    assert 0.23 < found < 0.3
    assert found <= 0.3 - 0.4 * math.sqrt((0.21 + 0.24) / 1000)
    assert float(leak_upper(700, 1000, 400, 1000, scale=DifferenceScale(), alpha=0.05)) > 0.33
    assert float(leak_lower(400, 1000, 700, 1000, scale=DifferenceScale(), alpha=0.05)) == 0
