"""The law of the noisy plurality, against exact arithmetic and against plain integrals."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr

from dpassay.mechanisms.shared.noisy_max import NoisyMax
from tests.mechanisms import twin_votes as twin

BASE_2 = NoisyMax(kind="laplace", scale=1 / math.log(2))


def every_count(most: int, K: int) -> list[tuple[int, ...]]:
    return [
        counts for counts in itertools.product(range(most + 1), repeat=K) if sum(counts) == most
    ]


@pytest.mark.parametrize(("most", "K"), [(40, 2), (6, 3), (25, 3), (4, 4), (3, 6)])
def test_laplace_against_fractions(most: int, K: int) -> None:
    every = every_count(most, K)[:: 1 if most < 20 else 7]
    law = BASE_2.law(np.array(every))
    assert law.error < 1e-11
    for counts, row in zip(every, law.log_p, strict=True):
        exact = [twin.wins_base_2(counts, i) for i in range(K)]
        assert sum(exact) == pytest.approx(Decimal(1), abs=Decimal("1e-40"))
        for found, p in zip(row, exact, strict=True):
            assert abs(found - float(p.ln())) <= law.error + 2e-16 * abs(found)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.4, 5.0])
@pytest.mark.parametrize("counts", [(0, 9), (4, 2, 0), (0, 3, 3, 1)])
def test_against_plain_integrals(kind: Any, scale: float, counts: tuple[int, ...]) -> None:
    law = NoisyMax(kind=kind, scale=scale).law(np.array([counts]))
    expected = [twin.wins(counts, i, scale, kind) for i in range(len(counts))]
    assert law.p[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.1, 0.3, 2.0, 50.0])
def test_the_error_bound_is_small_and_the_probabilities_sum_to_one(kind: Any, scale: float) -> None:
    law = NoisyMax(kind=kind, scale=scale).law(np.array(every_count(9, 3)))
    assert law.error < (1e-9 if kind == "gaussian" and scale < 1 else 2e-11)
    np.testing.assert_allclose(np.exp(law.log_p).sum(axis=1), 1.0, atol=3 * law.error)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_equal_counts_win_equally_often_and_a_permutation_permutes_the_law(kind: Any) -> None:
    for K in (3, 4, 7):
        law = NoisyMax(kind=kind, scale=1.0).law(np.full((1, K), 5))
        np.testing.assert_allclose(law.log_p, -math.log(K), rtol=0, atol=law.error)
    law = NoisyMax(kind=kind, scale=2.0).law(np.array([[5, 1, 3], [3, 5, 1]]))
    np.testing.assert_array_equal(law.log_p[0], law.log_p[1][[1, 2, 0]])


def log_normal_tail(x: int) -> float:
    """ln P[N > x] for x >= 1 by Laplace's continued fraction, in 60 digits."""
    fraction = Decimal(x)
    for k in range(4000, 0, -1):
        fraction = x + k / fraction
    pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
    return float(-(Decimal(x) ** 2) / 2 - ((2 * pi).sqrt() * fraction).ln())


@pytest.mark.parametrize("x", [1, 2, 5, 13, 30])
def test_the_normal_tail_is_as_accurate_as_assumed(x: int) -> None:
    assert float(log_ndtr(-float(x))) == pytest.approx(log_normal_tail(x), rel=8 * 2.0**-53)
    upper = math.log1p(-math.exp(log_normal_tail(x)))
    # the bound is absolute
    assert float(log_ndtr(float(x))) == pytest.approx(upper, rel=1e-12, abs=0)
