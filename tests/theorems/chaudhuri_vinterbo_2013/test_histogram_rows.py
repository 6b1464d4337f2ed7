"""Theorem 6 and Lemma 3: tails by convolution, moves by hand and by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.signal import fftconvolve

from dpassay.theorems.chaudhuri_vinterbo_2013.histogram_rows import (
    beta1,
    change,
    noise_of,
    second_case,
    strings,
    tail,
)


@pytest.mark.parametrize("t", [-1.0, 0.0, 1.0, 10.0])
def test_the_tail_of_two_terms(t: float) -> None:
    """(2 + x) e^-x / 4."""
    x = abs(t) * math.sqrt(2)
    above = (2 + x) * math.exp(-x) / 4
    assert tail(2, t).lower == pytest.approx(above if t >= 0 else 1 - above)


def test_the_tail_of_five_terms_by_convolution() -> None:
    step = 0.01
    x = np.arange(-4000, 4001) * step
    one = np.exp(-np.abs(x)) / 2
    found = one
    for _ in range(4):
        found = fftconvolve(found, one, mode="same") * step
    above = float(np.trapezoid(found[x > 3 - step / 2], dx=step))
    assert tail(5, 3 / math.sqrt(5)).lower == pytest.approx(above, abs=1e-4)


def test_the_bounds_as_printed() -> None:
    assert tail(3, 2.0).claimed == pytest.approx((1 - 1 / 3) ** -3 * math.exp(-2))


def test_the_move_of_the_findings() -> None:
    """(10, 0) becomes (9, 1): 0.38, where 4/10 is allowed."""
    assert change([Fraction(10), Fraction(0)], [Fraction(9), Fraction(1)]) == Fraction(38, 100)


def test_the_constant_of_a_move_is_the_largest_of_many() -> None:
    """n~ = 5, split in all ways by halves over three bins; a record moves."""
    worst = Fraction(0)
    for a in range(2, 11):
        for b in range(11 - a):
            before = [Fraction(a, 2), Fraction(b, 2), Fraction(10 - a - b, 2)]
            worst = max(worst, change(before, [before[0] - 1, before[1] + 1, before[2]]))
    assert worst == Fraction(4, 5) - Fraction(2, 25)


def test_beta1_as_printed() -> None:
    found = beta1([10], 0.01, 1.0)
    n = noise_of([10], 0.01, 1.0) + 1e6
    nu = 2 * math.log(4 / 0.01) / (n * 1.0 * math.sqrt(0.1))
    assert found.claimed == pytest.approx(6 / ((1 - nu) * 0.1))
    assert found.lower == pytest.approx((4 - 2 / (n * (1 - nu))) / ((1 - nu) * 0.1))


def test_good_strings_by_drawing() -> None:
    """Five bins, delta = .5: all noise together is below -sqrt(5) ln 8."""
    R = np.random.default_rng(3).laplace(size=(400_000, 5)).sum(axis=1)
    seen = float((-math.sqrt(5) * math.log(8) > R).mean())
    assert strings([5], 0.5, 1.0).lower == pytest.approx(seen, abs=0.0015)


def test_the_second_case_needs_no_six() -> None:
    assert second_case(2).upper < 4
