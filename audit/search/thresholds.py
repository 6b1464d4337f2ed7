"""Where the last threshold of a candidate is set: by counts smoothed along its number."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpassay.search.candidates import Candidate
from dpassay.search.rules import AT_LEAST, BELOW, Threshold
from dpassay.search.scan import Rows, neat
from dpassay.search.seen import Seen, look
from dpassay.search.smoothing import Smooth, credible, smooth
from dpassay.search.worth import Goal

SMOOTH_CAUTION = 0.5
"""The caution where a threshold is set by smoothed counts; see `Goal.worth`."""


def curve_of(candidate: Candidate, rows: Rows, *, fine: bool = False) -> Smooth | None:
    """Smooth the counts along the number that a candidate's last threshold parts."""
    if candidate.threshold is None:
        return None
    return smooth(candidate.axis(rows.one), candidate.axis(rows.other), fine=fine)


def smoothed(seen: Seen, rows: Rows, goal: Goal, curve: Smooth | None = None) -> Seen:
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


def moved(candidate: Candidate, rows: Rows, goal: Goal, curve: Smooth | None) -> Candidate | None:
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


def _between(candidate: Candidate, rows: Rows) -> Candidate | None:
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


def _best_threshold(curve: Smooth, rows: Rows, goal: Goal, old: Candidate) -> tuple[Threshold, int]:
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
