"""Scan: every simple condition on every feature, counted at once and ranked by its worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
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

    def with_rows(self, more: Rows) -> Rows:
        """Return these outputs and others together."""
        return Rows(
            np.concatenate([self.one, more.one], axis=1),
            np.concatenate([self.other, more.other], axis=1),
            self.m1 + more.m1,
            self.m0 + more.m0,
        )


@dataclass(frozen=True, slots=True)
class Found:
    """A condition, on which side it is likelier (0: the first), and its worth."""

    condition: Condition
    direction: int
    worth: float


@dataclass(frozen=True, slots=True)
class _Tried:
    """Conditions on one feature and their counts on the two sides."""

    conditions: Sequence[Condition]
    x: NDArray[np.int64]
    y: NDArray[np.int64]


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
    tried = [(_sets if look.coded else _thresholds)(j, look, rows) for j, look in enumerate(looks)]
    tried = [each for each in tried if len(each.x)]
    if not tried:
        return []
    x, y = np.concatenate([t.x for t in tried]), np.concatenate([t.y for t in tried])
    begins = np.cumsum([0] + [len(t.x) for t in tried])
    found = []
    for direction in (0, 1) if only is None else (only,):
        worth = (
            goal.worth(y, x, rows.m0, rows.m1) if direction else goal.worth(x, y, rows.m1, rows.m0)
        )
        for each, begin, end in zip(tried, begins, begins[1:], strict=False):
            best = int(worth[begin:end].argmax())
            found.append(Found(each.conditions[best], direction, float(worth[begin + best])))
    return sorted(found, key=lambda each: -each.worth)


class _Sides(Sequence[Condition]):
    """Thresholds on a feature: each at least, then each below; made when they are asked for."""

    def __init__(self, feature: int, at: Array) -> None:
        self.feature, self.at = feature, at

    def __len__(self) -> int:
        return 2 * len(self.at)

    def __getitem__(self, k):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN204
        side = AT_LEAST if k < len(self.at) else BELOW
        return Threshold(self.feature, side, float(self.at[k % len(self.at)]))


def _thresholds(j: int, look: Feature, rows: Rows) -> _Tried:  # noqa: ARG001
    """Thresholds at quantiles, on both sides."""
    one, other = np.sort(rows.one[j]), np.sort(rows.other[j])
    one, other = one[: _valid(one)], other[: _valid(other)]
    both = np.concatenate([one, other])
    if not len(both):
        return _Tried([], np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    both.sort()
    at = both[(LEVELS * len(both)).astype(np.intp)]
    at = at[np.isfinite(at) & np.append(True, at[1:] != at[:-1])]
    x, y = np.searchsorted(one, at), np.searchsorted(other, at)
    return _Tried(
        _Sides(j, at),
        np.concatenate([len(one) - x, x]),
        np.concatenate([len(other) - y, y]),
    )


def _valid(ordered: Array) -> int:
    """How many numbers there are; NaN are sorted to the end."""
    n = len(ordered)
    return int(np.searchsorted(ordered, np.nan)) if n and np.isnan(ordered[-1]) else n


class _Unions(Sequence[Condition]):
    """Sets of codes: the first k in an order, the last k, and each alone."""

    def __init__(self, feature: int, order: NDArray[np.intp]) -> None:
        self.feature, self.order = feature, order

    def __len__(self) -> int:
        return 3 * len(self.order) - 2

    def __getitem__(self, k):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN204
        size = len(self.order)
        if k < size:
            chosen = self.order[k : k + 1]
        elif k < 2 * size - 1:
            chosen = self.order[: k - size + 1]
        else:
            chosen = self.order[k - 2 * size + 2 :]
        return OneOf(self.feature, tuple(sorted(chosen.tolist())))


def _sets(j: int, look: Feature, rows: Rows) -> _Tried:
    """Single values, and unions in the order of their smoothed likelihood ratios."""
    x = np.bincount(rows.one[j].astype(np.intp), minlength=look.codes)
    y = np.bincount(rows.other[j].astype(np.intp), minlength=look.codes)
    ratio = np.log((x + 1) / rows.m1) - np.log((y + 1) / rows.m0)
    order = np.argsort(-ratio, kind="stable")
    x, y = x[order], y[order]
    return _Tried(
        _Unions(j, order),
        np.concatenate([x, np.cumsum(x)[:-1], np.cumsum(x[::-1])[::-1][1:]]),
        np.concatenate([y, np.cumsum(y)[:-1], np.cumsum(y[::-1])[::-1][1:]]),
    )


def neat(threshold: Threshold, column: Array) -> Threshold:
    """Return a threshold with few digits that parts a feature's numbers almost in the same way.

    Parameters
    ----------
    threshold : Threshold
    column : array (n,)
        Numbers that it parts.
    """
    ordered = np.sort(column)
    ordered = ordered[: _valid(ordered)]
    before = int(np.searchsorted(ordered, threshold.at))
    slack = SLACK * min(before, len(ordered) - before)
    gap = ordered[max(0, before - 1) : before + 1].tolist()
    middle = sum(gap) / 2 if 0 < before < len(ordered) else math.nan
    # few digits; else what lies midway between two numbers; else more digits
    for at, most in ((threshold.at, FEW_DIGITS), (middle, 17), (threshold.at, 12)):
        for digits in range(1, most + 1 if math.isfinite(at) else 0):
            short = float(f"{at:.{digits}g}")
            moved = abs(int(np.searchsorted(ordered, short)) - before)
            if moved <= (slack if at == threshold.at else 0):
                return Threshold(threshold.feature, threshold.side, short)
    return threshold
