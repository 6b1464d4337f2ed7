"""Composition, the mean and alpha/k: slow twins and the numbers of section 5."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpassay.mechanisms.dwork_feldman_2018.composition import optimal_composition
from dpassay.theorems.chaudhuri_vinterbo_2013.composition import (
    advanced,
    basic,
    composed,
    composed_back,
    mean,
)


@pytest.mark.parametrize(("k", "alpha", "delta"), [(1, 1.0, 0.01), (7, 0.3, 0.5), (50, 0.1, 1e-6)])
def test_composed_as_the_interface_composes(k: int, alpha: float, delta: float) -> None:
    assert composed(k, alpha, delta)[0] == pytest.approx(
        optimal_composition(alpha, k, delta), abs=1e-10
    )


def test_composed_over_all_sequences_of_answers() -> None:
    """Hockey stick of the 2^k answers of randomised response at the loss that was found."""
    k, alpha, delta = 5, 0.7, 0.05
    right = math.exp(alpha) / (1 + math.exp(alpha))
    epsilon, _ = composed(k, alpha, delta)
    p = [
        math.prod(right if x else 1 - right for x in s) for s in itertools.product((1, 0), repeat=k)
    ]
    stick = sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, p[::-1], strict=True))
    assert stick == pytest.approx(delta, abs=1e-10)


def test_the_printed_alpha_prime() -> None:
    found = advanced(10, 0.1, 0.01)
    assert found.claimed == pytest.approx(
        10 * 0.1 * (math.exp(0.1) - 1) + math.sqrt(20 * math.log(100)) * 0.1
    )
    assert basic(10, 0.1).claimed == pytest.approx(1)


def test_the_mean_on_a_grid_of_outputs() -> None:
    n, alpha = 3, 2.0
    z = np.linspace(-3, 4, 701)
    low, high = (np.abs(z - mean_) * alpha * n for mean_ in (0.0, 1 / n))
    assert np.abs(low - high).max() == pytest.approx(mean(n, alpha).upper)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0, 2.0, 3.0, 5.0])
def test_alpha_prime_by_halving(alpha: float) -> None:
    low, high = 0.0, alpha
    for _ in range(100):
        middle = (low + high) / 2
        spent = 10 * math.expm1(middle) * middle + math.sqrt(20 * math.log(100)) * middle
        low, high = (middle, high) if spent < alpha else (low, middle)
    assert composed_back(alpha, 10, 0.01) == pytest.approx(low, abs=1e-11)
