"""Theorem 4.9 and Corollaries 4.10, 4.11: minimisers on a grid, all samples, integrals of noise."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad

from dpassay.theorems.dwork_feldman_2018.strong_convexity import (
    alone,
    change_of_objective,
    mean_rate,
    with_noise,
    with_regulariser,
    without_noise,
)

GRID = np.linspace(-1, 1, 4001)


def loss(a: float, y: int, curvature: float) -> float:
    """|a - y| + curvature a^2 / 2 on [-1, 1], straight beyond."""
    inside = min(1.0, max(-1.0, a))
    return abs(inside - y) + curvature * inside**2 / 2 + (1 + curvature) * abs(a - inside)


def noisy(w: float, y: int, b: float, curvature: float) -> float:
    def weighted(t: float) -> float:
        return loss(w + t, y, curvature) * math.exp(-abs(t) / b) / (2 * b)

    points = sorted({0.0, 1 - w, -1 - w})
    return float(quad(weighted, -50 * b, 50 * b, points=points, limit=500)[0])


def mean_loss(w: float, share: float, curvature: float, b: float) -> float:
    if b == 0:
        return share * loss(w, 1, curvature) + (1 - share) * loss(w, -1, curvature)
    return share * noisy(w, 1, b, curvature) + (1 - share) * noisy(w, -1, b, curvature)


def slow_excess(n: int, share: float, inner: float, outer: float, b: float) -> float:
    """All samples; weights and the best one by a grid."""
    total = 0.0
    for labels in itertools.product((-1, 1), repeat=n):
        values = inner * GRID**2 / 2 + sum(np.abs(GRID - y) for y in labels) / n
        w = float(GRID[int(np.argmin(values))])
        p = math.prod(share if y == 1 else 1 - share for y in labels)
        total += p * mean_loss(w, share, outer, b)
    return total - min(mean_loss(float(w), share, outer, 0.0) for w in GRID[::10])


@pytest.mark.parametrize(("n", "curvature", "share"), [(3, 1.0, 0.25), (2, 4.0, 0.5)])
def test_excess_losses_by_all_samples(n: int, curvature: float, share: float) -> None:
    slow = slow_excess(n, share, curvature, curvature, 0.0)
    assert without_noise(n, curvature, share).lower == pytest.approx(slow, abs=2e-3)
    b = 4 * (1 + curvature) / (curvature * n * 10.0)
    slow = slow_excess(n, share, curvature, curvature, b)
    assert with_noise(n, curvature, share, 10.0).lower == pytest.approx(slow, abs=2e-3)


def test_the_regularised_excess_by_all_samples() -> None:
    n, epsilon = 3, 2.0
    weight = 2 / math.sqrt(n * epsilon / (1 + epsilon))
    slow = slow_excess(n, 0.25, 2 * weight, 0.0, 4 / (weight * n * epsilon))
    assert with_regulariser(n, epsilon, 0.25).lower == pytest.approx(slow, abs=2e-3)


def test_the_squared_loss_is_the_case_of_curvature_one() -> None:
    """Excess of the mean of n labels: its variance over two."""
    n, share = 5, 0.25
    variance = (1 - (2 * share - 1) ** 2) / n
    assert without_noise(n, 1.0, share).lower == pytest.approx(variance / 2, abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_targets_on_a_grid_move_the_mean_more(n: int) -> None:
    """Squared loss on K = [-R, R]: the rate by brute force, with its own L, never above sharp."""
    R = Fraction(1, n)
    slope, worst = R + 1, Fraction(0)
    targets = [Fraction(t, 2) for t in range(-2, 3)]

    def minimiser(y: tuple[Fraction, ...]) -> Fraction:
        return min(R, max(-R, sum(y, Fraction(0)) / n))

    for y in itertools.product(targets, repeat=n):
        for other in targets:
            worst = max(worst, abs(minimiser(y) - minimiser((other, *y[1:]))))
    assert float(worst) == alone(n).lower <= float(2 * slope / (n + 1)) + 1e-15


def test_by_hand() -> None:
    assert mean_rate("hinge", 2, 1.0).claimed == pytest.approx(4 * mean_rate("hinge", 2, 1.0).lower)
    assert change_of_objective(8, 1.0, 1.0).claimed == pytest.approx(1.0)
