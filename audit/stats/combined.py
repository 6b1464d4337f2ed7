"""Tests of a region (p1 <= f(p0)) that combine the two exact binomial tails of one event.

The opposite, p1 >= f(p0), is a region with the sides exchanged; see `dpassay.stats.regions`.

The nuisance p0 runs over a Clopper-Pearson interval of y at level beta, and beta is taken off alpha
(Berger and Boos 1994). How the tails are combined is the business of `dpassay.stats.stouffer` and
`dpassay.stats.fisher`; the minimum over the interval is bounded from below by an envelope on a
grid, so that no count pair is rejected that the true minimum would not reject.

Many nulls are tested at once, one a row, where that gives the bits that one gives; `rejections` and
`margins` do it, `rejects` and `_margin` are the same for one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.regions import Integers, Line, Lines, Region

GRID = 17
REFINEMENTS = 4
"""The nuisance interval is first cut into GRID - 1 cells; those whose envelope is too low into 8,
at most so many times."""
BETA_SHARE = 1 / 500
"""Part of alpha that pays for restricting the nuisance to an interval."""
SILENT = 0.01
"""Where n0 p0 is below this, y says nothing about p0."""
LARGE = 1e3
KNOWN = 8192
"""Intervals of the nuisance, and their grids, that are kept: many nulls have the same."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Null:
    """One count pair, and the null hypothesis that its probabilities lie in a region."""

    x: int
    n1: int
    y: int
    n0: int
    allowed: Region

    def p1(self, p0: Array) -> Array:
        """The null's p1 for each p0, 1 where it is certain."""
        return self.allowed.most(p0)

    def interval(self, beta: float) -> tuple[float, float]:
        """Range of the nuisance p0.

        Clopper and Pearson's at level beta, where there are null points; empty if low > high.
        """
        low, high = nuisance_interval(self.y, self.n0, beta)
        return max(low, self.allowed.least), high


