"""Bounds on the difference of two means: against a twin, by hand, golden numbers and invariants.
The error, the widths and the power are in tests/statistical."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta as beta_law
from scipy.stats import binom

from dpassay.engine.testers.means import detectable_difference
from dpassay.stats import betting as means
from dpassay.stats.betting import (
    BETS,
    CAP,
    GRID,
    POINTS,
    difference_lower,
    difference_power,
    difference_rejects,
    difference_upper,
    to_grid,
)
from dpassay.stats.power import Screening

Counts = NDArray[np.int64]
ALONE = Screening(draws=100, pairs=1)


def histogram(*points: tuple[int, int]) -> Counts:
    """Counts at some points of the grid."""
    counts = np.zeros(GRID + 1, dtype=np.int64)
    for place, count in points:
        counts[place] += count
    return counts


Spreads = tuple[float, float]


def rows(n1: int, n0: int, alpha: float, spreads: Spreads) -> list[tuple[float, float]]:
    """Bets on the two sides, before they are capped. Those of BETS for the expected spreads, and
    the one for spreads of 1/2."""
    one, other = (min(max(each, 0.001), 0.5) for each in spreads)
    best = math.sqrt(2 * math.log(1 / alpha)) / math.sqrt(one**2 / n1 + other**2 / n0)
    safe = math.sqrt(2 * math.log(1 / alpha)) / math.sqrt(0.25 / n1 + 0.25 / n0)
    return [(first * best / n1, second * best / n0) for first, second in BETS.tolist()] + [
        (safe / n1, safe / n0)
    ]


def wealth(x: Counts, y: Counts, m: float, gamma: float, alpha: float, spreads: Spreads) -> float:
    """Evidence against mu1 <= m + gamma and mu0 = m, one answer after the other."""
    one, other = np.repeat(POINTS, x).tolist(), np.repeat(POINTS, y).tolist()
    bets, total = rows(len(one), len(other), alpha, spreads), 0.0
    for first, second in bets:
        bet1 = min(first, CAP / (m + gamma)) if m + gamma > 0 else first
        bet0 = min(second, CAP / (1 - m)) if m < 1 else second
        logs = math.fsum(math.log(1 + bet1 * (v - m - gamma)) for v in one)
        logs += math.fsum(math.log(1 + bet0 * (m - v)) for v in other)
        total += math.exp(min(logs, 700.0)) / len(bets)
    return total


def twin(x: Counts, y: Counts, gamma: float, alpha: float, spreads: Spreads, points: int) -> float:
    """Smallest evidence over a dense scan of m, less log(1 / alpha)."""
    scan = np.linspace(max(0.0, -gamma), min(1.0, 1 - gamma), points).tolist()
    return math.log(min(wealth(x, y, m, gamma, alpha, spreads) for m in scan)) + math.log(alpha)


def dense(x: Counts, y: Counts, gamma: float, alpha: float, spreads: Spreads) -> float:
    """The same for many answers: 1,600 values of m, twice refined around the least."""
    low, high, n1, n0 = max(0.0, -gamma), min(1.0, 1 - gamma), int(x.sum()), int(y.sum())
    mean = float(y @ POINTS) / n0
    error = math.sqrt(max(0.0, float(y @ POINTS**2) / n0 - mean**2) / n0) + 1 / n0
    m = np.union1d(
        np.linspace(low, high, 801), np.clip(mean + error * np.linspace(-12, 12, 801), low, high)
    )
    first, second = np.array(rows(n1, n0, alpha, spreads)).T[..., None, None]
    for _ in range(3):
        with np.errstate(divide="ignore"):
            bet1, bet0 = (
                np.minimum(first, CAP / (m[:, None] + gamma)),
                np.minimum(second, CAP / (1 - m[:, None])),
            )
        logs = (
            np.log1p(bet1 * (POINTS - m[:, None] - gamma)) @ x
            + np.log1p(bet0 * (m[:, None] - POINTS)) @ y
        )
        evidence = np.logaddexp.reduce(logs) - math.log(len(first))
        least = int(evidence.argmin())
        m = np.linspace(m[max(least - 1, 0)], m[min(least + 1, m.size - 1)], 201)
    return float(evidence.min()) + math.log(alpha)


def drawn(rng: np.random.Generator, n: int, mean: float, spread: float) -> Counts:
    """Histogram of answers with a beta law, each rounded to the nearest point of the grid."""
    size = mean * (1 - mean) / spread**2 - 1
    law = np.diff(
        beta_law.cdf(
            np.clip((np.arange(GRID + 2) - 0.5) / GRID, 0, 1), mean * size, (1 - mean) * size
        )
    )
    return rng.multinomial(n, law / law.sum())


def test_the_twins_by_hand() -> None:
    """One answer a side, m = 1/4, gamma = 1/2: both caps are 1.2, both factors 1 + bet / 4. The
    best bet is 2.83."""
    x, y, alpha, spreads = histogram((GRID, 1)), histogram((0, 1)), math.exp(-2), (0.5, 0.5)
    found = wealth(x, y, 0.25, 0.5, alpha, spreads)
    assert found == pytest.approx((1.25**2 + 6 * 1.3**2 + 2 * 1.3) / 9, rel=1e-12)
    assert dense(x, y, 0.5, alpha, spreads) == pytest.approx(
        twin(x, y, 0.5, alpha, spreads, 2001), abs=1e-6
    )


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
    assert twin(x, y, bound, alpha, spreads, 301) >= 0
    assert twin(x, y, bound + 0.02 * reach, alpha, spreads, 301) < 0
    assert difference_rejects(x, y, gamma=bound - 0.01 * reach, alpha=alpha, spreads=spreads)
    assert not difference_rejects(x, y, gamma=bound + 0.02 * reach, alpha=alpha, spreads=spreads)


@pytest.mark.parametrize(
    ("n1", "n0", "spreads", "guess", "alpha"),
    [
        (10_000, 10_000, (0.28, 0.28), 1.0, 0.05),
        # here and in the next three a coarse search lost 5 to 11 %
        (500_000, 500_000, (0.03, 0.08), 0.1, 1e-6),
        (86_000, 86, (0.2, 0.06), 0.5, 1e-6),
        (300_000, 280, (0.35, 0.034), 1.0, 0.05),
        (171, 171, (0.012, 0.038), 1.0, 1e-6),
        (1000, 1000, (0.3, 0.3), 0.03, 1e-3),
        (1000, 1000, (0.02, 0.02), 30.0, 1e-3),
        (40, 1_000_000, (0.1, 0.35), 1.0, 1e-3),
    ],
)
@pytest.mark.parametrize("means", [(0.6, 0.4), (0.3, 0.5), (0.85, 0.8)])
def test_the_bound_is_sharp_and_proven(
    n1: int, n0: int, spreads: Spreads, guess: float, alpha: float, means: tuple[float, float]
) -> None:
    """It is refuted on a dense scan, and a little above it is not. Less than 1 % of its distance to
    the observed difference above it."""
    rng = np.random.default_rng(12)
    x, y = drawn(rng, n1, means[0], spreads[0]), drawn(rng, n0, means[1], spreads[1])
    expected = (guess * spreads[0], guess * spreads[1])
    bound = difference_lower(x, y, alpha=alpha, spreads=expected)
    reach = float(x @ POINTS / n1 - y @ POINTS / n0) - bound
    assert dense(x, y, bound, alpha, expected) >= 0
    assert dense(x, y, bound + 0.01 * reach, alpha, expected) < 0


@pytest.mark.parametrize(
    ("x", "y", "spreads", "alpha"),
    [
        (histogram((22, 12), (23, 13)), histogram((0, 1)), (0.3, 0.3), 0.05),
        (histogram((42, 259)), histogram((63, 2)), (0.02, 0.02), 0.05),
        (histogram((4, 142), (17, 3), (24, 3)), histogram((15, 3)), (0.01, 0.2), 1e-3),
    ],
)
def test_the_bound_is_sharp_where_the_least_evidence_is_at_an_end(
    x: Counts, y: Counts, spreads: Spreads, alpha: float
) -> None:
    """At the largest m there is: the bound was 3 to 15 % too low where that was not looked at."""
    bound = lower(x, y, alpha, spreads)
    assert dense(x, y, bound, alpha, spreads) >= 0
    assert dense(x, y, bound + 0.01 * (observed(x, y) - bound), alpha, spreads) < 0


@pytest.mark.parametrize("gamma", [-0.4, 0.0, 0.3])
@pytest.mark.parametrize("capped", ["neither", "one", "other", "both", "within a cell"])
def test_no_evidence_inside_a_cell_is_below_its_floor(gamma: float, capped: str) -> None:
    """Per bet, at wide cells, for answers that lie far apart. The product is concave in m only
    where neither bet is capped."""
    rng, low, high = np.random.default_rng(6), max(0.0, -gamma), min(1.0, 1 - gamma)
    bets = {
        "neither": (0.5, 0.5),
        "one": (50, 0.5),
        "other": (0.5, 50),
        "both": (50, 50),
        "within a cell": (2, 2),
    }[capped]
    edges = np.linspace(low, high, 5)
    inside = np.linspace(edges[:-1], edges[1:], 201, axis=1)
    for _ in range(40):
        x, y = (
            histogram(*((int(place), 3) for place in rng.choice([0, 1, 5, 32, 60, 63, 64], 3)))
            for _ in range(2)
        )
        stakes = np.array([[bets[0] * x.sum(), bets[1] * y.sum()]])
        _, floors = means._evidence(x, y, edges[None], gamma, stakes)
        points, _ = means._evidence(x, y, inside, gamma, stakes)
        assert (points[0].min(axis=1) >= floors[0, 0] - 1e-9).all()


GOLDEN = [
    (histogram((0, 400), (64, 600)), histogram((0, 600), (64, 400)), (0.5, 0.5), 0.05, 0.138930006),
    (histogram((0, 400), (64, 600)), histogram((0, 600), (64, 400)), (0.5, 0.5), 1e-4, 0.098678943),
    (histogram((24, 5000), (40, 5000)), histogram((22, 5000), (42, 5000)), (0.13, 0.16), 0.05,
     -0.005721472),
    (histogram((60, 10), (64, 90)), histogram((0, 9000), (8, 1000)), (0.02, 0.04), 0.01,
     0.915304736),
    (histogram((0, 10**6 - 900), (64, 900)), histogram((0, 10**6 - 300), (64, 300)), (0.03, 0.02),
     0.001, 0.000459979),
]  # fmt: skip
"""Counts, spreads, alpha and the smallest gamma that the dense twin does not reject, by
bisection."""


@pytest.mark.parametrize(("x", "y", "spreads", "alpha", "expected"), GOLDEN)
def test_golden_numbers(
    x: Counts, y: Counts, spreads: Spreads, alpha: float, expected: float
) -> None:
    found = difference_lower(x, y, alpha=alpha, spreads=spreads)
    assert 0 <= expected - found <= 0.004 * (observed(x, y) - expected)


def lower(x: Counts, y: Counts, alpha: float = 0.05, spreads: Spreads = (0.3, 0.3)) -> float:
    return difference_lower(x, y, alpha=alpha, spreads=spreads)


def observed(x: Counts, y: Counts) -> float:
    return float(x @ POINTS) / int(x.sum()) - float(y @ POINTS) / int(y.sum())


@st.composite
def histograms(draw: st.DrawFn) -> Counts:
    """Up to 2,000 answers at up to five places."""
    places = draw(
        st.lists(st.tuples(st.integers(0, GRID), st.integers(1, 400)), min_size=1, max_size=5)
    )
    return histogram(*places)


guesses = st.sampled_from([(0.3, 0.3), (0.5, 0.5), (0.01, 0.2), (0.02, 0.02)])


@given(histograms(), histograms(), guesses)
@settings(max_examples=25)
def test_the_observed_difference_lies_between_the_bounds(
    x: Counts, y: Counts, spreads: Spreads
) -> None:
    assert -1 <= lower(x, y, spreads=spreads) <= observed(x, y)
    assert abs(observed(x, y)) - 1e-12 <= difference_upper(x, y, alpha=0.05, spreads=spreads) <= 1


@given(histograms(), histograms(), guesses)
@settings(max_examples=25)
def test_a_smaller_alpha_gives_a_smaller_bound(x: Counts, y: Counts, spreads: Spreads) -> None:
    bounds = [lower(x, y, alpha, spreads) for alpha in (1e-6, 1e-3, 0.02, 0.05, 0.2)]
    assert bounds == sorted(bounds)


@given(histograms(), histograms(), guesses)
@settings(max_examples=25)
def test_what_is_rejected_is_rejected_for_a_smaller_gamma(
    x: Counts, y: Counts, spreads: Spreads
) -> None:
    bound = lower(x, y, spreads=spreads)
    grid = np.unique(
        np.concatenate(
            [np.linspace(-1, 0.99, 12), bound + np.array([-0.1, -0.01, -0.001, 0.001, 0.01, 0.1])]
        )
    )
    inside = grid[(grid >= -1) & (grid < 1)].tolist()
    refuted = [
        difference_rejects(x, y, gamma=gamma, alpha=0.05, spreads=spreads) for gamma in inside
    ]
    assert refuted == sorted(refuted, reverse=True)
    assert all(
        found for gamma, found in zip(inside, refuted, strict=True) if gamma <= bound and bound > -1
    )


@given(histograms(), histograms(), guesses, st.integers(0, GRID - 1), st.integers(1, GRID))
@example(histogram((22, 25)), histogram((0, 1)), (0.3, 0.3), 0, 1)
@settings(max_examples=25)
def test_more_on_the_one_side_or_less_on_the_other_never_lowers_the_bound(
    x: Counts, y: Counts, spreads: Spreads, place: int, step: int
) -> None:
    """Half of what lies at a place moves upwards in x, or downwards in y.

    The smallest difference that is not rejected cannot fall, and each bound is less than 1 % of its
    own distance to the observed difference below it. In the example the least evidence for the
    moved answers is at m = 1, which the search for it had once left out.
    """
    before = lower(x, y, spreads=spreads)
    for side, sign in ((x, 1), (y, -1)):
        start = int(np.flatnonzero(side)[place % np.count_nonzero(side)])
        moved = (side[start] + 1) // 2
        change = histogram((min(GRID, max(0, start + sign * step)), moved)) - histogram(
            (start, moved)
        )
        one, other = (x + change, y) if sign == 1 else (x, y + change)
        after = lower(one, other, spreads=spreads)
        assert after >= before - 0.01 * (observed(one, other) - after)


@pytest.mark.parametrize("gamma", [1.0, 1.5])
def test_a_claim_that_is_always_true_is_never_rejected(gamma: float) -> None:
    x, y = histogram((GRID, 10**6)), histogram((0, 10**6))
    assert not difference_rejects(x, y, gamma=gamma, alpha=0.5, spreads=(0.01, 0.01))
    assert 0.999 < lower(x, y, spreads=(0.01, 0.01)) < 1


@pytest.mark.parametrize("spreads", [(0.5, 0.5), (0.0, 0.0), (3.0, 3.0), (0.0, 0.5)])
def test_one_answer_a_side_and_absurd_spreads(spreads: Spreads) -> None:
    x, y = histogram((GRID, 1)), histogram((0, 1))
    assert lower(x, y, spreads=spreads) < 0
    assert lower(y, x, spreads=spreads) == -1
    assert difference_upper(x, y, alpha=0.05, spreads=spreads) == 1


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
    np.testing.assert_allclose(
        symbols.mean(axis=0) / GRID, unit[0], atol=5 * 0.5 / GRID / math.sqrt(100_000)
    )
    assert (symbols[:, [0, 2, 4]] == [0, GRID // 2, GRID]).all()


def test_what_is_not_detectable_at_all() -> None:
    assert (
        detectable_difference(gamma=0.9, n=100, alpha=0.05, spreads=(0.5, 0.5), screening=ALONE)
        == math.inf
    )


def test_bets_are_capped_so_that_few_answers_with_small_spreads_refute_little() -> None:
    """At n = 100 and a spread of .03 the power at .018 was said to be .9. At the middle of the
    range it is .4."""
    assert difference_power(0.018, n=100, alpha=0.05, spreads=(0.03, 0.03)) < 1e-6
    enough = (math.log(5) + math.log(20)) / (CAP * 100)
    assert difference_power(enough, n=100, alpha=0.05, spreads=(0.03, 0.03)) < 0.5
    wide = (math.sqrt(2 * math.log(100)) + 1.2816) * 0.1 * math.sqrt(2 / 2000)
    assert difference_power(wide, n=2000, alpha=0.05, spreads=(0.1, 0.1)) == pytest.approx(
        0.9, abs=1e-4
    )


@pytest.mark.parametrize("reverse", [0.0, 0.5, 1.0])
def test_a_crowd_hides_a_difference_no_oftener_than_is_said(reverse: float) -> None:
    """One pair of forty above the others' difference, 300 screening trials each. A part of the
    others differs the other way."""
    gamma, spread, pairs, draws, finalists = 0.2, 0.1, 40, 300, 2
    found = detectable_difference(
        gamma=gamma, n=10**8, alpha=0.05, spreads=(spread, spread),
        screening=Screening(draws=draws, pairs=pairs, finalists=finalists),
    )  # fmt: skip
    assert 0.202 < found < 0.25
    rng, runs, error = np.random.default_rng(9), 2000, spread / math.sqrt(draws)
    base = rng.normal(0, error, (runs, 1))
    signs = np.where(np.arange(pairs - 1) < reverse * (pairs - 1), -1, 1)
    leaking, others = (
        found + base + rng.normal(0, error, (runs, 1)),
        gamma * signs + base + rng.normal(0, error, (runs, pairs - 1)),
    )
    hits = int(np.sum(np.sum(np.abs(others) >= np.abs(leaking), axis=1) < finalists))
    assert hits >= binom.ppf(0.005, runs, 0.9)
