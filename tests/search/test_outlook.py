"""Outlook: counts of events equal a naive count, and pairs are ranked by what they leak."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpassay.search.coded import Base
from dpassay.search.features import Feature
from dpassay.search.grid import EDGES, MISSING
from dpassay.search.outlook import Outlook, outlook
from dpassay.search.outputs import fit_encoder
from dpassay.search.worth import Goal
from dpassay.stats.scales import Difference, Ratio, Scale, Shift

Draw = Callable[[np.random.Generator, int], Any]
Array = NDArray[np.float64]
TABLE = (("number", 1.0), ("number", 2.0), ("number", 3.0))
LOOKS = [
    Feature("number", 0),
    Feature("value", 1, TABLE),
    Feature("number", 2),
    Feature("whole", 0, TABLE[:1]),
]
KINDS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda rng, m: rng.normal(size=m),
    "wide": lambda rng, m: np.exp(9 * rng.normal(size=m)),
    "few": lambda rng, m: rng.integers(-2, 3, m).astype(float),
    "constant": lambda rng, m: np.zeros(m),
    "infinite": lambda rng, m: rng.choice([-np.inf, 0.0, 1e-300, 1.0, np.inf], m),
    "missing": lambda rng, m: np.where(rng.random(m) < 0.5, np.nan, rng.normal(size=m)),
    "never there": lambda rng, m: np.full(m, np.nan),
}


def features(rng: np.random.Generator, m: int, kind: str) -> Array:
    """Features of m outputs, for `LOOKS`."""
    codes = rng.integers(0, 4, m), rng.integers(0, 2, m)
    return np.column_stack([KINDS[kind](rng, m), codes[0], rng.normal(size=m), codes[1]])


@pytest.mark.parametrize("kind", KINDS)
def test_counts_of_events_are_those_of_the_outputs(kind: str) -> None:
    rng = np.random.default_rng(1)
    one, other = features(rng, 300, kind), features(rng, 300, kind)
    base = Base(LOOKS, one)
    codes = base.codes, base.coded_as(other)
    counted = base.events.counts(*codes)
    order = base.events.order(counted)
    sums = base.events.sums((counted, order))
    for place in range(sums.shape[1]):
        feature, members = base.events.members(place, order)
        naive = [int(members[side[feature]].sum()) for side in codes]
        assert sums[:, place].tolist() == naive


def test_events_of_a_number_are_half_lines_and_of_a_table_unions() -> None:
    rng = np.random.default_rng(2)
    one = features(rng, 500, "normal")
    base = Base(LOOKS, one)
    order = base.events.order(base.events.counts(base.codes, base.codes))
    sizes = set()
    for place in range(base.events.events):
        feature, members = base.events.members(place, order)
        held = members[base.codes[feature]]
        if place < 2 * 2 * len(EDGES):
            column = one[:, base.numbers[feature]]
            inside, outside = column[held], column[~held]
            if len(inside) and len(outside):
                assert inside.max() < outside.min() or inside.min() > outside.max()
        elif feature == 2:
            sizes.add(int(members.sum()))
    assert sizes == {1, 2, 3}


@pytest.mark.parametrize("kind", KINDS)
def test_codes_rise_with_numbers_and_know_what_lies_beyond(kind: str) -> None:
    rng = np.random.default_rng(3)
    base = Base(LOOKS, features(rng, 400, kind))
    edges = base.grid.edges[0]
    more = np.sort(np.concatenate([KINDS[kind](rng, 300), [-np.inf, -1e300, 0.0, 1e300, np.inf]]))
    table = np.column_stack([more, np.zeros(len(more)), more, np.zeros(len(more))])
    codes = base.coded_as(table)[0]
    there = ~np.isnan(more)
    assert (codes[~there] == MISSING).all()
    assert (np.diff(codes[there]) >= 0).all()
    assert (codes[there & (more < edges[0])] == 0).all()
    assert (codes[there & (more >= edges[-1])] == len(EDGES)).all()
    exact = edges.searchsorted(more[there], side="right")
    # a number may be taken for one that lies a step of the grid lower, so before an edge
    wrong = codes[there] != exact
    assert wrong.mean() < 0.1
    assert np.abs(codes[there] - exact).max() <= 1


@pytest.mark.parametrize("scale", [Ratio(), Ratio(0.1), Difference(), Shift()])
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
    base = Base(encoder.looks, encoder.features(a))
    return outlook(base, encoder.features(b), Goal(Ratio(), promised, 10_000, 0.05))


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
