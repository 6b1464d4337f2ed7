"""Bounds on the difference of two means: against a twin, by hand, and by enumeration of their error."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, multinomial

from dpassay.means import BETS, CAP, GRID, POINTS, difference_lower, difference_rejects, difference_upper, to_grid
from dpassay.power import Screening
from dpassay.predictions import detectable_difference

Counts = NDArray[np.int64]
ALONE = Screening(draws=100, pairs=1)


def histogram(*points: tuple[int, int]) -> Counts:
    """Counts at some points of the grid."""
    counts = np.zeros(GRID + 1, dtype=np.int64)
    for place, count in points:
        counts[place] += count
    return counts


def twin(x: Counts, y: Counts, gamma: float, alpha: float, spreads: tuple[float, float], points: int = 4001) -> float:
    """Smallest evidence over a dense scan of m, one answer after the other, less log(1 / alpha)."""
    one, other = np.repeat(POINTS, x), np.repeat(POINTS, y)
    s = math.sqrt(spreads[0] ** 2 / len(one) + spreads[1] ** 2 / len(other))
    stake, least = math.sqrt(2 * math.log(1 / alpha)) / s, math.inf
    for m in np.linspace(max(0.0, -gamma), min(1.0, 1 - gamma), points).tolist():
        wealth = 0.0
        for first, second in BETS.tolist():
            bet1 = min(first * stake / len(one), CAP / (m + gamma)) if m + gamma > 0 else first * stake / len(one)
            bet0 = min(second * stake / len(other), CAP / (1 - m)) if m < 1 else second * stake / len(other)
            logs = math.fsum(math.log(1 + bet1 * (v - m - gamma)) for v in one)
            logs += math.fsum(math.log(1 + bet0 * (m - v)) for v in other)
            wealth += math.exp(min(logs, 700.0)) / len(BETS)
        least = min(least, math.log(wealth))
    return least + math.log(alpha)


CASES = [
    (histogram((10, 5), (60, 20)), histogram((10, 15), (40, 9)), (0.3, 0.25)),
    (histogram((32, 30), (33, 10)), histogram((20, 30), (21, 10)), (0.02, 0.02)),
    (histogram((0, 10), (64, 30)), histogram((0, 30), (64, 10)), (0.5, 0.4)),
    (histogram((50, 40)), histogram((0, 1), (12, 19)), (0.05, 0.05)),
]


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("alpha", [0.05, 1e-3])
def test_the_bound_is_where_the_twin_stops_rejecting(case: int, alpha: float) -> None:
    x, y, spreads = CASES[case]
    bound = difference_lower(x, y, alpha=alpha, spreads=spreads)
    reach = float(x @ POINTS / x.sum() - y @ POINTS / y.sum()) - bound
    assert reach > 0
    assert twin(x, y, bound, alpha, spreads, 401) >= 0
    assert twin(x, y, bound + 0.03 * reach, alpha, spreads, 1001) < 0
    assert difference_rejects(x, y, gamma=bound - 0.01 * reach, alpha=alpha, spreads=spreads)
    assert not difference_rejects(x, y, gamma=bound + 0.03 * reach, alpha=alpha, spreads=spreads)


def rejected(every: list[tuple[Counts, Counts]], gamma: float, alpha: float, spreads: tuple[float, float]) -> NDArray[np.bool_]:
    return np.array([difference_rejects(x, y, gamma=gamma, alpha=alpha, spreads=spreads) for x, y in every])


@pytest.mark.parametrize("gamma", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("spreads", [(0.5, 0.5), (0.05, 0.2)])
def test_the_error_enumerated_for_two_values(gamma: float, spreads: tuple[float, float]) -> None:
    """All counts of answers 0 and 1 at n = 25 a side; every null point on the boundary; a wrong guess of the spreads too."""
    n, alpha = 25, 0.05
    every = [(histogram((0, n - a), (GRID, a)), histogram((0, n - b), (GRID, b))) for a in range(n + 1) for b in range(n + 1)]
    refuted = rejected(every, gamma, alpha, spreads).reshape(n + 1, n + 1)
    ks, worst = np.arange(n + 1), 0.0
    for m in np.linspace(0, 1 - gamma, 61).tolist():
        law = np.outer(binom.pmf(ks, n, min(1.0, m + gamma)), binom.pmf(ks, n, m))
        worst = max(worst, float(law[refuted].sum()))
    assert refuted.any()
    assert 0 < worst <= alpha


def test_the_error_enumerated_for_three_values() -> None:
    """Answers 0, 1/2 and 1 at n = 6 a side, under laws of equal means."""
    n, alpha, spreads = 6, 0.2, (0.3, 0.3)
    counts = [each for each in itertools.product(range(n + 1), repeat=3) if sum(each) == n]
    histograms = [histogram((0, a), (GRID // 2, b), (GRID, c)) for a, b, c in counts]
    refuted = rejected([(one, other) for one in histograms for other in histograms], 0.0, alpha, spreads).reshape(
        len(counts), len(counts)
    )
    assert refuted.any()
    laws = [(0.5 - h / 2 - k, h + 2 * k, 0.5 - h / 2 - k) for h, k in ((0, 0), (0.5, 0), (0.2, 0.1))]
    laws += [(0.9, 0.0, 0.1), (0.85, 0.1, 0.05), (0.8, 0.2, 0.0)]
    for group in (laws[:3], laws[3:]):
        for one, other in itertools.product(group, repeat=2):
            law = np.outer(multinomial.pmf(counts, n, one), multinomial.pmf(counts, n, other))
            assert law[refuted].sum() <= alpha


def test_an_enumeration_would_notice_a_bold_test() -> None:
    n, alpha, ks = 25, 0.05, np.arange(26)
    every = [(histogram((0, n - a), (GRID, a)), histogram((0, n - b), (GRID, b))) for a in range(n + 1) for b in range(n + 1)]
    refuted = rejected(every, 0.0, 0.5, (0.5, 0.5)).reshape(n + 1, n + 1)
    assert max(float(np.outer(binom.pmf(ks, n, m), binom.pmf(ks, n, m))[refuted].sum()) for m in (0.3, 0.5)) > alpha


@given(st.lists(st.integers(0, 40), min_size=5, max_size=5), st.lists(st.integers(0, 40), min_size=5, max_size=5))
@settings(deadline=None, max_examples=40)
def test_order(first: list[int], second: list[int]) -> None:
    x, y = (histogram(*zip((0, 16, 30, 48, 64), each, strict=True)) + histogram((32, 1)) for each in (first, second))
    spreads = (0.3, 0.3)
    observed = float(x @ POINTS / x.sum() - y @ POINTS / y.sum())
    lower = difference_lower(x, y, alpha=0.05, spreads=spreads)
    assert -1 <= difference_lower(x, y, alpha=1e-4, spreads=spreads) <= lower + 1e-9
    assert lower <= observed
    assert difference_upper(x, y, alpha=0.05, spreads=spreads) >= abs(observed) - 1e-12
    better = x + histogram((64, 5)) - histogram((32, 0))
    assert float(better @ POINTS / better.sum()) >= float(x @ POINTS / x.sum())


@pytest.mark.parametrize("n", [100, 1000, 100_000])
@pytest.mark.parametrize("spread", [0.1, 0.28, 0.5])
@pytest.mark.parametrize("alpha", [0.05, 1e-4])
def test_close_to_the_best_that_betting_can_do_and_better_than_hoeffding(n: int, spread: float, alpha: float) -> None:
    """Distance to the observed difference against sqrt(2 log(1 / alpha)) s / sqrt n; Hoeffding's with Bonferroni is wider."""
    rng = np.random.default_rng(n)
    draws = [rng.random(n) < mean if spread == 0.5 else np.clip(rng.normal(mean, spread, n), 0, 1) for mean in (0.6, 0.4)]
    x, y = (np.bincount(to_grid(each.astype(float), rng), minlength=GRID + 1) for each in draws)
    spreads = (float(np.std(draws[0])), float(np.std(draws[1])))
    width = float(x @ POINTS - y @ POINTS) / n - difference_lower(x, y, alpha=alpha, spreads=spreads)
    best = math.sqrt(-2 * math.log(alpha)) * math.hypot(*spreads) / math.sqrt(n)
    assert 0.9 * best < width < (1.3 if n == 100 else 1.2) * best
    assert width < 0.8 * 2 * math.sqrt(math.log(2 / alpha) / 2 / n)


