"""Upper bounds: by inversion of the test, over all faces, and their error by enumeration."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from dpassay.errors import InvalidInput
from dpassay.stats.combined import STOUFFER, Null, rejects
from dpassay.stats.event_leak import leak_upper
from dpassay.stats.lower_bounds import MOST_ALPHA, combined_lower
from dpassay.stats.scales import DifferenceScale, Ratio, Scale, ShiftScale
from dpassay.stats.upper_bounds import (
    MOST_FACES,
    accuracy_upper,
    choose_faces,
    combined_upper,
    largest_upper,
)

SCALES = (Ratio(), Ratio(0.05), ShiftScale())


def above(x: int, y: int, n: int, t: float, scale: Scale, alpha: float) -> bool:
    """Whether a leak of at least t is rejected."""
    null = Null(x=y, n1=n, y=x, n0=n, allowed=scale.allowed(t).reverse)
    return rejects(STOUFFER, null, alpha)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("x", "y", "n"), [(700, 400, 1000), (60, 20, 100), (900, 300, 3000)])
@pytest.mark.parametrize("alpha", [0.05, 1e-4])
def test_the_bound_is_where_the_test_begins_to_reject(
    scale: Scale, x: int, y: int, n: int, alpha: float
) -> None:
    bound = combined_upper(STOUFFER, x, n, y, n, scale=scale, alpha=alpha)
    reach = bound - float(scale.between(x / n, y / n))
    assert reach > 0
    assert above(x, y, n, bound, scale, alpha)
    assert not above(x, y, n, bound - 0.02 * reach, scale, alpha)
    assert all(
        above(x, y, n, bound + k * reach, scale, alpha)
        for k in (0.01, 0.1, 0.5)
        if bound + k * reach < scale.most
    )
    assert bound < float(leak_upper(x, n, y, n, scale=scale, alpha=alpha))
    assert (
        combined_upper(STOUFFER, x, n, y, n, scale=scale, alpha=alpha, floor=bound + 0.1 * reach)
        == bound + 0.1 * reach
    )


@functools.cache
def least(n: int, t: float, scale: Scale, alpha: float) -> tuple[int, ...]:
    """For each x the smallest y that rejects a leak of at least t; n + 1 where none does."""
    found, y = [], 0
    for x in range(n + 1):
        while y <= n and not above(x, y, n, t, scale, alpha):
            y += 1
        found.append(y)
    return tuple(found)


@pytest.mark.parametrize(
    ("scale", "t"),
    [(Ratio(), 0.1), (Ratio(), 1.0), (Ratio(), 3.0), (Ratio(0.01), 0.5), (Ratio(0.1), 1.0)],
)
def test_a_leak_is_denied_with_probability_at_most_alpha(scale: Ratio, t: float) -> None:
    n, alpha, counts = 100, 0.05, np.arange(101)
    epsilon, delta = scale.at(t)
    top = (1 - delta) * math.exp(-epsilon)
    p0 = np.unique(np.concatenate([np.linspace(0, top, 200), top * 10 ** np.linspace(-4, 0, 100)]))
    p1 = math.exp(epsilon) * p0 + delta
    y = np.array(least(n, t, scale, alpha))
    denied = binom.sf(y - 1, n, p0[:, None])
    worst = float(np.sum(binom.pmf(counts, n, np.minimum(p1, 1.0)[:, None]) * denied, axis=1).max())
    assert 0.02 < worst <= alpha


@pytest.mark.parametrize("scale", SCALES)
def test_what_is_rejected_stays_rejected_farther_away(scale: Scale) -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        x, y = (int(each) for each in rng.integers(5, 96, 2))
        ts = np.linspace(0, min(3.0, 0.99 * scale.most), 25)
        answers = [above(x, y, 100, t, scale, 0.05) for t in ts.tolist()]
        assert answers == sorted(answers)


def test_the_reference_number() -> None:
    """STATISTICS section 3: RR 1 at 10,000 a side, 95 %. Median 1.037 over both directions and
    labels, limit 1.029 for one."""
    n, rng = 10_000, np.random.default_rng(5)
    found = []
    for _ in range(201):
        x, y = int(rng.binomial(n, expit(1))), int(rng.binomial(n, expit(-1)))
        counts = np.array([n - x, x]), np.array([n - y, y])
        found.append(
            largest_upper(
                counts[0], n, counts[1], n, np.ones((2, 2), dtype=bool), scale=Ratio(), alpha=0.05
            )
        )
    # two standard errors of this median
    assert float(np.median(found)) == pytest.approx(1.037, abs=0.006)
    assert sum(each < 1 for each in found) <= binom.isf(0.01, 201, 0.05)


def test_the_largest_is_that_of_every_face_alone() -> None:
    rng, n = np.random.default_rng(7), 500
    for _ in range(10):
        p, q = rng.dirichlet([3, 3, 3], 2)
        x, y = rng.multinomial(n, p), rng.multinomial(n, q)
        stouffer = rng.random((2, 3)) < 0.5
        alone = []
        for direction, (one, other) in enumerate(((x, y), (y, x))):
            for event in range(3):
                a, b = int(one[event]), int(other[event])
                quick = float(leak_upper(a, n, b, n, scale=Ratio(), alpha=0.05))
                alone.append(
                    combined_upper(STOUFFER, a, n, b, n, scale=Ratio(), alpha=0.05)
                    if stouffer[direction, event]
                    else quick
                )
        found = largest_upper(x, n, y, n, stouffer, scale=Ratio(), alpha=0.05)
        assert found == pytest.approx(max(alone), abs=1e-3)


def test_the_choice_of_faces() -> None:
    """Stouffer where the events are frequent and clearly above delta; never with many faces."""
    assert choose_faces(
        np.array([300, 700]), np.array([500, 500]), 1000, 10_000, scale=Ratio()
    ).all()
    assert not choose_faces(
        np.array([1, 999]), np.array([500, 500]), 1000, 10_000, scale=Ratio()
    ).any()
    assert choose_faces(
        np.array([60, 940]), np.array([500, 500]), 1000, 10_000, scale=Ratio(0.05)
    ).tolist() == [[False, True], [True, True]]
    assert not choose_faces(
        np.array([300, 700]), np.array([500, 500]), 1000, 10_000, scale=DifferenceScale()
    ).any()
    many = np.full(MOST_FACES, 500)
    assert not choose_faces(many, many, 1000, 10_000, scale=Ratio()).any()


def test_nothing_is_certain_of_an_event_that_never_came_on_one_side() -> None:
    assert combined_upper(STOUFFER, 50, 100, 0, 100, scale=Ratio(), alpha=0.05) == math.inf


@pytest.mark.parametrize("gamma", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("n", [30, 100])
def test_a_change_of_probability_is_denied_with_probability_at_most_alpha(
    gamma: float, n: int
) -> None:
    """Every p0 on the boundary, every difference of counts. The bound is below the truth with
    probability at most alpha."""
    alpha, counts = 0.05, np.arange(n + 1)
    bounds = np.array([accuracy_upper(int(d), 0, n, alpha=alpha) for d in range(n + 1)])
    too_low = np.abs(counts[:, None] - counts) <= np.flatnonzero(bounds < gamma).max(initial=-1)
    worst = 0.0
    for p0 in np.linspace(0, 1 - gamma, 101).tolist():
        law = np.outer(binom.pmf(counts, n, p0 + gamma), binom.pmf(counts, n, p0))
        worst = max(worst, float(law[too_low].sum()))
    assert worst <= alpha
    assert (worst > 0.01) == too_low.any()


@pytest.mark.parametrize("alpha", [1e-3, 0.05, MOST_ALPHA])
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_the_accuracy_bound_just_above_every_value_it_can_take(n: int, alpha: float) -> None:
    """Full enumeration where the error is largest. The truth lies just above a bound that may come
    out."""
    counts = np.arange(n + 1)
    bounds = np.array([accuracy_upper(d, 0, n, alpha=alpha) for d in range(n + 1)])
    assert (np.diff(bounds) > 0).all()
    worst = 0.0
    for bound in bounds[:-1].tolist():
        gamma = bound + 1e-13
        too_low = bounds[np.abs(counts[:, None] - counts)] < gamma
        for p0 in np.linspace(0, 1 - gamma, 201).tolist():
            law = np.outer(binom.pmf(counts, n, min(1.0, p0 + gamma)), binom.pmf(counts, n, p0))
            worst = max(worst, float(law[too_low].sum()))
    assert 0.9 * alpha < worst <= alpha * (1 + 1e-9)


@pytest.mark.parametrize("delta", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_upper_bound_just_above_every_value_it_can_take(delta: float, alpha: float) -> None:
    """Full enumeration at n = 12, with counts of 12 (or none) in 12 on either side among them."""
    n, scale, counts = 12, Ratio(delta), np.arange(13)
    bounds = np.array(
        [
            [combined_upper(STOUFFER, x, n, y, n, scale=scale, alpha=alpha) for y in range(n + 1)]
            for x in range(n + 1)
        ]
    )
    worst = 0.0
    for bound in np.unique(bounds[np.isfinite(bounds)]).tolist():
        t = bound * (1 + 1e-9) + 1e-12
        top = (1 - delta) * math.exp(-t)
        p0 = np.concatenate([np.linspace(0, top, 61), top * 10 ** np.linspace(-4, 0, 30)])
        p1 = np.minimum(1.0, math.exp(t) * p0 + delta)
        laws = binom.pmf(counts, n, p1[:, None]), binom.pmf(counts, n, p0[:, None])
        worst = max(
            worst,
            float(np.einsum("ix,xy,iy->i", laws[0], (bounds < t).astype(float), laws[1]).max()),
        )
    assert 0.1 * alpha < worst <= alpha


def test_where_nothing_is_rejected_the_bound_is_the_largest_leak() -> None:
    """x = n says nothing about p1 from above, and p0 may be 0. No number, no NaN and no overflow
    comes of it."""
    assert combined_upper(STOUFFER, 7, 7, 1, 25, scale=Ratio(0.3), alpha=0.05) == math.inf
    for n, delta in ((100, 0.01), (150, 0.3), (1000, 0.5)):
        for y in (1, n // 4, n):
            assert combined_upper(
                STOUFFER, n, n, y, n, scale=Ratio(delta), alpha=2.5e-4
            ) >= math.log((1 - delta) * n / y)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.7, 1.0, -0.1, math.nan])
def test_no_bound_at_an_error_probability_that_has_none(alpha: float) -> None:
    for bound in (combined_lower, combined_upper):
        with pytest.raises(InvalidInput, match=r"^alpha = .*: must be in \(0, 0\.5\)$"):
            bound(STOUFFER, 600, 1000, 300, 1000, scale=Ratio(), alpha=alpha)


def test_a_change_of_probability_is_bounded_more_sharply_than_by_limits() -> None:
    for x, y in ((600, 200), (510, 490), (1000, 0)):
        found = accuracy_upper(x, y, 1000, alpha=0.01)
        assert (
            (x - y) / 1000
            <= found
            <= float(leak_upper(x, 1000, y, 1000, scale=DifferenceScale(), alpha=0.01))
        )
        assert accuracy_upper(y, x, 1000, alpha=0.01) == found
