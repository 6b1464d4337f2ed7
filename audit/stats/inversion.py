"""Tests of a region (p1 <= f(p0)), and the bounds that invert them.

The tests combine the two exact binomial tails of one event.

The opposite, p1 >= f(p0), is a region with the sides exchanged; see `dpassay.stats.regions`.

The nuisance p0 runs over a Clopper-Pearson interval of y at level beta, and beta is taken off alpha
(Berger and Boos 1994). How the tails are combined is the business of `dpassay.stats.stouffer` and
`dpassay.stats.fisher`; the minimum over the interval is bounded from below by an envelope on a
grid, so that no count pair is rejected that the true minimum would not reject.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.errors import require
from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.regions import Region
from dpassay.stats.scales import Scale

GRID = 17
REFINEMENTS = 4
"""The nuisance interval is first cut into GRID - 1 cells; those whose envelope is too low into 8,
at most so many times."""
BETA_SHARE = 1 / 500
"""Part of alpha that pays for restricting the nuisance to an interval."""
SILENT = 0.01
"""Where n0 p0 is below this, y says nothing about p0."""
LARGE = 1e3
LARGEST_LOSS = 50.0
"""Upper bounds above this are not looked for."""

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
        low, high = _interval(self.y, self.n0, beta)
        return max(low, self.allowed.least), high


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """A way of combining the two tails.

    Parameters
    ----------
    statistic : callable
        Of null points p0, shape (..., m) in ascending rows, and a `Null`: its value at each point,
        and what computes a floor of it on each cell between two neighbours of a row, shape
        (..., m - 1).
    critical : callable
        Of alpha: the value that the statistic reaches with probability at most alpha at every null
        point.
    """

    statistic: Callable[[Array, Null], tuple[Array, Callable[[], Array]]]
    critical: Callable[[float], float]


def rejects(test: Combination, null: Null, alpha: float) -> bool:
    """Whether a null hypothesis is rejected at level alpha.

    Returns
    -------
    bool
        False whenever the envelope cannot show that the minimum over the nuisance reaches the
        critical value.
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


def lower(
    test: Combination, x: int, n1: int, y: int, n0: int, *, scale: Scale, alpha: float
) -> float:
    """Lower confidence bound on the leak: below the smallest one that is not rejected.

    The root of the minimum over a plain grid is found first; from there it steps down until the
    envelope confirms it.

    Parameters
    ----------
    test : Combination
    x, n1, y, n0 : int
        Counts of one event, fixed beforehand, on the two sides; x ~ Bin(n1, p1), y ~ Bin(n0, p0)
        independent.
    scale : Scale
        How the leak is measured.
    alpha : float
        Error probability in (0, 0.5).

    Returns
    -------
    float
        On the scale, >= 0; below the smallest leak that is not rejected by less than 1e-3 of its
        distance to the plug-in leak, which costs nothing in validity.

    Raises
    ------
    InvalidInput
        If alpha is out of range.
    """
    require(0 < alpha < 0.5, "alpha", alpha, "in (0, 0.5)")
    critical = test.critical(alpha * (1 - BETA_SHARE))

    def null(t: float) -> Null:
        return Null(x=x, n1=n1, y=y, n0=n0, allowed=scale.allowed(t))

    @cache
    def margin(t: float) -> float:
        return _margin(test, null(t), alpha, critical)

    if not rejects(test, null(0.0), alpha) or margin(0.0) < 0:
        return 0.0
    least = _interval(y, n0, alpha * BETA_SHARE)[0] or SILENT / n0
    observed = float(scale.between(scale.share(x, n1), max(least, y / n0)))
    width = -float(ndtri(alpha)) * _spread(scale, x, n1, y, n0)
    low, high = max(0.0, observed - 1.2 * width), observed - 0.8 * width
    if not (0 <= low < high and margin(low) > 0 > margin(high)):
        low, high = 0.0, float(scale.between(scale.share(x, n1), least))
        if margin(high) >= 0:
            # of losses: there p1 = 1 at every null point
            high = float(scale.between(scale.share(n1, n1), least))
        while margin(high) >= 0:
            high += 1.0
    root = float(scipy.optimize.brentq(margin, low, high, xtol=1e-7 + 1e-5 * (high - low)))
    step = 0.004 * (max(high, observed) - root) / critical
    while not rejects(test, null(max(0.0, root - step)), alpha):
        step *= 2
    return max(0.0, root - step)


