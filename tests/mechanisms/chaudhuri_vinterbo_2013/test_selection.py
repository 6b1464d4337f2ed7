"""The law of the largest score with exponential noise, and what it can lose."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpassay.mechanisms.chaudhuri_vinterbo_2013.selection import select, selection_log_p


def exactly(b: list[float], i: int) -> Fraction:
    """b_i times the integral of prod (1 - b_j u) over j != i: a polynomial in rational numbers."""
    polynomial = [Fraction(1)]
    for other in (b_j for j, b_j in enumerate(b) if j != i):
        longer = [*polynomial, Fraction(0)]
        for power, coefficient in enumerate(polynomial):
            longer[power + 1] -= coefficient * Fraction(other)
        polynomial = longer
    return Fraction(b[i]) * sum((c / (p + 1) for p, c in enumerate(polynomial)), Fraction(0))


@pytest.mark.parametrize(
    ("k", "scale"), [(1, 1.0), (2, 1.0), (3, 0.05), (3, 30.0), (10, 1.0), (40, 1.0), (100, 2.0)]
)
def test_chances_are_right_to_1e_12(k: int, scale: float) -> None:
    q = 3 * np.random.default_rng(k).normal(size=k)
    log_p, error = selection_log_p(q, scale)
    b = np.exp((q - q.max()) / scale).tolist()
    assert np.exp(log_p).sum() == pytest.approx(1, abs=1e-12)
    assert k > 40 or error <= 1e-11
    for i in range(k) if k <= 40 else (0, 50, int(q.argmax())):
        truth = float(exactly(b, i))
        assert math.exp(log_p[i]) == pytest.approx(truth, abs=1e-12)
        assert log_p[i] == pytest.approx(math.log(truth), rel=0, abs=error)


def test_draws_follow_the_law() -> None:
    q = np.array([0.0, 1.0, 0.5])
    drawn = select(np.tile(q, (200_000, 1)), 0.8, np.random.default_rng(1))
    p = np.exp(selection_log_p(q, 0.8)[0])
    assert np.abs(np.bincount(drawn, minlength=3) / len(drawn) - p).max() <= 5 * math.sqrt(
        0.25 / len(drawn)
    )


@pytest.mark.parametrize("k", [2, 3, 5])
def test_scores_that_move_by_beta_lose_alpha2_and_no_more(k: int) -> None:
    """Coordinate search over score vectors and moves of -beta or beta."""
    rng, alpha2, beta = np.random.default_rng(k), 1.0, 1.0
    scale, worst = 2 * beta / alpha2, 0.0
    moves = [np.array(signs) * beta for signs in itertools.product((-1.0, 1.0), repeat=k)]

    def loss(q: np.ndarray) -> float:
        here = selection_log_p(q, scale)[0]
        return max(float((here - selection_log_p(q + move, scale)[0]).max()) for move in moves)

    for _ in range(3):
        q = rng.normal(size=k)
        best, step = loss(q), 2.0
        while step > 0.05:
            tried = [q + sign * step * np.eye(k)[i] for i in range(k) for sign in (-1, 1)]
            losses = [loss(each) for each in tried]
            if max(losses) > best + 1e-12:
                best, q = max(losses), tried[int(np.argmax(losses))]
            else:
                step /= 2
        worst = max(worst, best)
    assert worst <= alpha2 + 1e-11
    assert worst >= 0.999 * alpha2
