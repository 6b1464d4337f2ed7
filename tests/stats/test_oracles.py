"""Numbers that bounds rest on, against 40 digits by mpmath and against statsmodels."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from dpassay.mechanisms.dwork_feldman_2018.stable_gaussian import largest_shift
from dpassay.mechanisms.shared.noisy_max import NoisyMax
from dpassay.noise import Noise
from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.combined import _z

DIGITS = 40
LEAST = mp.mpf(5e-324)
"""The smallest number above 0 that a double holds."""


@pytest.fixture(autouse=True)
def precise() -> Any:
    with mp.workdps(DIGITS):
        yield


def tail(x: int, n: int, p: float) -> Any:
    """P[Bin(n, p) >= x], summed term by term."""
    q = mp.mpf(p)
    term = mp.binomial(n, x) * q**x * (1 - q) ** (n - x)
    total, k = term, x
    while k < n:
        term *= q / (1 - q) * (n - k) / (k + 1)
        k += 1
        total += term
        if k > n * p and term < total * mp.mpf(10) ** (5 - DIGITS):
            break
    return total


def quantile(p: Any) -> Any:
    """Return z with Phi(z) = p, from the tail that is the smaller one."""
    if p > 0.5:
        return -quantile(1 - p)
    guess = -mp.sqrt(2 * mp.log(1 / p))
    return mp.findroot(lambda z: mp.log(mp.ncdf(z)) - mp.log(p), guess, tol=mp.mpf(10) ** -50)


@pytest.mark.parametrize("n", [1, 7, 300, 20_000])
@pytest.mark.parametrize("alpha", [0.2, 1e-3, 4.5e-6, 1e-12])
def test_clopper_pearson_limits_are_those_of_statsmodels(n: int, alpha: float) -> None:
    x = np.unique(np.linspace(0, n, 40).astype(int))
    lower, upper = proportion_confint(x, np.full(len(x), n), alpha=2 * alpha, method="beta")
    assert clopper_pearson_lower(x, n, alpha) == pytest.approx(lower, rel=1e-9)
    assert clopper_pearson_upper(x, n, alpha) == pytest.approx(upper, rel=1e-9)


@pytest.mark.parametrize(
    ("x", "n"), [(1, 20_000), (37, 20_000), (9_000, 20_000), (19_990, 20_000), (60, 100)]
)
@pytest.mark.parametrize("alpha", [0.05, 4.5e-6, 1e-12])
def test_the_tail_at_a_limit_is_alpha(x: int, n: int, alpha: float) -> None:
    """Its relative error is at most n times that of the limit."""
    limit = float(clopper_pearson_lower(x, n, alpha))
    assert abs(tail(x, n, limit) / alpha - 1) < n * 1e-14
    high = float(clopper_pearson_upper(x, n, alpha))
    assert abs(tail(n - x, n, 1 - high) / alpha - 1) < n * 1e-14 / min(1.0, 1 - high)


@pytest.mark.parametrize(
    ("x", "n"), [(1, 400), (3, 400), (120, 400), (390, 400), (400, 400), (900, 20_000)]
)
@pytest.mark.parametrize("factor", [0.02, 0.5, 0.9, 1.0, 1.02])
def test_normal_scores_of_binomial_tails(x: int, n: int, factor: float) -> None:
    """Close to the true score, and where the tail is below 1e-290 never above it."""
    p = min(factor * x / n, 1 - 1e-6)
    true = -quantile(tail(x, n, p))
    found = float(_z(x, n, np.array([p]))[0])
    assert found <= float(true) + 1e-9 * (1 + abs(float(true)))
    if tail(x, n, p) > mp.mpf(10) ** -290:
        assert found == pytest.approx(float(true), rel=1e-9, abs=1e-9)


def gaussian(s: Any, epsilon: Any) -> Any:
    """Balle and Wang 2018, Theorem 8."""
    s, epsilon = mp.mpf(s), mp.mpf(epsilon)
    return mp.ncdf(s / 2 - epsilon / s) - mp.exp(epsilon) * mp.ncdf(-s / 2 - epsilon / s)


@pytest.mark.parametrize("s", [1e-3, 0.1, 1.0, 4.0, 15.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 1.0, 8.0])
def test_hockey_stick_of_gaussian_noise_within_its_error(s: float, epsilon: float) -> None:
    noise, shift, at = Noise(kind="gaussian", scale=1.0), np.array(s), np.array(epsilon)
    apart = abs(mp.mpf(float(noise.hockey_stick(shift, at))) - gaussian(s, epsilon))
    assert apart <= mp.mpf(float(noise.doubt(shift, at))) + LEAST


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.1])
def test_the_largest_shift_is_private_and_hardly_more_would_be(
    epsilon: float, delta: float
) -> None:
    s = largest_shift(epsilon, delta)
    assert gaussian(s, epsilon) <= delta < gaussian(s * (1 + 1e-6), epsilon)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("counts", [(3.0, 1.0, 0.0), (0.0, 0.5, 0.5, 6.0)])
def test_quadratures_of_noisy_votes_within_their_error(
    kind: Any, counts: tuple[float, ...]
) -> None:
    """P[i wins] = the integral of f(z - n_i) times the product of the other F(z - n_j)."""

    def density(z: Any) -> Any:
        return mp.exp(-abs(z)) / 2 if kind == "laplace" else mp.npdf(z)

    def below(z: Any) -> Any:
        if kind == "gaussian":
            return mp.ncdf(z)
        return mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2

    def of(i: int) -> Any:
        others = [n for j, n in enumerate(counts) if j != i]

        def term(z: Any) -> Any:
            found = density(z - counts[i])
            for n in others:
                found *= below(z - n)
            return found

        ends = [-60, -20, -5, *sorted(set(counts)), 12, 25, 66]
        return mp.quad(term, ends)

    with mp.workdps(20):
        found, error = NoisyMax(kind=kind, scale=1.0)._of_many(np.array(counts))
        assert error < 1e-9
        for i in range(len(counts)):
            assert abs(mp.log(of(i)) - mp.mpf(float(found[i]))) <= error
