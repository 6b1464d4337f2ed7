"""Shrinking: from a pair that shows something to the simplest one that still does.

As Hypothesis shrinks: every candidate is simpler than what it was made from, by an order in which
nothing goes down for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.search.proposals.proposal import Proposal, Space

Numbers = NDArray[np.float64]
Complexity = tuple[int, ...]
"""Integers >= 0 of a fixed number, the first of them the most important."""
PLAIN = 50
"""Whole numbers up to this are simple."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What might be proposed instead: how complicated it is, and the proposal if there is one."""

    complexity: Complexity
    make: Callable[[], Proposal | None]


def shrink(space: Space, found: Proposal, holds: Callable[[Proposal], bool], most: int) -> Proposal:
    """Return the simplest proposal that was found to show the same.

    Parameters
    ----------
    space : Space
        What the proposal was drawn from.
    found : Proposal
        One that shows something.
    holds : callable
        Whether another one shows it too.
    most : int
        How often that is asked at most.
    """
    asked = 0
    simpler = space.smaller(found)
    while asked < most and (candidate := next(simpler, None)) is not None:
        asked += 1
        if holds(candidate):
            found, simpler = candidate, space.smaller(candidate)
    return found


def simplest_first(now: Complexity, candidates: Iterable[Candidate]) -> Iterator[Proposal]:
    """Yield the proposals that are simpler than what there is now, the simplest first."""
    simpler = [each for each in candidates if each.complexity < now]
    for each in sorted(simpler, key=lambda candidate: candidate.complexity):
        if (made := each.make()) is not None:
            yield made


def cost(number: float) -> int:
    """Say how complicated a number is: 0 is simplest, then 1, -1, 2, ..., then fractions."""
    size = abs(number)
    sign = int(number < 0)
    if size <= PLAIN and size == int(size):
        return max(0, 2 * int(size) - 1) + sign
    return 2 * PLAIN + 2 * len(repr(float(size))) + sign


def costs(numbers: Numbers, easy: Sequence[float] = ()) -> int:
    """Say how complicated some numbers are together; easy ones come before all others."""
    ranks = {each: rank for rank, each in enumerate(easy)}
    values, counts = np.unique(numbers, return_counts=True)
    return sum(
        count * ranks.get(value, len(ranks) + cost(value))
        for value, count in zip(values.tolist(), counts.tolist(), strict=True)
    )


def simpler_numbers(number: float) -> list[float]:
    """Return numbers that are simpler than one and near it, or simple at any rate."""
    whole = float(np.trunc(number))
    half, less = float(np.trunc(number / 2)), whole - float(np.sign(whole))
    tries = (0.0, 1.0, whole, half, less, float(f"{number:.2g}"), abs(number))
    return [each for each in dict.fromkeys(tries) if cost(each) < cost(number)]


def stretches(count: int) -> Iterator[slice]:
    """Yield stretches of so many places: all, halves, quarters, ..., single ones."""
    length = count
    while length >= 1:
        for start in range(0, count, length):
            yield slice(start, min(start + length, count))
        length = 0 if length == 1 else (length + 1) // 2
