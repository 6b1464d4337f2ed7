"""Theorem 4.1: the worst error against a linear program, the size against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import expit

from dpassay.theorems.dwork_feldman_2018.soft_majority import size, worst_error


@pytest.mark.parametrize("r", [1, 2, 5, 12])
@pytest.mark.parametrize("mean", [0.0, 0.3, 1.0, 0.7])
def test_the_worst_error_is_that_of_all_laws_with_the_mean(r: int, mean: float) -> None:
    k = np.arange(r + 1)
    cost = -expit(0.5 * (2 * k - r))
    solved = linprog(cost, A_eq=np.array([np.ones(r + 1), k]), b_eq=[1.0, mean])
    assert worst_error(r, 1.0, mean) == pytest.approx(-float(solved.fun or 0.0), abs=1e-9)


def test_the_least_size_is_enough_and_one_less_is_not() -> None:
    measured = size(0.05, 0.5)
    least = int(measured.lower)
    assert worst_error(least, 0.5, 0.05 * least / 4) <= 0.05
    assert worst_error(least - 1, 0.5, 0.05 * (least - 1) / 4) > 0.05
