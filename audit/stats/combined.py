"""Tests of a region (p1 <= f(p0)) that combine the two exact binomial tails of one event.

The opposite, p1 >= f(p0), is a region with the sides exchanged; see `dpassay.stats.regions`.

The nuisance p0 runs over a Clopper-Pearson interval of y at level beta, and beta is taken off alpha
(Berger and Boos 1994). The minimum of the statistic over the interval is bounded from below by an
envelope on a grid, so that no count pair is rejected that the true minimum would not reject.

`STOUFFER` is weighted, the sharpest test of one event: for a null point p0 and p1 = f(p0) on the
edge of a region, z1 = -Phi^-1 P[Bin(n1, p1) >= x] and z0 = -Phi^-1 P[Bin(n0, p0) <= y] are
independent and stochastically at most N(0, 1), so w1 z1 + w0 z0 with constant weights, w1^2 + w0^2
= 1, is too.

`FISHER` is for events that are expected a few times only: P1 = P[Bin(n1, p1) >= x] and P0 =
P[Bin(n0, p0) <= y] are independent and stochastically at least uniform, so -ln P1 - ln P0 is
stochastically at most half a chi-squared variable with 4 degrees of freedom (Fisher 1932).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, chdtri, ndtri, ndtri_exp

from dpassay.stats.binomial_law import log_mass
from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.regions import Region

GRID = 17
REFINEMENTS = 4
"""The nuisance interval is first cut into GRID - 1 cells; those whose envelope is too low into 8,
at most so many times."""
BETA_SHARE = 1 / 500
"""Part of alpha that pays for restricting the nuisance to an interval."""
SILENT = 0.01
"""Where n0 p0 is below this, y says nothing about p0."""
EDGE = 1e-12
"""Points as close as this to the one where y begins to count are taken for it."""
LARGE = 1e3
KNOWN = 8192
"""Intervals of the nuisance, and their grids, that are kept: many nulls have the same."""
DEEP = 1e-280
"""Below this the upper tail is replaced by its Chernoff bound, which is never smaller, and the rest
of the law by its largest term, which is never larger: both make z smaller than it is."""
LEAST_TAIL = 1e-300
"""Fisher's tail below this counts as this, which makes the statistic smaller than it is."""
FAR = 1e-9
"""Points farther than this from where a tail is 1/2 are told apart by that alone."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Null:
    """One count pair, and the null hypothesis that its probabilities lie in a region.

    `x` of `n1` and `y` of `n0` count one event, fixed beforehand, on the two sides; x ~ Bin(n1,
    p1), y ~ Bin(n0, p0) independent.
    """

    x: int
    n1: int
    y: int
    n0: int
    allowed: Region

    def interval(self, beta: float) -> tuple[float, float]:
        """Range of the nuisance p0.

        Clopper and Pearson's at level beta, where there are null points; empty if low > high.
        """
        low, high = nuisance_interval(self.y, self.n0, beta)
        return max(low, self.allowed.least), high


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """A way of combining the two tails.

    `statistic` takes null points p0, shape (..., m) in ascending rows, and a `Null`; it returns its
    value at each point, and a function that computes a floor of it on each cell between two
    neighbours of a row, shape (..., m - 1). `critical` returns the value that the statistic reaches
    with probability at most alpha at every null point.
    """

    statistic: Callable[[Array, Null], tuple[Array, Callable[[], Array]]]
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


def margin(test: Combination, null: Null, alpha: float, critical: float) -> float:
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


def _stouffer(p0: Array, null: Null) -> tuple[Array, Callable[[], Array]]:
    """Return w1 z1 + w0 z0 at each point, and what computes a floor of it on each cell.

    A cell lies between two neighbours of a row.

    As p0 grows, z1 falls and z0 rises. s0^2 / s1^2 is proportional to p0 (1 - p0) / (p1 (1 - p1)),
    which is monotone (it grows for epsilon, delta >= 0 and falls for epsilon, delta <= 0), so that
    a weight lies between its values at the two ends. Where delta < 0 and p1 is clipped, it is
    proportional to p0 (1 - p0), and no cell holds the top of that inside.
    """
    x, n1, y, n0 = null.x, null.n1, null.y, null.n0
    p1 = null.allowed.most(p0)
    z1 = _z(x, n1, p1)
    z0 = -_z(y + 1, n0, p0) if y < n0 else np.full(p0.shape, -np.inf)
    w1, w0 = _weights(p0, p1, null)

    def floors() -> Array:
        left, right = (..., slice(None, -1)), (..., slice(1, None))
        audible = (n0 * p0 > SILENT * (1 + EDGE)).all()  # then no weight jumps anywhere
        after1, after0 = (w1, w0) if audible else _weights(p0, p1, null, just_after=True)
        floor1 = _floor(z1[right], after1[left], w1[right])
        falling = np.isneginf(z1[right]) & (after1[left] > 0)
        if falling.any():
            floor1 = np.where(falling, null.allowed.near_certain(p0, p1, x, n1, n0), floor1)
        return _sum(floor1, _floor(z0[left], after0[left], w0[right]))

    return _sum(_product(w1, z1), _product(w0, z0)), floors


def _floor(z: Array, one: Array, other: Array) -> Array:
    """Least product of z with a weight between the two."""
    return _product(np.where(z >= 0, np.minimum(one, other), np.maximum(one, other)), z)


def _sum(one: Array, other: Array) -> Array:
    """Sum, where inf and -inf make -inf.

    The point is not rejected (x shows that p1 is not 0, but y = n0 shows nothing).
    """
    with np.errstate(invalid="ignore"):
        total = one + other
    return np.where(np.isnan(total), -np.inf, total)


def _product(weight: Array, z: Array) -> Array:
    """Weight times z, where 0 times infinity counts as 0."""
    with np.errstate(invalid="ignore"):
        return np.where(weight > 0, weight * z, 0.0)


def _z(x: int, n: int, p: Array) -> Array:
    """-Phi^-1 P[Bin(n, p) >= x] for 1 <= x <= n, never above the truth but for rounding.

    Where that is above 1/2, the complement keeps the digits. It is at every p above the median of
    the beta law, which lies between its mode and its mean.
    """
    above = p > max(x / (n + 1), (x - 1) / max(n - 1, 1)) + FAR
    tail = betainc(x, n - x + 1, p, where=~above, out=np.ones_like(p))
    likely = tail > 0.5
    rest = betainc(n - x + 1, x, 1 - p, where=likely, out=tail)
    quantile = ndtri(rest)
    z: Array = np.where(likely, quantile, -quantile)
    deep = (rest < DEEP) & (p > 0) & ~likely
    if deep.any():
        z[deep] = _z_deep(x, n, p[deep])
    deep = (rest <= DEEP) & likely
    if deep.any():
        with np.errstate(divide="ignore"):
            z[deep] = ndtri_exp(log_mass(x - 1, n, p[deep]))
    return z


def _z_deep(x: int, n: int, p: Array) -> Array:
    """Return the same by Chernoff's bound on the tail."""
    share = x / n
    with np.errstate(divide="ignore"):
        divergence = share * np.log(share / p)
        if share < 1:
            divergence = divergence + (1 - share) * np.log((1 - share) / (1 - p))
        return np.asarray(-ndtri_exp(-n * divergence))