def upper(
    test: Combination,
    x: int,
    n1: int,
    y: int,
    n0: int,
    *,
    scale: Scale,
    alpha: float,
    floor: float = 0.0,
) -> float:
    """Upper confidence bound on the leak of one event: above the largest one that is not rejected.

    See `lower`.

    Parameters
    ----------
    floor : float
        What the bound need not go below: another event's, say.

    Returns
    -------
    float
        At least `floor`; above the smallest leak that is rejected by about 1 % of its distance to
        the plug-in leak; the largest leak there is on the scale where nothing is rejected.

    Raises
    ------
    InvalidInput
        If alpha is out of range.
    """
    require(0 < alpha < 0.5, "alpha", alpha, "in (0, 0.5)")
    critical = test.critical(alpha * (1 - BETA_SHARE))

    def null(t: float) -> Null:
        return Null(x=y, n1=n0, y=x, n0=n1, allowed=scale.allowed(t).reverse)

    @cache
    def margin(t: float) -> float:
        return _margin(test, null(t), alpha, critical)

    if rejects(test, null(floor), alpha):
        return floor
    if y == 0 or (plain := float(scale.between(x / n1, y / n0))) == math.inf:
        return scale.most
    observed = max(floor, plain)
    low, width = observed, -float(ndtri(alpha)) * _spread(scale, x, n1, y, n0)
    high = min(observed + 1.2 * width, scale.most)
    most = min(scale.most, LARGEST_LOSS)
    while margin(high) <= 0:
        if high >= most:
            return scale.most
        low, high = high, min(observed + 2 * (high - observed), most)
    if margin(low) >= 0:
        low = floor
    root = (
        float(scipy.optimize.brentq(margin, low, high, xtol=1e-7 + 1e-5 * (high - low)))
        if margin(low) < 0
        else low
    )
    # a coarser envelope confirms it, for a digit that nobody reads
    step = 0.02 * (root - min(observed, low)) / critical + 1e-9
    while root + step < most and not rejects(test, null(root + step), alpha):
        step *= 2
    return root + step if root + step < most else scale.most


def _margin(test: Combination, null: Null, alpha: float, critical: float) -> float:
    """Minimum of the statistic over a grid of the nuisance, less the critical value.

    And a finer grid around the minimum.
    """
    low, high = null.interval(alpha * BETA_SHARE)
    if low > high:
        return LARGE
    edges = _edges(low, high, null)
    values = test.statistic(edges, null)[0]
    lowest = int(np.argmin(values))
    near = np.linspace(edges[max(0, lowest - 1)], edges[min(len(edges) - 1, lowest + 1)], 9)
    least = min(float(values[lowest]), float(test.statistic(near, null)[0].min()))
    return min(max(least, -LARGE), LARGE) - critical


def _spread(scale: Scale, x: int, n1: int, y: int, n0: int) -> float:
    """About the standard error of the plug-in leak, for a first guess."""
    spread = scale.spread(min(max(x, 1) / n1, 1 - 0.5 / n1), max(y, 1) / n0) / math.sqrt(
        min(n1, n0)
    )
    return spread if 0 < spread < LARGEST_LOSS else 1.0


@lru_cache(maxsize=1024)
def _interval(y: int, n0: int, beta: float) -> tuple[float, float]:
    return float(clopper_pearson_lower(y, n0, beta / 2)), float(
        clopper_pearson_upper(y, n0, beta / 2)
    )


def _edges(low: float, high: float, null: Null) -> Array:
    """Ends of the cells that the nuisance interval is cut into."""
    corners = _corners(low, high, null)
    return np.union1d(_grid(low, high), corners) if len(corners) else _grid(low, high)


@lru_cache(maxsize=1024)
def _grid(low: float, high: float) -> Array:
    """Edges from low to high, equal steps of arcsin(sqrt(p)): binomial tails change evenly."""
    angle = np.linspace(math.asin(math.sqrt(low)), math.asin(math.sqrt(high)), GRID)
    edges: Array = np.sin(angle) ** 2
    edges[0], edges[-1] = low, high
    found = np.unique(edges)
    found.flags.writeable = False
    return found


def _corners(low: float, high: float, null: Null) -> Array:
    """Points inside the interval where weights jump or p1 reaches 1.

    No cell may hold one of them inside.
    """
    corners = np.concatenate([[SILENT / null.n0], null.allowed.corners(null.n1)])
    return corners[(corners > low) & (corners < high)]
