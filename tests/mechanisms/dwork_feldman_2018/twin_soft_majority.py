"""Twin of the soft majority vote (Theorem 4.1, and the overview of section 4.1). Pure Python, one
dataset at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

Record = tuple[int, int]
Learner = Callable[[list[Record], int], int]
"""The label that the model trained on a block gives at a query."""


def majority(block: list[Record], query: int) -> int:
    """Answer the more frequent label, 0 where both are as frequent."""
    ones = sum(y for _, y in block)
    return 1 if ones > len(block) - ones else 0


def splitting_at_the_middle(block: list[Record], query: int) -> int:
    """Answer as a decision tree on at most two records does. The label on the query's side of the
    middle, if there are sides."""
    if len(block) == 1 or block[0][1] == block[1][1]:
        return block[0][1]
    (x0, y0), (x1, y1) = sorted(block)
    if x0 == x1:
        return 0
    return y0 if query <= (x0 + x1) / 2 else y1


def theorem(
    dataset: tuple[Record, ...], query: int, epsilon: float, r: int, learner: Learner
) -> float:
    """P[1] = e^(epsilon v / 2) / (1 + e^(epsilon v / 2)), v = 2 |{i : f_i(x) = 1}| - r. Record i is
    in block i mod r."""
    v = 2 * _votes(dataset, query, r, learner) - r
    return math.exp(epsilon * v / 2) / (1 + math.exp(epsilon * v / 2))


def overview(
    dataset: tuple[Record, ...], query: int, epsilon: float, r: int, learner: Learner
) -> float:
    """P[b] proportional to e^(epsilon |{i : f_i(x) = b}|)."""
    ones = _votes(dataset, query, r, learner)
    return math.exp(epsilon * ones) / (math.exp(epsilon * ones) + math.exp(epsilon * (r - ones)))


def fresh(
    dataset: tuple[Record, ...],
    query: int,
    epsilon: float,
    r: int,
    learner: Learner,
    answer: Callable[..., float],
) -> float:
    """Average over all n! orders in which the records may be dealt to the blocks."""
    every = [answer(order, query, epsilon, r, learner) for order in itertools.permutations(dataset)]
    return math.fsum(every) / len(every)


def _votes(dataset: tuple[Record, ...], query: int, r: int, learner: Learner) -> int:
    blocks: list[list[Record]] = [[] for _ in range(r)]
    for i, record in enumerate(dataset):
        blocks[i % r].append(record)
    return sum(learner(block, query) for block in blocks)
