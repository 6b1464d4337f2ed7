"""The law of the largest score with exponential noise, and what it can lose, against exact
rationals, an integral, and draws."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad

from dpassay.mechanisms.chaudhuri_vinterbo_2013.selection import select, selection_log_p


def exactly(b: list[float]) -> list[Fraction]:
    """b_i times the integral of prod (1 - b_j u) over j != i, in rational numbers. The product is a
    polynomial."""
    found = []
    for i, own in enumerate(b):
        polynomial = [Fraction(1)]
        for j, other in enumerate(b):
            if j != i:
                longer = [Fraction(0)] * (len(polynomial) + 1)
                for power, coefficient in enumerate(polynomial):
                    longer[power] += coefficient
                    longer[power + 1] -= coefficient * Fraction(other)
                polynomial = longer
        found.append(
            Fraction(own)
            * sum((c / (power + 1) for power, c in enumerate(polynomial)), Fraction(0))
        )
    return found


@pytest.mark.parametrize("k", [1, 2, 3, 10, 40])
def test_chances_are_right_to_1e_10_for_up_to_40_parameters(k: int) -> None:
    q = 3 * np.random.default_rng(k).normal(size=k)
    log_p, error = selection_log_p(q, 1.0)
    truth = exactly(np.exp(q - q.max()).tolist())
    assert sum(truth) == pytest.approx(1, abs=1e-12)
    assert error <= 1e-11
    assert np.abs(np.exp(log_p) - [float(p) for p in truth]).max() <= 1e-12
    assert (
        max(abs(float(found) - math.log(p)) for found, p in zip(log_p, truth, strict=True)) <= error
    )


@pytest.mark.parametrize("scale", [0.05, 1.0, 30.0])
def test_chances_agree_with_the_integral_over_the_winning_score(scale: float) -> None:
    q = np.array([0.3, -1.0, 0.0, 0.25])
    found = np.exp(selection_log_p(q, scale)[0])
    for i in range(4):

        def density(t: float, i: int = i) -> float:
            others = np.prod([-np.expm1(-(t - q[j]) / scale) for j in range(4) if j != i])
            return float(np.exp(-(t - q[i]) / scale) / scale * others)

        truth, error = quad(
            density, q.max(), q.max() + 60 * scale, epsabs=1e-13, epsrel=1e-13, limit=500
        )
        assert found[i] == pytest.approx(truth, abs=max(1e-11, 2 * error))


def test_a_hundred_parameters_agree_with_the_integral_by_simpsons_rule() -> None:
    """Density of the winning score t times the chance that all others are below, on 30,001
    points."""
    k, scale = 100, 0.7
    q = 2 * np.random.default_rng(4).normal(size=k)
    found = np.exp(selection_log_p(q, scale)[0])
    # from max q on, in s; at the first point the best one's factor is 0
    t = np.linspace(0, 45, 30_001)[1:]
    h = t[1] - t[0]
    weights = np.where(np.arange(1, len(t) + 1) % 2, 4.0, 2.0) * h / 3
    weights[-1] /= 2
    a = (q - q.max()) / scale
    logs = np.log(-np.expm1(a[:, None] - t))
    total, best = logs.sum(axis=0), int(q.argmax())
    for i in range(k):
        value = float(np.exp(a[i] - t + total - logs[i]) @ weights)
        start = (
            math.exp(a[best]) * float(np.prod(np.delete(-np.expm1(a), best))) if i == best else 0.0
        )
        assert found[i] == pytest.approx(value + start * h / 3, rel=0, abs=1e-10)


def test_draws_follow_the_law() -> None:
    q = np.array([0.0, 1.0, 0.5])
    drawn = select(np.tile(q, (200_000, 1)), 0.8, np.random.default_rng(1))
    p = np.exp(selection_log_p(q, 0.8)[0])
    assert np.abs(np.bincount(drawn, minlength=3) / len(drawn) - p).max() <= 5 * math.sqrt(
        0.25 / len(drawn)
    )


@pytest.mark.parametrize("k", [2, 3, 5])
def test_scores_that_move_by_beta_lose_alpha2_and_no_more(k: int) -> None:
    """Coordinate search over score vectors and moves of -beta or beta. The loss comes to alpha_2,
    and never above it."""
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


def test_two_parameters_by_hand() -> None:
    """P[the one that is d behind] = e^(-d / s) / 2."""
    log_p, _ = selection_log_p(np.array([1.0, 0.4]), 0.5)
    assert np.exp(log_p[1]) == pytest.approx(math.exp(-1.2) / 2, abs=1e-14)
