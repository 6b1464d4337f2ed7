"""Tests of p1 <= e^epsilon p0 + delta that combine the two exact binomial tails of one event, and bounds that invert them.

The nuisance p0 runs over a Clopper-Pearson interval of y at level beta, and beta is taken off alpha (Berger and Boos 1994).
How the tails are combined is the business of `dpassay.stouffer` and `dpassay.fisher`; the minimum over the interval is bounded
from below by an envelope on a grid, so that no count pair is rejected that the true minimum would not reject.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from dpassay.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.scales import Scale

GRID = 65
REFINEMENTS = 3
"""The nuisance interval is first cut into GRID - 1 cells; those whose envelope is too low into 8, at most so many times."""
BETA_SHARE = 1 / 500
"""Part of alpha that pays for restricting the nuisance to an interval."""
SILENT = 0.01
"""Where n0 p0 is below this, y says nothing about p0."""
LARGE = 1e3
CERTAIN = 1 - 1e-12
"""A null point with p1 above this counts as p1 = 1; so rounding cannot split the two."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Null:
    """One count pair, and the null hypothesis p1 <= e^epsilon p0 + delta that it is held against."""

    x: int
    n1: int
    y: int
    n0: int
    epsilon: float
    delta: float

    def p1(self, p0: Array) -> Array:
        """The null's p1 for each p0, 1 where it is certain."""
        p1 = math.exp(self.epsilon) * p0 + self.delta
        return np.where(p1 >= CERTAIN, 1.0, p1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """A way of combining the two tails.

    Parameters
    ----------
    statistic : callable
        Of null points p0, shape (..., m) in ascending rows, and a `Null`: its value at each point, and a floor of it on each
        cell between two neighbours of a row, shape (..., m - 1).
    critical : callable
        Of alpha: the value that the statistic reaches with probability at most alpha at every null point.
    """

    statistic: Callable[[Array, Null], tuple[Array, Array]]
    critical: Callable[[float], float]


def rejects(test: Combination, null: Null, alpha: float) -> bool:
    """Whether a null hypothesis is rejected at level alpha.

    Returns
    -------
    bool
        False whenever the envelope cannot show that the minimum over the nuisance reaches the critical value.
    """
    if null.x == 0 or null.x <= null.delta * null.n1:
        return False
    beta = alpha * BETA_SHARE
    critical = test.critical(alpha - beta)
    low, high = _interval(null.y, null.n0, beta)
    rows = np.union1d(_grid(low, high), _corners(low, high, null))[None]
    for _ in range(REFINEMENTS + 1):
        at_points, floors = test.statistic(rows, null)
        if (at_points < critical).any():
            return False
        row, cell = np.nonzero(floors < critical)
        if row.size == 0:
            return True
        rows = np.linspace(rows[row, cell], rows[row, cell + 1], 9, axis=1)
    return False


def lower(test: Combination, x: int, n1: int, y: int, n0: int, *, scale: Scale, alpha: float) -> float:
    """Lower confidence bound on the leak: below the smallest one that is not rejected.

    The root of the minimum over a plain grid is found first; from there it steps down until the envelope confirms it.

    Returns
    -------
    float
        On the scale, >= 0; below the smallest leak that is not rejected by less than 1e-3 of its distance to the plug-in leak,
        which costs nothing in validity.
    """
    beta = alpha * BETA_SHARE
    critical = test.critical(alpha - beta)
    low, high = _interval(y, n0, beta)
    grid = _grid(low, high)

    def null(t: float) -> Null:
        epsilon, delta = scale.at(t)
        return Null(x=x, n1=n1, y=y, n0=n0, epsilon=epsilon, delta=delta)

    def margin(t: float) -> float:
        at = null(t)
        edges = np.union1d(grid, _corners(low, high, at))
        return float(np.clip(np.min(test.statistic(edges, at)[0]), -LARGE, LARGE)) - critical

    if not rejects(test, null(0.0), alpha) or margin(0.0) < 0:
        return 0.0
    least = low if low > 0 else SILENT / n0
    most = float(scale.between(x / n1, least))
    if margin(most) >= 0:
        most = float(scale.between(1.0, least))  # there p1 = 1 at every null point, and x has no say
    root = float(brentq(margin, 0.0, most, xtol=1e-7, rtol=1e-9))
    step = 0.004 * (most - root) / critical
    while not rejects(test, null(max(0.0, root - step)), alpha):
        step *= 2
    return max(0.0, root - step)


def _interval(y: int, n0: int, beta: float) -> tuple[float, float]:
    return float(clopper_pearson_lower(y, n0, beta / 2)), float(clopper_pearson_upper(y, n0, beta / 2))


def _grid(low: float, high: float) -> Array:
    """Edges from low to high, at equal steps of arcsin(sqrt(p)), in which binomial tails change evenly."""
    angle = np.linspace(math.asin(math.sqrt(low)), math.asin(math.sqrt(high)), GRID)
    edges: Array = np.sin(angle) ** 2
    edges[0], edges[-1] = low, high
    return np.unique(edges)


def _corners(low: float, high: float, null: Null) -> Array:
    """Points inside the interval where weights jump or p1 reaches 1: no cell may hold one of them inside."""
    corners = np.array([SILENT / null.n0, (1 - null.delta) * math.exp(-null.epsilon)])
    return corners[(corners > low) & (corners < high)]
