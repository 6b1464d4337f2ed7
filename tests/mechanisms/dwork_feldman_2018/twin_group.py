"""Twin of group privacy (Lemma 3.1). All datasets that differ in at most k records, and the chain
of replacements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

Record = tuple[int, int]
Dataset = tuple[Record, ...]
Law = Callable[[Dataset, int], float]
"""Probability of the answer 1 for a dataset and a query point."""


def groups_apart(n: int, points: int, k: int) -> list[tuple[Dataset, Dataset]]:
    """All ordered pairs of datasets of n records that differ in at most k places."""
    records = [(x, y) for x in range(1, points + 1) for y in (0, 1)]
    every = list(itertools.product(records, repeat=n))
    return [
        (one, other)
        for one in every
        for other in every
        if 0 < sum(a != b for a, b in zip(one, other, strict=True)) <= k
    ]


def worst_losses(law: Law, n: int, points: int, k: int) -> list[float]:
    """Largest privacy loss per query point, over all these pairs and both labels."""
    pairs = groups_apart(n, points, k)
    worst = []
    for query in range(1, points + 1):
        largest = 0.0
        for one, other in pairs:
            p, q = law(one, query), law(other, query)
            largest = max(largest, math.log(p / q), math.log((1 - p) / (1 - q)))
        worst.append(largest)
    return worst


def chain(k: int, epsilon: float, delta: float) -> tuple[float, float]:
    """(epsilon, delta) after k replacements. P[E] <= e^epsilon' P'[E] + delta', and P'[E] <=
    e^epsilon P''[E] + delta."""
    factor, slack = 1.0, 0.0
    for _ in range(k):
        factor, slack = factor * math.exp(epsilon), slack + factor * delta
    return math.log(factor), slack
