"""Privacy profile and trade-off function against brute force and closed forms. Over all events and
tests."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import beta

from dpassay.stats.profile import Profile, exact_profile, grid_for, profile_band, trade_off

Array = NDArray[np.float64]
Weights = list[int]
ULP = 2.0**-53
LAW_ERROR = 4 * ULP * 20.0
"""Two logarithms and a difference, each to an ulp of at most ln(5e6)."""
GRID = grid_for(1.0)
LEVELS = np.linspace(0, 1, 41)


@st.composite
def laws(draw: st.DrawFn) -> tuple[Weights, Weights]:
    """Two laws over 2 to 5 labels as integer weights, zeros included."""
    labels = draw(st.integers(2, 5))
    weights = st.lists(
        st.one_of(st.just(0), st.integers(1, 9), st.integers(0, 10**6)),
        min_size=labels,
        max_size=labels,
    )
    return draw(weights.filter(any)), draw(weights.filter(any))


@st.composite
def counts(draw: st.DrawFn, most: int = 40) -> tuple[Weights, Weights]:
    """Label counts of two samples over 2 to 5 labels."""
    labels = draw(st.integers(2, 5))
    side = st.lists(st.integers(0, most), min_size=labels, max_size=labels).filter(any)
    return draw(side), draw(side)


def total(weights: Weights, event: tuple[int, ...]) -> int:
    return sum(weight for weight, inside in zip(weights, event, strict=True) if inside)


def logs(weights: Sequence[float]) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(weights) - math.log(sum(weights))


def profile_of(
    p: Sequence[float],
    q: Sequence[float],
    epsilon: Sequence[float] | Array = GRID,
    error: float = LAW_ERROR,
) -> Profile:
    return exact_profile(logs(p), logs(q), np.asarray(epsilon, dtype=float), error)


def all_events(labels: int) -> list[tuple[int, ...]]:
    return list(itertools.product((0, 1), repeat=labels))


def naive_delta(p: Weights, q: Weights, epsilon: float) -> Decimal:
    """max over all events and both directions of P[E] - e^epsilon Q[E], in 80 digits."""
    with localcontext() as context:
        context.prec = 80
        factor = Decimal(epsilon).exp()
        best = Decimal(0)
        for one, other in ((p, q), (q, p)):
            for event in all_events(len(p)):
                first, second = (Fraction(total(side, event), sum(side)) for side in (one, other))
                as_decimal = [
                    Decimal(each.numerator) / Decimal(each.denominator) for each in (first, second)
                ]
                best = max(best, as_decimal[0] - factor * as_decimal[1])
        return best


def naive_trade_off(p: Array, q: Array, a: float) -> float:
    """Linear programme over mixtures of tests of S against S' and of S' against S.

    Randomised tests, at level a together.

    u and v are the acceptance probabilities of the two tests times their shares of the mixture.
    """
    k = len(p)
    cost = np.concatenate([-q, -p, [0.0]])
    level = np.concatenate([p, q, [0.0]])
    share_u = np.hstack([np.eye(k), np.zeros((k, k)), -np.ones((k, 1))])
    share_v = np.hstack([np.zeros((k, k)), np.eye(k), np.ones((k, 1))])
    found = linprog(
        cost,
        A_ub=np.vstack([level, share_u, share_v]),
        b_ub=np.concatenate([[a], np.zeros(k), np.ones(k)]),
        bounds=(0, 1),
    )
    assert found.fun is not None
    return 1 + float(found.fun)


def claim_trade_off(epsilon: float, delta: float, a: Array) -> Array:
    return np.maximum(
        0, np.maximum(1 - delta - math.exp(epsilon) * a, math.exp(-epsilon) * (1 - delta - a))
    )


# The exact profile


@given(
    laws(), st.one_of(st.just(0.0), st.floats(0, 20), st.sampled_from([math.log(2), math.log(9)]))
)
def test_the_exact_profile_encloses_the_best_of_all_events(
    pair: tuple[Weights, Weights], epsilon: float
) -> None:
    truth = naive_delta(*pair, epsilon)
    profile = profile_of(*pair, epsilon=[epsilon])
    assert (
        Decimal(float(profile.lower[0]))
        <= truth
        <= Decimal(float(profile.upper[0])) + Decimal("1e-300")
    )
    assert profile.upper[0] - profile.lower[0] < 1e-11


@given(laws(), st.floats(0, 1))
@settings(max_examples=60)
def test_the_exact_trade_off_is_that_of_the_best_randomised_test(
    pair: tuple[Weights, Weights], a: float
) -> None:
    p, q = (np.exp(logs(side)) for side in pair)
    lower, upper = trade_off(profile_of(*pair), np.array([a]))
    truth = naive_trade_off(p, q, a)
    assert lower[0] - 1e-7 <= truth <= upper[0] + 1e-7
    assert upper[0] - lower[0] < 1e-9


@given(laws())
@settings(max_examples=60)
def test_the_trade_off_is_the_dual_of_the_profile(pair: tuple[Weights, Weights]) -> None:
    """The duality of Dong, Roth and Su. The supremum is attained where two events give the same
    line P[E] - t Q[E]."""
    p, q = (
        np.array([total(side, event) / sum(side) for event in all_events(len(side))])
        for side in pair
    )
    height, slope = np.concatenate([p, q]), np.concatenate([q, p])
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = ((height[:, None] - height) / (slope[:, None] - slope)).ravel()
    crossings = crossings[np.isfinite(crossings) & (crossings > 1)]
    profile = profile_of(*pair, epsilon=np.concatenate([[0.0, 50.0], np.log(crossings)]))
    lower, upper = trade_off(profile, LEVELS)
    for delta, bound in ((profile.upper, lower), (profile.lower, upper)):
        dual = np.max(
            [claim_trade_off(e, d, LEVELS) for e, d in zip(profile.epsilon, delta, strict=True)],
            axis=0,
        )
        np.testing.assert_allclose(bound, dual, atol=1e-9)


@pytest.mark.parametrize("true", [0.1, 0.7, 1.0, 4.0])
def test_randomised_response(true: float) -> None:
    """delta(epsilon) = (e^true - e^epsilon)_+ / (1 + e^true); two lines for the tests."""
    e = math.exp(true)
    profile = profile_of([e, 1], [1, e])
    expected = np.maximum(0, (e - np.exp(GRID)) / (1 + e))
    np.testing.assert_allclose(profile.lower, expected, atol=1e-12)
    np.testing.assert_allclose(profile.upper, expected, atol=1e-12)
    for bound in trade_off(profile, LEVELS):
        np.testing.assert_allclose(bound, claim_trade_off(true, 0.0, LEVELS), atol=1e-12)


def test_disjoint_supports() -> None:
    profile = profile_of([1, 1, 0], [0, 0, 1])
    np.testing.assert_allclose(profile.lower, 1, atol=1e-12)
    assert (profile.upper == 1).all()
    for bound in trade_off(profile, LEVELS):
        np.testing.assert_allclose(bound, 0, atol=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.1), (1.0, 0.01), (2.0, 1e-6)])
def test_the_least_private_law_of_a_claim_has_the_trade_off_of_the_claim(
    epsilon: float, delta: float
) -> None:
    e = math.exp(epsilon)
    p = [delta, (1 - delta) * e / (1 + e), (1 - delta) / (1 + e), 0]
    profile = profile_of(p, p[::-1], epsilon=[epsilon, 2 * epsilon])
    np.testing.assert_allclose([profile.lower, profile.upper], delta, atol=1e-13)
    for bound in trade_off(profile, LEVELS):
        np.testing.assert_allclose(bound, claim_trade_off(epsilon, delta, LEVELS), atol=1e-12)


def test_the_union_of_two_labels_counts() -> None:
    """STATISTICS, section 3: delta = .1 needs epsilon .511 = ln(5/3). Single labels would say .05
    there."""
    profile = profile_of([0.3, 0.3, 0.4], [0.15, 0.15, 0.7], epsilon=[math.log(5 / 3)])
    np.testing.assert_allclose([profile.lower[0], profile.upper[0]], 0.1, atol=1e-12)


def test_tiny_probabilities_keep_their_digits() -> None:
    p, q = np.array([-600.0, 0.0]), np.array([-650.0, 0.0])
    profile = exact_profile(p, q, np.array([0.0, 10.0, 49.999, 51.0]), 0.0)
    expected = [-math.exp(-600) * math.expm1(epsilon - 50) for epsilon in (0.0, 10.0, 49.999)]
    np.testing.assert_allclose(profile.lower[1:3], expected[1:], rtol=1e-6)
    np.testing.assert_allclose(profile.upper[1:3], expected[1:], rtol=1e-6)
    assert profile.upper[3] == 0
    below = exact_profile(np.array([-800.0, 0.0]), np.array([-np.inf, 0.0]), np.array([5.0]), 0.0)
    assert below.lower[0] == 0 < below.upper[0] < 1e-300


def test_huge_epsilon_is_no_overflow() -> None:
    epsilon = np.array([0.0, 700.0, 1e6])
    assert (profile_of([1, 1], [1, 3], epsilon).upper[1:] == 0).all()
    assert (profile_of([1, 0], [1, 3], epsilon).lower[1:] > 0.74).all()
    band = profile_band(np.array([40, 0]), np.array([0, 40]), epsilon, alpha=0.05)
    assert (band.lower[1:] == 0).all()
    assert (band.upper == 1).all()


def test_the_error_of_the_law_is_carried() -> None:
    p, q, off = np.array([0.6, 0.4]), np.array([0.3, 0.7]), 1e-3
    profile = exact_profile(np.log(p), np.log(q), GRID, off)
    levels = trade_off(profile, LEVELS)
    for shift in itertools.product((-off, off), repeat=4):
        one, other = np.log(p) + shift[:2], np.log(q) + shift[2:]
        truth = exact_profile(one, other, GRID, 0.0)
        assert (profile.lower <= truth.lower).all()
        assert (truth.upper <= profile.upper).all()
        lower, upper = trade_off(truth, LEVELS)
        assert (levels[0] <= lower).all()
        assert (upper <= levels[1]).all()


# The band


def naive_family(labels: int, events: list[list[bool]] | None) -> list[tuple[int, ...]]:
    """Events with an interval: none trivial, all complements among them."""
    if events is None:
        return [event for event in all_events(labels) if 0 < sum(event) < labels]
    rows = {tuple(int(k == j) for k in range(labels)) for j in range(labels)} | {
        tuple(map(int, event)) for event in events
    }
    return sorted(
        {row for row in rows | {tuple(1 - k for k in row) for row in rows} if 0 < sum(row) < labels}
    )


def naive_intervals(
    sample: Weights, family: list[tuple[int, ...]], alpha: float
) -> dict[tuple[int, ...], tuple[float, float]]:
    """Half of alpha for single labels and their complements, half for the rest. 2 datasets x 2
    tails x half of the events."""
    groups = [
        [event for event in family if (min(sum(event), len(event) - sum(event)) == 1) == flag]
        for flag in (True, False)
    ]
    n, found = sum(sample), {}
    for group in groups:
        for event in group:
            x, tail = total(sample, event), alpha / (2 * len(group)) / (2 if all(groups) else 1)
            low = 0.0 if x == 0 else beta.ppf(tail, x, n - x + 1)
            found[event] = (low, 1.0 if x == n else beta.isf(tail, x + 1, n - x))
    return found


def naive_band(
    x: Weights, y: Weights, epsilon: float, alpha: float, events: list[list[bool]] | None
) -> tuple[float, float]:
    """By brute force over all events, each with its own interval or with sums. Sums over its labels
    or its complement's."""
    labels = len(x)
    family = naive_family(labels, events)
    sides = [naive_intervals(sample, family, alpha) for sample in (x, y)]

    def sums(side: int, event: tuple[int, ...], end: int) -> float:
        single = [tuple(int(k == j) for k in range(labels)) for j in range(labels)]
        return sum(sides[side][single[k]][end] for k in range(labels) if event[k])

    lowers, uppers, e = [0.0], [0.0], math.exp(epsilon)
    complete = len(family) == 2**labels - 2
    unions = [0.0]
    for one, other in ((0, 1), (1, 0)):
        lowers += [sides[one][event][0] - e * sides[other][event][1] for event in family]
        unions += [sides[one][event][1] - e * sides[other][event][0] for event in family]
        for event in all_events(labels):
            rest = tuple(1 - k for k in event)
            lowers.append(sums(one, event, 0) - e * sums(other, event, 1))
            lowers.append(1 - sums(one, rest, 1) - e * (1 - sums(other, rest, 0)))
            uppers.append(sums(one, event, 1) - e * sums(other, event, 0))
    return max(lowers), min(1.0, max(uppers), max(unions) if complete else 1.0)


