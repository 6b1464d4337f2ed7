"""Weighted Stouffer test of exact tails: the sharpest certified lower bound on ln((p1 - delta) / p0) for one event.

For a null point p0 and p1 = min(1, e^epsilon p0 + delta), z1 = -Phi^-1 P[Bin(n1, p1) >= x] and
z0 = -Phi^-1 P[Bin(n0, p0) <= y] are independent and stochastically at most N(0, 1), so w1 z1 + w0 z0 with constant weights,
w1^2 + w0^2 = 1, is too. The nuisance p0 runs over a Clopper-Pearson interval of y at level beta, and beta is taken off alpha
(Berger and Boos 1994). The minimum over the interval is bounded from below by an envelope on a grid, so that no count pair is
rejected that the true minimum would not reject.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betainc, betaincc, ndtri, ndtri_exp
from scipy.stats import binom

from dpassay.bounds import clopper_pearson_lower, clopper_pearson_upper

STOUFFER = "weighted Stouffer of exact binomial tails"
GRID = 65
REFINEMENTS = 3
"""The nuisance interval is first cut into GRID - 1 cells; those whose envelope is too low into 8, at most so many times."""
BETA_SHARE = 1 / 500
"""Part of alpha that pays for restricting the nuisance to an interval."""
SILENT = 0.01
"""Where n0 p0 is below this, y says nothing about p0 and x has all the weight."""
LARGE = 1e3
CERTAIN = 1 - 1e-12
"""A null point with p1 above this gives x no weight, as p1 = 1 does; so rounding cannot split the two."""
TINY = 1e-280
"""Below this the upper tail is replaced by its Chernoff bound, which is never smaller, and the rest of the law by its largest
term, which is never larger: both make z smaller than it is."""


def stouffer_rejects(x: int, n1: int, y: int, n0: int, *, epsilon: float, delta: float, alpha: float) -> bool:
    """Whether p1 <= e^epsilon p0 + delta is rejected at level alpha.

    Parameters
    ----------
    x, n1, y, n0 : int
        Counts of one event, fixed beforehand, on the two sides; x ~ Bin(n1, p1), y ~ Bin(n0, p0) independent.
    epsilon, delta : float
        The null hypothesis; epsilon >= 0, delta in [0, 1).
    alpha : float
        Error probability in (0, 1).

    Returns
    -------
    bool
        False whenever the envelope cannot show that the minimum over the nuisance reaches the critical value.
    """
    if x == 0 or x <= delta * n1:
        return False
    beta = alpha * BETA_SHARE
    critical = float(-ndtri(alpha - beta))
    low = float(clopper_pearson_lower(y, n0, beta / 2))
    high = float(clopper_pearson_upper(y, n0, beta / 2))
    rows = np.union1d(_grid(low, high), _corners(low, high, n0, epsilon, delta))[None]
    for _ in range(REFINEMENTS + 1):
        at_points, floors = _statistic(rows, x, n1, y, n0, epsilon, delta)
        if (at_points < critical).any():
            return False
        row, cell = np.nonzero(floors < critical)
        if row.size == 0:
            return True
        rows = np.linspace(rows[row, cell], rows[row, cell + 1], 9, axis=1)
    return False


def stouffer_lower(x: int, n1: int, y: int, n0: int, *, delta: float, alpha: float) -> float:
    """Lower confidence bound on the loss: below the smallest epsilon that `stouffer_rejects` does not reject.

    The root of the minimum over a plain grid is found first; from there it steps down until the envelope confirms it.

    Returns
    -------
    float
        In nats, >= 0; below the smallest epsilon that is not rejected by less than 1e-3 of its distance to the plug-in loss,
        which costs nothing in validity.
    """
    if not stouffer_rejects(x, n1, y, n0, epsilon=0.0, delta=delta, alpha=alpha):
        return 0.0
    beta = alpha * BETA_SHARE
    low = float(clopper_pearson_lower(y, n0, beta / 2))
    high = float(clopper_pearson_upper(y, n0, beta / 2))
    grid, critical = _grid(low, high), float(-ndtri(alpha - beta))

    def margin(epsilon: float) -> float:
        edges = np.union1d(grid, _corners(low, high, n0, epsilon, delta))
        return float(np.clip(np.min(_statistic(edges, x, n1, y, n0, epsilon, delta)[0]), -LARGE, LARGE)) - critical

    most = math.log(x / n1 - delta) - math.log(low if low > 0 else SILENT / n0)
    while margin(most) >= 0:
        most += 1.0
    if margin(0.0) < 0:
        return 0.0
    root = float(brentq(margin, 0.0, most, xtol=1e-7, rtol=1e-9))
    step = 0.004 * (most - root) / critical
    while not stouffer_rejects(x, n1, y, n0, epsilon=max(0.0, root - step), delta=delta, alpha=alpha):
        step *= 2
    return max(0.0, root - step)


def _grid(low: float, high: float) -> NDArray[np.float64]:
    """Edges from low to high, at equal steps of arcsin(sqrt(p)), in which binomial tails change evenly."""
    angle = np.linspace(math.asin(math.sqrt(low)), math.asin(math.sqrt(high)), GRID)
    edges: NDArray[np.float64] = np.sin(angle) ** 2
    edges[0], edges[-1] = low, high
    return np.unique(edges)


def _corners(low: float, high: float, n0: int, epsilon: float, delta: float) -> NDArray[np.float64]:
    """Points inside the interval where the weights jump or p1 reaches 1: no cell may hold one of them inside."""
    corners = np.array([SILENT / n0, (1 - delta) * math.exp(-epsilon)])
    return corners[(corners > low) & (corners < high)]


def _statistic(
    p0: NDArray[np.float64], x: int, n1: int, y: int, n0: int, epsilon: float, delta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return w1 z1 + w0 z0 at each point, and a floor of it on each cell between two neighbours of a row, shape (..., m - 1).

    As p0 grows, z1 falls and z0 rises; w1 falls and w0 rises, since s0^2 / s1^2 is proportional to
    p0 (1 - p0) / (p1 (1 - p1)), which grows.
    """
    p1 = math.exp(epsilon) * p0 + delta
    p1 = np.where(p1 >= CERTAIN, 1.0, p1)
    z1 = _z(x, n1, p1)
    z0 = -_z(y + 1, n0, p0) if y < n0 else np.full_like(p0, -np.inf)
    w1, w0 = _weights(p0, p1, n1, n0, delta)
    left, right = (..., slice(None, -1)), (..., slice(1, None))
    floor1 = _product(np.where(z1[right] >= 0, w1[right], w1[left]), z1[right])
    floor1 = np.where(np.isneginf(z1[right]) & (w1[left] > 0), _near_certain(p0, p1, x, n1, n0, delta), floor1)
    floor0 = _product(np.where(z0[left] >= 0, w0[left], w0[right]), z0[left])
    return _product(w1, z1) + _product(w0, z0), floor1 + floor0


