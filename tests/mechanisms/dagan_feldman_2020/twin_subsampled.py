"""Twin of subsampling (Dagan and Feldman 2020, Lemma 5). Every subset, or every sequence of
different records, one by one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

Dataset = tuple[Any, ...]
Law = Callable[[Dataset, Any], float]
"""Probability of the answer 1 for a dataset and a query."""


def kept(dataset: Dataset, query: Any, size: int, base: Law) -> float:
    """Average over all subsets, records in the order of the dataset."""
    every = [base(T, query) for T in itertools.combinations(dataset, size)]
    return math.fsum(every) / len(every)


def shuffled(dataset: Dataset, query: Any, size: int, base: Law) -> float:
    """Average over all subsets in all orders."""
    every = [base(T, query) for T in itertools.permutations(dataset, size)]
    return math.fsum(every) / len(every)