HALF_LINES = [[True, False, False, False], [True, True, False, False], [True, True, True, False]]


@pytest.mark.parametrize("alpha", [0.3, 1e-6])
@pytest.mark.parametrize(
    ("x", "y", "events"),
    [
        ([30, 10], [12, 28], None),
        ([40, 0], [3, 37], None),
        ([300, 300, 400], [150, 150, 700], None),
        ([30, 0, 10, 60], [20, 60, 15, 5], None),
        ([30, 0, 10, 60], [20, 60, 15, 5], []),
        ([300, 200, 100, 600], [200, 650, 150, 50], HALF_LINES),
        ([300, 200, 100], [100, 200, 300], []),
        # the complement of seven labels is two
        ([4500, 4500, *[143] * 7], [2000, 2000, *[857] * 7], []),
    ],
)
def test_the_band_is_that_of_brute_force_over_all_events(
    x: Weights, y: Weights, events: list[list[bool]] | None, alpha: float
) -> None:
    chosen = None if events is None else np.array(events, dtype=bool).reshape(-1, len(x))
    grid = GRID[::4]
    band = profile_band(np.array(x), np.array(y), grid, alpha=alpha, events=chosen)
    expected = np.transpose([naive_band(x, y, epsilon, alpha, events) for epsilon in grid])
    np.testing.assert_allclose(band.lower, expected[0], atol=1e-9)
    np.testing.assert_allclose(band.upper, expected[1], atol=1e-9)


