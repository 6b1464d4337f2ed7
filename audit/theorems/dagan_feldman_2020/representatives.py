"""A^sta with representatives "chosen arbitrarily": the worst of all choices, on small classes.

A choice gives each set T one function of H for each labelling of T. What different sets are given
is independent, and the change of P[h(x) = 1] is a sum over the sets that T may be, so that its
largest value over all choices is a sum of largest values (docs/findings.md, 'Worst
representatives').
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpassay.mechanisms.dagan_feldman_2020.subsets import hits
from dpassay.mechanisms.shared.classes import class_of
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

Array = NDArray[np.float64]


def worst_of_all_choices(H: str, points: int, n: int, size: int, epsilon: float) -> float:
    """Return the largest change of a label's probability over all choices, datasets and neighbours.

    The class H is on the line {1, ..., points}, see `classes.class_of`. `n` is the number of
    records of a dataset, `size` that of T, epsilon that of the exponential mechanism.
    """
    X = np.arange(1.0, points + 1)[:, None]
    found = class_of(H, points=points, feature=0, feature2=1)
    functions = found.predict(found.representatives(X, "least"), X)  # all of H, on the domain
    records = list(itertools.product(range(points), (False, True)))
    every = list(itertools.combinations_with_replacement(range(len(records)), n))
    place = {each: number for number, each in enumerate(every)}
    near = np.array(
        [
            [place[tuple(sorted((*rest, record)))] for record in range(len(records))]
            for rest in itertools.combinations_with_replacement(range(len(records)), n - 1)
        ]
    )
    one, other = (near[:, each].ravel() for each in _pairs(len(records)))
    wrong = np.array([functions[:, x] != y for x, y in records])
    weights = np.exp(-epsilon / 2 * np.array([wrong[list(each)].sum(axis=0) for each in every]))
    chances = _chances([[records[record][0] for record in each] for each in every], points, size)
    change = np.zeros((points, len(one)))
    for T, chance in chances.items():
        worst = np.full_like(change, -np.inf)
        alike: dict[bytes, list[int]] = {}
        for number, labels in enumerate(functions[:, list(T)]):
            alike.setdefault(labels.tobytes(), []).append(number)
        for chosen in map(list, itertools.product(*alike.values())):
            w = weights[:, chosen]
            law = chance * ((w / w.sum(axis=1, keepdims=True)) @ functions[chosen]).T
            np.maximum(worst, law[:, one] - law[:, other], out=worst)
        change += worst
    return float(change.max())


def _pairs(count: int) -> NDArray[np.int64]:
    return np.array(list(itertools.permutations(range(count), 2))).T


def _chances(places: list[list[int]], points: int, size: int) -> dict[tuple[int, ...], Array]:
    """Return for each set of points how likely T is that set, of each dataset."""
    found: dict[tuple[int, ...], Array] = {}
    for number, each in enumerate(places):
        told = hits(np.bincount(each, minlength=points), size, often=False)
        if told is None:
            raise ArithmeticError(f"size = {size}: too many sets that T may be")
        for hit, p in zip(*told, strict=True):
            T = tuple(np.flatnonzero(hit).tolist())
            found.setdefault(T, np.zeros(len(places)))[number] += p
    return found


def cases(effort: Effort) -> Iterator[Case]:
    """Small classes, few records."""
    small = (("thresholds", 3), ("intervals", 3), ("functions", 2))
    for (H, points), n, gamma in itertools.product(
        effort.of(small, (*small, ("thresholds", 5), ("functions", 3))), (3, 4), (0.25, 0.5)
    ):
        if gamma * n >= 1:
            yield {"H": H, "points": points, "n": n, "gamma": gamma}


def all_choices(H: str, points: int, n: int, gamma: float) -> Measured:
    """Lemma 7: n' = floor(gamma n), epsilon = gamma, against 3 gamma."""
    size = math.floor(gamma * n)
    found = worst_of_all_choices(H, points, n, size, gamma)
    return computed(3 * gamma, found, 256 * UNIT_ROUNDOFF * n * 2**points)


ROWS = (
    Row(
        key="dagan-feldman-2020/lemma-7/all-representatives",
        checks="n' <= gamma n, parameter gamma: 3 gamma-stable, whatever H_T is chosen",
        quantity="largest change of a label's probability over all choices of representatives",
        method="exact",
        domain="thresholds, intervals and all functions on 2 or 3 points; all datasets of 3 or 4",
        cases=cases,
        measure=all_choices,
    ),
)
