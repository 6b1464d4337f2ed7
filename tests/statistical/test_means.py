"""Bounds on the difference of two means: their error by enumeration, widths and realised power."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta as beta_law
from scipy.stats import binom, multinomial

from dpassay.engine.testers.means import detectable_difference
from dpassay.stats.betting import (
    GRID,
    POINTS,
    difference_lower,
    difference_rejects,
    difference_upper,
)
from dpassay.stats.power import Screening
from tests.statistical.wald import as_promised

Counts = NDArray[np.int64]
ALONE = Screening(draws=100, pairs=1)
Law = NDArray[np.float64]
Spreads = tuple[float, float]


def two_values(n: int) -> list[Counts]:
    """Every histogram of n answers 0 or 1."""
    found = []
    for a in range(n + 1):
        counts = np.zeros(GRID + 1, dtype=np.int64)
        counts[[0, GRID]] = n - a, a
        found.append(counts)
    return found


def refuted(
    sides: tuple[list[Counts], list[Counts]], gamma: float, alpha: float, spreads: Spreads
) -> NDArray[np.bool_]:
    """Whether each pair of histograms is rejected."""
    return np.array(
        [
            [difference_rejects(x, y, gamma=gamma, alpha=alpha, spreads=spreads) for y in sides[1]]
            for x in sides[0]
        ]
    )


def error_for_two_values(n1: int, n0: int, table: NDArray[np.bool_], gamma: float) -> float:
    """Largest P[rejected] over the boundary mu1 = min(1, mu0 + gamma)."""
    m = np.unique([*np.linspace(max(0.0, -gamma), 1, 201), min(1.0, 1 - gamma)])
    one = binom.pmf(np.arange(n1 + 1), n1, np.minimum(1.0, m + gamma)[:, None])
    other = binom.pmf(np.arange(n0 + 1), n0, m[:, None])
    return float(np.einsum("mx,xy,my->m", one, table, other).max())


@pytest.mark.parametrize("gamma", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("spreads", [(0.5, 0.5), pytest.param((0.05, 0.2), marks=pytest.mark.slow)])
def test_the_error_enumerated_for_two_values(gamma: float, spreads: Spreads) -> None:
    """All counts of answers 0 and 1 at n = 60 a side, for a wrong guess of the spreads too."""
    table = refuted((two_values(60), two_values(60)), gamma, 0.05, spreads)
    assert table.any()
    assert 0 < error_for_two_values(60, 60, table, gamma) <= 0.05
    assert (np.diff(table.astype(int), axis=0) >= 0).all()
    assert (np.diff(table.astype(int), axis=1) <= 0).all()


@pytest.mark.parametrize(("n1", "n0", "gamma"), [(15, 40, -0.3), (40, 15, 0.1)])
def test_the_error_enumerated_for_unequal_sides(n1: int, n0: int, gamma: float) -> None:
    table = refuted((two_values(n1), two_values(n0)), gamma, 0.1, (0.4, 0.3))
    assert 0 < error_for_two_values(n1, n0, table, gamma) <= 0.1


def test_an_enumeration_would_notice_a_bold_test() -> None:
    table = refuted((two_values(25), two_values(25)), 0.0, 0.5, (0.5, 0.5))
    assert error_for_two_values(25, 25, table, 0.0) > 0.05


@pytest.mark.parametrize(
    ("gamma", "spreads"), [(0.0, (0.3, 0.3)), (0.1, (0.1, 0.3)), (0.5, (0.2, 0.2))]
)
def test_the_error_enumerated_for_three_values(gamma: float, spreads: Spreads) -> None:
    """Answers 0, 1/2 and 1 at n = 8 a side. All pairs of laws in twentieths with mu1 <= mu0 +
    gamma."""
    n, alpha = 8, 0.3
    counts = [each for each in itertools.product(range(n + 1), repeat=3) if sum(each) == n]
    sides = np.zeros((len(counts), GRID + 1), dtype=np.int64)
    sides[:, [0, GRID // 2, GRID]] = counts
    table = refuted((list(sides), list(sides)), gamma, alpha, spreads)
    laws = np.array([(20 - a - b, a, b) for a in range(21) for b in range(21 - a)])
    likely = np.array([multinomial.pmf(counts, n, law / 20) for law in laws])
    fortieths = laws[:, 1] + 2 * laws[:, 2]
    null = fortieths[:, None] <= fortieths + round(40 * gamma)
    error = likely @ table @ likely.T
    assert 0 < error[null].max() <= alpha
    assert error[~null].max() > alpha


def law(mean: float, spread: float) -> Law:
    """A beta law on the grid, or that of two values where the spread is as large as it can be."""
    variance = mean * (1 - mean)
    if spread**2 > 0.999 * variance:
        return np.array([1 - mean, *[0.0] * (GRID - 1), mean])
    size = variance / spread**2 - 1
    found: Law = np.diff(
        beta_law.cdf(
            np.clip((np.arange(GRID + 2) - 0.5) / GRID, 0, 1), mean * size, (1 - mean) * size
        )
    )
    total: float = found.sum()
    return found / total


def moments(law: Law) -> tuple[float, float]:
    """Mean and standard deviation."""
    mean = float(law @ POINTS)
    return mean, math.sqrt(float(law @ POINTS**2) - mean**2)


def width(laws: tuple[Law, Law], n: int, alpha: float, spreads: Spreads) -> float:
    """Median distance from the bound to the observed difference, of five."""
    rng, found = np.random.default_rng(n), []
    for _ in range(5):
        x, y = (rng.multinomial(n, each) for each in laws)
        bound = difference_lower(x, y, alpha=alpha, spreads=spreads)
        found.append(float((x - y) @ POINTS) / n - bound)
    return float(np.median(found))


@pytest.mark.parametrize(("n", "alpha"), [(100, 0.05), (1000, 1e-3), (1_000_000, 1e-3)])
@pytest.mark.parametrize(
    ("means", "spreads"),
    [
        ((0.6, 0.4), (0.49, 0.49)), ((0.6, 0.4), (0.28, 0.28)), ((0.6, 0.4), (0.1, 0.1)),
        ((0.6, 0.5), (0.4, 0.05)), ((0.05, 0.02), (0.2, 0.1)), ((0.98, 0.95), (0.1, 0.2)),
    ],
)  # fmt: skip
def test_widths(n: int, alpha: float, means: tuple[float, float], spreads: Spreads) -> None:
    """At most 1.25 times the ideal of betting (1.3 at n = 100). And 1.2 times that of Hoeffding at
    the worst."""
    laws = (law(means[0], spreads[0]), law(means[1], spreads[1]))
    one, other = (moments(each)[1] for each in laws)
    found = width(laws, n, alpha, (one, other))
    ideal = math.sqrt(2 * math.log(1 / alpha)) * math.hypot(one, other) / math.sqrt(n)
    assert 0.9 * ideal < found < (1.3 if n == 100 else 1.25) * ideal
    assert found < 1.2 * math.sqrt(math.log(1 / alpha) / n)


@pytest.mark.parametrize("guess", [0.01, 0.2, 10.0])
@pytest.mark.parametrize(("spread", "n"), [(0.05, 300), (0.15, 100_000), (0.49, 300)])
def test_a_wrong_guess_of_the_spreads_leaves_the_width_near_hoeffdings(
    n: int, spread: float, guess: float
) -> None:
    """At most 1.65 times his. It was up to 7 times without the bets for the largest spreads."""
    laws, guessed = (law(0.6, spread), law(0.4, spread)), (guess * spread, guess * spread)
    assert width(laws, n, 0.05, guessed) < 1.65 * math.sqrt(math.log(20) / n)


@pytest.mark.slow
@pytest.mark.parametrize("difference", [0.0, 0.05])
def test_both_bounds_hold_in_simulation(difference: float) -> None:
    """Skewed laws, spreads from a small pilot. For either bound an error of 5 % fails once in 100
    times, one of 12 % passes twice in 100."""
    rng, laws = np.random.default_rng(4), (law(0.03 + difference, 0.1), law(0.03, 0.1))
    truth = moments(laws[0])[0] - moments(laws[1])[0]

    def drawn() -> tuple[list[Counts], Spreads]:
        pilot = [rng.multinomial(50, each) for each in laws]
        one, other = (math.sqrt(moments(each / 50)[1] ** 2 + 1 / 50) for each in pilot)
        return [rng.multinomial(200, each) for each in laws], (one, other)

    def too_high() -> bool:
        (x, y), spreads = drawn()
        return difference_lower(x, y, alpha=0.05, spreads=spreads) > truth

    def too_low() -> bool:
        (x, y), spreads = drawn()
        return difference_upper(x, y, alpha=0.05, spreads=spreads) < abs(truth)

    for wrong in (too_high, too_low):
        assert as_promised((wrong() for _ in itertools.count()), 0.05, 0.12)


SETTINGS = [
    (0.1, 2000, 0.05, (0.1, 0.1)),
    (0.0, 500, 1e-3, (0.28, 0.28)),
    (0.2, 20_000, 1e-4, (0.45, 0.45)),
    (0.0, 1000, 0.05, (0.4, 0.05)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("gamma", "n", "alpha", "spreads"), SETTINGS)
def test_the_power_at_what_is_detectable(
    gamma: float, n: int, alpha: float, spreads: Spreads
) -> None:
    """Counted rejections lie in the exact 99 % acceptance region of a power between .85 and .97."""
    found = detectable_difference(gamma=gamma, n=n, alpha=alpha, spreads=spreads, screening=ALONE)
    rejected = rejections(found, gamma, n, alpha, spreads, 0.5)
    assert binom.ppf(0.005, 1000, 0.85) <= rejected <= binom.isf(0.005, 1000, 0.97)


@pytest.mark.slow
@pytest.mark.parametrize("middle", [0.15, 0.5, 0.85])
@pytest.mark.parametrize(
    ("n", "alpha", "spread"), [(100, 0.05, 0.03), (300, 1e-4, 0.05), (100, 1e-3, 0.1)]
)
def test_the_power_where_bets_are_capped(
    n: int, alpha: float, spread: float, middle: float
) -> None:
    """At least .85, in the first two settings too. Without the cap in `difference_power` it was 0
    to .64 there."""
    both = (spread, spread)
    found = detectable_difference(gamma=0.0, n=n, alpha=alpha, spreads=both, screening=ALONE)
    assert rejections(found, 0.0, n, alpha, both, middle) >= binom.ppf(0.005, 1000, 0.85)


def rejections(
    found: float, gamma: float, n: int, alpha: float, spreads: Spreads, middle: float
) -> int:
    """Of a thousand at the true difference found.

    gamma moves with what the grid does to the means.
    """
    laws = (law(middle + found / 2, spreads[0]), law(middle - found / 2, spreads[1]))
    moved = gamma + moments(laws[0])[0] - moments(laws[1])[0] - found
    rng = np.random.default_rng(8)
    return sum(
        difference_rejects(
            *(rng.multinomial(n, each) for each in laws), gamma=moved, alpha=alpha, spreads=spreads
        )
        for _ in range(1000)
    )
