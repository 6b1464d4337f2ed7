"""Theorem 3, the exponential mechanism and the ratio of the proofs: slow twins."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import expon

from dpassay.mechanisms.chaudhuri_vinterbo_2013.selection import selection_log_p
from dpassay.theorems.chaudhuri_vinterbo_2013.choosing import (
    at_scores,
    exponential,
    failure,
    growth,
    printed_ratio,
    ratio,
    utility,
)


@pytest.mark.parametrize(
    ("k", "gap"), [(1, 0.5), (2, 3.0), (3, 0.0), (10, 2.0), (10, 20.0), (90, 1)]
)
def test_failure_by_the_law_of_the_index(k: int, gap: float) -> None:
    log_p, _ = selection_log_p(np.array([0.0] + [-gap] * (k - 1)), 1.0)
    assert failure(k, gap) == pytest.approx(float(np.exp(log_p[1:]).sum()), rel=1e-10)


def test_failure_by_the_densities() -> None:
    """The best at 0, four losers 1.5 means behind: the integral over the winning noisy score."""
    lost, _ = quad(
        lambda t: 4 * math.exp(-(t + 1.5)) * (-math.expm1(-(t + 1.5))) ** 3 * -math.expm1(-t), 0, 60
    )
    assert failure(5, 1.5) == pytest.approx(lost, rel=1e-8)


@pytest.mark.parametrize("k", [2, 50, 10**6])
def test_both_formulas_of_failure_meet(k: int) -> None:
    """k b just below and just above 1e-4."""
    below, above = (failure(k, math.log(k / (1e-4 * c))) for c in (1 - 1e-9, 1 + 1e-9))
    assert below == pytest.approx(above, rel=1e-8)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 12), min_size=1, max_size=8), st.sampled_from([0.9, 0.5, 0.1, 0.01]))
def test_no_scores_are_worse_than_all_losers_equal(below: list[float], delta0: float) -> None:
    found = at_scores(delta0, [0.0, *below])
    assert found.upper <= utility(len(below) + 1, delta0).upper * (1 + 1e-9)


def test_the_exponential_mechanism_by_loops() -> None:
    k, alpha2, most, worst = 2, 1.0, 2, 0.0
    for q in itertools.product(range(most + 1), repeat=k):
        for move in itertools.product((-1, 0, 1), repeat=k):
            moved = [a + b for a, b in zip(q, move, strict=True)]
            p, r = ([math.exp(alpha2 * x / 2) for x in each] for each in (q, moved))
            for i in range(k):
                worst = max(worst, math.log(p[i] / sum(p) * sum(r) / r[i]))
    assert exponential(k, alpha2, most).upper == pytest.approx(worst)


def test_the_gap_that_is_exceeded() -> None:
    found = growth(7, 0.2)
    assert failure(7, found.lower) == pytest.approx(0.2, abs=1e-7)
    assert growth(2, 0.5).upper == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize(
    ("alpha2", "beta", "gamma"), [(0.1, 1.0, 0.0), (2.0, 0.3, 4.0), (1.0, 1.0, -1.5), (1, 0.2, -9)]
)
def test_ratios_by_the_tails(alpha2: float, beta: float, gamma: float) -> None:
    for of, mean in ((ratio, 2 * beta / alpha2), (printed_ratio, 1 / alpha2)):
        tails = [expon.logsf(edge, scale=mean) for edge in (gamma, gamma + 2 * beta)]
        assert of(alpha2, beta, gamma).lower == pytest.approx(tails[0] - tails[1], abs=1e-9)
