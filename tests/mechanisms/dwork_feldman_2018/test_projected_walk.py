"""Projected walk: the walk itself, and the sensitivity behind Lemma 5.1. And what does and does not
depend on the order."""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.data import Labelled, points
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk, projected_walk
from tests.mechanisms.dwork_feldman_2018.twin_projected_walk import walk_end

Ties = Literal["sum", "index"]
Records = list[tuple[int, int]]
POINTS = 4
QUERIES = points(np.arange(0, POINTS + 2)[:, None], "queries")
RECORD = st.tuples(st.integers(1, POINTS), st.integers(0, 1))
RECORDS = st.lists(RECORD, min_size=1, max_size=12)
T_VALUES = st.integers(1, 5)


def ends(records: Records, T: int, ties: Ties) -> list[int]:
    """V(S, x) at 0, 1, ..., one beyond the last point, read off the exact law with epsilon = 2. The
    log-odds are V."""
    mechanism = ProjectedWalk(epsilon=2.0, T=T, ties=ties)
    data = Labelled(np.array([[float(x)] for x, _ in records]), np.array([y for _, y in records]))
    law = mechanism.distribution(mechanism.prepare(data), QUERIES)
    return [round(value) for value in (law.log_p[:, 1] - law.log_p[:, 0]).tolist()]


@given(RECORDS, T_VALUES, st.sampled_from(["sum", "index"]))
def test_walk_is_the_twins(records: Records, T: int, ties: Ties) -> None:
    assert ends(records, T, ties) == [
        walk_end(tuple(records), x, T, ties) for x in range(POINTS + 2)
    ]


@given(RECORDS, T_VALUES, st.sampled_from(["sum", "index"]), st.data())
def test_a_replacement_moves_the_end_by_at_most_two(
    records: Records, T: int, ties: Ties, data: st.DataObject
) -> None:
    i = data.draw(st.integers(0, len(records) - 1))
    other = [*records[:i], data.draw(RECORD), *records[i + 1 :]]
    for one, two in zip(ends(records, T, ties), ends(other, T, ties), strict=True):
        assert abs(one - two) <= 2


@pytest.mark.parametrize("ties", ["sum", "index"])
def test_two_is_reached(ties: Ties) -> None:
    assert ends([(1, 0), (2, 1)], 3, ties)[2] - ends([(1, 0), (2, 0)], 3, ties)[2] == 2


@given(RECORDS, T_VALUES, st.randoms(use_true_random=False))
def test_summed_ties_do_not_see_the_order(records: Records, T: int, random: object) -> None:
    shuffled = list(records)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert ends(shuffled, T, "sum") == ends(records, T, "sum")


def test_indexed_ties_see_the_order() -> None:
    """T = 1: up, up (stopped by the border), down ends at 0; down, up, up ends at 1."""
    assert ends([(1, 1), (1, 1), (1, 0)], 1, "index")[1] == 0
    assert ends([(1, 0), (1, 1), (1, 1)], 1, "index")[1] == 1
    assert {
        ends(list(order), 1, "sum")[1] for order in itertools.permutations([(1, 0), (1, 1), (1, 1)])
    } == {1}


@given(st.lists(RECORD, min_size=1, max_size=4, unique_by=lambda record: record[0]), T_VALUES)
def test_without_ties_both_rules_are_one(records: Records, T: int) -> None:
    assert ends(records, T, "sum") == ends(records, T, "index")


def test_only_examples_up_to_the_query_count() -> None:
    assert ends([(1, 1), (2, 1), (3, 0)], 5, "sum") == [0, 1, 2, 1, 1, 1]


def test_steps_and_projections_by_hand() -> None:
    assert projected_walk(np.array([1, 1, 1, -1, -3, -1, 1]), 2).tolist() == [
        0,
        1,
        2,
        2,
        1,
        -2,
        -2,
        -1,
    ]


def test_the_other_features_are_ignored() -> None:
    rng = np.random.default_rng(0)
    X, y, queries = rng.normal(size=(20, 3)), rng.integers(2, size=20), rng.normal(size=(5, 3))
    law = ProjectedWalk(feature=1).distribution(
        ProjectedWalk(feature=1).prepare(Labelled(X, y)), queries
    )
    alone = ProjectedWalk().distribution(
        ProjectedWalk().prepare(Labelled(X[:, 1:2], y)), queries[:, 1:2]
    )
    np.testing.assert_array_equal(law.log_p, alone.log_p)


@pytest.mark.parametrize(
    ("epsilon", "alpha", "bound"), [(1.0, 0.1, 6), (0.5, 0.1, 12), (2.0, 0.01, 6)]
)
def test_bound_of_theorem_5_3(epsilon: float, alpha: float, bound: int) -> None:
    """ceil(2 ln(2 / alpha) / epsilon): 2 ln 20 = 5.99, 4 ln 20 = 11.98, ln 200 = 5.30."""
    assert ProjectedWalk(epsilon=epsilon).bound_for(alpha) == bound
