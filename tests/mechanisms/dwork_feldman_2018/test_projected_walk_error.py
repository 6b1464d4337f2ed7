"""Errors of the projected walk against brute force. Lemma 5.2 on every small dataset, Theorem 5.3
on every sample."""

from __future__ import annotations

import itertools
import math
from typing import get_args

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.engine.domains.domain import Domain
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk, Ties, Traversed
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_error import ProjectedWalkError
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_risk import ProjectedWalkRisk
from dpassay.mechanisms.dwork_feldman_2018.unions import least_error
from dpassay.targets.resolve import resolve
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk as twin
from tests.mechanisms.dwork_feldman_2018.twin_projected_walk import Record

TIES: tuple[Ties, ...] = get_args(Ties)
TRAVERSED: tuple[Traversed, ...] = get_args(Traversed)
READINGS = list(itertools.product(TIES, TRAVERSED))


def labelled(dataset: tuple[Record, ...]) -> Labelled:
    return Labelled(np.array([[float(x)] for x, _ in dataset]), np.array([y for _, y in dataset]))


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
@pytest.mark.parametrize("n", [1, 3])
def test_the_empirical_error_is_the_twins(n: int, reading: tuple[Ties, Traversed]) -> None:
    mechanism = ProjectedWalkError(epsilon=1.5, T=2, n=n, ties=reading[0], traversed=reading[1])
    for dataset in itertools.product(itertools.product((1, 2), (0, 1)), repeat=n):
        error = sum(error_at(dataset, record, 1.5, 2, reading) for record in dataset) / n
        assert mechanism.prepare(labelled(dataset)) == pytest.approx(
            error - twin.best_union(dataset, 2, 1), abs=1e-14
        )


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_best_union_is_the_twins(k: int) -> None:
    """Points 1 and 4 of 6: room between them and beyond, as the docstring asks."""
    for y in itertools.product((0, 1), repeat=4):
        dataset = tuple(zip((1, 1, 4, 4), y, strict=True))
        ones, zeros = (
            [sum(record == (x, label) for record in dataset) for x in (1, 4)] for label in (1, 0)
        )
        assert least_error(ones, zeros, k) / 4 == pytest.approx(
            twin.best_union(dataset, 6, k), abs=1e-15
        )


@pytest.mark.parametrize("reading", [("sum", "up-to"), ("index", "below"), ("label", "up-to")])
def test_the_expected_error_is_that_of_every_sample(reading: tuple[Ties, Traversed]) -> None:
    """P on two points, six draws: 4^6 samples, each with its walk."""
    mechanism = ProjectedWalkRisk(epsilon=2.0, alpha=0.9, ties=reading[0], traversed=reading[1])
    assert (mechanism.n, mechanism.T) == (6, 1)
    records = ((1, 1), (1, 0), (1, 0), (2, 1))
    errors = []
    for sample in itertools.product(records, repeat=6):
        errors += [error_at(sample, record, 2.0, 1, reading) for record in records]
    ones, zeros = mechanism.prepare(labelled(records))
    assert mechanism.expected_error(ones, zeros) == pytest.approx(
        math.fsum(errors) / len(errors), abs=1e-14
    )


@pytest.mark.parametrize("n", [1, 2, 3])
def test_theorem_5_3_holds_for_summed_ties_on_every_small_distribution(n: int) -> None:
    """P uniform over up to three records on two points, where the bound is no empty one."""
    target = resolve("projected-walk-risk", {"epsilon": 0.5, "alpha": 0.2})
    (result,) = assay([target], None, Settings(mode="exhaustive", domain=Domain(n=n, points=2)))
    assert result.verdict == "verified"
    assert result.exact is not None
    assert 0 < result.exact < result.claim.promised < 1 - math.exp(0.5) * 0.2


@pytest.mark.parametrize("n", [1, 2, 3])
def test_lemma_5_2_holds_for_summed_ties_on_every_small_dataset(n: int) -> None:
    for T, k in itertools.product((1, 2), (1, 2)):
        target = resolve("projected-walk-error", {"epsilon": 6.0, "T": T, "k": k, "n": n})
        (result,) = assay([target], None, Settings(mode="exhaustive", domain=Domain(n=n, points=3)))
        assert result.verdict == "verified"


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
    found = []
    for traversed in TRAVERSED:
        target = resolve("projected-walk", {"T": 2, "ties": ties, "traversed": traversed})
        (result,) = assay([target], None, Settings(mode="exhaustive", domain=Domain(n=3, points=3)))
        assert result.verdict == "verified"
        found.append(result.exact)
    assert found[0] == found[1]


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match="samples = 75: must be an integer >= 76"):
        ProjectedWalkRisk(samples=75)
    with pytest.raises(InvalidInput, match="k = 0: must be an integer >= 1"):
        ProjectedWalkError(k=0)
    with pytest.raises(InvalidInput, match="n = 3: must be the number of records, 2"):
        ProjectedWalkError(n=3).prepare(labelled(((1, 0), (1, 1))))


def test_a_sum_that_would_take_long_is_no_law() -> None:
    mechanism = ProjectedWalkRisk(epsilon=0.01)
    assert (
        mechanism.distribution(
            (np.ones(1000, dtype=int), np.ones(1000, dtype=int)), np.zeros((1, 1))
        )
        is None
    )