@given(counts(), st.sampled_from([None, "single"]), st.sampled_from([0.5, 0.05, 1e-9]))
@settings(max_examples=60)
def test_the_shape_of_the_band(
    pair: tuple[Weights, Weights], kind: str | None, alpha: float
) -> None:
    x, y = (np.array(side) for side in pair)
    events = None if kind is None else np.zeros((0, len(x)), dtype=bool)
    band = profile_band(x, y, GRID, alpha=alpha, events=events)
    lower, upper = trade_off(band, LEVELS)
    inside = profile_of(*pair)
    for low, middle, high in (
        (band.lower, inside.lower, band.upper),
        (lower, trade_off(inside, LEVELS)[0], upper),
    ):
        assert (low >= 0).all()
        assert (low <= middle + 1e-12).all()
        assert (middle <= high + 1e-12).all()
        assert (high <= 1).all()
        assert (np.diff([low, high]) <= 1e-12).all()
    slopes = np.diff(band.lower) / np.diff(np.exp(GRID))
    assert (np.diff(slopes) >= -1e-9).all()  # convex in e^epsilon
    assert (np.diff([lower, upper], n=2) >= -1e-12).all()  # convex
    assert (upper <= 1 - LEVELS + 1e-12).all()
    # symmetric: S and S' may be exchanged
    assert (trade_off(band, upper)[1] <= LEVELS + 1e-12).all()


