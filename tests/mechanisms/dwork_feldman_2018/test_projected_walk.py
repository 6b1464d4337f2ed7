"""The projected walks, of section 5 and of the overview, against their twins and by hand."""

from __future__ import annotations

import itertools
import math
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpassay.data import Labelled, points
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk, projected_walk
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_overview import (
    MAX_STATES,
    ProjectedWalkOverview,
)
from tests.mechanisms.dwork_feldman_2018.on_a_line import labelled
from tests.mechanisms.dwork_feldman_2018.twin_projected_walk import walk_end
from tests.mechanisms.dwork_feldman_2018.twin_projected_walk_overview import bias, log_law
from tests.mechanisms.twin_worst_case import neighbours

Ties = Literal["sum", "index"]
Records = list[tuple[int, int]]
POINTS = 4
QUERIES = points(np.arange(0, POINTS + 2)[:, None], "queries")
RECORD = st.tuples(st.integers(1, POINTS), st.integers(0, 1))
RECORDS = st.lists(RECORD, min_size=1, max_size=12)
T_VALUES = st.integers(1, 5)
TIES = st.sampled_from(["sum", "index"])


def ends(records: Records, T: int, ties: Ties) -> list[int]:
    """V(S, x) at 0, 1, ..., one beyond the last point: the log-odds with epsilon = 2."""
    mechanism = ProjectedWalk(epsilon=2.0, T=T, ties=ties)
    law = mechanism.distribution(mechanism.prepare(labelled(records)), QUERIES)
    return [round(value) for value in (law.log_p[:, 1] - law.log_p[:, 0]).tolist()]


@given(RECORDS, T_VALUES, TIES)
def test_walk_is_the_twins(records: Records, T: int, ties: Ties) -> None:
    assert ends(records, T, ties) == [
        walk_end(tuple(records), x, T, ties) for x in range(POINTS + 2)
    ]


@given(RECORDS, T_VALUES, TIES, st.data())
def test_a_replacement_moves_the_end_by_at_most_two(
    records: Records, T: int, ties: Ties, data: st.DataObject
) -> None:
    i = data.draw(st.integers(0, len(records) - 1))
    other = [*records[:i], data.draw(RECORD), *records[i + 1 :]]
    for one, two in zip(ends(records, T, ties), ends(other, T, ties), strict=True):
        assert abs(one - two) <= 2


def test_the_walk_by_hand() -> None:
    """Indexed: up, up (stopped by the border), down ends at 0; down, up, up ends at 1."""
    assert projected_walk(np.array([1, 1, 1, -1, -3]), 2).tolist() == [0, 1, 2, 2, 1, -2]
    assert ends([(1, 1), (2, 1), (3, 0)], 5, "sum") == [0, 1, 2, 1, 1, 1]
    assert ends([(1, 1), (1, 1), (1, 0)], 1, "index")[1] == 0
    assert ends([(1, 0), (1, 1), (1, 1)], 1, "index")[1] == 1


