"""Lemmas 4.5 and 4.6 and Corollary 4.7: integrals, enumerations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from dpassay.theorems.dwork_feldman_2018.averaging import (
    failures,
    vote_error,
)
from dpassay.theorems.dwork_feldman_2018.noise import (
    agnostic_error,
    agnostic_loss,
    kink,
    shift_loss,
    smooth_extra,
)


def test_by_hand() -> None:
    light, heavy = vote_error(np.array([20, 1]), 20, 1.0)
    assert f"{0.05 * light:.4f} {0.95 * heavy:.4f}" == "0.0488 0.0562"
    assert 0.05 * light + 0.95 * heavy > 0.1


def expected(loss: object, v: float, b: float) -> float:
    def weighted(t: float) -> float:
        return float(loss(v + t)) * math.exp(-abs(t) / b) / (2 * b)  # type: ignore[operator]

    return float(quad(weighted, -40 * b, 40 * b, points=[0.0, 1 - v], limit=500)[0])


@pytest.mark.parametrize(("v", "b"), [(1.0, 0.5), (0.8, 0.5), (0.0, 0.1)])
def test_extra_losses_are_the_integrals(v: float, b: float) -> None:
    absolute = expected(lambda a: 3 * abs(a - 1), v, b) - 3 * abs(v - 1)
    assert kink(1.0, b, 3.0, [abs(v - 1)]).lower == pytest.approx(absolute, rel=1e-6)
    square = expected(lambda a: (a - 1) ** 2 / 4, v, b) - (v - 1) ** 2 / 4
    assert smooth_extra(0.5, b, 1.0) == pytest.approx(square, rel=1e-6)


@pytest.mark.parametrize("slopes", [(-1.0, 0.2, 1.0), (-1.0, -1.0, 1.0), (0.3, 0.5, 0.9)])
def test_no_convex_loss_of_three_pieces_costs_more(slopes: tuple[float, ...]) -> None:
    """Kinks at 0 and 1."""
    first, middle, last = slopes

    def loss(a: float) -> float:
        return first * min(a, 0.0) + middle * min(max(a, 0.0), 1.0) + last * max(a - 1, 0.0)

    for v in (-0.5, 0.0, 0.5, 1.0):
        assert expected(loss, v, 0.3) - loss(v) <= 0.3 + 1e-6


def test_the_loss_of_a_shift_is_that_of_the_densities() -> None:
    t = np.linspace(-3, 3, 6001)
    ratios = (np.abs(t - 0.4) - np.abs(t)) / 0.7
    assert shift_loss(0.4, 0.7) == pytest.approx(np.abs(ratios).max())


@pytest.mark.parametrize(("r", "epsilon"), [(2, 1.0), (7, 0.5)])
def test_the_label_of_the_noisy_vote_is_the_integral(r: int, epsilon: float) -> None:
    b, one = 1 / (r * epsilon), []
    for k in range(r + 1):
        v = k / r
        mean = expected(lambda a: min(1.0, max(0.0, a)), v, b)
        one.append(mean)
        assert vote_error(np.array([k]), r, epsilon)[0] == pytest.approx(mean, rel=1e-5)
    most = max(p - k / r for k, p in enumerate(one))
    assert agnostic_error(r, 0.5, epsilon).lower == pytest.approx(most, rel=1e-5)
    losses = [abs(math.log(a / c)) for a, c in itertools.pairwise(one)]
    losses += [abs(math.log((1 - a) / (1 - c))) for a, c in itertools.pairwise(one)]
    assert agnostic_loss(r, 0.5, epsilon).lower == pytest.approx(max(losses), rel=1e-5)


def test_failures_by_enumeration() -> None:
    """Absolute loss, target 0: a block predicts 0, or r v + 1 with probability beta."""
    r, beta, v = 4, 0.1, 2.0
    total = 0.0
    for bad in itertools.product((False, True), repeat=r):
        if sum(r * v + 1 for each in bad if each) / r >= v:
            total += math.prod(beta if each else 1 - beta for each in bad)
    assert failures(r, beta).lower == pytest.approx(total, rel=1e-9)
