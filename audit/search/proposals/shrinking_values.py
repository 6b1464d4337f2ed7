"""Simpler pairs of vectors of true answers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from dpassay.search.proposals import answers
from dpassay.search.proposals.answers import Vector
from dpassay.search.proposals.proposal import Proposal, root
from dpassay.search.proposals.shrinking import (
    Candidate,
    Complexity,
    costs,
    simpler_numbers,
    simplest_first,
    stretches,
)

MOST_ALONE = 64
"""Numbers that are made simpler one by one; of more, only stretches are."""


def smaller_answers(maker: answers.Maker, found: Proposal) -> Iterator[Proposal]:
    """Yield pairs with fewer answers moved, by the whole sensitivity, from a simpler base."""
    base, by = maker.vectors(found)
    family = root(found.family)
    tried = [*((base, each) for each in _fewer_moved(by)), *((each, by) for each in _simpler(base))]
    return simplest_first(
        answers_complexity(base, by),
        [
            Candidate(answers_complexity(*each), partial(maker.make, *each, family))
            for each in tried
        ],
    )


def answers_complexity(base: Vector, by: Vector) -> Complexity:
    """Count answers that are moved, those that are moved by a part; then look at the base."""
    parts = np.abs(by)
    partly = int(((parts > 0) & (parts < 1)).sum())
    return int((by != 0).sum()), partly, costs(by), costs(base)


def _fewer_moved(by: Vector) -> Iterator[Vector]:
    """Yield moves of one answer alone, of fewer answers, and by more or up instead of down."""
    moved = np.flatnonzero(by)
    for place in moved[:MOST_ALONE]:
        alone = np.zeros(len(by))
        alone[place] = by[place]
        yield alone
    for part in stretches(len(moved)):
        few = by.copy()
        few[moved[part]] = 0.0
        yield few
    yield np.sign(by)
    yield np.abs(by)
    for place in moved[:MOST_ALONE]:
        for step in (np.sign(by[place]), abs(by[place])):
            other = by.copy()
            other[place] = step
            yield other


def _simpler(values: Vector) -> Iterator[Vector]:
    """Yield lists with some numbers simpler: whole stretches of them, then one by one."""
    for part in stretches(len(values)):
        if len(values) > MOST_ALONE and part.stop - part.start == 1:
            break
        for new in (0.0, 1.0):
            other = values.copy()
            other[part] = new
            yield other
    for place in range(min(len(values), MOST_ALONE)):
        for new in simpler_numbers(float(values[place])):
            other = values.copy()
            other[place] = new
            yield other
