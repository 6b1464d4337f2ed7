"""Theorem 4.3: slow twins of what they are made with."""

from __future__ import annotations

import itertools
import math

import pytest
from scipy.stats import binom

from dpassay.theorems.dwork_feldman_2018.private_learning import (
    is_private,
    least_error,
    wrong,
)


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.9])
def test_the_learner_of_constants_by_all_datasets(n: int, epsilon: float) -> None:
    a, delta = wrong(n, epsilon, epsilon / 3), epsilon / 3
    assert is_private(a, n, epsilon, delta)

    def one(labels: tuple[int, ...]) -> float:
        lead = abs(2 * sum(labels) - n)
        minority = a[(n - lead) // 2]
        return 1 - minority if 2 * sum(labels) > n else minority

    for labels in itertools.product((0, 1), repeat=n):
        for i in range(n):
            other = (*labels[:i], 1 - labels[i], *labels[i + 1 :])
            p, q = one(labels), one(other)
            assert p <= math.exp(epsilon) * q + delta + 1e-12
            assert 1 - p <= math.exp(epsilon) * (1 - q) + delta + 1e-12


def test_a_bolder_learner_is_not_private() -> None:
    a = wrong(3, 1.0, 1 / 3)
    assert not is_private([a[0], a[1] - 0.01], 3, 1.0, 1 / 3)


def test_least_error_is_the_sum() -> None:
    n, share, epsilon, delta = 7, 0.2, 0.5, 1 / 6
    total = 0.0
    for t in range(n + 1):
        group = sum(delta * math.exp(epsilon * k) for k in range(t))
        total += float(binom.pmf(t, n, share)) * max(0.0, (1 - group) / (1 + math.exp(epsilon * t)))
    assert least_error(n, share, epsilon, delta) == pytest.approx(total, rel=1e-12)