def test_a_certain_difference_is_seen() -> None:
    x, y = histogram((48, 5000)), histogram((16, 5000))
    lower = difference_lower(x, y, alpha=0.01, spreads=(0.01, 0.01))
    assert 0.495 < lower < 0.5 < difference_upper(x, y, alpha=0.01, spreads=(0.01, 0.01)) < 0.505
    assert difference_lower(y, x, alpha=0.01, spreads=(0.01, 0.01)) < -0.5


def test_rounding_is_unbiased_and_to_the_neighbours() -> None:
    rng = np.random.default_rng(3)
    unit = np.tile([0.0, 0.01, 0.5, 0.999, 1.0], (100_000, 1))
    symbols = to_grid(unit, rng)
    assert (np.abs(symbols / GRID - unit) < 1 / GRID).all()
    np.testing.assert_allclose(symbols.mean(axis=0) / GRID, unit[0], atol=5 * 0.5 / GRID / math.sqrt(100_000))
    assert (symbols[:, [0, 2, 4]] == [0, GRID // 2, GRID]).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gamma", "n", "alpha", "spread"), [(0.1, 2000, 0.05, 0.1), (0.0, 500, 1e-3, 0.28), (0.2, 20_000, 1e-4, 0.5)]
)
def test_the_power_at_what_is_detectable(gamma: float, n: int, alpha: float, spread: float) -> None:
    found = detectable_difference(gamma=gamma, n=n, alpha=alpha, spreads=(spread, spread), screening=ALONE)
    rng, runs, refuted = np.random.default_rng(8), 400, 0
    for _ in range(runs):
        sides = []
        for mean in (0.5 + found / 2, 0.5 - found / 2):
            draws = rng.random(n) < mean if spread == 0.5 else np.clip(rng.normal(mean, spread, n), 0, 1)
            sides.append(np.bincount(to_grid(draws.astype(float), rng), minlength=GRID + 1))
        refuted += difference_rejects(*sides, gamma=gamma, alpha=alpha, spreads=(spread, spread))
    assert binom.ppf(0.005, runs, 0.87) <= refuted <= binom.isf(0.005, runs, 0.97)


def test_what_is_not_detectable_at_all() -> None:
    assert detectable_difference(gamma=0.9, n=100, alpha=0.05, spreads=(0.5, 0.5), screening=ALONE) == math.inf


def test_a_crowd_hides_a_difference_as_often_as_it_does() -> None:
    """One pair of forty above the others' difference, 300 screening trials each: simulated, within the exact 1 % region."""
    gamma, spread, pairs, draws, finalists = 0.2, 0.1, 40, 300, 2
    found = detectable_difference(
        gamma=gamma, n=10**8, alpha=0.05, spreads=(spread, spread),
        screening=Screening(draws=draws, pairs=pairs, finalists=finalists),
    )  # fmt: skip
    assert 0.202 < found < 0.24
    rng, runs = np.random.default_rng(9), 2000
    means = rng.normal(np.where(np.arange(pairs) == 0, found, gamma), spread / math.sqrt(draws), (runs, pairs))
    hits = int(np.sum(np.sum(means[:, 1:] > means[:, :1], axis=1) < finalists))
    assert binom.ppf(0.005, runs, 0.9) <= hits <= binom.isf(0.005, runs, 0.9)
