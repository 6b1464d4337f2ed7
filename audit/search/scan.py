"""Scan: every simple condition on every feature, counted at once and ranked by its worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.search.features import SINGLE, Feature
from dpassay.search.rules import AT_LEAST, BELOW, Condition, OneOf, Threshold
from dpassay.search.values import NUMBER
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

FREQUENT, MOST_FREQUENT = 0.05, 8
"""Values with a larger share of the outputs are frequent; so many count, those nearest to half."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Features of outputs on two datasets, and of how many outputs they are a part.

    Features by rows (F, n), of the `m1` and `m0` outputs those that fulfil what was chosen before.
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


def scan(rows: Rows, looks: Sequence[Feature], goal: Goal) -> list[Found]:
    """Return the best conditions of each feature and direction, the best of all first."""
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
    # both directions in one go
    m1, m0 = (np.repeat(sizes, len(x)) for sizes in ((rows.m1, rows.m0), (rows.m0, rows.m1)))
    worths = goal.worth(np.concatenate([x, y]), np.concatenate([y, x]), m1, m0)
    for direction, worth in enumerate(np.split(worths, 2)):
        for each, begin, end in zip(tried, [0, *ends], ends, strict=False):
            best = int(worth[begin:end].argmax())
            found.append(Found(each.condition(best), direction, float(worth[begin + best])))
    return sorted(found, key=lambda each: -each.worth)


def frequent(looks: Sequence[Feature], columns: Array) -> list[tuple[int, int]]:
    """Return features and codes of values that many outputs have in a place, and many have not.

    What goes with them may tell the sides apart where they alone do not.
    """
    found = []
    for j, look in enumerate(looks):
        if look.kind == "value" and look.place != SINGLE:
            counts = np.bincount(columns[j].astype(np.intp), minlength=look.codes)
            apart = np.abs(counts / columns.shape[1] - 0.5)
            often = np.flatnonzero(apart < 0.5 - FREQUENT).tolist()
            named = [code for code in often if look.table[code : code + 1] != (NUMBER,)]
            found += [(float(apart[code]), j, code) for code in named]
    return [(j, code) for _, j, code in sorted(found)[:MOST_FREQUENT]]


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
    """Return how many numbers there are; NaN are sorted to the end."""
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
            return OneOf(self.feature, (k,))
        split = k - size + 1
        chosen = self.order[:split] if split < size else self.order[split - size + 1 :]
        return OneOf(self.feature, tuple(sorted(chosen.tolist())))


def _sets(coded: Sequence[int], sizes: Sequence[int], rows: Rows) -> list[_Sets]:
    """Single values, and unions in the order of their smoothed likelihood ratios.

    All features are counted at once: each has a range of codes of its own. Of unions, each half of
    the rows is counted in the order that the other half shows: in their own order, unions of many
    rare values would look best.
    """
    ends = np.cumsum(sizes)
    begins, of = ends - sizes, np.repeat(np.arange(len(coded)), sizes)
    codes = [side[coded].astype(np.intp) + begins[:, None] for side in (rows.one, rows.other)]
    halves = np.array(
        [[np.bincount(side[:, k::2].ravel(), minlength=ends[-1]) for side in codes] for k in (0, 1)]
    )

    def ranked(counts: NDArray[np.int64]) -> NDArray[np.intp]:
        x, y = counts + 1
        return np.argsort(of + y / (x * (rows.m0 / rows.m1) + y), kind="stable")

    both = halves.sum(axis=0)
    order = ranked(both)
    up = np.cumsum(halves[0][:, ranked(halves[1])] + halves[1][:, ranked(halves[0])], axis=1)
    found = []
    for j, begin, end in zip(coded, begins.tolist(), ends.tolist(), strict=True):
        total = up[:, begin:end] - (up[:, begin - 1 : begin] if begin else 0)
        first, rest = total[:, :-1], total[:, -1:] - total[:, :-1]
        counts = np.concatenate([both[:, begin:end], first, rest], axis=1)
        found.append(_Sets(j, order[begin:end] - begin, counts))
    return found


def neat(threshold: Threshold, column: Array) -> Threshold:
    """Return a threshold with few digits that parts a feature's numbers almost in the same way."""
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
