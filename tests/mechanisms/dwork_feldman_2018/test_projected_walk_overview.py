"""The overview's walk. The update, the error of its law, and that the printed claim fails by what
the closed form says."""

from __future__ import annotations

import itertools
import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpassay.data import Labelled, points
from dpassay.engine.exact import any_size, both_directions, group_laws, readable
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_overview import (
    MAX_STATES,
    ProjectedWalkOverview,
)
from dpassay.targets.groups import groups_for, silent
from dpassay.targets.resolve import resolve
from tests.mechanisms.dwork_feldman_2018.twin_projected_walk_overview import bias, log_law
from tests.mechanisms.twin_worst_case import neighbours

Ties = Literal["sum", "index"]
Records = list[tuple[int, int]]
POINTS = 4
QUERIES = points(np.arange(0, POINTS + 2)[:, None], "queries")
RECORDS = st.lists(st.tuples(st.integers(1, POINTS), st.integers(0, 1)), min_size=1, max_size=12)
TIES = st.sampled_from(["sum", "index"])
EPSILON = st.floats(0.01, 5)
ALPHA = st.floats(1e-6, 0.499) | st.sampled_from(
    [1e-6, 0.5 * math.exp(-1), 0.25, 0.05, math.nextafter(0.5, 0)]
)
PARAMETERS = [
    (1.0, 0.05),
    (0.3, 0.2),
    (0.7, 0.25),
    (2.0, 0.3),
    (0.5, 0.1),
    (0.2, 0.01),
    (0.05, 0.02),
    (3.0, 1e-4),
]
"""The borders are far away, near, and nearer than one step."""


def data_of(records: Records) -> Labelled:
    """Records at points of a line."""
    return Labelled(np.array([[float(x)] for x, _ in records]), np.array([y for _, y in records]))


def closed_form(epsilon: float, alpha: float) -> float:
    """ln((1 - p') / alpha), p' = max(alpha, (1 - alpha) e^(-2 epsilon)), as one would type it."""
    return math.log((1 - max(alpha, (1 - alpha) * math.exp(-2 * epsilon))) / alpha)


@given(RECORDS, EPSILON, ALPHA, TIES)
@example([(1, 1)] * 6 + [(2, 0)] * 6 + [(3, 1)] * 6, math.log(2), 0.25, "index")
@example([(1, 1), (2, 1), (3, 0), (4, 1)], 0.3, 1e-6, "sum")
@example([(1, 1)] * 3, math.log(7) / 3, 0.125, "index")
def test_the_law_is_the_twins_within_its_error(
    records: Records, epsilon: float, alpha: float, ties: Ties
) -> None:
    mechanism = ProjectedWalkOverview(epsilon=epsilon, alpha=alpha, ties=ties)
    law = mechanism.distribution(mechanism.prepare(data_of(records)), QUERIES)
    for found, x in zip(law.log_p.tolist(), range(POINTS + 2), strict=True):
        for one, other in zip(found, log_law(tuple(records), x, epsilon, alpha, ties), strict=True):
            assert abs(one - float(other)) <= law.error


def test_the_error_is_rounding_only_and_does_not_grow_with_the_walk() -> None:
    rng = np.random.default_rng(0)
    records = [(i, int(y)) for i, y in enumerate(rng.integers(2, size=3000))]
    mechanism = ProjectedWalkOverview(epsilon=0.37, alpha=0.02)
    law = mechanism.distribution(mechanism.prepare(data_of(records)), points([[2999.0]], "queries"))
    one, other = (float(value) for value in log_law(tuple(records), 2999, 0.37, 0.02, "sum"))
    assert law.error < 1e-12
    assert law.log_p[0] == pytest.approx([one, other], abs=law.error)


def test_by_hand() -> None:
    """Three factors 2 are stopped at 3/4; then a half, and a half; then the border 1/4."""
    mechanism = ProjectedWalkOverview(epsilon=math.log(2), alpha=0.25)
    data = data_of([(1, 1), (2, 0), (3, 0), (4, 1)])
    law = mechanism.distribution(mechanism.prepare(data), QUERIES)
    assert law.p[:, 1].tolist() == pytest.approx([0.5, 0.75, 0.375, 0.25, 0.5, 0.5])
    assert float(
        bias(((1, 1), (2, 0), (3, 0), (4, 1)), 3, math.log(2), 0.25, "sum")
    ) == pytest.approx(0.25)


