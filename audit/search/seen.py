"""Candidates as they are seen on rows that did not propose them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpassay.search.candidates import Candidate
from dpassay.search.rules import OneOf, Score
from dpassay.search.scan import Rows
from dpassay.search.views import Mask
from dpassay.search.worth import Goal


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A candidate on rows that did not propose it.

    `x` and `y` are counts on the side on which it is likelier and on the other, smoothed or not.
    """

    candidate: Candidate
    x: float
    y: float
    likelier: Mask
    other: Mask
    worth: float

    @property
    def m1(self) -> int:
        """Outputs on the side on which it is likelier."""
        return len(self.likelier)

    @property
    def m0(self) -> int:
        """Outputs on the other side."""
        return len(self.other)

    @property
    def counts(self) -> tuple[float, float, int, int]:
        """Both counts, and out of how many."""
        return self.x, self.y, self.m1, self.m0

    @property
    def learned(self) -> bool:
        """Return whether it is a score, which knows the outputs that taught it."""
        return isinstance(self.candidate.rule, Score)

    @property
    def named(self) -> bool:
        """Return whether it names values rather than a threshold."""
        rule = self.candidate.rule
        return not isinstance(rule, Score) and isinstance(rule[0], OneOf)

    def error(self, best: Seen, goal: Goal) -> float:
        """Return the standard error of the difference of two leaks on the same rows."""
        a, b = goal.slopes(*self.counts), goal.slopes(*best.counts)
        if self.candidate.direction == best.candidate.direction:
            pairs = [(self.likelier, a[0], best.likelier, b[0])]
            pairs += [(self.other, a[1], best.other, b[1])]
        else:
            pairs = [(self.likelier, a[0], best.other, -b[1])]
            pairs += [(self.other, -a[1], best.likelier, b[0])]
        variance = sum(
            float(np.var(one * slope - other * steep)) / len(one)
            for one, slope, other, steep in pairs
        )
        return math.sqrt(variance)


def looked(candidates: Sequence[Candidate], rows: Rows, goal: Goal) -> list[Seen]:
    """Look where candidates hold."""
    held = [(each.holds(rows.one), each.holds(rows.other)) for each in candidates]
    held = [
        pair[::-1] if each.direction else pair for each, pair in zip(candidates, held, strict=True)
    ]
    sizes = [[len(one), len(other)] for one, other in held]
    counts = [[int(one.sum()), int(other.sum())] for one, other in held]
    worth = goal.worth(*np.transpose(counts), *np.transpose(sizes)).tolist()
    return [
        Seen(each, x, y, one, other, value)
        for each, (one, other), (x, y), value in zip(candidates, held, counts, worth, strict=True)
    ]


def look(candidate: Candidate, rows: Rows, goal: Goal) -> Seen:
    """Look where one candidate holds."""
    return looked([candidate], rows, goal)[0]