@pytest.mark.parametrize("kind", [ProjectedWalk, ProjectedWalkOverview])
def test_the_other_features_are_ignored(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X, y, queries = rng.normal(size=(20, 3)), rng.integers(2, size=20), rng.normal(size=(5, 3))
    one, alone = kind(feature=1), kind()
    law = one.distribution(one.prepare(Labelled(X, y)), queries)
    other = alone.distribution(alone.prepare(Labelled(X[:, 1:2], y)), queries[:, 1:2])
    np.testing.assert_array_equal(law.log_p, other.log_p)


@pytest.mark.parametrize(
    ("epsilon", "alpha", "bound"), [(1.0, 0.1, 6), (0.5, 0.1, 12), (2.0, 0.01, 6)]
)
def test_bound_of_theorem_5_3(epsilon: float, alpha: float, bound: int) -> None:
    """ceil(2 ln(2 / alpha) / epsilon): 2 ln 20 = 5.99, 4 ln 20 = 11.98, ln 200 = 5.30."""
    assert ProjectedWalk(epsilon=epsilon).bound_for(alpha) == bound


# The overview's walk

EPSILON = st.floats(0.01, 5)
ALPHA = st.floats(1e-6, 0.499) | st.sampled_from(
    [1e-6, 0.5 * math.exp(-1), 0.25, 0.05, math.nextafter(0.5, 0)]
)


def closed_form(epsilon: float, alpha: float) -> float:
    """ln((1 - p') / alpha), p' = max(alpha, (1 - alpha) e^(-2 epsilon)), as one would type it."""
    return math.log((1 - max(alpha, (1 - alpha) * math.exp(-2 * epsilon))) / alpha)


@given(RECORDS, EPSILON, ALPHA, TIES)
@example([(1, 1)] * 6 + [(2, 0)] * 6 + [(3, 1)] * 6, math.log(2), 0.25, "index")
@example([(1, 1), (2, 1), (3, 0), (4, 1)], 0.3, 1e-6, "sum")
@example([(1, 1)] * 3, math.log(7) / 3, 0.125, "index")
def test_the_overviews_law_is_the_twins_within_its_error(
    records: Records, epsilon: float, alpha: float, ties: Ties
) -> None:
    mechanism = ProjectedWalkOverview(epsilon=epsilon, alpha=alpha, ties=ties)
    law = mechanism.distribution(mechanism.prepare(labelled(records)), QUERIES)
    for found, x in zip(law.log_p.tolist(), range(POINTS + 2), strict=True):
        for one, other in zip(found, log_law(tuple(records), x, epsilon, alpha, ties), strict=True):
            assert abs(one - float(other)) <= law.error


def test_the_error_is_rounding_only_and_does_not_grow_with_the_walk() -> None:
    rng = np.random.default_rng(0)
    records = [(i, int(y)) for i, y in enumerate(rng.integers(2, size=3000))]
    mechanism = ProjectedWalkOverview(epsilon=0.37, alpha=0.02)
    law = mechanism.distribution(
        mechanism.prepare(labelled(records)), points([[2999.0]], "queries")
    )
    one, other = (float(value) for value in log_law(tuple(records), 2999, 0.37, 0.02, "sum"))
    assert law.error < 1e-12
    assert law.log_p[0] == pytest.approx([one, other], abs=law.error)


def test_the_overviews_walk_by_hand() -> None:
    """Three factors 2 are stopped at 3/4; then a half, and a half; then the border 1/4."""
    mechanism = ProjectedWalkOverview(epsilon=math.log(2), alpha=0.25)
    records = ((1, 1), (2, 0), (3, 0), (4, 1))
    law = mechanism.distribution(mechanism.prepare(labelled(records)), QUERIES)
    assert law.p[:, 1].tolist() == pytest.approx([0.5, 0.75, 0.375, 0.25, 0.5, 0.5])
    assert float(bias(records, 3, math.log(2), 0.25, "sum")) == pytest.approx(0.25)


@given(EPSILON, ALPHA)
def test_the_printed_claim_is_false_unless_no_law_can_break_it(
    epsilon: float, alpha: float
) -> None:
    """The loss is at least the smaller of 2 epsilon and the loss of label 1."""
    widest = math.log1p(-alpha) - math.log(alpha)
    true = ProjectedWalkOverview(epsilon=epsilon, alpha=alpha).exact_loss()
    assert true == pytest.approx(closed_form(epsilon, alpha), abs=1e-12)
    assert min(2 * epsilon, widest) - 1e-9 <= true <= widest + 1e-9
    if epsilon < widest - 1e-9:
        assert true > epsilon
    if 2 * epsilon >= widest + 1e-9:
        assert true == pytest.approx(widest, abs=1e-9)


def seen_moves(n: int, epsilon: float, alpha: float, ties: Ties) -> set[tuple[float, float]]:
    """Pairs of different biases of neighbours at the query n, by brute force on 1, ..., n + 1."""
    records = [(x, y) for x in range(1, n + 2) for y in (0, 1)]
    at = {
        data: float(bias(data, n, epsilon, alpha, ties))
        for data in itertools.product(records, repeat=n)
    }
    pairs = {(at[data], at[other]) for data in at for other in neighbours(data, n + 1)}
    return {(round(p, 9), round(q, 9)) for p, q in pairs if round(p, 9) < round(q, 9)}


def listed_moves(epsilon: float, alpha: float, ties: Ties) -> set[tuple[float, float]]:
    """The same pairs as the mechanism lists them for datasets of any size."""
    reachable = ProjectedWalkOverview(epsilon=epsilon, alpha=alpha, ties=ties).reachable()
    assert reachable is not None
    ends = np.exp(reachable.law.table[:, 1])[reachable.moves]
    pairs = {(round(float(min(pair)), 9), round(float(max(pair)), 9)) for pair in ends}
    return {(p, q) for p, q in pairs if p < q}


def test_tiny_steps_have_too_many_states_to_list_and_a_worst_case_of_bounded_size() -> None:
    mechanism = ProjectedWalkOverview(epsilon=1e-5)
    assert mechanism.reachable() is None
    (case,) = mechanism.pairs()
    assert len(case.pairs.base) == MAX_STATES + 2
    assert ProjectedWalkOverview(epsilon=0.01).reachable() is not None


@pytest.mark.parametrize(
    ("epsilon", "alpha", "ties", "n", "every"),
    [
        (1.0, 0.05, "sum", 3, False),
        (0.3, 0.2, "index", 3, False),
        (0.7, 0.25, "index", 2, True),
        (0.7, 0.25, "sum", 3, True),
        (2.0, 0.3, "sum", 2, True),
    ],
)
def test_small_datasets_make_moves_that_are_listed_and_some_make_every_one(
    epsilon: float, alpha: float, ties: Ties, n: int, every: bool
) -> None:
    seen, listed = seen_moves(n, epsilon, alpha, ties), listed_moves(epsilon, alpha, ties)
    assert seen <= listed
    assert (seen == listed) is every
