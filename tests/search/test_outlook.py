"""Outlook: pairs are ranked by what they leak."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.search.outlook import Outlook, outlook
from dpassay.search.outputs import fit_encoder
from dpassay.search.worth import Goal
from dpassay.stats.scales import DifferenceScale, Ratio, Scale, ShiftScale

Draw = Callable[[np.random.Generator, int], Any]


@pytest.mark.parametrize("scale", [Ratio(), Ratio(0.1), DifferenceScale(), ShiftScale()])
@pytest.mark.parametrize("m", [2, 37, 400])
def test_the_table_of_worths_says_what_worth_says(scale: Scale, m: int) -> None:
    goal = Goal(scale, 0.5, 10_000, 0.01)
    x, y = (each.ravel() for each in np.meshgrid(np.arange(m + 1), np.arange(m + 1)))
    np.testing.assert_allclose(goal.worths(m)(x, y), goal.worth(x, y, m, m), rtol=1e-9)


@given(st.integers(2, 3000), st.integers(100, 10**7), st.floats(1e-9, 0.5))
def test_assurance_is_the_quantile_of_the_power(m: int, n: int, alpha: float) -> None:
    """Its zero is where the plug-in leak is what the certification needs at its own error."""
    goal = Goal(Ratio(), 1.0, n, alpha)
    x, y = m // 2, m // 8
    leak = float(Ratio().between((x + 0.5) / (m + 1), (y + 0.5) / (m + 1)))
    spread = Ratio().spread((x + 0.5) / (m + 1), (y + 0.5) / (m + 1))
    bound = goal.promise(x, y, m, m)
    both = spread * math.sqrt(1 / n + 1 / m)
    assert (bound - 1.0) / both == pytest.approx(goal.power_z(x, y, m, m) - goal.margin(m))
    assert bound <= leak


def looked(one: Draw, other: Draw, m: int, seed: int = 0, *, promised: float = 1.0) -> Outlook:
    """Look at m outputs of either side."""
    rng = np.random.default_rng(seed)
    a, b = one(rng, m), other(rng, m)
    encoder = fit_encoder([a, b])
    features = encoder.features(a), encoder.features(b)
    return outlook(encoder.looks, *features, Goal(Ratio(), promised, 10_000, 0.05))


def test_nothing_is_expected_where_nothing_leaks() -> None:
    same: Draw = lambda rng, m: rng.laplace(0, 1, (m, 3))  # noqa: E731
    seen = [looked(same, same, 2_000, seed) for seed in range(20)]
    # the best of many events looks better than it is, but not by much
    assert max(each.assurance for each in seen) < 1
    assert np.median([each.assurance for each in seen]) < 0
    assert np.median([each.expected for each in seen]) < 0.05


def test_pairs_are_ranked_by_what_they_leak() -> None:
    def rank(shift: float, seed: int) -> float:
        one: Draw = lambda rng, m: rng.laplace(0, 1, m)  # noqa: E731
        other: Draw = lambda rng, m: rng.laplace(shift, 1, m)  # noqa: E731
        return looked(one, other, 500, seed).assurance

    ranks = [[rank(shift, seed) for shift in (0.0, 1.0, 2.0)] for seed in range(5)]
    assert all(each == sorted(each) for each in ranks)


def middle(rng: np.random.Generator, m: int) -> Any:
    """Numbers that are often between -0.2 and 0.1."""
    return np.where(rng.random(m) < 0.3, rng.uniform(-0.2, 0.1, m), rng.normal(3, 5, m))


def one_of_two(rng: np.random.Generator, m: int) -> Any:
    """Pairs whose parts tell nothing by themselves, and all together."""
    first = rng.integers(0, 2, m)
    return np.column_stack([first, np.where(rng.random(m) < 0.9, first, 1 - first)])


SHAPES: dict[str, tuple[Draw, Draw, float]] = {
    "a range": (middle, lambda rng, m: rng.normal(3, 5, m), 1.5),
    "both parts": (one_of_two, lambda rng, m: rng.integers(0, 2, (m, 2)), 0.4),
    "a sum of parts": (
        lambda rng, m: rng.laplace(0, 1, (m, 5)),
        lambda rng, m: rng.laplace(1, 1, (m, 5)),
        1.2,
    ),
    "a rare value": (
        lambda rng, m: np.where(rng.random(m) < 0.05, 7.0, rng.normal(size=m)),
        lambda rng, m: rng.normal(size=m),
        1.5,
    ),
    "beyond all numbers of the first": (
        lambda rng, m: rng.uniform(0, 1, m),
        lambda rng, m: rng.uniform(0, 1.1, m),
        1.5,
    ),
    "below all numbers of the first": (
        lambda rng, m: rng.uniform(0, 1, m),
        lambda rng, m: rng.uniform(-0.1, 1, m),
        1.5,
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("turned", [False, True])
def test_leaks_of_many_shapes_are_seen(shape: str, turned: bool) -> None:
    one, other, leak = SHAPES[shape]
    sides = (other, one) if turned else (one, other)
    seen = [looked(*sides, 1_000, seed, promised=leak) for seed in range(5)]
    assert sum(each.assurance > 0 for each in seen) >= 4
