"""Lemma 5.2 (empirical error of the projected walk) by brute force. It holds for summed ties and
fails for indexed ones."""

from __future__ import annotations

import itertools
import math
from typing import Literal

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk as twin
from tests.mechanisms.dwork_feldman_2018.twin_projected_walk import Record

Ties = Literal["sum", "index"]
ROUNDING = 1e-12


def error_of(dataset: tuple[Record, ...], epsilon: float, T: int, ties: Ties) -> float:
    """Err_S(M(S)) from the mechanism's own law."""
    data = Labelled(np.array([[float(x)] for x, _ in dataset]), np.array([y for _, y in dataset]))
    mechanism = ProjectedWalk(epsilon=epsilon, T=T, ties=ties)
    law = mechanism.distribution(mechanism.prepare(data), data.X)
    return float(np.mean(law.p[np.arange(len(data)), 1 - data.y]))


def datasets(n: int, points: int) -> list[tuple[Record, ...]]:
    """All datasets of n records, sorted. The summed walk cannot tell the orders of one apart
    (test_projected_walk)."""
    records = list(itertools.product(range(1, points + 1), (0, 1)))
    return list(itertools.combinations_with_replacement(records, n))


def assert_lemma(n: int, points: int, Ts: tuple[int, ...], epsilons: tuple[float, ...]) -> float:
    """Check every dataset. Return the largest share of the allowance (k + 2) T / n that was
    needed."""
    needed = -math.inf
    for dataset in datasets(n, points):
        best = [twin.best_union(dataset, points, k) for k in (1, 2, 3)]
        for T, epsilon in itertools.product(Ts, epsilons):
            error = error_of(dataset, epsilon, T, "sum")
            assert error == pytest.approx(
                twin.empirical_error(dataset, epsilon, T, "sum"), abs=ROUNDING
            )
            for k, opt in enumerate(best, start=1):
                if math.isinf(opt):
                    continue
                excess = error - opt - math.exp(-epsilon * T / 2)
                allowance = (k + 2) * T / n
                assert ProjectedWalk(epsilon=epsilon, T=T).excess_error(n, k) == pytest.approx(
                    allowance + math.exp(-epsilon * T / 2)
                )
                assert excess <= allowance + ROUNDING, (dataset, T, epsilon, k)
                needed = max(needed, excess / allowance)
    return needed


@pytest.mark.parametrize("points", [1, 3])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_holds_for_summed_ties(n: int, points: int) -> None:
    assert_lemma(n, points, Ts=(1, 2, 3), epsilons=(0.5, 6.0))


@pytest.mark.slow
def test_holds_for_summed_ties_of_larger_datasets() -> None:
    assert assert_lemma(8, 3, Ts=(1, 2), epsilons=(12.0,)) > 0.1


def test_the_best_union_of_intervals_by_hand() -> None:
    """0 1 0 1 on the points 1..4: a threshold errs once, one interval once, three ends never."""
    dataset = ((1, 0), (2, 1), (3, 0), (4, 1))
    assert [twin.best_union(dataset, 4, k) for k in (1, 2, 3)] == [0.25, 0.25, 0.0]
    assert twin.best_union(((1, 1),), 1, 3) == math.inf
