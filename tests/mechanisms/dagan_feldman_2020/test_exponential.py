"""The exponential mechanism: its law, its worst cases, and Lemma 4's excess error."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled, points
from dpassay.errors import InvalidInput
from dpassay.mechanisms.dagan_feldman_2020.exponential import (
    Exponential,
    sharp_excess,
    worst_excess,
)
from dpassay.mechanisms.shared.plane_classes import Halfspaces
from dpassay.pairs import Replace
from tests.mechanisms.dagan_feldman_2020 import twin_exponential as twin
from tests.mechanisms.test_exhaustive_twins import compare

GRID: dict[str, Any] = {"points": 3, "low": 1.0, "high": 3.0}


@pytest.mark.parametrize(
    ("name", "rule", "epsilon"),
    [("thresholds", "greatest", 2.0), ("intervals", "least", 0.3), ("functions", "least", 2.0)],
)
def test_law_and_worst_case_are_the_twins(name: str, rule: str, epsilon: float) -> None:
    """All datasets of 3 records; the class on the points 1, 2, 3 is the same by either rule."""
    law = functools.partial(twin.exponential, epsilon=epsilon, H=twin.functions(name, 3))
    given = {"epsilon": epsilon, "H": name, "representative": rule, **GRID}
    results = compare("exponential", given, 3, 3, law, 1e-9)
    assert {result.verdict for result in results} == {"verified"}


def test_without_an_even_handed_point_nothing_is_said_of_any_size() -> None:
    assert Exponential(H="functions", points=3).reachable() is not None
    assert Exponential(H="intervals", **GRID).reachable() is None  # 7 functions


@pytest.mark.parametrize("H", ["thresholds", "intervals", "corners"])
def test_log_odds_move_by_epsilon_at_most(H: str) -> None:
    rng = np.random.default_rng(5)
    mechanism = Exponential(epsilon=0.7, H=H, points=6, low=-1.0, high=1.0)
    queries = points(rng.uniform(-1, 1, size=(9, 2)), "queries")
    for _ in range(10):
        data = Labelled(rng.normal(size=(12, 2)), rng.integers(2, size=12))
        state = mechanism.prepare(data)
        change = Replace(int(rng.integers(12)), rng.normal(size=2), int(rng.integers(2)))
        tables = [
            mechanism.distribution(each, queries).log_p
            for each in (state, mechanism.update(state, change))
        ]
        with np.errstate(invalid="ignore"):
            moved = np.diff(tables[0], axis=1) - np.diff(tables[1], axis=1)
        assert np.nanmax(np.abs(moved)) <= 0.7 + 1e-12


def test_rare_answers_keep_their_digits() -> None:
    """5,000 records labelled 0 and epsilon 1: ln P[1] = -2,500 + ln(30 / 31) but for e^-2500."""
    mechanism = Exponential(epsilon=1.0, points=60, low=1.0, high=60.0)
    data = Labelled(np.full((5000, 1), 30.0), np.zeros(5000, dtype=int))
    law = mechanism.distribution(mechanism.prepare(data), points([[30.0]], "queries"))
    assert law.log_p[0, 1] == pytest.approx(-2500 + math.log(30 / 31), rel=0, abs=law.error)
    assert law.error < 1e-10


def test_halfspaces_as_an_object() -> None:
    mechanism = Exponential(H=Halfspaces(points=2))
    assert len(mechanism.members) == 14
    assert mechanism.grid.tolist() == [[1, 1], [1, 2], [2, 1], [2, 2]]
    with pytest.raises(InvalidInput, match="must be in the domain"):
        mechanism.check(Labelled(np.array([[1.0, 3.0]]), np.array([0])))


def excess(vector: tuple[int, ...], n: int, epsilon: float) -> float:
    """E L_S(h) - min L_S(h) for these error counts."""
    weights = [math.exp(-e * epsilon / 2) for e in vector]
    mean = sum(e * w for e, w in zip(vector, weights, strict=True)) / sum(weights)
    return (mean - min(vector)) / n


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize(("n", "epsilon"), [(1, 5.0), (2, 1.0), (4, 0.3), (4, 5.0)])
def test_worst_excess_over_all_error_counts(size: int, n: int, epsilon: float) -> None:
    """Enumerated; within the sharp bound, and that within the printed one."""
    found = max(
        excess(vector, n, epsilon) for vector in itertools.product(range(n + 1), repeat=size)
    )
    assert worst_excess(size, n, epsilon) == pytest.approx(found, rel=1e-12)
    assert found <= sharp_excess(size, n, epsilon) + 1e-12
    assert sharp_excess(size, n, epsilon) <= 2 * math.log(size) / (epsilon * n)


def test_lemma_4_and_the_dataset_that_attains_the_sharp_constant() -> None:
    """k zeros just below a threshold and k ones at it: every other one errs k times more."""
    mechanism = Exponential(epsilon=1.0, points=31, low=0.0, high=30.0)
    assert mechanism.excess_error(100) == 2 * math.log(32) / 100
    found = []
    for k in range(1, 20):
        data = Labelled(np.array([[14.0]] * k + [[15.0]] * k), np.array([0] * k + [1] * k))
        errors = mechanism.prepare(data).errors
        assert sorted(errors.tolist()) == [0] + [k] * 31
        found.append(2 * k * excess(tuple(errors.tolist()), 2 * k, 1.0))
    assert max(found) == pytest.approx(100 * worst_excess(32, 100, 1.0), rel=1e-12)
    assert max(found) <= 100 * sharp_excess(32, 100, 1.0) <= 100 * mechanism.excess_error(100)
