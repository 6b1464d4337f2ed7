"""Definition 1.1, section 3 and section 6: datasets and events of small cases, one by one."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpassay.theorems.dwork_feldman_2018.divergence import (
    delta_of_a_group,
    group,
    means,
    merged,
    processed,
    ratio,
)
from dpassay.theorems.dwork_feldman_2018.interface import answers, transcript_loss
from dpassay.theorems.dwork_feldman_2018.moments import (
    half,
    markov,
    moment,
    private_table,
    rare,
    searched,
    unseen_law,
    with_delta,
)


def test_the_rare_value_by_all_datasets() -> None:
    """alpha = 1, n = 2: privacy of M(., h), the empirical means, and the chance, one by one."""
    n, epsilon, beta, total = 2, 10.0, 0.06, 0.0
    mean = {0: math.exp(epsilon) * n, 1: n / 1, 2: n / 2}
    most = 2 * math.exp(epsilon) * n
    for S in itertools.product((0, 1), repeat=n):  # 1 is h
        assert sum(mean[sum(S)] for z in S if z) / n <= 1
        for T in itertools.product((0, 1), repeat=n):
            p, q = mean[sum(S)] / most, mean[sum(T)] / most
            if sum(s != t for s, t in zip(S, T, strict=True)) == 1:
                assert max(p / q, (1 - p) / (1 - q)) <= math.exp(epsilon) * (1 + 1e-12)
            new = sum(mean[sum(S)] for z in T if z) / n
            total += 0.5 ** (2 * n) * (new >= math.exp(2 * math.sqrt(epsilon * -math.log(beta))))
    assert rare(2, 0.5, epsilon, beta).lower == pytest.approx(total, abs=1e-9)
    assert beta < math.exp(-epsilon / 4)


def chances(n: int, N: int, a: float, b: float) -> list[list[float]]:
    """P[M(S, z) = B] for all S and z, checked nowhere."""
    return [[a if z in S else b for z in range(N)] for S in itertools.product(range(N), repeat=n)]


def largest_loss(n: int, N: int, a: float, b: float, delta: float) -> float:
    """By all neighbours, all z, and both answers, the excess e^loss over which is delta."""
    datasets = list(itertools.product(range(N), repeat=n))
    p = dict(zip(datasets, chances(n, N, a, b), strict=True))
    worst = 1.0
    for S, T in itertools.product(datasets, repeat=2):
        if sum(s != t for s, t in zip(S, T, strict=True)) == 1:
            for z in range(N):
                worst = max(worst, (p[S][z] - delta) / p[T][z])
                worst = max(worst, (1 - p[S][z] - delta) / (1 - p[T][z]))
    return worst


def slow_moment(n: int, N: int, k: int, a: float, b: float) -> tuple[float, float]:
    """E[E_S'^k] and E[E_S^k], B = 1."""
    datasets, p = list(itertools.product(range(N), repeat=n)), chances(n, N, a, b)
    old = [sum(p[i][z] for z in S) / n for i, S in enumerate(datasets)]
    new = [sum(p[i][z] for z in T) / n for i in range(len(datasets)) for T in datasets]
    return float(np.mean(np.power(new, k))), float(np.mean(np.power(old, k)))


@pytest.mark.parametrize(("n", "N", "k"), [(1, 3, 2), (2, 3, 2), (2, 4, 3), (3, 2, 1)])
def test_the_example_by_all_datasets(n: int, N: int, k: int) -> None:
    a, b = 0.25, 0.5
    assert largest_loss(n, N, a, b, 0.0) == pytest.approx(2.0)
    new, old = slow_moment(n, N, k, a, b)
    assert old == pytest.approx(a**k)
    assert moment(n, k, [2, 1], N).lower == pytest.approx(new / a**k, rel=1e-9)
    assert moment(n, k, [2, 1], N).claimed == 2 ** (k * k)


def test_the_example_with_delta_by_all_datasets() -> None:
    a, b = 1 / 8, 1 / 4 + 0.1
    assert largest_loss(2, 3, a, b, 0.1) == pytest.approx(2.0)
    new, old = slow_moment(2, 3, 2, a, b)
    found = with_delta(2, 2, [2, 1], [1, 10], 3)
    assert found.lower == pytest.approx(new)
    assert found.claimed == pytest.approx(2**4 * (a + 2 * 0.1) ** 2)
    assert old == pytest.approx(a**2)


@pytest.mark.parametrize(("n", "N"), [(1, 3), (2, 4), (3, 3)])
def test_the_law_of_unseen_records_by_all_draws(n: int, N: int) -> None:
    counts = [0] * (n + 1)
    for draw in itertools.product(range(N), repeat=2 * n):
        counts[sum(z not in draw[:n] for z in draw[n:])] += 1
    assert unseen_law(n, N) == [Fraction(c, N ** (2 * n)) for c in counts]


def test_tables_are_private_and_means_are_sums() -> None:
    n, N, factor = 2, 2, 1.5
    given = np.random.default_rng(0).random((N**n, N)) / 3
    table = private_table(given, n, factor)
    datasets = list(itertools.product(range(N), repeat=n))
    assert (table >= given).all()
    for (i, S), (j, T) in itertools.product(enumerate(datasets), repeat=2):
        if sum(s != t for s, t in zip(S, T, strict=True)) == 1:
            assert (table[i] <= factor * table[j] + 1e-15).all()
            assert (1 - table[i] <= factor * (1 - table[j]) + 1e-15).all()
    new = [np.mean([table[i, z] for z in T]) ** 2 for i in range(4) for T in datasets]
    old = [np.mean([table[i, z] for z in S]) ** 2 for i, S in enumerate(datasets)]
    found = searched(given.tolist(), n, 2, factor)
    assert found.lower == pytest.approx(np.mean(new), rel=1e-9)
    assert found.claimed == pytest.approx(factor**4 * np.mean(old))


def test_lemma_6_5_by_hand() -> None:
    found = half(3, 16, 4)
    assert (found.claimed, found.lower) == pytest.approx((1 / 2, 2 / 3))
    assert markov(1, 1, 16, [4, 2]).lower == pytest.approx(0.0, abs=1e-12)


def test_events_merges_and_means_by_hand() -> None:
    p, q = (3, 1, 0), (1, 2, 1)
    assert ratio(p, q, Fraction(0)) == 3
    assert ratio(p, q, Fraction(1, 2)) == 1
    assert ratio((1, 0, 0), (0, 1, 0), Fraction(0)) is None
    assert merged(p, (0, 1, 1)) == (3, 1, 0)
    assert processed(4, [1, 7]).lower <= 1
    assert means(2, [0, 1]).lower == 1.0  # U = B where V = B
    found = delta_of_a_group(2, math.log(2), 0.01)
    assert (found.claimed, found.lower) == pytest.approx((0.04, 0.03))


def test_a_group_by_all_votes() -> None:
    def one(k: int) -> float:
        return 1 / (1 + math.exp(-(2 * k - 3) / 2))

    worst = max(
        abs(math.log(one(a) / one(b))) for a in range(4) for b in range(4) if abs(a - b) <= 2
    )
    assert group(3, 2, 1.0).lower == pytest.approx(worst)


def least_delta(epsilon: float, loss: float, r: int, m: int) -> float:
    """Largest P[E] - e^loss Q[E] of m answers, by any adaptive Q, backwards over the answers."""
    p, q = answers(r, epsilon)

    def best(factor: float, left: int) -> float:
        if left == 0:
            return max(0.0, 1 - factor)
        return max(
            float(
                a * best(factor * b / a, left - 1)
                + (1 - a) * best(factor * (1 - b) / (1 - a), left - 1)
            )
            for a, b in zip(p, q, strict=True)
        )

    return best(math.exp(loss), m)


@pytest.mark.parametrize(("r", "m"), [(1, 1), (2, 2), (3, 3)])
def test_no_adaptive_generator_loses_more(r: int, m: int) -> None:
    worst = transcript_loss(r, 0.7, m)
    assert least_delta(0.7, worst + 1e-9, r, m) == 0.0
    assert least_delta(0.7, worst - 1e-6, r, m) > 0.0