@given(st.data(), counts(most=200), st.sampled_from([None, "single", "half-lines"]))
def test_every_pair_of_laws_inside_the_intervals_has_its_curves_inside_the_band(
    data: st.DataObject, pair: tuple[Weights, Weights], kind: str | None
) -> None:
    """What is certain once the intervals hold, at epsilons and levels that no grid has."""
    alpha, labels = 0.05, len(pair[0])
    events = {
        "single": np.zeros((0, labels), dtype=bool),
        "half-lines": np.tri(labels, labels, dtype=bool)[:-1],
    }.get(kind or "")
    shifts = st.lists(st.integers(-6, 6), min_size=labels, max_size=labels)
    moved = [
        [max(0, count + shift) for count, shift in zip(side, data.draw(shifts), strict=True)]
        for side in pair
    ]
    assume(all(any(side) for side in moved))
    family = naive_family(labels, None if events is None else events.tolist())
    for side, law in zip(pair, moved, strict=True):
        intervals = naive_intervals(side, family, alpha)
        for event, (low, high) in intervals.items():
            assume(low <= total(law, event) / sum(law) <= high)
    epsilon = np.array(data.draw(st.lists(st.floats(0, 8), min_size=1, max_size=4)))
    a = np.array(data.draw(st.lists(st.floats(0, 1), min_size=1, max_size=4)))
    x, y = (np.array(side) for side in pair)
    band, truth = (
        profile_band(x, y, epsilon, alpha=alpha, events=events),
        profile_of(moved[0], moved[1], epsilon),
    )
    assert (band.lower <= truth.upper + 1e-12).all()
    assert (truth.lower <= band.upper + 1e-12).all()
    lower, upper = trade_off(band, a)
    true_lower, true_upper = trade_off(truth, a)
    assert (lower <= true_upper + 1e-9).all()
    assert (true_lower <= upper + 1e-9).all()


