"""What is released with the index: laws by naive sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import laplace

from dpassay.theorems.chaudhuri_vinterbo_2013.joint_release import (
    joint_log_p,
    single,
    wins,
)


def test_all_outcomes_together_are_certain() -> None:
    log_p, _ = joint_log_p(np.arange(-80, 81), 1, 0, 1.0, 0.5)
    assert float(np.exp(log_p).sum()) == pytest.approx(1)


def test_a_few_outcomes_by_loops() -> None:
    alpha1, alpha2, t, v = 0.7, 1.2, 1, 1
    weight = (1 - math.exp(-alpha1)) / (1 + math.exp(-alpha1))

    def chance(r: int) -> float:
        return weight * math.exp(-alpha1 * abs(r))

    def first_wins(one: float, two: float) -> float:
        x = (one - two) * alpha2 / 2
        return 1 - math.exp(-x) / 2 if x >= 0 else math.exp(x) / 2

    h = np.array([-3, 0, 2])
    log_p, _ = joint_log_p(h, t, v, alpha1, alpha2)
    for place, value in enumerate(h.tolist()):
        others = range(-80, 81)
        one = sum(chance(r) * first_wins(value + v, -(t + r) - v) for r in others)
        two = sum(chance(r) * (1 - first_wins(t + r + v, -value - v)) for r in others)
        own = chance(value - t)
        assert np.exp(log_p[:, place]) == pytest.approx([own * one, own * two])


def test_the_chance_of_the_one_ahead_by_sampling() -> None:
    z = np.random.default_rng(1).exponential(size=(2, 200_000))
    for x in (0.7, -1.1):
        seen = float((x + z[0] > z[1]).mean())
        assert math.exp(float(wins(np.array(x)))) == pytest.approx(seen, abs=0.006)


@pytest.mark.parametrize(("alpha1", "delta"), [(1.0, 0.0), (1.0, 0.01), (2.0, 0.1), (0.1, 0.5)])
def test_half_lines_of_laplace_noise(alpha1: float, delta: float) -> None:
    """Least epsilon by all half-lines from a fine grid."""
    z = np.linspace(-12, 14, 40_001)
    p, q = laplace.sf(z, loc=alpha1), laplace.sf(z)
    found = max(0.0, float(np.log(np.maximum((p - delta) / q, 1e-300)).max()))
    assert single(alpha1, 0.5, delta).upper == pytest.approx(found, abs=1e-6)