def _product(weight: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight times z, where 0 times infinity counts as 0."""
    return np.where(weight > 0, weight * np.where(weight > 0, z, 0.0), 0.0)


def _z(x: int, n: int, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """-Phi^-1 P[Bin(n, p) >= x] for 1 <= x <= n, never above the true value by more than rounding."""
    tail = betainc(x, n - x + 1, p)
    z = -ndtri(tail)
    likely = tail > 0.5  # there the complement keeps the digits
    rest = betaincc(x, n - x + 1, p[likely])
    with np.errstate(divide="ignore"):
        z[likely] = np.where(rest > TINY, ndtri(rest), ndtri_exp(binom.logpmf(x - 1, n, p[likely])))
    share = x / n
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = share * np.log(share / p) + ((1 - share) * np.log((1 - share) / (1 - p)) if share < 1 else 0.0)
        chernoff = -ndtri_exp(-n * divergence)
    return np.where((tail < TINY) & (p > 0), chernoff, z)


def _weights(
    p0: NDArray[np.float64], p1: NDArray[np.float64], n1: int, n0: int, delta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights in proportion to the two sides' standard errors on the log scale, by the null point alone.

    Where p0 is so small that y says nothing about it (n0 p0 <= 0.01), all weight is on x; where p1 = 1, none.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        s1 = np.sqrt(p1 * (1 - p1) / n1) / (p1 - delta)
        s0 = np.sqrt((1 - p0) / (n0 * p0))
        norm = np.hypot(s1, s0)
        w1, w0 = s1 / norm, s0 / norm
    silent, certain = n0 * p0 <= SILENT, p1 >= 1
    return np.where(silent, 1.0, np.where(certain, 0.0, w1)), np.where(silent, 0.0, np.where(certain, 1.0, w0))


def _near_certain(
    p0: NDArray[np.float64], p1: NDArray[np.float64], x: int, n1: int, n0: int, delta: float
) -> NDArray[np.float64]:
    """Floor of w1 z1 on cells whose right end has p1 = 1, where z1 falls to -inf while w1 falls to 0.

    With u = 1 - p1: w1 <= s1 / s0, and -z1 <= sqrt(-2 ln P[Bin(n1, p1) < x]) with P[...] >= P[Bin = x - 1] >=
    p1^(x - 1) u^(n1 - x + 1). The product of these two falls with u below 1/e, so its value at the left end bounds it.
    """
    p, q = p1[..., :-1], p0[..., 1:]
    u = 1 - p
    with np.errstate(divide="ignore", invalid="ignore"):
        most_weight = np.sqrt(u / n1) / (p - delta) * np.sqrt(n0 * q / (1 - q))
        surprise = (n1 - x + 1) * -np.log(u) + (x - 1) * -np.log(p)
        floor = -most_weight * np.sqrt(2 * surprise)
    return np.where((u > 0) & (u < 1 / math.e), floor, np.where(u > 0, -np.inf, 0.0))
