"""Clopper-Pearson against the binomial tails themselves, and the loss bounds made from them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammaln

from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.event_leak import leak_lower, leak_upper
from dpassay.stats.scales import Ratio

SMALL = [(n, x) for n in (1, 2, 7, 40) for x in range(n + 1) if n < 40 or x % 13 in (0, 1)]
ALPHAS = [0.3, 0.05, 1e-3, 1e-9, 1e-15]


def exact_tail(n: int, p: float, low: int, high: int) -> Fraction:
    """P[low <= Bin(n, p) <= high] in fractions."""
    q = Fraction(p)
    return sum(
        (math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(low, high + 1)), Fraction(0)
    )


def log_tail(n: int, p: float, low: int, high: int) -> float:
    """ln P[low <= Bin(n, p) <= high], summed term by term in log space."""
    if p >= 1:
        return 0.0 if high == n else -math.inf
    k = np.arange(low, high + 1)
    terms = (
        gammaln(n + 1)
        - gammaln(k + 1)
        - gammaln(n - k + 1)
        + k * math.log(p)
        + (n - k) * math.log1p(-p)
    )
    return float(np.logaddexp.reduce(terms))


def around(limit: float) -> tuple[float, float]:
    """The limit less and more a few units of rounding."""
    return limit * (1 - 1e-13), min(1.0, limit * (1 + 1e-13))


@pytest.mark.parametrize(("n", "x"), SMALL)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_tail_crosses_alpha_at_the_limit(n: int, x: int, alpha: float) -> None:
    """P[Bin(n, p) >= x] passes alpha within a few units of rounding of the lower limit. The upper
    limit likewise."""
    lower, upper = (
        float(clopper_pearson_lower(x, n, alpha)),
        float(clopper_pearson_upper(x, n, alpha)),
    )
    assert 0 <= lower < upper <= 1
    if x == 0:
        assert lower == 0
    else:
        below, above = around(lower)
        assert exact_tail(n, below, x, n) <= Fraction(alpha) <= exact_tail(n, above, x, n)
    if x == n:
        assert upper == 1
    else:
        below, above = around(upper)
        assert exact_tail(n, above, 0, x) <= Fraction(alpha) <= exact_tail(n, below, 0, x)


@pytest.mark.parametrize("n", [10_000, 1_000_000])
@pytest.mark.parametrize("alpha", [0.05, 1e-6, 1e-12])
def test_large_n(n: int, alpha: float) -> None:
    """As above, but for the rounding of ln n! in the reference."""
    rounding = 1e-15 * n * math.log(n)
    for x in (1, 17, n // 1000, n // 3, n - 40, n - 1):
        lower, upper = (
            float(clopper_pearson_lower(x, n, alpha)),
            float(clopper_pearson_upper(x, n, alpha)),
        )
        assert lower < x / n < upper
        below, above = around(lower)
        assert (
            log_tail(n, below, x, n) - rounding
            <= math.log(alpha)
            <= log_tail(n, above, x, n) + rounding
        )
        below, above = around(upper)
        assert (
            log_tail(n, above, 0, x) - rounding
            <= math.log(alpha)
            <= log_tail(n, below, 0, x) + rounding
        )


@pytest.mark.parametrize("n", [1, 100, 1_000_000])
@pytest.mark.parametrize("alpha", [0.05, 1e-12])
def test_the_ends_by_hand(n: int, alpha: float) -> None:
    """No success: (1 - p)^n = alpha; n of n: p^n = alpha."""
    assert clopper_pearson_upper(0, n, alpha) == pytest.approx(
        -math.expm1(math.log(alpha) / n), rel=1e-12
    )
    assert clopper_pearson_lower(n, n, alpha) == pytest.approx(
        math.exp(math.log(alpha) / n), rel=1e-12
    )
    assert clopper_pearson_lower(0, n, alpha) == 0
    assert clopper_pearson_upper(n, n, alpha) == 1


def test_lower_and_upper_are_mirror_images() -> None:
    x = np.arange(51)
    np.testing.assert_allclose(
        clopper_pearson_lower(x, 50, 0.01), 1 - clopper_pearson_upper(50 - x, 50, 0.01), atol=1e-14
    )


def test_limits_rise_with_the_count() -> None:
    x = np.arange(101)
    for alpha in (0.3, 0.05, 1e-9):
        assert (np.diff(clopper_pearson_lower(x, 100, alpha)) > 0).all()
        assert (np.diff(clopper_pearson_upper(x, 100, alpha)) > 0).all()


@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize(("x", "y"), [(80, 20), (100, 0), (60, 50), (5, 1)])
def test_loss_bounds_are_the_ratio_of_two_limits_at_half_alpha(
    x: int, y: int, delta: float
) -> None:
    """The four limits found by bisection of the exact tails."""

    def limit(n: int, low: int, high: int, rising: bool) -> float:
        a, b = 0.0, 1.0
        for _ in range(50):
            middle = (a + b) / 2
            small = exact_tail(n, middle, low, high) < Fraction(1, 40)
            a, b = (middle, b) if small == rising else (a, middle)
        return (a + b) / 2

    p1 = limit(100, x, 100, rising=True), 1.0 if x == 100 else limit(100, 0, x, rising=False)
    p0 = 0.0 if y == 0 else limit(100, y, 100, rising=True), limit(100, 0, y, rising=False)
    lower = math.log((p1[0] - delta) / p0[1]) if p1[0] > delta else 0.0
    upper = math.log((p1[1] - delta) / p0[0]) if p0[0] > 0 else math.inf
    assert leak_lower(x, 100, y, 100, scale=Ratio(delta), alpha=0.05) == pytest.approx(
        max(0.0, lower), abs=1e-9
    )
    assert leak_upper(x, 100, y, 100, scale=Ratio(delta), alpha=0.05) == pytest.approx(
        max(0.0, upper), abs=1e-9
    )


def test_no_count_on_the_other_side_still_gives_a_finite_lower_bound() -> None:
    lower = float(leak_lower(1000, 1000, 0, 1000, scale=Ratio(0.0), alpha=0.05))
    assert lower == pytest.approx(
        math.log(0.025 ** (1 / 1000) / -math.expm1(math.log(0.025) / 1000))
    )
    assert leak_upper(1000, 1000, 0, 1000, scale=Ratio(0.0), alpha=0.05) == math.inf


def test_counts_below_delta_say_nothing() -> None:
    assert leak_lower(0, 100, 0, 100, scale=Ratio(0.0), alpha=0.05) == 0
    assert leak_lower(30, 100, 0, 100, scale=Ratio(0.5), alpha=0.05) == 0
    assert leak_upper(30, 100, 0, 100, scale=Ratio(0.5), alpha=0.05) == 0


def test_bounds_broadcast() -> None:
    x, y = np.arange(101)[:, None], np.arange(101)[None]
    table = leak_lower(x, 100, y, 100, scale=Ratio(0.01), alpha=0.05)
    assert table.shape == (101, 101)
    assert (np.diff(table, axis=0) >= 0).all()
    assert (np.diff(table, axis=1) <= 0).all()
    assert table[90, 5] == leak_lower(90, 100, 5, 100, scale=Ratio(0.01), alpha=0.05)
    assert (leak_upper(x, 100, y, 100, scale=Ratio(0.01), alpha=0.05) >= table).all()
