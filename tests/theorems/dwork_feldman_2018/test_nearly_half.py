"""Theorem 4.3 below one half: the mass that is seen, on distributions drawn at random."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpassay.theorems.dwork_feldman_2018.nearly_half import (
    _above_tangent,
    _g,
    _slope,
    answer,
    seen_mass,
)


def test_by_hand() -> None:
    assert answer(1.0) == pytest.approx((2 / 3) / (1 + math.e))


def test_the_slope_is_that_of_g() -> None:
    for p in (1e-3, 0.01, 0.3):
        low, high = _g(np.array([p - 1e-7, p + 1e-7]), 90, 50.0)
        assert _slope(p, 90, 50.0) == pytest.approx((high - low) / 2e-7, rel=1e-4, abs=1e-4)


def test_a_weight_that_is_too_large_is_noticed() -> None:
    assert _above_tangent(97, 1000, 100.0)
    assert not _above_tangent(97, 1000, 1e5)


@pytest.mark.parametrize("concentration", [0.05, 1.0, 100.0])
def test_no_distribution_of_a_hundred_sees_less(concentration: float) -> None:
    """The mean and the variance of the mass seen, exact, on random D; and how often it is seen."""
    n, d = 97, 1000
    mass, rng = seen_mass(n, d), np.random.default_rng(0)
    assert 0 < mass < 1 - (1 - 1 / d) ** n
    for _ in range(100):
        p = rng.dirichlet(np.full(d, concentration))
        q = (1 - p) ** n
        mean, most = float(p @ (1 - q)), float(p**2 @ (q * (1 - q)))
        assert mean - math.sqrt(11 * most) >= mass
    seen = [p[np.unique(rng.choice(d, size=n, p=p))].sum() >= mass for _ in range(200)]
    assert np.mean(seen) >= 11 / 12