def _weights(p0: Array, p1: Array, null: Null, *, just_after: bool = False) -> tuple[Array, Array]:
    """Weights in proportion to the two sides' standard errors on the scale.

    By the null point alone.

    Where p0 is so small that y says nothing about it (n0 p0 <= 0.01), all weight is on x; where
    p1 = 1, none. With `just_after` the limits from above, which differ at the point where that
    begins.
    """
    s1, s0 = null.allowed.errors(p0, p1, null.n1, null.n0)
    with np.errstate(divide="ignore", invalid="ignore"):
        norm = np.hypot(s1, s0)
        w1, w0 = s1 / norm, s0 / norm
    edge = SILENT * (1 - EDGE) if just_after else SILENT * (1 + EDGE)
    silent, certain = null.n0 * p0 <= edge, p1 >= 1
    return np.where(silent, 1.0, np.where(certain, 0.0, w1)), np.where(
        silent, 0.0, np.where(certain, 1.0, w0)
    )


def _fisher(p0: Array, null: Null) -> tuple[Array, Callable[[], Array]]:
    """Return -ln P1 - ln P0, with a floor on each cell from its ends.

    As p0 grows the first term falls and the second rises.
    """
    x, y, n1, n0 = null.x, null.y, null.n1, null.n0
    one = -np.log(np.maximum(betainc(x, n1 - x + 1, null.allowed.most(p0)), LEAST_TAIL))
    other = np.zeros(p0.shape)
    if y < n0:
        other = -np.log(np.maximum(betainc(n0 - y, y + 1, 1 - p0), LEAST_TAIL))
    return one + other, lambda: one[..., 1:] + other[..., :-1]


STOUFFER = Combination(statistic=_stouffer, critical=lambda alpha: -float(ndtri(alpha)))
FISHER = Combination(statistic=_fisher, critical=lambda alpha: float(chdtri(4, alpha)) / 2)
