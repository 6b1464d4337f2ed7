"""The Stouffer test against a naive twin, and the bound against the test it inverts. On a dense
grid of the nuisance."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betainc, ndtri_exp
from scipy.stats import beta as beta_law
from scipy.stats import binom, norm

from dpassay.stats.combined import FAR
from dpassay.stats.scales import Ratio
from tests.stats.inverted import stouffer_lower, stouffer_rejects

DENSE = 4_001
"""Points between which the statistic's minimum is about 1e-5 lower than at them."""


@functools.cache
def interval(y: int, n0: int, alpha: float) -> tuple[float, float]:
    """Clopper-Pearson's two-sided interval at level alpha / 500."""
    side = alpha / 1000
    return float(beta_law.ppf(side, y, n0 - y + 1)) if y else 0.0, float(
        beta_law.isf(side, y + 1, n0 - y)
    ) if y < n0 else 1.0


def normal_score(x: int, n: int, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """-Phi^-1 P[Bin(n, p) >= x] for x >= 1. Where a tail underflows, from its first term times a
    geometric series."""
    upper, lower = binom.sf(x - 1, n, p), binom.cdf(x - 1, n, p)
    score = np.where(upper < 0.5, norm.isf(upper), norm.ppf(lower))
    deep = (p > 0) & (upper < 1e-290)
    odds = p[deep] / (1 - p[deep])
    score[deep] = -ndtri_exp(binom.logpmf(x, n, p[deep]) - np.log1p(-odds * (n - x) / (x + 1)))
    deep = (p < 1) & (lower < 1e-290)
    odds = (1 - p[deep]) / p[deep]
    score[deep] = ndtri_exp(
        binom.logpmf(x - 1, n, p[deep]) - np.log1p(-odds * (x - 1) / (n - x + 2))
    )
    return score


def least_statistic(
    x: int, n1: int, y: int, n0: int, epsilon: float, delta: float, alpha: float
) -> float:
    """Smallest w1 z1 + w0 z0 on a dense grid, less the critical value. Term by term from the
    definition."""
    low, high = interval(y, n0, alpha)
    p0 = low + (high - low) * np.sin(np.linspace(0, math.pi / 2, DENSE)) ** 2
    top = (1 - delta) * math.exp(-epsilon)
    corners = [
        0.01 / n0,
        0.01 / n0 * (1 + 1e-9),
        top,
        *(top * (1 - 10 ** np.linspace(-11, -1, 400))),
    ]
    p0 = np.union1d(p0, [corner for corner in corners if low < corner < high])
    p1 = math.exp(epsilon) * p0 + delta
    certain, silent = p1 >= 1 - 1e-12, n0 * p0 <= 0.01
    p1 = np.where(certain, 1.0, p1)
    with np.errstate(divide="ignore", invalid="ignore"):
        square1, square0 = p1 * (1 - p1) / n1 / (p1 - delta) ** 2, (1 - p0) / (n0 * p0)
        w1 = np.where(silent, 1.0, np.where(certain, 0.0, np.sqrt(square1 / (square1 + square0))))
        w0 = np.where(silent, 0.0, np.where(certain, 1.0, np.sqrt(square0 / (square1 + square0))))
        z1 = normal_score(x, n1, p1)
        below = binom.cdf(y, n0, p0)
        z0 = np.where(below < 0.5, norm.isf(below), norm.ppf(binom.sf(y, n0, p0)))
        statistic = np.where(w1 > 0, w1 * z1, 0.0) + np.where(w0 > 0, w0 * z0, 0.0)
    return float(statistic.min()) - float(norm.isf(alpha - alpha / 500))


def spread(x: int, n1: int, y: int, n0: int, delta: float) -> float:
    """S / sqrt n of the plug-in, half a count where there is none."""
    p1, miss = x / n1, max(n1 - x, 0.5) / n1
    return math.sqrt(p1 * miss / n1 / (p1 - delta) ** 2 + max(n0 - y, 0.5) / n0 / max(y, 0.5))


Case = tuple[int, int, int, int, float, float]

EDGES: list[Case] = [
    (40, 100, 0, 100, 0.0, 0.05),  # y = 0: p0 may be 0
    (100, 100, 0, 100, 0.0, 0.05),
    (100, 100, 30, 100, 0.0, 0.05),  # x = n
    (1, 100, 0, 10_000, 0.0, 0.05),  # x = 1
    (1, 1, 0, 1000, 0.0, 0.05),
    (97, 100, 30, 100, 0.01, 0.05),  # p1 reaches 1 inside the interval
    (99, 100, 40, 100, 0.0, 1e-7),
    (250, 300, 40, 300, 0.0, 1e-7),
    (60, 100, 10, 100, 0.1, 1e-7),
    (731_000, 1_000_000, 269_000, 1_000_000, 0.0, 0.05),
    (20_000, 1_000_000, 1000, 1_000_000, 0.0, 1e-7),
    (20_000, 1_000_000, 0, 1_000_000, 0.01, 0.05),
    (999_000, 1_000_000, 100, 1_000_000, 0.5, 0.05),
    (80, 100, 5, 1000, 0.5, 0.05),
    (700, 1000, 9, 30, 0.0, 0.05),
]
UNDERFLOW: list[Case] = [
    (460, 751, 0, 751, 0.0, 0.05),
    (4_573 - 489, 4_573, 30, 454, 1e-5, 1e-3),
    (9_820, 10_000, 180, 10_000, 0.0, 0.05),
    (9_526, 10_000, 474, 10_000, 0.0, 0.05),
    (1_893 - 344, 1_893, 0, 1_893, 0.5, 1e-3),
    (100_704, 101_368, 2_338, 8_449, 0.01, 0.05),
]
"""Where p1 comes so near to 1 that P[Bin(n1, p1) < x] is below the smallest float, though it is not
0."""


def random_cases(seed: int, number: int) -> list[Case]:
    """Counts whose loss is above 0 more often than not: balanced, rare, nearly certain. All sizes,
    equal or not."""
    rng, cases = np.random.default_rng(seed), list[Case]()
    while len(cases) < number:
        n1 = int(10 ** rng.uniform(0.5, 6))
        n0 = n1 if rng.random() < 0.5 else int(10 ** rng.uniform(0.5, 6))
        delta, alpha = (
            float(rng.choice([0.0, 0.0, 1e-5, 0.01, 0.2])),
            float(rng.choice([0.05, 0.05, 1e-3, 1e-7])),
        )
        p1 = float(
            rng.choice([rng.random(), 10 ** rng.uniform(-4, 0), 1 - 10 ** rng.uniform(-4, 0), 1.0])
        )
        p0 = float(np.clip((p1 - delta) * math.exp(-rng.exponential(1.5)), 0, 1))
        x, y = int(rng.binomial(n1, p1)), int(rng.binomial(n0, p0))
        if x > delta * n1:
            cases.append((x, n1, y, n0, delta, alpha))
    return cases


def check_envelope(case: Case) -> int:
    """Number of claims around the bound at which the dense minimum is above the critical value."""
    x, n1, y, n0, delta, alpha = case
    bound = stouffer_lower(x, n1, y, n0, scale=Ratio(delta), alpha=alpha)
    unit, above = spread(x, n1, y, n0, delta), 0
    for step in (-3, -0.03, 0, 0.02, 0.5):
        epsilon = max(0.0, bound + step * unit)
        found = stouffer_rejects(x, n1, y, n0, epsilon=epsilon, delta=delta, alpha=alpha)
        margin = least_statistic(x, n1, y, n0, epsilon, delta, alpha)
        above += margin > 0.02
        # at the last digit, 1e-7 of rounding in tails of 1e6 trials
        assert not found or margin > -1e-6, (
            f"{case}, epsilon {epsilon}: rejected, though the statistic falls short by {-margin}"
        )
        assert found or margin <= 0.02, (
            f"{case}, epsilon {epsilon}: not rejected, though the statistic is above by {margin}"
        )
    return above


@pytest.mark.parametrize("case", EDGES + UNDERFLOW)
def test_envelope_at_the_edges_and_where_a_tail_underflows(case: Case) -> None:
    above = check_envelope(case)
    assert above or case in EDGES


def test_envelope_for_random_counts() -> None:
    assert sum(check_envelope(case) for case in random_cases(5, 20)) > 20


def check_inversion(case: Case) -> bool:
    """Every claim below the bound is refuted, the one a little above is not. Whether there is a
    bound."""
    x, n1, y, n0, delta, alpha = case
    bound = stouffer_lower(x, n1, y, n0, scale=Ratio(delta), alpha=alpha)
    # the documented slack is 1e-3 of the distance to the plug-in loss; what is found is up to .04
    # S / sqrt n
    above = bound + 0.04 * spread(x, n1, y, n0, delta)
    assert not stouffer_rejects(x, n1, y, n0, epsilon=above, delta=delta, alpha=alpha), (
        f"{case}: {above} > {bound} is refuted"
    )
    if bound == 0:
        return False
    assert stouffer_rejects(x, n1, y, n0, epsilon=bound, delta=delta, alpha=alpha)
    grid = np.concatenate([np.linspace(0, bound, 25)[:-1], bound * (1 - np.logspace(-6, -1.5, 8))])
    kept = [
        e
        for e in grid.tolist()
        if not stouffer_rejects(x, n1, y, n0, epsilon=e, delta=delta, alpha=alpha)
    ]
    assert kept == [], f"{case}: {bound} is refuted and {kept} not"
    return True


def test_the_bound_inverts_the_test() -> None:
    assert sum(map(check_inversion, random_cases(1, 100))) > 50


@pytest.mark.parametrize("case", EDGES + UNDERFLOW)
def test_the_bound_inverts_the_test_at_the_edges_and_where_a_tail_underflows(case: Case) -> None:
    bounded = check_inversion(case)
    assert bounded or case in EDGES


@pytest.mark.parametrize(
    ("epsilon", "delta", "alpha"),
    [(0.1, 0.0, 0.05), (1.0, 0.01, 0.05), (1.0, 0.0, 1e-3), (0.5, 0.1, 0.3)],
)
@pytest.mark.parametrize(("n1", "n0"), [(30, 30), (12, 40)])
def test_rejection_is_monotone_in_both_counts(
    n1: int, n0: int, epsilon: float, delta: float, alpha: float
) -> None:
    """Every pair of counts: what rejects still rejects with a larger x or a smaller y."""
    table = np.array(
        [
            [
                stouffer_rejects(x, n1, y, n0, epsilon=epsilon, delta=delta, alpha=alpha)
                for y in range(n0 + 1)
            ]
            for x in range(n1 + 1)
        ]
    ).astype(int)
    assert (np.diff(table, axis=0) >= 0).all()
    assert (np.diff(table, axis=1) <= 0).all()
    assert 0 < table.sum() < table.size / 2


@pytest.mark.parametrize("n", [1000, 10_000])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_rejection_is_monotone_in_y_at_larger_n(n: int, epsilon: float) -> None:
    p1 = 1 / (1 + math.exp(-epsilon))
    for x in (round(n * p1), round(n * (p1 + (1 - p1) / 3))):
        y = np.unique(np.linspace(0, 1.2 * n * (1 - p1), 150).astype(int)).tolist()
        refuted = [
            stouffer_rejects(x, n, count, n, epsilon=epsilon, delta=0.0, alpha=0.05) for count in y
        ]
        assert refuted == sorted(refuted, reverse=True)
        assert refuted[0]
        assert not refuted[-1]


@pytest.mark.parametrize(("x", "delta"), [(0, 0.0), (0, 0.1), (10, 0.1), (50, 0.5), (3, 0.5)])
@pytest.mark.parametrize("y", [0, 40, 100])
def test_counts_at_or_below_delta_refute_nothing(x: int, delta: float, y: int) -> None:
    assert not stouffer_rejects(x, 100, y, 100, epsilon=0.0, delta=delta, alpha=0.3)
    assert stouffer_lower(x, 100, y, 100, scale=Ratio(delta), alpha=0.3) == 0


@pytest.mark.parametrize("y", [0, 50, 100])
@pytest.mark.parametrize("x", [0, 1, 50, 99, 100])
def test_equal_or_fewer_counts_give_zero(x: int, y: int) -> None:
    if x <= y:
        assert stouffer_lower(x, 100, y, 100, scale=Ratio(0.0), alpha=0.05) == 0


def test_no_count_on_the_other_side_still_gives_a_finite_bound() -> None:
    """At y = 0 and x = n. The largest epsilon whose p0 = e^-epsilon makes y = 0 less likely than
    alpha, roughly."""
    found = stouffer_lower(1000, 1000, 0, 1000, scale=Ratio(0.0), alpha=0.05)
    assert found == pytest.approx(-math.log(-math.expm1(math.log(0.05) / 1000)), abs=0.02)


def test_the_twin_by_hand() -> None:
    """One null point: p0 = .2, p1 = .4, x = 9 of 10, y = 0 of 10."""
    upper = sum(math.comb(10, k) * 0.4**k * 0.6 ** (10 - k) for k in (9, 10))
    assert normal_score(9, 10, np.array([0.4]))[0] == pytest.approx(norm.isf(upper), rel=1e-9)
    low, high = interval(0, 10, 0.05)
    assert low == 0
    assert (1 - high) ** 10 == pytest.approx(0.00005, rel=1e-9)


def test_a_tail_that_is_not_computed_is_above_a_half() -> None:
    """The median of a beta law lies between its mode and its mean."""
    for n in (1, 2, 3, 10, 1000, 10**6):
        for x in np.unique(np.geomspace(1, n, 40).round().astype(int)).tolist():
            for count in (x, n + 1 - x):
                edge = max(count / (n + 1), (count - 1) / max(n - 1, 1)) + FAR
                assert betainc(count, n - count + 1, min(edge, 1.0)) > 0.5
