"""The exponential mechanism. Its law, its worst cases, the private hypothesis, and Lemma 4's excess
error."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled, points
from dpassay.engine.exact import any_size
from dpassay.errors import InvalidInput
from dpassay.mechanisms.dagan_feldman_2020.exponential import (
    Exponential,
    log_selection,
    sharp_excess,
    worst_excess,
)
from dpassay.mechanisms.shared.plane_classes import Halfspaces
from dpassay.pairs import Replace
from dpassay.targets.resolve import resolve
from tests.mechanisms.dagan_feldman_2020 import twin_exponential as twin
from tests.mechanisms.test_exhaustive_twins import compare

GRID: dict[str, Any] = {"points": 3, "low": 1.0, "high": 3.0}
SHAPES = [
    ("thresholds", "least", 3),
    ("thresholds", "greatest", 3),
    ("intervals", "least", 3),
    ("functions", "least", 3),
]


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize(("name", "rule", "N"), SHAPES)
def test_law_and_worst_case_are_the_twins(name: str, rule: str, N: int, epsilon: float) -> None:
    """All datasets of 3 records; the class on the points 1, 2, 3 is the same by either rule."""
    law = functools.partial(twin.exponential, epsilon=epsilon, H=twin.functions(name, N))
    results = compare(
        "exponential",
        {"epsilon": epsilon, "H": name, "representative": rule, **GRID},
        3,
        N,
        law,
        1e-9,
    )
    assert {result.verdict for result in results} == {"verified"}


def test_one_record_reaches_the_largest_change_of_a_probability() -> None:
    """Half of the functions answer 1. sigma(epsilon / 4) - sigma(-epsilon / 4) on either side of
    even odds."""
    mechanism = Exponential(epsilon=1.0, H="functions", points=2)
    laws = [
        mechanism.distribution(
            mechanism.prepare(Labelled(np.ones((1, 1)), np.array([y]))), points([[1.0]], "queries")
        )
        for y in (0, 1)
    ]
    change = laws[1].p[0, 1] - laws[0].p[0, 1]
    assert change == pytest.approx(math.tanh(1 / 4), abs=1e-15)
    assert change == pytest.approx((math.sqrt(math.e) - 1) / (math.sqrt(math.e) + 1), abs=1e-15)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 4.0])
@pytest.mark.parametrize("H", ["thresholds", "functions", "halfspaces"])
def test_both_suprema_are_shown_for_any_size(H: str, epsilon: float) -> None:
    target = resolve(
        "exponential", {"epsilon": epsilon, "H": H} | ({} if H == "thresholds" else {"points": 3})
    )
    private, *_, stable = target.claims
    for claim, expected in ((private, epsilon), (stable, math.tanh(epsilon / 4))):
        found = any_size(target, claim)
        assert found is not None
        assert found.loss == pytest.approx(expected, rel=0, abs=found.error)
        assert found.error < 1e-12


def test_without_an_even_handed_point_nothing_is_said_of_any_size() -> None:
    assert Exponential(H="intervals", **GRID).reachable() is None  # 7 functions


def test_the_hypothesis_itself_is_private() -> None:
    """Over all datasets of 2 records: ln of the ratio of the probabilities of one h."""
    mechanism = Exponential(epsilon=1.0, H="functions", points=2)
    records = list(itertools.product((1.0, 2.0), (0, 1)))
    worst = 0.0
    for first, second, other in itertools.product(records, repeat=3):
        states = [
            mechanism.prepare(
                Labelled([[x[0]], [second[0]]], [x[1], second[1]])  # type: ignore[arg-type]
            )
            for x in (first, other)
        ]
        log_p = [log_selection(state.errors, 1 / 2) for state in states]
        worst = max(worst, float(np.abs(log_p[0] - log_p[1]).max()))
    assert 0.5 < worst <= 1.0


@pytest.mark.parametrize("H", ["thresholds", "intervals", "corners"])
def test_log_odds_move_by_epsilon_at_most(H: str) -> None:
    rng = np.random.default_rng(5)
    mechanism = Exponential(epsilon=0.7, H=H, points=6, low=-1.0, high=1.0)
    queries = points(rng.uniform(-1, 1, size=(9, 2)), "queries")
    for _ in range(30):
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


SMALL = [(size, n, epsilon) for size in (2, 3, 4) for n in (1, 2, 4) for epsilon in (0.3, 1.0, 5.0)]


def excess(vector: tuple[int, ...], n: int, epsilon: float) -> float:
    """E L_S(h) - min L_S(h) for these error counts."""
    weights = [math.exp(-e * epsilon / 2) for e in vector]
    return (
        sum(e * w for e, w in zip(vector, weights, strict=True)) / sum(weights) - min(vector)
    ) / n


@pytest.mark.parametrize(("size", "n", "epsilon"), SMALL)
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


def test_the_expected_excess_error_of_a_dataset_is_below_lemma_4() -> None:
    rng = np.random.default_rng(2)
    mechanism = Exponential(epsilon=0.5, H="corners", points=7, low=-2.0, high=2.0)
    for n in (5, 50, 500):
        errors = mechanism.prepare(
            Labelled(rng.normal(size=(n, 2)), rng.integers(2, size=n))
        ).errors
        assert (
            excess(tuple(errors.tolist()), n, 0.5)
            <= worst_excess(len(errors), n, 0.5)
            <= mechanism.excess_error(n)
        )