@pytest.mark.parametrize("ties", ["sum", "index"])
@pytest.mark.parametrize(("epsilon", "alpha"), PARAMETERS)
def test_own_pair_reachable_states_and_closed_form_agree(
    epsilon: float, alpha: float, ties: Ties
) -> None:
    target = resolve("projected-walk-overview", {"epsilon": epsilon, "alpha": alpha, "ties": ties})
    printed, corrected = target.claims
    expected = closed_form(epsilon, alpha)
    assert corrected.promised == pytest.approx(expected, abs=1e-12)
    found = any_size(target, printed)
    assert found is not None
    assert found.loss == pytest.approx(expected, abs=1e-9)
    assert found.states[0] == "p = 1 - alpha" or found.states[1] == "p = 1 - alpha"
    (case,) = groups_for(target, None)
    laws = group_laws(target, case, silent)
    assert laws is not None
    assert both_directions(laws, readable(target, printed, laws.law)).value.max() == pytest.approx(
        expected, abs=1e-12
    )


@given(EPSILON, ALPHA)
def test_the_printed_claim_is_false_unless_no_law_can_break_it(
    epsilon: float, alpha: float
) -> None:
    """The loss is at least the smaller of 2 epsilon and ln((1 - alpha) / alpha). The latter is what
    label 1 loses."""
    widest = math.log1p(-alpha) - math.log(alpha)
    true = ProjectedWalkOverview(epsilon=epsilon, alpha=alpha).exact_loss()
    assert min(2 * epsilon, widest) - 1e-9 <= true <= widest + 1e-9
    if epsilon < widest - 1e-9:
        assert true > epsilon
    if 2 * epsilon >= widest + 1e-9:
        assert true == pytest.approx(widest, abs=1e-9)


def seen_moves(n: int, epsilon: float, alpha: float, ties: Ties) -> set[tuple[float, float]]:
    """Pairs of different biases of neighbours of n records at the query n, by brute force. Points
    are 1, ..., n and one beyond the query."""
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


@pytest.mark.parametrize(
    ("epsilon", "alpha", "ties", "n"),
    [(1.0, 0.05, "sum", 3), (1.0, 0.05, "index", 3), (0.3, 0.2, "sum", 3), (0.3, 0.2, "index", 3)],
)
def test_no_small_dataset_makes_a_move_that_is_not_listed(
    epsilon: float, alpha: float, ties: Ties, n: int
) -> None:
    assert seen_moves(n, epsilon, alpha, ties) <= listed_moves(epsilon, alpha, ties)


@pytest.mark.parametrize(
    ("epsilon", "alpha", "ties", "n"),
    [(0.7, 0.25, "index", 2), (0.7, 0.25, "sum", 3), (2.0, 0.3, "index", 2), (2.0, 0.3, "sum", 2)],
)
def test_every_listed_move_is_made_by_a_small_dataset(
    epsilon: float, alpha: float, ties: Ties, n: int
) -> None:
    assert seen_moves(n, epsilon, alpha, ties) == listed_moves(epsilon, alpha, ties)


def test_the_refutation_of_the_printed_claim_is_expected() -> None:
    printed, corrected = resolve("projected-walk-overview").claims
    assert (printed.status, printed.expected, printed.promised) == ("printed", "refuted", 1.0)
    assert (corrected.status, corrected.expected) == ("corrected", None)


def test_tiny_steps_have_too_many_states_to_list_and_a_worst_case_of_bounded_size() -> None:
    mechanism = ProjectedWalkOverview(epsilon=1e-5)
    assert mechanism.reachable() is None
    (case,) = mechanism.pairs()
    assert len(case.pairs.base) == MAX_STATES + 2
    assert ProjectedWalkOverview(epsilon=0.01).reachable() is not None


def test_summed_ties_do_not_see_the_order_and_indexed_ties_do() -> None:
    """Up, stopped at 0.95, stopped there, down to 0.349; every other order ends at 0.95."""
    orders = list(itertools.permutations([(1, 0), (1, 1), (1, 1)]))
    for ties, different in (("sum", 1), ("index", 2)):
        mechanism = ProjectedWalkOverview(ties=ties)  # type: ignore[arg-type]
        laws = [
            mechanism.distribution(mechanism.prepare(data_of(list(order))), QUERIES).p[1, 1]
            for order in orders
        ]
        assert len(set(laws)) == different


def test_the_other_features_are_ignored() -> None:
    rng = np.random.default_rng(0)
    X, y, queries = rng.normal(size=(20, 3)), rng.integers(2, size=20), rng.normal(size=(5, 3))
    one, alone = ProjectedWalkOverview(feature=1), ProjectedWalkOverview()
    law = one.distribution(one.prepare(Labelled(X, y)), queries)
    np.testing.assert_array_equal(
        law.log_p, alone.distribution(alone.prepare(Labelled(X[:, 1:2], y)), queries[:, 1:2]).log_p
    )
