"""VC theory: growth, dimensions, nets and covers against brute force that shares no code."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.errors import InvalidInput
from dpassay.mechanisms.shared.function_class import Functions
from dpassay.mechanisms.shared.hypothesis_class import HypothesisClass
from dpassay.mechanisms.shared.line_classes import Intervals, Thresholds
from dpassay.mechanisms.shared.plane_classes import Corners, Halfspaces
from dpassay.mechanisms.shared.vc import (
    cover,
    exponential_size,
    is_net,
    labellings,
    net_failure,
    net_probability,
    net_size,
    sauer_shelah,
    sauer_shelah_bound,
    vc_dimension_on,
)
from tests.mechanisms.dagan_feldman_2020.twin_stable_learner import every_halfspace

Point = tuple[float, ...]


def brute_thresholds(X: list[Point]) -> set[tuple[bool, ...]]:
    cuts = [-math.inf, math.inf, *(x[0] for x in X)]
    return {tuple(x[0] >= t for x in X) for t in cuts}


def brute_intervals(X: list[Point]) -> set[tuple[bool, ...]]:
    ends = [x[0] for x in X]
    return {tuple(a <= x[0] <= b for x in X) for a in [*ends, math.inf] for b in ends}


def brute_corners(X: list[Point]) -> set[tuple[bool, ...]]:
    firsts, seconds = [*(x[0] for x in X), math.inf], [*(x[1] for x in X), math.inf]
    return {tuple(x[0] >= a and x[1] >= b for x in X) for a in firsts for b in seconds}


def brute_halfspaces(X: list[Point]) -> set[tuple[bool, ...]]:
    return {tuple((int(x[0]), int(x[1])) in ones for x in X) for ones in every_halfspace(4)}


def brute_functions(X: list[Point]) -> set[tuple[bool, ...]]:
    spots = sorted({x[0] for x in X})
    return {
        tuple(labels[spots.index(x[0])] for x in X)
        for labels in itertools.product((False, True), repeat=len(spots))
    }


CLASSES: list[tuple[HypothesisClass, Any, list[Point]]] = [
    (Thresholds(), brute_thresholds, [(float(x),) for x in range(1, 7)]),
    (Intervals(), brute_intervals, [(float(x),) for x in range(1, 7)]),
    (
        Corners(),
        brute_corners,
        [(1.0, 6.0), (2.0, 5.0), (3.0, 4.0), (4.0, 3.0), (5.0, 2.0), (6.0, 1.0)],
    ),
    (
        Halfspaces(points=4),
        brute_halfspaces,
        [(1.0, 1.0), (1.0, 2.0), (2.0, 4.0), (4.0, 3.0), (3.0, 1.0), (4.0, 1.0)],
    ),
    (Functions(points=4), brute_functions, [(float(x),) for x in (1, 2, 3, 4, 4, 1)]),
]
IDS = [type(case[0]).__name__ for case in CLASSES]


@pytest.mark.parametrize(("H", "brute", "X"), CLASSES, ids=IDS)
def test_labellings_are_those_of_brute_force(
    H: HypothesisClass, brute: Any, X: list[Point]
) -> None:
    for m in range(1, 7):
        for chosen in itertools.combinations(X, m):
            found = labellings(H, np.array(chosen))
            assert {tuple(row) for row in found.tolist()} == brute(list(chosen))
            assert len(found) <= H.growth(m)


@pytest.mark.parametrize(("H", "brute", "X"), CLASSES, ids=IDS)
def test_growth_is_attained_and_below_sauer_shelah(
    H: HypothesisClass, brute: Any, X: list[Point]
) -> None:
    """These points are in as general a position as it takes; the dimension is that of all."""
    assert vc_dimension_on(H, np.array(X)) == H.vc_dimension
    assert vc_dimension_on(H, np.array(X[:1])) == 1
    for m in range(7):
        if m and not (isinstance(H, (Halfspaces, Functions)) and m > 4):
            most = max(len(brute(list(chosen))) for chosen in itertools.combinations(X, m))
            assert most == H.growth(m)
        assert H.growth(m) <= sauer_shelah(H.vc_dimension, m)


@pytest.mark.parametrize(("side", "count"), [(2, 14), (3, 58), (5, 402)])
def test_numbers_of_halfspaces_on_grids(side: int, count: int) -> None:
    """OEIS A114043: 2, 14, 58, 174, 402 for grids of 1 to 5 points a side."""
    assert len(every_halfspace(side)) == count
    assert len(Halfspaces(points=side).table) == count
    grid = np.array(list(itertools.product(range(1, side + 1), repeat=2)), dtype=float)
    assert len(labellings(Halfspaces(points=side), grid)) == count


def test_sauer_shelah() -> None:
    assert [sauer_shelah(2, m) for m in range(6)] == [1, 2, 4, 7, 11, 16]
    for d, m in itertools.product(range(1, 6), range(1, 30)):
        if m >= d:
            assert sauer_shelah(d, m) <= sauer_shelah_bound(d, m)
    assert sauer_shelah(3, 2) == 4
    with pytest.raises(InvalidInput, match="m = 2: must be an integer >= d = 3"):
        sauer_shelah_bound(3, 2)


def test_net_sizes() -> None:
    """The bound holds at the size that is named and not at one less."""
    for alpha, beta in [(0.1, 0.1), (0.2, 0.01), (0.01, 0.3)]:
        for H in (Thresholds(), Intervals(), Halfspaces(points=8), Functions(points=3)):
            m = net_size(alpha, beta, H.growth)
            assert net_failure(alpha, m, H.growth) <= beta
            assert m == math.ceil(8 / alpha) or net_failure(alpha, m - 1, H.growth) > beta
    m = net_size(0.1, 0.1, Thresholds().growth)
    by_hand = [(2 * k + 1) * 2 * k * 2 ** (-0.1 * k / 2) for k in (m, m - 1)]
    assert by_hand[0] <= 0.1 < by_hand[1]
    with pytest.raises(InvalidInput, match="so large that 1,000,000,000,000,000 points are enough"):
        net_size(1e-14, 0.1, Thresholds().growth)


def test_net_size_is_enough_on_a_line() -> None:
    """Against the exact probability: the constants of Lemma 1 are far on the safe side."""
    alpha, beta, n = 0.2, 0.2, 400
    m = net_size(alpha, beta, Thresholds().growth)
    enough = next(size for size in range(1, n) if net_probability(n, size, alpha) >= 1 - beta)
    assert net_probability(n, m, alpha) >= 1 - beta
    assert enough < m / 3


@pytest.mark.parametrize("alpha", [0.05, 0.25, 0.7])
def test_net_probability_is_that_of_all_subsets(alpha: float) -> None:
    for n, m in [(1, 0), (1, 1), (5, 2), (9, 1), (9, 4), (10, 10)]:
        X = np.arange(n, dtype=float)[:, None]
        good = sum(
            is_net(Thresholds(), X[list(chosen)], X, alpha)
            for chosen in itertools.combinations(range(n), m)
        )
        assert net_probability(n, m, alpha) == float(Fraction(good, math.comb(n, m)))


@pytest.mark.parametrize(("H", "brute", "X"), CLASSES, ids=IDS)
def test_nets_by_definition(H: HypothesisClass, brute: Any, X: list[Point]) -> None:
    """All pairs of labellings of T and X that agree on T."""
    for T in itertools.chain.from_iterable(itertools.combinations(X, size) for size in range(1, 4)):
        both = brute([*T, *X])
        apart = [
            sum(a != b for a, b in zip(h[len(T) :], g[len(T) :], strict=True))
            for h, g in itertools.product(both, repeat=2)
            if h[: len(T)] == g[: len(T)]
        ]
        for alpha in (0.1, 0.4, 0.6):
            assert is_net(H, np.array(T), np.array(X), alpha) == (max(apart) <= alpha * len(X))


@pytest.mark.parametrize("alpha", [0.05, 0.35, 0.8])
def test_covers(alpha: float) -> None:
    """Remark 1: every labelling is near a taken one, those are far apart, and few."""
    T = np.array([[1.0], [2.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0]])
    for H in (Thresholds(), Intervals(), Functions(points=9)):
        table = H.predict(H.representatives(T, "least"), T)
        taken = table[cover(table, alpha)]
        apart = (table[:, None] != taken[None]).sum(axis=2)
        assert (apart.min(axis=1) <= alpha * len(T)).all()
        between = (taken[:, None] != taken[None]).sum(axis=2)
        assert (between[~np.eye(len(taken), dtype=bool)] > alpha * len(T)).all()
        if isinstance(H, Thresholds):
            assert len(taken) <= 1 / alpha + 1


def test_exponential_size() -> None:
    assert exponential_size(1, 1.0, 0.5) == 1
    assert exponential_size(10, 0.5, 0.1) == math.ceil(2 * math.log(10) / 0.05)
    for bad in [{"k": 0}, {"epsilon": 0}, {"alpha": 1}]:
        arguments: Any = {"k": 3, "epsilon": 1.0, "alpha": 0.1} | bad
        with pytest.raises(InvalidInput, match=next(iter(bad))):
            exponential_size(**arguments)
