"""Twin of the exhaustive search: every dataset, neighbour, query and label in pure Python."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

Record = tuple[int, int]
Dataset = tuple[Record, ...]
Law = Callable[[Dataset, int], float]
"""Probability of the answer 1 for a dataset and a query point."""


def every_dataset(n: int, points: int) -> list[Dataset]:
    """All datasets of n records (x, y), x in 1..points, y in {0, 1}, in the order of counting."""
    records = [(x, y) for x in range(1, points + 1) for y in (0, 1)]
    return list(itertools.product(records, repeat=n))


def neighbours(dataset: Dataset, points: int) -> list[Dataset]:
    """All datasets that differ from this one in one record."""
    found = []
    for i in range(len(dataset)):
        for x in range(1, points + 1):
            others = [(x, y) for y in (0, 1) if (x, y) != dataset[i]]
            found += [(*dataset[:i], other, *dataset[i + 1 :]) for other in others]
    return found


def worst_losses(law: Law, n: int, points: int) -> list[float]:
    """Largest privacy loss per query point, over ordered neighbours and both labels."""
    worst = []
    for query in range(1, points + 1):
        one = {dataset: law(dataset, query) for dataset in every_dataset(n, points)}
        largest = 0.0
        for dataset, p in one.items():
            for other in neighbours(dataset, points):
                q = one[other]
                largest = max(largest, math.log(p / q), math.log((1 - p) / (1 - q)))
        worst.append(largest)
    return worst
