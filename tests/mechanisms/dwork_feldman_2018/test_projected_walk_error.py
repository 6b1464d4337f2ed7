"""Errors of the projected walk: Lemma 5.2 and Theorem 5.3, which hold for summed ties alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest

from dpassay.engine.domains.domain import Domain
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk, Ties, Traversed
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_error import ProjectedWalkError
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_risk import ProjectedWalkRisk
from dpassay.mechanisms.dwork_feldman_2018.unions import least_error
from dpassay.targets.resolve import resolve
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk as twin
from tests.mechanisms.dwork_feldman_2018.on_a_line import labelled
from tests.mechanisms.dwork_feldman_2018.twin_projected_walk import Record

TIES: tuple[Ties, ...] = get_args(Ties)
TRAVERSED: tuple[Traversed, ...] = get_args(Traversed)
READINGS = list(itertools.product(TIES, TRAVERSED))


def error_at(
    dataset: tuple[Record, ...],
    record: Record,
    epsilon: float,
    T: int,
    reading: tuple[Ties, Traversed],
) -> float:
    """P[M(S, x) != y] by the twin."""
    (ties, traversed), (x, y) = reading, record
    ordered = tuple(sorted(dataset)) if ties == "label" else dataset
    query = x if traversed == "up-to" else x - 1  # points are whole numbers
    one = twin.probability_of_one(ordered, query, epsilon, T, "sum" if ties == "sum" else "index")
    return 1 - one if y == 1 else one


@pytest.mark.parametrize("reading", READINGS)
def test_the_empirical_error_is_the_twins(reading: tuple[Ties, Traversed]) -> None:
    mechanism = ProjectedWalkError(epsilon=1.5, T=2, n=3, ties=reading[0], traversed=reading[1])
    for dataset in itertools.product(itertools.product((1, 2), (0, 1)), repeat=3):
        error = sum(error_at(dataset, record, 1.5, 2, reading) for record in dataset) / 3
        assert mechanism.prepare(labelled(dataset)) == pytest.approx(
            error - twin.best_union(dataset, 2, 1), abs=1e-14
        )


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_best_union_is_the_twins(k: int) -> None:
    """Points 1 and 4 of 6: room between them and beyond, as the docstring asks."""
    for y in itertools.product((0, 1), repeat=4):
        dataset = tuple(zip((1, 1, 4, 4), y, strict=True))
        ones, zeros = ([dataset.count((x, label)) for x in (1, 4)] for label in (1, 0))
        best = twin.best_union(dataset, 6, k)
        assert least_error(ones, zeros, k) / 4 == pytest.approx(best, abs=1e-15)


@pytest.mark.parametrize("reading", [("sum", "up-to"), ("index", "below"), ("label", "up-to")])
def test_the_expected_error_is_that_of_every_sample(reading: tuple[Ties, Traversed]) -> None:
    """P on two points, six draws: 4^6 samples, each with its walk."""
    mechanism = ProjectedWalkRisk(epsilon=2.0, alpha=0.9, ties=reading[0], traversed=reading[1])
    assert (mechanism.n, mechanism.T) == (6, 1)
    records = ((1, 1), (1, 0), (1, 0), (2, 1))
    errors = [
        error_at(sample, record, 2.0, 1, reading)
        for sample in itertools.product(records, repeat=6)
        for record in records
    ]
    found = mechanism.expected_error(*mechanism.prepare(labelled(records)))
    assert found == pytest.approx(math.fsum(errors) / len(errors), abs=1e-14)


def verified(name: str, parameters: dict[str, Any], n: int, points: int) -> Result:
    """The one result over all datasets of this size."""
    settings = Settings(mode="exhaustive", domain=Domain(n=n, points=points))
    (result,) = assay([resolve(name, parameters)], None, settings)
    assert result.verdict == "verified"
    return result


@pytest.mark.parametrize("n", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_theorem_5_3_holds_for_summed_ties_on_every_small_distribution(n: int) -> None:
    """P uniform over up to three records on two points, where the bound is no empty one."""
    result = verified("projected-walk-risk", {"epsilon": 0.5, "alpha": 0.2}, n, 2)
    assert result.exact is not None
    assert 0 < result.exact < result.claim.promised < 1 - math.exp(0.5) * 0.2


@pytest.mark.parametrize("epsilon", [0.5, 6.0])
@pytest.mark.parametrize(
    ("n", "points", "T", "k"),
    [
        *((1, 1, 1, 1), (3, 3, 1, 2), (4, 3, 2, 1), (5, 1, 3, 1), (5, 2, 1, 3)),
        pytest.param(8, 3, 1, 1, marks=pytest.mark.slow),
    ],
)
def test_lemma_5_2_holds_for_summed_ties_on_every_small_dataset(
    n: int, points: int, T: int, k: int, epsilon: float
) -> None:
    verified("projected-walk-error", {"epsilon": epsilon, "T": T, "k": k, "n": n}, n, points)


def test_ties_by_label_are_the_records_in_order() -> None:
    data = labelled(((1, 1), (1, 0), (0, 1), (1, 1), (1, 0)))
    by_label, given = ProjectedWalk(T=1, ties="label"), ProjectedWalk(T=1, ties="index")
    ordered = labelled(((0, 1), (1, 0), (1, 0), (1, 1), (1, 1)))
    np.testing.assert_array_equal(by_label.prepare(data).values, given.prepare(ordered).values)
    assert by_label.prepare(data).values[-1] == 1
    assert given.prepare(data).values[-1] == 0


@pytest.mark.parametrize("ties", TIES)
def test_smaller_points_only_keep_lemma_5_1(ties: Ties) -> None:
    """Every dataset of three records over three points; the worst is that of the walk up to x."""
    found = {
        verified("projected-walk", {"T": 2, "ties": ties, "traversed": each}, 3, 3).exact
        for each in TRAVERSED
    }
    assert len(found) == 1


def test_a_sum_that_would_take_long_is_no_law() -> None:
    ones = np.ones(1000, dtype=int)
    law = ProjectedWalkRisk(epsilon=0.01).distribution((ones, ones), np.zeros((1, 1)))
    assert law is None


def test_the_best_union_of_intervals_by_hand() -> None:
    """0 1 0 1 on the points 1..4: a threshold errs once, one interval once, three ends never."""
    dataset = ((1, 0), (2, 1), (3, 0), (4, 1))
    assert [twin.best_union(dataset, 4, k) for k in (1, 2, 3)] == [0.25, 0.25, 0.0]
    assert twin.best_union(((1, 1),), 1, 3) == math.inf


# Indexed ties


def error_of(dataset: tuple[Record, ...], epsilon: float, T: int, ties: Ties) -> float:
    """Err_S(M(S)) from the mechanism's own law."""
    data, mechanism = labelled(dataset), ProjectedWalk(epsilon=epsilon, T=T, ties=ties)
    law = mechanism.distribution(mechanism.prepare(data), data.X)
    return float(np.mean(law.p[np.arange(len(data)), 1 - data.y]))


