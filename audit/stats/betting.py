"""The difference of two bounded means: certified bounds by betting, from histograms on a grid.

Answers in [0, 1] are rounded to multiples of 1/GRID at random, so that their means stay what they
are; only counts are kept. For a bet lambda fixed before the trials, prod (1 + lambda (v - m)) over
the answers v of one side has an expectation of at most 1 if their mean is at most m, and prod
(1 + lambda (m - v)) if it is at least m (Waudby-Smith and Ramdas 2023). So at every null point
mu0 = m, mu1 <= m + gamma, the product of the one at m + gamma and of the other at m has one of at
most 1, the sides being independent, and so has its average over several bets. By Markov's
inequality it reaches 1 / alpha with probability at most alpha.

Bets are capped at CAP / m (CAP / (1 - m) on the other side) so that no factor becomes negative. The
first product still falls in m: for an answer v > m its factor is the smaller, for v < m the larger,
of 1 + lambda (v - m) and 1 + CAP (v / m - 1), both of which fall. By symmetry the second rises. The
minimum over m therefore has an envelope: on a cell of a grid the first product is at least its
value at the right end, the second its value at the left end. Where neither bet is capped on the
cell, the logarithm of their product is concave in m, a sum of logarithms of affine functions, and
so at least the smaller of its values at the ends.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import ndtr

GRID = 64
POINTS = np.arange(GRID + 1) / GRID
CAP = 0.9
BETS = np.array([*((2.0**k, 2.0**k) for k in np.arange(-1.5, 1.5, 0.5)), (2.0, 0.0), (0.0, 2.0)])
"""Bets on the two sides, as multiples of the best one at the expected spreads. Equal bets are for
values of m near the truth, where m cannot escape from the one side to the other; bets on one side
alone for values of m far from it."""
COST = math.log(5)
"""About what averaging over them costs, on the scale of logarithms; several of them win together,
so less than their number."""
LEAST, MOST = 1e-3, 0.5
"""Spreads are taken to lie between these: numbers in [0, 1] have none above 1/2, and less than
LEAST is as good as none."""
CELLS = 64
REFINEMENTS = 6

Array = NDArray[np.float64]
Spreads = tuple[float, float]
"""Standard deviations that are expected on the two sides, known before the trials; they size the
bets."""


def to_grid(unit: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Round numbers in [0, 1] to grid points k / GRID at random, keeping the mean; return k."""
    scaled = unit * GRID
    below = np.floor(scaled)
    symbols: NDArray[np.int64] = (below + (rng.random(unit.shape) < scaled - below)).astype(
        np.int64
    )
    return symbols


def difference_rejects(
    x: NDArray[np.int64], y: NDArray[np.int64], *, gamma: float, alpha: float, spreads: Spreads
) -> bool:
    """Return whether mu1 - mu0 <= gamma is rejected at level alpha.

    `x` and `y`, of shape (GRID + 1,), count how often each point of the grid came on the two sides;
    gamma is in [-1, 1). A bad guess of the spreads costs power, never validity. Nothing is rejected
    if the envelope cannot show that the minimum over the nuisance m reaches 1 / alpha.
    """
    if gamma >= 1:
        return False
    needed, stakes = -math.log(alpha), _stakes(x, y, alpha, spreads)
    rows = _edges(y, gamma)[None]
    for _ in range(REFINEMENTS + 1):
        points, floors = _evidence(x, y, rows, gamma, stakes)
        if (_average(points) < needed).any():
            return False
        row, cell = np.nonzero(_average(floors) < needed)
        if row.size == 0:
            return True
        rows = np.linspace(rows[row, cell], rows[row, cell + 1], 9, axis=1)
    return False


def difference_lower(
    x: NDArray[np.int64], y: NDArray[np.int64], *, alpha: float, spreads: Spreads
) -> float:
    """Return a lower confidence bound on mu1 - mu0, in [-1, 1].

    It is below the smallest gamma that is not rejected by less than 1 % of its distance to the
    observed difference.
    """
    observed = _mean(x) - _mean(y)
    needed, stakes = -math.log(alpha), _stakes(x, y, alpha, spreads)

    def margin(gamma: float) -> float:
        edges = _edges(y, gamma)
        m = np.append(edges[:-1:2], edges[-1])  # the least may be at either end
        for _ in range(3):
            evidence = _average(_first(x, m + gamma, stakes) + _second(y, m, stakes))
            least = int(evidence.argmin())
            m = np.linspace(m[max(least - 1, 0)], m[min(least + 1, m.size - 1)], 9)
        return float(evidence.min()) - needed

    above, reach = observed, 1.2 * math.sqrt(2 * needed) * _deviation(x, y, spreads)
    while margin(below := max(-1.0, observed - reach)) < 0:
        if below == -1:
            return -1.0
        above, reach = below, 2 * reach
    root = float(scipy.optimize.brentq(margin, below, above, xtol=1e-4 * (observed - below)))
    step = 0.002 * (observed - root)
    while root - step > -1 and not difference_rejects(
        x, y, gamma=root - step, alpha=alpha, spreads=spreads
    ):
        step *= 2
    return max(-1.0, root - step)


