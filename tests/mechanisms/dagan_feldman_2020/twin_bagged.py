"""Twin of bagging (Dagan and Feldman 2020, introduction), of flips, and of risk minimisation.
Fractions and loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

Dataset = tuple[tuple[Any, int], ...]
Learner = Callable[[Dataset, Any], int]
"""The label that the model trained on some records gives at a query."""


def constant_or(learn: Learner) -> Learner:
    """One class makes a constant predictor."""

    def answer(block: Dataset, query: Any) -> int:
        labels = {y for _, y in block}
        return labels.pop() if len(labels) == 1 else learn(block, query)

    return answer


@constant_or
def threshold(block: Dataset, query: float) -> int:
    """1[x >= t] for the first t with the fewest errors, of the points of the block and infinity."""
    candidates = [*sorted({x for x, _ in block}), math.inf]
    errors = [sum((x >= t) != (y == 1) for x, y in block) for t in candidates]
    return int(query >= candidates[errors.index(min(errors))])


@constant_or
def corner(block: Dataset, query: tuple[float, float]) -> int:
    """1[x_1 >= a and x_2 >= b] with the fewest errors; of equal ones that with no 1, then the first
    by a and then by b."""
    found = [(sum(y for _, y in block), -1, (math.inf, math.inf))]
    cells = itertools.product(sorted({x[0] for x, _ in block}), sorted({x[1] for x, _ in block}))
    for place, (a, b) in enumerate(cells):
        inside = [x for x, _ in block if x[0] >= a and x[1] >= b]
        if inside:
            smallest = (min(x[0] for x in inside), min(x[1] for x in inside))
            errors = sum((x[0] >= a and x[1] >= b) != (y == 1) for x, y in block)
            found.append((errors, place, smallest))
    _, _, (a, b) = min(found)
    return int(query[0] >= a and query[1] >= b)


def majority(block: Dataset, query: Any) -> int:
    """Answer the more frequent label, 0 where both are as frequent."""
    return int(2 * sum(y for _, y in block) > len(block))


def disjoint(dataset: Dataset, query: Any, r: int, learner: Learner) -> Fraction:
    """Share of the r blocks whose model answers 1; record i is in block i mod r."""
    return Fraction(sum(learner(dataset[j::r], query) for j in range(r)), r)


def subset(dataset: Dataset, query: Any, r: int, learner: Learner) -> Fraction:
    """Share of the subsets of floor(n / r) records whose model answers 1."""
    every = [learner(T, query) for T in itertools.combinations(dataset, len(dataset) // r)]
    return Fraction(sum(every), len(every))


def flipped(p: Fraction, alpha: Fraction) -> Fraction:
    """P[1] after a flip with probability alpha."""
    return (1 - alpha) * p + alpha * (1 - p)


def worst_changes(
    law: Callable[[Dataset, Any], Fraction], n: int, places: list[Any]
) -> list[tuple[Fraction, float]]:
    """Largest change of a label's probability, and largest loss, per query. All datasets,
    neighbours and labels."""
    records = [(x, y) for x in places for y in (0, 1)]
    found = []
    for query in places:
        one = {dataset: law(dataset, query) for dataset in itertools.product(records, repeat=n)}
        gamma, loss = Fraction(0), 0.0
        for dataset, p in one.items():
            for i, other in itertools.product(range(n), records):
                q = one[(*dataset[:i], other, *dataset[i + 1 :])]
                gamma = max(gamma, abs(p - q))
                for here, there in ((p, q), (1 - p, 1 - q)):
                    loss = max(
                        loss,
                        (math.inf if there == 0 else math.log(here / there)) if here > 0 else 0.0,
                    )
        found.append((gamma, loss))
    return found
