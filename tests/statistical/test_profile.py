"""The band of the privacy profile misses the truth with probability at most alpha: enumerated."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, binom, multinomial

from dpassay.stats.profile import Profile, exact_profile, profile_band, trade_off

Array = NDArray[np.float64]
N = 40
ALPHAS = [0.05, 0.3]
LAWS = [
    (0.5, 0.5), (0.73, 0.27), (0.27, 0.73), (0.9, 0.5), (0.5, 0.02), (0.99, 0.9), (0.1, 0.01),
    (1.0, 0.6), (0.0, 0.3), (1.0, 0.0),
]  # fmt: skip
"""P[1] on the two datasets."""


@functools.cache
def rectangles(alpha: float) -> tuple[Array, Array]:
    """The worst and the best that the tests of every pair of counts may be.

    Points (false positives, true positives).

    Clopper-Pearson at alpha / 4, by hand; shape (n + 1, n + 1, 2 directions x 2 labels, 2).
    """
    k = np.arange(N + 1)
    low = np.where(k == 0, 0.0, beta.ppf(alpha / 4, np.maximum(k, 1), N - np.maximum(k, 1) + 1))
    high = 1 - low[::-1]
    (low1, low0), (high1, high0) = (np.meshgrid(end, end, indexing="ij") for end in (low, high))
    worst = [(high0, low1), (1 - low0, 1 - high1), (high1, low0), (1 - low1, 1 - high0)]
    best = [(low0, high1), (1 - high0, 1 - low1), (low1, high0), (1 - high1, 1 - low0)]
    worst_points, best_points = (
        np.moveaxis(np.array(end), (0, 1), (2, 3)) for end in (worst, best)
    )
    return worst_points, best_points


def table(x: int, y: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.array([N - x, x]), np.array([N - y, y])


def curve(points: Array, t: Array) -> Array:
    """max(0, p - t q) over the points, by hand; leading axes broadcast."""
    largest: Array = np.max(
        points[..., :, 1, None] - t[..., None, :] * points[..., :, 0, None], axis=-2
    )
    return np.maximum(0.0, largest)


def crossings(points: Array) -> Array:
    """Every t = e^epsilon >= 1 at which two of the lines p - t q (and 0) meet, and one beyond.

    Beyond all of them.

    Differences of piecewise linear curves are largest at a kink, at the ends, or rise for ever,
    which the last one shows.
    """
    zero = np.zeros((*points.shape[:-2], 1, 2))
    q, p = np.moveaxis(np.concatenate([points, zero], axis=-2), -1, 0)
    one, other = np.triu_indices(p.shape[-1], 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (p[..., one] - p[..., other]) / (q[..., one] - q[..., other])
    t = np.where(np.isfinite(t) & (t > 1), t, 1.0)
    return np.concatenate([t, 2 * t.max(axis=-1, keepdims=True) + 1], axis=-1)


def misses(alpha: float, p1: float, p0: float) -> NDArray[np.bool_]:
    """Which pairs of counts give a band that the true profile leaves somewhere. At any real epsilon
    >= 0."""
    worst, best = rectangles(alpha)
    truth = np.array([(p0, p1), (1 - p0, 1 - p1), (p1, p0), (1 - p1, 1 - p0)])
    true = np.broadcast_to(truth, worst.shape)
    t = crossings(np.concatenate([worst, best, true], axis=-2))
    wrong: NDArray[np.bool_] = np.any(
        (curve(worst, t) > curve(true, t) + 1e-12) | (curve(true, t) > curve(best, t) + 1e-12),
        axis=-1,
    )
    return wrong


def probability(wrong: NDArray[np.bool_], p1: float, p0: float) -> float:
    counts = np.arange(N + 1)
    return float(binom.pmf(counts, N, p1) @ wrong @ binom.pmf(counts, N, p0))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_rectangles_are_the_bands(alpha: float) -> None:
    epsilon = np.array([0.0, 0.1, 0.3, 0.7, 1.2, 2.0, 5.0])
    expected = [
        np.minimum(1.0, curve(points, np.broadcast_to(np.exp(epsilon), (N + 1, N + 1, 7))))
        for points in rectangles(alpha)
    ]
    for x, y in itertools.product(range(N + 1), repeat=2):
        band = profile_band(*table(x, y), epsilon, alpha=alpha)
        np.testing.assert_allclose(
            [band.lower, band.upper], [curves[x, y] for curves in expected], atol=1e-9
        )


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_band_of_two_labels_misses_anywhere_with_probability_at_most_alpha(
    alpha: float,
) -> None:
    found = [probability(misses(alpha, *law), *law) for law in LAWS]
    # found: .0087 and .0793, as careful as every Bonferroni rectangle is
    assert 0.15 * alpha < max(found) <= alpha


def test_the_enumeration_notices_a_bold_band() -> None:
    """The band at three times alpha is wrong more often than alpha."""
    assert max(probability(misses(0.9, *law), *law) for law in LAWS) > 0.3


@pytest.mark.parametrize("law", [(0.73, 0.27), (0.5, 0.02), (0.99, 0.9), (1.0, 0.6)])
def test_the_trade_off_misses_nowhere_else(law: tuple[float, float]) -> None:
    """Its band is wrong at some of 201 levels only for counts whose profile is wrong somewhere."""
    alpha, levels = 0.3, np.linspace(0, 1, 201)
    wrong, missed = misses(alpha, *law), np.zeros((N + 1, N + 1), dtype=bool)
    (low, high) = trade_off(exact(law), levels)
    likely = np.argwhere(np.outer(*(binom.pmf(np.arange(N + 1), N, p) > 1e-5 for p in law)))
    for x, y in likely:
        lower, upper = trade_off(profile_band(*table(x, y), np.zeros(1), alpha=alpha), levels)
        missed[x, y] = bool((lower > high + 1e-12).any() or (low > upper + 1e-12).any())
    assert (missed <= wrong).all()
    assert missed.sum() > 0.5 * sum(wrong[x, y] for x, y in likely) > 0


def exact(law: tuple[float, float]) -> Profile:
    with np.errstate(divide="ignore"):
        log_p, log_q = (np.log([1 - p, p]) for p in law)
    return exact_profile(log_p, log_q, np.zeros(1), 1e-15)


def test_three_labels() -> None:
    """Every pair of samples of 10, at 60 epsilons: the law of STATISTICS, section 3, and others."""
    n, alpha, epsilon = 10, 0.3, np.linspace(0, 3, 60)
    samples = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
    laws = [
        ((0.3, 0.3, 0.4), (0.15, 0.15, 0.7)),
        ((0.2, 0.3, 0.5), (0.2, 0.3, 0.5)),
        ((0.7, 0.25, 0.05), (0.1, 0.2, 0.7)),
    ]
    truths = [exact_profile(np.log(p), np.log(q), epsilon, 1e-15) for p, q in laws]
    chances = [[multinomial.pmf(samples, n, side) for side in law] for law in laws]
    wrong = np.zeros(len(laws))
    for (i, x), (j, y) in itertools.product(enumerate(samples), repeat=2):
        band = profile_band(x, y, epsilon, alpha=alpha)
        for k, truth in enumerate(truths):
            if (band.lower > truth.upper + 1e-12).any() or (band.upper < truth.lower - 1e-12).any():
                wrong[k] += chances[k][0][i] * chances[k][1][j]
    assert 0.0015 < wrong.max() <= alpha


def test_unions_are_sharper_where_many_labels_decide_and_hardly_worse_where_one_does() -> None:
    """The choice for K <= 10, though there are 511 unions of ten labels. Even laws at epsilon = 0,
    and one rare label."""
    even, none = np.full(10, 1000), np.zeros((0, 10), dtype=bool)
    unions, sums = (
        profile_band(even, even, np.zeros(1), alpha=0.05, events=events) for events in (None, none)
    )
    assert (round(unions.upper[0], 3), round(sums.upper[0], 3)) == (0.042, 0.182)
    # delta(1) = .03 - .003 e = .0218
    x, y = np.array([300, *[1000] * 8, 1700]), np.array([30, *[1000] * 8, 1970])
    unions, sums = (
        profile_band(x, y, np.ones(1), alpha=0.05, events=events) for events in (None, none)
    )
    assert [round(each.lower[0], 4) for each in (unions, sums)] == [0.0106, 0.0114]
    assert [round(each.upper[0], 4) for each in (unions, sums)] == [0.0317, 0.0311]