def difference_upper(
    x: NDArray[np.int64], y: NDArray[np.int64], *, alpha: float, spreads: Spreads
) -> float:
    """Return an upper confidence bound on |mu1 - mu0|, in [0, 1].

    It is an intersection-union test over the two signs, each at full alpha.
    """
    one, other = (
        difference_lower(*sides, alpha=alpha, spreads=each)
        for sides, each in (((y, x), spreads[::-1]), ((x, y), spreads))
    )
    return max(-one, -other)


def difference_power(excess: float, *, n: int, alpha: float, spreads: Spreads) -> float:
    """Probability that a difference of gamma + excess is refuted by n answers a side, about.

    By the normal approximation: for a stake t the logarithm of the evidence is about t d - t^2
    s^2 / 2 less `COST` where the observed difference exceeds gamma by d, with s^2 the sum of the
    squared spreads over n. A stake above CAP n is not counted on, since bets are capped at CAP / m
    for an m that is not known here: where few answers with small spreads make that bind, this is
    what holds for means near the ends of the range, and too little for means in its middle.
    """
    deviation, needed = math.hypot(*_clipped(spreads)) / math.sqrt(n), COST - math.log(alpha)
    stake = min(math.sqrt(2 * needed) / deviation, CAP * n)
    return float(ndtr((excess - needed / stake) / deviation - stake * deviation / 2))


def _first(x: NDArray[np.int64], m: Array, stakes: Array) -> Array:
    """Evidence, per bet and m, that the mean behind x is above m."""
    return _side(x, m, stakes[:, 0] / x.sum())


def _second(y: NDArray[np.int64], m: Array, stakes: Array) -> Array:
    """Evidence, per bet and m, that the mean behind y is below m."""
    return _side(y[::-1], 1 - m, stakes[:, 1] / y.sum())


def _side(x: NDArray[np.int64], m: Array, bets: Array) -> Array:
    """Return log prod (1 + bet (v - m)) over answers counted in x (bets, ...), bets <= CAP / m."""
    seen = np.flatnonzero(x)
    m = np.clip(m, 0.0, 1.0)[None, ..., None]
    with np.errstate(divide="ignore"):
        bet = np.minimum(bets.reshape(-1, *[1] * (m.ndim - 1)), CAP / m)
    evidence: Array = np.log1p(bet * (POINTS[seen] - m)) @ x[seen]
    return evidence


def _evidence(
    x: NDArray[np.int64], y: NDArray[np.int64], rows: Array, gamma: float, stakes: Array
) -> tuple[Array, Array]:
    """Return the evidence per bet at each point of the rows, and its floor between neighbours."""
    first, second = _first(x, rows + gamma, stakes), _second(y, rows, stakes)
    both, left, right = first + second, (..., slice(None, -1)), (..., slice(1, None))
    bets1, bets0 = stakes[:, 0, None, None] / x.sum(), stakes[:, 1, None, None] / y.sum()
    free = (bets1 * (rows[right] + gamma) <= CAP) & (bets0 * (1 - rows[left]) <= CAP)
    return both, np.where(free, np.minimum(both[left], both[right]), first[right] + second[left])


def _average(evidence: Array) -> Array:
    """Logarithm of the average over the bets."""
    average: Array = np.logaddexp.reduce(evidence, axis=0) - math.log(len(evidence))
    return average


def _stakes(x: NDArray[np.int64], y: NDArray[np.int64], alpha: float, spreads: Spreads) -> Array:
    """Bets times answers, shape (bets, 2).

    The best at the expected boundary, times BETS, and that for the largest spreads.

    With s^2 = s1^2 / n1 + s0^2 / n0, the evidence at a distance d from the null is about t d - t^2
    s^2 / 2 for a stake t; it reaches log(1 / alpha) first where t = sqrt(2 log(1 / alpha)) / s. The
    last row does not depend on what was expected: it is that of Hoeffding's inequality and keeps
    the bound near to his however wrong the expectation was.
    """
    best, safe = (
        math.sqrt(-2 * math.log(alpha)) / _deviation(x, y, each) for each in (spreads, (MOST, MOST))
    )
    return np.vstack([BETS * best, [[safe, safe]]])


def _deviation(x: NDArray[np.int64], y: NDArray[np.int64], spreads: Spreads) -> float:
    """Expected standard deviation of the observed difference."""
    one, other = _clipped(spreads)
    return math.hypot(one / math.sqrt(x.sum()), other / math.sqrt(y.sum()))


def _clipped(spreads: Spreads) -> Spreads:
    one, other = (min(max(each, LEAST), MOST) for each in spreads)
    return one, other


def _edges(y: NDArray[np.int64], gamma: float) -> Array:
    """Grid of the nuisance m where m and m + gamma lie in [0, 1].

    Fine around the observed mean, ever coarser away from it.

    It may depend on the answers, as only the search for the minimum does on it. Beyond
    m = 1 - gamma the evidence can only grow, since no mean is above 1; below m = -gamma there is no
    null point.
    """
    low, high = max(0.0, -gamma), min(1.0, 1.0 - gamma)
    n, mean = int(y.sum()), _mean(y)
    error = math.sqrt(max(0.0, float(y @ POINTS**2) / n - mean**2) / n + 1 / n**2)
    wide = math.asinh(1 / error)
    near = mean + error * np.sinh(np.linspace(-wide, wide, CELLS + 1))
    return np.unique(np.concatenate([[low, high], near[(near > low) & (near < high)]]))


def _mean(x: NDArray[np.int64]) -> float:
    return float(x @ POINTS) / int(x.sum())
