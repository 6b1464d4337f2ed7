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
from scipy.special import betainc, betaincc, ndtri, ndtri_exp

from dpassay.bounds import clopper_pearson_lower, clopper_pearson_upper

STOUFFER = "weighted Stouffer of exact binomial tails"
GRID = 65
"""Points at which the nuisance interval is first looked at; cells whose envelope is too low are cut into 8, at most 4 times."""
REFINEMENTS = 4
BETA_SHARE = 1 / 500
SILENT = 0.01
TINY = 1e-280
"""Tails below this are replaced by their Chernoff bound, which is never smaller than they are."""


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
    edges = np.union1d(_grid(low, high), _corners(low, high, n0, epsilon, delta))
    for _ in range(REFINEMENTS + 1):
        at_edges, floors = _statistic(edges, x, n1, y, n0, epsilon, delta)
        if (at_edges < critical).any():
            return False
        weak = np.flatnonzero(floors < critical)
        if weak.size == 0:
            return True
        if weak.size > GRID:
            return False
        edges = np.unique(np.concatenate([np.linspace(edges[k], edges[k + 1], 9) for k in weak]))
        # cells between two weak ones that are not neighbours have been cleared already; looking again does no harm
    return False


def stouffer_lower(x: int, n1: int, y: int, n0: int, *, delta: float, alpha: float) -> float:
    """Lower confidence bound on the loss: the smallest epsilon that `stouffer_rejects` does not reject.

    Returns
    -------
    float
        In nats, >= 0; rounded down by at most 1e-6 relative to 1.
    """
    if not stouffer_rejects(x, n1, y, n0, epsilon=0.0, delta=delta, alpha=alpha):
        return 0.0
    low, high = 0.0, 1.0
    while stouffer_rejects(x, n1, y, n0, epsilon=high, delta=delta, alpha=alpha):
        low, high = high, 2 * high
    while high - low > 1e-6:
        middle = (low + high) / 2
        if stouffer_rejects(x, n1, y, n0, epsilon=middle, delta=delta, alpha=alpha):
            low = middle
        else:
            high = middle
    return low


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
    """Return w1 z1 + w0 z0 at each edge, and a floor of it on each cell between two edges.

    As p0 grows, z1 falls and z0 rises; w1 falls and w0 rises, since s0^2 / s1^2 is proportional to
    p0 (1 - p0) / (p1 (1 - p1)), which grows.
    """
    p1 = np.minimum(1.0, math.exp(epsilon) * p0 + delta)
    z1 = _z(x, n1, p1)
    z0 = -_z(y + 1, n0, p0) if y < n0 else np.full_like(p0, -np.inf)
    w1, w0 = _weights(p0, p1, n1, n0, delta)
    left, right = slice(None, -1), slice(1, None)
    floor1 = _product(np.where(z1[right] >= 0, w1[right], w1[left]), z1[right])
    floor1 = np.where(np.isneginf(z1[right]) & (w1[left] > 0), _near_certain(p0, p1, x, n1, n0, delta), floor1)
    floor0 = _product(np.where(z0[left] >= 0, w0[left], w0[right]), z0[left])
    return _product(w1, z1) + _product(w0, z0), floor1 + floor0


def _product(weight: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight times z, where 0 times infinity counts as 0."""
    return np.where(weight > 0, weight * np.where(weight > 0, z, 0.0), 0.0)


def _z(x: int, n: int, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """-Phi^-1 P[Bin(n, p) >= x] for 1 <= x <= n, never above the true value by more than rounding."""
    tail, rest = betainc(x, n - x + 1, p), betaincc(x, n - x + 1, p)
    z = np.where(tail < 0.5, -ndtri(tail), ndtri(rest))
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
    left = slice(None, -1)
    p, q = p1[left], np.minimum(p0[1:], math.inf)
    u = 1 - p
    with np.errstate(divide="ignore", invalid="ignore"):
        most_weight = np.sqrt(u / n1) / (p - delta) * np.sqrt(n0 * q / (1 - q))
        surprise = (n1 - x + 1) * -np.log(u) + (x - 1) * -np.log(p)
        floor = -most_weight * np.sqrt(2 * surprise)
    return np.where((u > 0) & (u < 1 / math.e), floor, np.where(u > 0, -np.inf, 0.0))
