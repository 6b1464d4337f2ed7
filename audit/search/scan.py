"""Scan: every simple condition on every feature, counted at once and ranked by its worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.search.features import Feature
from dpassay.search.rules import AT_LEAST, BELOW, Condition, OneOf, Threshold
from dpassay.search.views import Array
from dpassay.search.worth import Goal

INNER = 63
"""Thresholds of a feature, at equal steps of its ranks."""
TAILS = np.array([0.0005, 0.001, 0.002, 0.004, 0.007, 0.011])
"""And at these levels in each tail."""
SLACK, FEW_DIGITS = 0.02, 4
"""A threshold may be moved over such a part of the rarer side, to be written with so few digits."""
LEVELS = np.unique(np.concatenate([TAILS, np.arange(1, INNER + 1) / (INNER + 1), 1 - TAILS]))
FEW, FEW_LEVELS = 1000, np.unique([0.004, 0.011, *np.arange(1, 32) / 32, 0.989, 0.996])
"""Of fewer numbers than that these levels are enough: a few lie between two of them."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Features of outputs on two datasets, and of how many outputs they are a part.

    Parameters
    ----------
    one, other : array (F, n)
        Features by rows.
    m1, m0 : int
        Outputs of which these are the ones that fulfil what was chosen before.
    """

    one: Array
    other: Array
    m1: int
    m0: int

    def where(self, one: NDArray[np.bool_], other: NDArray[np.bool_]) -> Rows:
        """Return the outputs that fulfil something, out of as many as before."""
        return Rows(self.one[:, one], self.other[:, other], self.m1, self.m0)


@dataclass(frozen=True, slots=True)
class Found:
    """A condition, on which side it is likelier (0: the first), and its worth."""

    condition: Condition
    direction: int
    worth: float


def scan(rows: Rows, looks: Sequence[Feature], goal: Goal, only: int | None = None) -> list[Found]:
    """Return the best conditions of each feature and direction, the best of all first.

    Parameters
    ----------
    rows : Rows
    looks : sequence of Feature
        One for each row of features.
    goal : Goal
    only : {0, 1}, optional
        The one direction that is asked for.
    """
    coded = [j for j, look in enumerate(looks) if look.coded]
    numbers = [j for j, look in enumerate(looks) if not look.coded]
    tried: list[_Sets | _Thresholds] = []
    if coded:
        tried += _sets(coded, [looks[j].codes for j in coded], rows)
    if numbers:
        tried += _thresholds(numbers, rows)
    tried.sort(key=lambda each: each.feature)
    if not tried:
        return []
    x, y = np.concatenate([each.counts for each in tried], axis=1)
    ends = np.cumsum([each.counts.shape[1] for each in tried]).tolist()
    found = []
    for direction, worth in _worth(x, y, rows, goal, (0, 1) if only is None else (only,)):
        for each, begin, end in zip(tried, [0, *ends], ends, strict=False):
            best = int(worth[begin:end].argmax())
            found.append(Found(each.condition(best), direction, float(worth[begin + best])))
    return sorted(found, key=lambda each: -each.worth)


def _worth(
    x: NDArray[np.int64], y: NDArray[np.int64], rows: Rows, goal: Goal, ways: Sequence[int]
) -> Iterator[tuple[int, Array]]:
    """Return the worth of counts in each direction that is asked for, in one go."""
    ahead = np.concatenate([(x, y)[way] for way in ways])
    behind = np.concatenate([(y, x)[way] for way in ways])
    m1 = np.repeat([(rows.m1, rows.m0)[way] for way in ways], len(x))
    m0 = np.repeat([(rows.m0, rows.m1)[way] for way in ways], len(x))
    return zip(ways, np.split(goal.worth(ahead, behind, m1, m0), len(ways)), strict=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Thresholds:
    """Thresholds on a feature: each at least, then each below; and their counts (2, 2 L)."""

    feature: int
    at: Array
    counts: NDArray[np.int64]

    def condition(self, k: int) -> Condition:
        """Return one of them."""
        side = AT_LEAST if k < len(self.at) else BELOW
        return Threshold(self.feature, side, float(self.at[k % len(self.at)]))


def _thresholds(numbers: Sequence[int], rows: Rows) -> list[_Thresholds]:
    """Thresholds at quantiles, on both sides."""
    one, other = (np.sort(side[numbers], axis=1) for side in (rows.one, rows.other))
    # of two sorted parts a stable sort is a merge
    both = np.sort(np.concatenate([one, other], axis=1), axis=1, kind="stable")
    found = []
    for j, left, right, ordered in zip(numbers, one, other, both, strict=True):
        sides = left[: _valid(left)], right[: _valid(right)]
        valid = sum(map(len, sides))
        if not valid:
            continue
        at = ordered[((LEVELS if valid >= FEW else FEW_LEVELS) * valid).astype(np.intp)]
        at = at[np.isfinite(at)]
        if not len(at):
            continue
        counts = np.empty((2, 2 * len(at)), dtype=np.int64)
        for side, line in zip(sides, counts, strict=True):
            line[len(at) :] = below = side.searchsorted(at)
            line[: len(at)] = len(side) - below
        found.append(_Thresholds(j, at, counts))
    return found


def _valid(ordered: Array) -> int:
    """How many numbers there are; NaN are sorted to the end."""
    n = len(ordered)
    return n if not n or ordered[-1] == ordered[-1] else int(ordered.searchsorted(np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class _Sets:
    """Sets of codes: each alone, the first k in an order, the last k; and their counts."""

    feature: int
    order: NDArray[np.intp]
    counts: NDArray[np.int64]

    def condition(self, k: int) -> Condition:
        """Return one of them."""
        size = len(self.order)
        if k < size:
            chosen = self.order[k : k + 1]
        elif k < 2 * size - 1:
            chosen = self.order[: k - size + 1]
        else:
            chosen = self.order[k - 2 * size + 2 :]
        return OneOf(self.feature, tuple(sorted(chosen.tolist())))


def _sets(coded: Sequence[int], sizes: Sequence[int], rows: Rows) -> list[_Sets]:
    """Single values, and unions in the order of their smoothed likelihood ratios.

    All features are counted at once: each has a range of codes of its own.
    """
    ends = np.cumsum(sizes)
    begins = ends - sizes
    x, y = (
        np.bincount((side[coded].astype(np.intp) + begins[:, None]).ravel(), minlength=ends[-1])
        for side in (rows.one, rows.other)
    )
    ratio = np.log((x + 1) / rows.m1) - np.log((y + 1) / rows.m0)
    order = np.lexsort((-ratio, np.repeat(np.arange(len(coded)), sizes)))
    x, y = x[order], y[order]
    up = [np.cumsum(x), np.cumsum(y)]
    found = []
    for j, begin, end in zip(coded, begins.tolist(), ends.tolist(), strict=True):
        counts = []
        for single, total in zip((x, y), up, strict=True):
            first = total[begin : end - 1] - (total[begin - 1] if begin else 0)
            here = single[begin:end]
            counts.append(np.concatenate([here, first, first[-1:] + here[-1:] - first]))
        found.append(_Sets(j, order[begin:end] - begin, np.array(counts)))
    return found


def neat(threshold: Threshold, column: Array) -> Threshold:
    """Return a threshold with few digits that parts a feature's numbers almost in the same way.

    Parameters
    ----------
    threshold : Threshold
    column : array (n,)
        Numbers that it parts.
    """
    column = column[~np.isnan(column)]
    below = column < threshold.at
    before = int(np.count_nonzero(below))
    slack = SLACK * min(before, len(column) - before)
    middle = math.nan
    if 0 < before < len(column):
        middle = (float(column[below].max()) + float(column[~below].min())) / 2
    # few digits; else what lies midway between two numbers; else more digits
    for at, most in ((threshold.at, FEW_DIGITS), (middle, 17), (threshold.at, 12)):
        for digits in range(1, most + 1 if math.isfinite(at) else 0):
            short = float(f"{at:.{digits}g}")
            moved = abs(int(np.count_nonzero(column < short)) - before)
            if moved <= (slack if at == threshold.at else 0):
                return Threshold(threshold.feature, threshold.side, short)
    return threshold