@dataclass(frozen=True, slots=True, kw_only=True)
class Nulls:
    """Many nulls, one a row, with columns of counts (M, 1); see `Null`."""

    x: Integers
    n1: Integers
    y: Integers
    n0: Integers
    allowed: Lines

    @classmethod
    def of(cls, nulls: Sequence[Null], lines: Sequence[Line]) -> Nulls:
        """Return nulls, and the lines that they allow, as rows."""
        counts = np.array([(null.x, null.n1, null.y, null.n0) for null in nulls], dtype=np.int64)
        x, n1, y, n0 = counts.T[:, :, None]
        return cls(x=x, n1=n1, y=y, n0=n0, allowed=Lines.of(lines))

    def rows(self, which: NDArray[np.intp]) -> Nulls:
        """Return some of them."""
        x, n1, y, n0 = (each[which] for each in (self.x, self.n1, self.y, self.n0))
        return Nulls(x=x, n1=n1, y=y, n0=n0, allowed=self.allowed.rows(which))

    def p1(self, p0: Array) -> Array:
        """The nulls' p1 for each p0, 1 where it is certain."""
        return self.allowed.most(p0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """A way of combining the two tails.

    `statistic` takes null points p0, shape (..., m) in ascending rows, and a `Null`; it returns its
    value at each point, and a function that computes a floor of it on each cell between two
    neighbours of a row, shape (..., m - 1). `critical` returns the value that the statistic reaches
    with probability at most alpha at every null point.
    """

    statistic: Callable[[Array, Null | Nulls], tuple[Array, Callable[[], Array]]]
    critical: Callable[[float], float]


def rejects(test: Combination, null: Null, alpha: float) -> bool:
    """Return whether a null hypothesis is rejected at level alpha.

    It is not if the envelope cannot show that the minimum over the nuisance reaches the critical
    value.
    """
    if null.x == 0 or null.x <= null.allowed.slack * null.n1:
        return False
    beta = alpha * BETA_SHARE
    critical = test.critical(alpha - beta)
    low, high = null.interval(beta)
    if low > high:
        return True
    rows = _edges(low, high, null)[None]
    for _ in range(REFINEMENTS + 1):
        at_points, floors = test.statistic(rows, null)
        if not (at_points >= critical).all():
            return False
        row, cell = np.nonzero(~(floors() >= critical))
        if row.size == 0:
            return True
        rows = np.linspace(rows[row, cell], rows[row, cell + 1], 9, axis=1)
    return False


def _margin(test: Combination, null: Null, alpha: float, critical: float) -> float:
    """Return the statistic's minimum over a grid, finer around it, less the critical value."""
    low, high = null.interval(alpha * BETA_SHARE)
    if low > high:
        return LARGE
    edges = _edges(low, high, null)
    values = test.statistic(edges, null)[0]
    lowest = int(np.argmin(values))
    near = np.linspace(edges[max(0, lowest - 1)], edges[min(len(edges) - 1, lowest + 1)], 9)
    least = min(float(values[lowest]), float(test.statistic(near, null)[0].min()))
    return min(max(least, -LARGE), LARGE) - critical


def rejections(test: Combination, nulls: Sequence[Null], alpha: float) -> list[bool]:
    """Return whether each of many nulls is rejected, as `rejects` says it."""
    lines = _lines(nulls)
    if lines is None:
        return [rejects(test, null, alpha) for null in nulls]
    found, beta = [False] * len(nulls), alpha * BETA_SHARE
    places, cells = [], []
    for place, null in enumerate(nulls):
        if null.x == 0 or null.x <= null.allowed.slack * null.n1:
            continue
        low, high = null.interval(beta)
        if low > high:
            found[place] = True
        else:
            places.append(place)
            cells.append(_edges(low, high, null))
    if places:
        chosen = Nulls.of([nulls[place] for place in places], [lines[place] for place in places])
        for place, rejected in zip(
            places, _rejected(test, chosen, cells, test.critical(alpha - beta)), strict=True
        ):
            found[place] = rejected
    return found


def _rejected(test: Combination, nulls: Nulls, edges: list[Array], critical: float) -> list[bool]:
    """Return whether the envelope shows that the minimum reaches the critical value."""
    rows, real = _rectangle(edges)
    which = np.arange(len(edges))
    kept, cell_is_real = np.ones(len(edges), dtype=bool), real[:, 1:]
    for _ in range(REFINEMENTS + 1):
        at_points, floors = test.statistic(rows, nulls.rows(which))
        kept[which[~(at_points >= critical).all(axis=1)]] = False
        if not kept[which].any():
            break
        row, cell = np.nonzero(~(floors() >= critical) & cell_is_real & kept[which][:, None])
        rows, which = _between(rows[row, cell], rows[row, cell + 1]), which[row]
        if not row.size:
            break
        cell_is_real = np.ones((1, 1), dtype=bool)
    kept[which] = False
    return kept.tolist()


def margins(test: Combination, nulls: Sequence[Null], alpha: float, critical: float) -> list[float]:
    """Return the margin of each of many nulls, as `_margin` does."""
    lines = _lines(nulls)
    if lines is None:
        return [_margin(test, null, alpha, critical) for null in nulls]
    found, places, cells = [LARGE] * len(nulls), [], []
    for place, null in enumerate(nulls):
        low, high = null.interval(alpha * BETA_SHARE)
        if low <= high:
            places.append(place)
            cells.append(_edges(low, high, null))
    if not places:
        return found
    many = Nulls.of([nulls[place] for place in places], [lines[place] for place in places])
    rows, _ = _rectangle(cells)
    values, each = test.statistic(rows, many)[0], np.arange(len(rows))
    lowest = np.argmin(values, axis=1)
    near = _between(
        rows[each, np.maximum(0, lowest - 1)],
        rows[each, np.minimum(rows.shape[1] - 1, lowest + 1)],
    )
    least = np.minimum(values[each, lowest], test.statistic(near, many)[0].min(axis=1))
    for place, value in zip(places, np.clip(least, -LARGE, LARGE).tolist(), strict=True):
        found[place] = value - critical
    return found


def _lines(nulls: Sequence[Null]) -> list[Line] | None:
    """Return what nulls allow, if they are several and all allow lines."""
    lines = [null.allowed for null in nulls if isinstance(null.allowed, Line)]
    return lines if len(lines) == len(nulls) > 1 else None


def _rectangle(rows: list[Array]) -> tuple[Array, NDArray[np.bool_]]:
    """Return rows as long as the longest, their ends repeated, and what of them is real."""
    lengths = np.array([len(row) for row in rows])
    real = np.arange(lengths.max()) < lengths[:, None]
    filled = np.repeat(np.array([row[-1] for row in rows])[:, None], lengths.max(), axis=1)
    filled[real] = np.concatenate(rows)
    return filled, real


def _between(left: Array, right: Array) -> Array:
    """Nine points from left to right in each row, as `numpy.linspace` places them."""
    rows = np.arange(9.0) * ((right - left) / 8)[:, None] + left[:, None]
    rows[:, -1] = right
    return rows


@lru_cache(maxsize=KNOWN)
def nuisance_interval(y: int, n0: int, beta: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval of p0 at level beta."""
    return float(clopper_pearson_lower(y, n0, beta / 2)), float(
        clopper_pearson_upper(y, n0, beta / 2)
    )


def _edges(low: float, high: float, null: Null) -> Array:
    """Return the ends of the cells that the nuisance interval is cut into.

    No cell has a corner inside, where weights jump or p1 reaches 1.
    """
    corners = np.concatenate([[SILENT / null.n0], null.allowed.corners(null.n1)])
    corners = corners[(corners > low) & (corners < high)]
    return np.union1d(_grid(low, high), corners) if len(corners) else _grid(low, high)


@lru_cache(maxsize=KNOWN)
def _grid(low: float, high: float) -> Array:
    """Edges from low to high, equal steps of arcsin(sqrt(p)): binomial tails change evenly."""
    angle = np.linspace(math.asin(math.sqrt(low)), math.asin(math.sqrt(high)), GRID)
    edges: Array = np.sin(angle) ** 2
    edges[0], edges[-1] = low, high
    found = np.unique(edges)
    found.flags.writeable = False
    return found
