"""Slow twins of the algorithms of section 6.1 of Chaudhuri and Vinterbo (2013), line by line."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

Record = tuple[int, ...]


def f(dataset: Sequence[Record], i: int) -> float:
    """Share of the records whose bit i is 1."""
    return sum(record[i] for record in dataset) / len(dataset)


def weights(dataset: Sequence[Record], alpha: float) -> list[float]:
    """e^(n alpha f(D, i) / 4)."""
    return [math.exp(len(dataset) * alpha * f(dataset, i) / 4) for i in range(len(dataset[0]))]


def e_0(dataset: Sequence[Record], alpha: float, r: float) -> int:
    """The map E_0."""
    w = weights(dataset, alpha)
    for i in range(len(w)):
        if sum(w[:i]) <= r * sum(w) <= sum(w[: i + 1]):
            return i
    raise AssertionError


def f_a(dataset: Sequence[Record], alpha: float, R: Sequence[float]) -> tuple[int, list[float]]:
    """F_A(D, alpha, R): index and values."""
    l, n = len(dataset[0]), len(dataset)  # noqa: E741
    return e_0(dataset, alpha, R[0]), [
        f(dataset, i) + 2 * l * R[i + 1] / (alpha * n) for i in range(l)
    ]


def f_a_prime(
    dataset: Sequence[Record], alpha: float, R: Sequence[float]
) -> tuple[int, list[float]]:
    """F_A'(D, alpha, R)."""
    l, n = len(dataset[0]), len(dataset)  # noqa: E741
    t = [f(dataset, i) + l * R[i] / (alpha * n) for i in range(l)]
    return t.index(max(t)), t


def above(z: float) -> float:
    """P[R >= z], R standard Laplace."""
    return math.exp(-z) / 2 if z >= 0 else 1 - math.exp(z) / 2


def probabilities(
    dataset: Sequence[Record], alpha: float, bits: Record, index: bool
) -> dict[tuple[int, ...], float]:
    """Law of (i*, [t_1 >= u_1], ...) of A for queries u in {0, 1}^l; without i* that of A'."""
    l, n = len(dataset[0]), len(dataset)  # noqa: E741
    w, scale = weights(dataset, alpha), (2 if index else 1) * l / (alpha * n)
    found = {}
    for chosen in range(l) if index else (0,):
        for pattern in itertools.product((0, 1), repeat=l):
            p = w[chosen] / sum(w) if index else 1.0
            for i, bit in enumerate(pattern):
                high = above((bits[i] - f(dataset, i)) / scale)
                p *= high if bit else above((f(dataset, i) - bits[i]) / scale)
            found[(chosen, *pattern)] = p
    return found


def neighbours(dataset: Sequence[Record]) -> list[tuple[Record, ...]]:
    """All datasets with one record replaced."""
    records = list(itertools.product((0, 1), repeat=len(dataset[0])))
    return [
        (*dataset[:j], other, *dataset[j + 1 :])
        for j in range(len(dataset))
        for other in records
        if other != dataset[j]
    ]


def worst_loss(n: int, l: int, alpha: float, index: bool) -> float:  # noqa: E741
    """Largest loss over all datasets of n records, their neighbours, queries and answers."""
    records, worst = list(itertools.product((0, 1), repeat=l)), 0.0
    for dataset in itertools.combinations_with_replacement(records, n):
        for bits in records:
            p = probabilities(dataset, alpha, bits, index)
            for other in neighbours(dataset):
                q = probabilities(other, alpha, bits, index)
                worst = max(worst, *(abs(math.log(p[answer] / q[answer])) for answer in p))
    return worst
