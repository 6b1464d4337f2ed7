"""Theorem 4.12 and Corollary 4.13: losses one sample at a time."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from dpassay.theorems.dwork_feldman_2018.descent import (
    climb,
    excess,
    least_risk,
    noisy_excess,
    random_loss,
    risk,
)


def rounded(a: float, y: int, h: float) -> float:
    away = abs(a - y)
    return away**2 / (2 * h) if away <= h else away - h / 2


def slow_excess(n: int, share: float, sign: int, *, after: bool, b: float) -> float:
    eta = 1 / math.sqrt(n)
    h = eta / 2

    def loss(w: float) -> float:
        def around(t: float) -> float:
            one, other = rounded(w + t, 1, h), rounded(w + t, -1, h)
            return share * one + (1 - share) * other

        if b == 0:
            return around(0.0)
        ends = sorted({0.0, *(y + s * h - w for y in (-1, 1) for s in (-1, 1))})
        return float(
            quad(
                lambda t: around(t) * math.exp(-abs(t) / b) / (2 * b),
                -50 * b,
                50 * b,
                points=ends,
                limit=500,
            )[0]
        )

    total = 0.0
    for labels in itertools.product((-1, 1), repeat=n):
        w, way = 0.0, []
        for y in labels:
            way += [] if after else [w]
            slope = max(-1.0, min(1.0, (w - y) / h))
            w = max(-1.0, min(1.0, w + sign * eta * slope))
            way += [w] if after else []
        p = math.prod(share if y == 1 else 1 - share for y in labels)
        total += p * loss(sum(way) / n) if p else 0.0
    return total - least_risk(share, n)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("n", "share", "sign"), [(3, 0.3, -1), (4, 0.45, 1), (5, 0.1, -1)])
def test_excess_losses_by_all_samples(n: int, share: float, sign: int, *, after: bool) -> None:
    slow = slow_excess(n, share, sign, after=after, b=0.0)
    assert excess(n, share, sign, after=after).lower == pytest.approx(slow, abs=1e-10)


def test_the_noisy_excess_by_all_samples() -> None:
    slow = slow_excess(3, 0.3, -1, after=False, b=1 / (math.sqrt(3) * 2.0))
    assert noisy_excess(3, 0.3, 2.0).lower == pytest.approx(slow, abs=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
def test_the_least_risk_is_that_of_a_grid(share: float) -> None:
    grid = np.linspace(-1, 1, 20_001)
    assert least_risk(share, 3) == pytest.approx(float(risk(grid, share, 3).min()), abs=1e-7)


def test_by_hand() -> None:
    assert f"{climb(5, 'squared', 1).lower:.4f}" == "0.4967"
    assert f"{random_loss([1.0] * 3, 5.0).lower:.3f}" == "5.158"