def test_no_label_on_one_side_is_no_infinite_loss() -> None:
    band = profile_band(
        np.array([1000, 0]), np.array([0, 1000]), np.array([0.0, 5.0, 6.0]), alpha=0.05
    )
    assert band.lower[0] > 0.98
    assert band.lower[1] > 0
    assert band.lower[2] == 0
    assert (band.upper == 1).all()


def test_more_trials_narrow_the_band() -> None:
    widths = []
    for n in (10, 100, 1000, 10_000):
        band = profile_band(np.array([7, 2, 1]) * n, np.array([2, 2, 6]) * n, GRID, alpha=0.05)
        lower, upper = trade_off(band, LEVELS)
        widths.append((np.max(band.upper - band.lower), np.max(upper - lower)))
    assert (np.diff(widths, axis=0) < 0).all()
    assert max(widths[-1]) < 0.04


def test_many_labels_and_half_lines() -> None:
    """Bins of a shifted number: half-lines show what single bins do not."""
    shape = np.exp(-np.abs(np.arange(40) - 19.5) / 8)
    x, y = (np.round(1e5 * side / side.sum()).astype(int) for side in (shape, np.roll(shape, 8)))
    single = profile_band(x, y, GRID, alpha=0.05)
    half = profile_band(x, y, GRID, alpha=0.05, events=np.tri(40, dtype=bool)[:-1])
    truth = profile_of(x.tolist(), y.tolist())
    assert (half.lower[:11] > single.lower[:11]).all()
    for band in (single, half):
        assert (band.lower <= truth.lower).all()
        assert (truth.upper <= band.upper).all()


def test_the_grid_has_zero_and_the_claim_and_three_times_it() -> None:
    for claimed in (0.1, 1.0, 2.718281828, 30.0):
        grid = grid_for(claimed)
        assert grid[0] == 0
        assert claimed in grid
        assert grid[-1] == pytest.approx(3 * claimed)
        assert (np.diff(grid) > 0).all()
