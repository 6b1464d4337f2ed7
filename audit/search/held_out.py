"""Candidates as they are seen on held-out rows, and where their last threshold is set there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpassay.search.columns import Mask
from dpassay.search.event_candidates import EventCandidate, neat
from dpassay.search.rules import AT_LEAST, BELOW, OneOf, ScoreRule, Threshold
from dpassay.search.scores import TwoSides
from dpassay.search.smoothing import Smooth, credible, smooth
from dpassay.search.worth import Goal

SMOOTH_CAUTION = 0.5
"""The caution where a threshold is set by smoothed counts; see `Goal.worth`."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """A candidate on rows that did not propose it.

    `x` and `y` are counts on the side on which it is likelier and on the other, smoothed or not.
    """

    candidate: EventCandidate
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
        return isinstance(self.candidate.rule, ScoreRule)

    @property
    def named(self) -> bool:
        """Return whether it names values rather than a threshold."""
        rule = self.candidate.rule
        return not isinstance(rule, ScoreRule) and isinstance(rule[0], OneOf)

    def error(self, best: HeldOut, goal: Goal) -> float:
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


def looked(candidates: Sequence[EventCandidate], rows: TwoSides, goal: Goal) -> list[HeldOut]:
    """Look where candidates hold."""
    held = [(each.holds(rows.one), each.holds(rows.other)) for each in candidates]
    held = [
        pair[::-1] if each.direction else pair for each, pair in zip(candidates, held, strict=True)
    ]
    sizes = [[len(one), len(other)] for one, other in held]
    counts = [[int(one.sum()), int(other.sum())] for one, other in held]
    worth = goal.worth(*np.transpose(counts), *np.transpose(sizes)).tolist()
    return [
        HeldOut(each, x, y, one, other, value)
        for each, (one, other), (x, y), value in zip(candidates, held, counts, worth, strict=True)
    ]


def look(candidate: EventCandidate, rows: TwoSides, goal: Goal) -> HeldOut:
    """Look where one candidate holds."""
    return looked([candidate], rows, goal)[0]


def curve_of(candidate: EventCandidate, rows: TwoSides, *, fine: bool = False) -> Smooth | None:
    """Smooth the counts along the number that a candidate's last threshold parts."""
    if candidate.threshold is None:
        return None
    return smooth(candidate.axis(rows.one), candidate.axis(rows.other), fine=fine)


def smoothed(seen: HeldOut, rows: TwoSides, goal: Goal, curve: Smooth | None = None) -> HeldOut:
    """Smooth a candidate's counts along its number, where what was counted allows it.

    They are half counted and half smoothed: ramps cut off what still rises in the tails.
    """
    curve = curve_of(seen.candidate, rows) if curve is None else curve
    threshold = seen.candidate.threshold
    x, y = seen.x, seen.y
    if curve is not None and threshold is not None:
        near = curve.beyond(threshold.at, below=threshold.side == BELOW)
        near = near[::-1] if seen.candidate.direction else near
        if credible(x, near[0], seen.m1) and credible(y, near[1], seen.m0):
            x, y = (x + near[0]) / 2, (y + near[1]) / 2
    worth = float(goal.worth(x, y, seen.m1, seen.m0))
    return replace(seen, x=x, y=y, worth=worth)


def moved(
    candidate: EventCandidate, rows: TwoSides, goal: Goal, curve: Smooth | None
) -> EventCandidate | None:
    """Return a candidate with its last threshold where smoothed counts of rows are worth most.

    Where no two outputs of different sides lie on one side of it, that is between the sides: a
    threshold among the outputs of one side would be missed by a few fresh ones, and what comes in
    every run would pass for what comes in most.
    """
    if (parted := _between(candidate, rows)) is not None:
        return parted
    if curve is None:
        return None
    before = look(candidate, rows, goal)
    if smoothed(before, rows, goal, curve).x == before.x:
        return None
    threshold, direction = _best_threshold(curve, rows, goal, candidate)
    axis = np.concatenate([candidate.axis(rows.one), candidate.axis(rows.other)])
    return candidate.moved(neat(threshold, axis), direction)


def _between(candidate: EventCandidate, rows: TwoSides) -> EventCandidate | None:
    """Return a candidate with its last threshold midway between two sides that do not overlap."""
    if candidate.threshold is None:
        return None
    axes = [candidate.axis(side) for side in (rows.one, rows.other)]
    for k in (0, 1):
        low, high = float(axes[k].max()), float(axes[1 - k].min())
        middle = low / 2 + high / 2
        if low < middle < high < math.inf:  # never of NaN
            digits = (float(f"{middle:.{digits}g}") for digits in range(1, 18))
            at = next(each for each in digits if abs(each - middle) <= (high - low) / 4)
            side = candidate.threshold.side
            return candidate.moved(Threshold(0, side, at), k if side == BELOW else 1 - k)
    return None


def _best_threshold(
    curve: Smooth, rows: TwoSides, goal: Goal, old: EventCandidate
) -> tuple[Threshold, int]:
    """Return the threshold of the highest worth by smoothed counts, and its direction.

    The last of two conditions keeps its side and direction.
    """
    found = []
    for side in (AT_LEAST, BELOW):
        x, y = (
            (curve.all_x - curve.x, curve.all_y - curve.y) if side == BELOW else (curve.x, curve.y)
        )
        for direction in (0, 1):
            counts = (y, x, rows.m0, rows.m1) if direction else (x, y, rows.m1, rows.m0)
            worth = goal.worth(*counts, caution=SMOOTH_CAUTION)
            best = int(worth.argmax())
            found.append((float(worth[best]), Threshold(0, side, float(curve.at[best])), direction))
    if old.effort == 1 and old.threshold is not None:
        found = [
            each
            for each in found
            if each[1].side == old.threshold.side and each[2] == old.direction
        ]
    _, threshold, direction = max(found, key=lambda each: each[0])
    return threshold, direction
