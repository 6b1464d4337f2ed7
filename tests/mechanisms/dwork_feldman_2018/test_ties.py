"""Lemma 5.2 fails for `ties="index"`. The smallest counterexample, in whole numbers, and that
nothing smaller does it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk as twin
from tests.mechanisms.dwork_feldman_2018.twin_projected_walk import Record

WITNESS: tuple[Record, ...] = ((1, 0),) * 6 + ((1, 1),) * 2
EPSILON = 2 * math.log(16)
"""e^(epsilon T / 2) = 16 for T = 1."""


def law_error(dataset: tuple[Record, ...], mechanism: ProjectedWalk) -> float:
    """Err_S(M(S)) from the mechanism's own law."""
    data = Labelled(np.array([[float(x)] for x, _ in dataset]), np.array([y for _, y in dataset]))
    law = mechanism.distribution(mechanism.prepare(data), data.X)
    return float(np.mean(law.p[np.arange(len(data)), 1 - data.y]))


def test_eight_examples_at_one_point_refute_the_lemma_for_indexed_ties() -> None:
    """Six zeros, then two ones, T = 1. The walk ends at +1 and answers 1 with probability 16/17
    where 6 of 8 are 0."""
    error = Fraction(6, 8) * Fraction(16, 17) + Fraction(2, 8) * Fraction(1, 17)
    bound = Fraction(2, 8) + Fraction((1 + 2) * 1, 8) + Fraction(1, 16)
    assert (error, bound) == (Fraction(49, 68), Fraction(11, 16))
    assert error > bound
    indexed = ProjectedWalk(epsilon=EPSILON, T=1, ties="index")
    assert law_error(WITNESS, indexed) == pytest.approx(float(error), abs=1e-12)
    assert twin.empirical_error(WITNESS, EPSILON, 1, "index") == pytest.approx(
        float(error), abs=1e-12
    )
    assert twin.lemma_5_2_bound(WITNESS, EPSILON, 1, points=1, k=1) == pytest.approx(
        float(bound), abs=1e-12
    )


def test_summed_ties_repair_it() -> None:
    """The two ones cancel two of the zeros; the walk ends at -1, on the side of the majority."""
    summed = ProjectedWalk(epsilon=EPSILON, T=1, ties="sum")
    expected = Fraction(6, 8) * Fraction(1, 17) + Fraction(2, 8) * Fraction(16, 17)
    assert law_error(WITNESS, summed) == pytest.approx(float(expected), abs=1e-12)
    assert expected < Fraction(11, 16)


def test_the_witness_starts_to_hold_at_epsilon_4_92() -> None:
    """1/4 + 1/(2 (1 + q)) = 5/8 + q at q = e^(-epsilon / 2) = 0.0856."""
    for epsilon, refuted in ((4.91, False), (4.92, True)):
        error = twin.empirical_error(WITNESS, epsilon, 1, "index")
        assert (error > twin.lemma_5_2_bound(WITNESS, epsilon, 1, points=1, k=1)) == refuted


def test_the_default_parameters_fail_too() -> None:
    """T = 8, epsilon = 1. 84 zeros and then 16 ones at one point err on 0.83 of the examples, where
    0.42 is allowed."""
    dataset = ((1, 0),) * 84 + ((1, 1),) * 16
    mechanism = ProjectedWalk(ties="index")
    error = law_error(dataset, mechanism)
    assert error == pytest.approx(0.8277, abs=1e-4)
    assert mechanism.excess_error(100, 1) + 0.16 == pytest.approx(0.4183, abs=1e-4)


def ordered_datasets(n: int, points: int) -> Iterator[tuple[Record, ...]]:
    """All datasets of n examples on exactly the points 1..points, sorted by x. The labels of ties
    in every order."""
    for cuts in itertools.combinations(range(1, n), points - 1):
        xs = [1 + sum(i >= cut for cut in cuts) for i in range(n)]
        for ys in itertools.product((0, 1), repeat=n):
            yield tuple(zip(xs, ys, strict=True))


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
def test_fewer_than_eight_examples_do_not(n: int) -> None:
    """On up to three points. T = 1, as (k + 2) T / n would be 6/7 and more for T = 2, and k = 1,
    which allows least."""
    for points in range(1, 4):
        for dataset in ordered_datasets(n, points):
            allowed = twin.best_union(dataset, points, 1) + 3 / n
            for epsilon in (1.0, 5.0, 10.0, 100.0):
                assert (
                    twin.empirical_error(dataset, epsilon, 1, "index")
                    <= allowed + math.exp(-epsilon / 2) + 1e-12
                )


def test_the_same_search_finds_the_witness_among_eight() -> None:
    found = [
        dataset
        for dataset in ordered_datasets(8, 1)
        if twin.empirical_error(dataset, EPSILON, 1, "index")
        > twin.lemma_5_2_bound(dataset, EPSILON, 1, points=1, k=1) + 1e-12
    ]
    assert WITNESS in found
    assert all(sum(y for _, y in dataset) in (2, 6) for dataset in found)
