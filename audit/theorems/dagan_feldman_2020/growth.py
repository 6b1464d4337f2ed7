"""Lemma 2 (Sauer-Shelah): both inequalities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from dpassay.mechanisms.shared.vc import sauer_shelah
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed


def classes_cases(effort: Effort) -> Iterator[Case]:
    """Every class of functions on so many points, as a bit set of its functions."""
    for points in range(1, effort.of(3, 4) + 1):
        for functions in range(1, 2 ** (2**points)):
            yield {"points": points, "functions": functions}


def classes(points: int, functions: int) -> Measured:
    """Labellings that a class gives to all its points, against the sum of C(n, i) to its d."""
    labellings = [each for each in range(2**points) if functions >> each & 1]
    d = max(
        size
        for size in range(points + 1)
        for chosen in itertools.combinations(range(points), size)
        if _shatters(labellings, sum(1 << each for each in chosen), size)
    )
    return computed(sauer_shelah(d, points), len(labellings), 0.0)


def _shatters(labellings: list[int], mask: int, size: int) -> bool:
    return len({each & mask for each in labellings}) == 1 << size


def powers_cases(effort: Effort) -> Iterator[Case]:
    """Every d from 1 on (for d = 0 the right side is not defined), n > d + 1."""
    for d in range(1, effort.of(20, 60)):
        for n in (*range(d + 2, d + 12), 3 * d + 20, 1000):
            yield {"d": d, "n": n}


def powers(d: int, n: int) -> Measured:
    """Logarithm of the sum, against that of (e n / d)^d."""
    claimed = d * (1 + math.log(n / d))
    return computed(claimed, math.log(sauer_shelah(d, n)), 64 * UNIT_ROUNDOFF * (1 + claimed))


ROWS = (
    Row(
        key="dagan-feldman-2020/lemma-2/classes",
        checks="tau_n(H) is at most the sum of C(n, i), i <= d",
        quantity="number of labellings",
        method="exact",
        domain="every class of functions on 1, 2 and 3 points, n all of them",
        cases=classes_cases,
        measure=classes,
    ),
    Row(
        key="dagan-feldman-2020/lemma-2/powers",
        checks="the sum is at most (en/d)^d; printed (em/d)^d, m = n",
        quantity="logarithm of the sum",
        method="exact",
        domain="d = 1, ..., 19, twelve n > d + 1 each, up to 1,000",
        cases=powers_cases,
        measure=powers,
    ),
)
