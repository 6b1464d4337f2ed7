"""Sizes and votes of section 2.1: learners and laws by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import expit

from dpassay.theorems.dwork_feldman_2018.sizes import (
    agnostic,
    agnostic_tilde,
    corollary_4_2,
    large,
    realizable,
    regression_large,
    sauer,
    tilde,
)
from dpassay.theorems.dwork_feldman_2018.votes import overview, quarter


def test_no_rule_learns_two_points_from_one_example() -> None:
    """Every deterministic rule from (x, label) to the label of the other point; n = 1."""
    best = 0.0
    for rule in itertools.product((0, 1), repeat=4):
        right = 0
        for f in itertools.product((0, 1), repeat=2):
            right += sum(rule[2 * x + f[x]] == f[1 - x] for x in (0, 1))
        best = max(best, right / 8)
    assert best == large(1, 2, 1 / 8, 1 / 4, 1e9, "4.2").upper


def test_no_rule_for_regression_from_one_label() -> None:
    weights = np.linspace(-1, 1, 41)
    least = min(
        np.mean([0.5 - c * ((0.5 + c / 2) * one + (0.5 - c / 2) * other) for c in (-0.5, 0.5)])
        for one, other in itertools.product(weights, repeat=2)
    )
    assert regression_large(1, 1 / 8, 64.0).lower == pytest.approx(least)


def test_corollary_4_2_by_hand() -> None:
    assert f"{corollary_4_2(2, 1 / 8, 1 / 4, 100.0):.3f}" == "0.278"


@pytest.mark.parametrize("alpha", [0.5, 0.45, 0.2, 1e-3])
@pytest.mark.parametrize("beta", [1 / 16, 1e-6])
@pytest.mark.parametrize("epsilon", [1.0, 0.7, 1e-3])
def test_growth_between_the_cases_of_the_rows(alpha: float, beta: float, epsilon: float) -> None:
    for d in (1, 2, 50):
        for measure in (realizable, tilde, agnostic, agnostic_tilde):
            found = measure(d, alpha, beta, epsilon)
            assert found.upper <= found.claimed * (1 + 1e-9)


@pytest.mark.parametrize(("N", "d"), [(2, 1), (4, 2), (6, 6)])
def test_sauers_sum_is_the_largest_family_of_small_sets(N: int, d: int) -> None:
    small = sum(sum(each) <= d for each in itertools.product((0, 1), repeat=N))
    assert sauer(N, d).lower == pytest.approx(math.log(small), abs=1e-12)


@pytest.mark.parametrize("r", [1, 3, 4, 9])
def test_the_quarter_by_a_linear_program(r: int) -> None:
    k = np.arange(r + 1)
    cost = -(k > r / 4).astype(float)
    solved = linprog(cost, A_ub=[k], b_ub=[0.1 * r], A_eq=[np.ones(r + 1)], b_eq=[1.0])
    assert quarter(r, [1, 10]).lower == pytest.approx(-float(solved.fun or 0.0), abs=1e-9)


def test_the_overviews_votes_one_by_one() -> None:
    r, epsilon = 3, 1.0
    one = [float(expit(epsilon * (2 * k - r))) for k in range(r + 1)]
    losses = [abs(math.log(a / b)) for a, b in itertools.pairwise(one)]
    losses += [abs(math.log((1 - a) / (1 - b))) for a, b in itertools.pairwise(one)]
    assert overview(r, epsilon).lower == pytest.approx(max(losses))