WITNESS: tuple[Record, ...] = ((1, 0),) * 6 + ((1, 1),) * 2
EPSILON = 2 * math.log(16)
"""e^(epsilon T / 2) = 16 for T = 1."""


def test_eight_examples_at_one_point_refute_the_lemma_for_indexed_ties() -> None:
    """Six zeros, then two ones, T = 1. The walk ends at +1 and answers 1 with probability 16/17
    where 6 of 8 are 0."""
    error = Fraction(6, 8) * Fraction(16, 17) + Fraction(2, 8) * Fraction(1, 17)
    bound = Fraction(2, 8) + Fraction((1 + 2) * 1, 8) + Fraction(1, 16)
    assert (error, bound) == (Fraction(49, 68), Fraction(11, 16))
    assert error > bound
    assert error_of(WITNESS, EPSILON, 1, "index") == pytest.approx(float(error), abs=1e-12)
    by_twin = twin.empirical_error(WITNESS, EPSILON, 1, "index")
    assert by_twin == pytest.approx(float(error), abs=1e-12)
    allowed = twin.lemma_5_2_bound(WITNESS, EPSILON, 1, points=1, k=1)
    assert allowed == pytest.approx(float(bound), abs=1e-12)


def test_summed_ties_repair_it() -> None:
    """The two ones cancel two of the zeros; the walk ends at -1, on the side of the majority."""
    expected = Fraction(6, 8) * Fraction(1, 17) + Fraction(2, 8) * Fraction(16, 17)
    assert error_of(WITNESS, EPSILON, 1, "sum") == pytest.approx(float(expected), abs=1e-12)
    assert expected < Fraction(11, 16)


def test_the_witness_starts_to_hold_at_epsilon_4_92() -> None:
    """1/4 + 1/(2 (1 + q)) = 5/8 + q at q = e^(-epsilon / 2) = 0.0856."""
    for epsilon, refuted in ((4.91, False), (4.92, True)):
        error = twin.empirical_error(WITNESS, epsilon, 1, "index")
        assert (error > twin.lemma_5_2_bound(WITNESS, epsilon, 1, points=1, k=1)) == refuted


def test_the_default_parameters_fail_too() -> None:
    """84 zeros and then 16 ones at one point err on 0.83 of the examples; 0.42 is allowed."""
    mechanism = ProjectedWalk(ties="index")
    error = error_of(((1, 0),) * 84 + ((1, 1),) * 16, mechanism.epsilon, mechanism.T, "index")
    assert error == pytest.approx(0.8277, abs=1e-4)
    assert mechanism.excess_error(100, 1) + 0.16 == pytest.approx(0.4183, abs=1e-4)


def ordered_datasets(n: int, points: int) -> Iterator[tuple[Record, ...]]:
    """All datasets on exactly the points 1..points, sorted by x, ties in every order."""
    for cuts in itertools.combinations(range(1, n), points - 1):
        xs = [1 + sum(i >= cut for cut in cuts) for i in range(n)]
        for ys in itertools.product((0, 1), repeat=n):
            yield tuple(zip(xs, ys, strict=True))


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
def test_fewer_than_eight_examples_do_not(n: int) -> None:
    """T = 1, as (k + 2) T / n would be 6/7 and more for T = 2; k = 1, which allows least."""
    for points in range(1, 4):
        for dataset in ordered_datasets(n, points):
            allowed = twin.best_union(dataset, points, 1) + 3 / n
            for epsilon in (1.0, 5.0, 10.0, 100.0):
                error = twin.empirical_error(dataset, epsilon, 1, "index")
                assert error <= allowed + math.exp(-epsilon / 2) + 1e-12


def test_the_same_search_finds_the_witness_among_eight() -> None:
    found = [
        dataset
        for dataset in ordered_datasets(8, 1)
        if twin.empirical_error(dataset, EPSILON, 1, "index")
        > twin.lemma_5_2_bound(dataset, EPSILON, 1, points=1, k=1) + 1e-12
    ]
    assert WITNESS in found
    assert all(sum(y for _, y in dataset) in (2, 6) for dataset in found)
