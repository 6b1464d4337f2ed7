"""Weighted Stouffer test of exact tails.

The sharpest certified lower bound on the leak of one event.

For a null point p0 and p1 = f(p0) on the edge of a region, z1 = -Phi^-1 P[Bin(n1, p1) >= x] and
z0 = -Phi^-1 P[Bin(n0, p0) <= y] are independent and stochastically at most N(0, 1), so w1 z1 + w0
z0 with constant weights, w1^2 + w0^2 = 1, is too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, ndtri, ndtri_exp

from dpassay.stats.binomial_law import log_mass
from dpassay.stats.combined import SILENT, Array, Combination, Null, Nulls, rejects
from dpassay.stats.inversion import lower
from dpassay.stats.regions import Counts, Integers, Line
from dpassay.stats.scales import Scale

TINY = 1e-280
"""Below this the upper tail is replaced by its Chernoff bound, which is never smaller, and the rest
of the law by its largest term, which is never larger: both make z smaller than it is."""

FAR = 1e-9
"""Points farther than this from where a tail is 1/2 are told apart by that alone."""

EDGE = 1e-12
"""Points as close as this to the one where y begins to count are taken for it."""


def stouffer_rejects(
    x: int, n1: int, y: int, n0: int, *, epsilon: float, delta: float, alpha: float
) -> bool:
    """Return whether p1 <= e^epsilon p0 + delta is rejected at level alpha; see `combined.rejects`.

    `x` of `n1` and `y` of `n0` count one event, fixed beforehand, on the two sides; x ~ Bin(n1,
    p1), y ~ Bin(n0, p0) independent; epsilon >= 0.
    """
    return rejects(STOUFFER, Null(x=x, n1=n1, y=y, n0=n0, allowed=Line(epsilon, delta)), alpha)


def stouffer_lower(x: int, n1: int, y: int, n0: int, *, scale: Scale, alpha: float) -> float:
    """Lower confidence bound on the leak; see `dpassay.stats.inversion.lower`."""
    return lower(STOUFFER, x, n1, y, n0, scale=scale, alpha=alpha)


def _statistic(p0: Array, null: Null | Nulls) -> tuple[Array, Callable[[], Array]]:
    """Return w1 z1 + w0 z0 at each point, and what computes a floor of it on each cell.

    A cell lies between two neighbours of a row.

    As p0 grows, z1 falls and z0 rises. s0^2 / s1^2 is proportional to p0 (1 - p0) / (p1 (1 - p1)),
    which is monotone (it grows for epsilon, delta >= 0 and falls for epsilon, delta <= 0), so that
    a weight lies between its values at the two ends. Where delta < 0 and p1 is clipped, it is
    proportional to p0 (1 - p0), and no cell holds the top of that inside.
    """
    x, n1, y, n0 = null.x, null.n1, null.y, null.n0
    p1 = null.p1(p0)
    z1 = _z(x, n1, p1)
    z0 = np.where(y < n0, -_z(np.minimum(y + 1, n0), n0, p0), -np.inf)
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


def _z(x: Counts, n: Counts, p: Array) -> Array:
    """-Phi^-1 P[Bin(n, p) >= x] for 1 <= x <= n, never above the truth but for rounding.

    Where that is above 1/2, the complement keeps the digits. It is at every p above the median of
    the beta law, which lies between its mode and its mean.
    """
    above = p > np.maximum(x / (n + 1), (x - 1) / np.maximum(n - 1, 1)) + FAR
    tail = betainc(x, n - x + 1, p, where=~above, out=np.ones_like(p))
    likely = tail > 0.5
    rest = betainc(n - x + 1, x, 1 - p, where=likely, out=tail)
    quantile = ndtri(rest)
    z: Array = np.where(likely, quantile, -quantile)
    deep = (rest < TINY) & (p > 0) & ~likely
    if deep.any():
        z[deep] = _z_deep(*_where(deep, x, n), p[deep])
    deep = (rest <= TINY) & likely
    if deep.any():
        count, trials = _where(deep, x, n)
        with np.errstate(divide="ignore"):
            z[deep] = ndtri_exp(log_mass(count - 1, trials, p[deep]))
    return z


def _z_deep(x: Integers, n: Integers, p: Array) -> Array:
    """The same by Chernoff's bound on the tail."""
    share = x / n
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - p)), 0.0)
        divergence = share * np.log(share / p) + rest
    z: Array = -ndtri_exp(-n * divergence)
    return z


def _where(these: NDArray[np.bool_], x: Counts, n: Counts) -> tuple[Integers, Integers]:
    """Return x and n at each of these points."""
    return np.broadcast_to(x, these.shape)[these], np.broadcast_to(n, these.shape)[these]


def _weights(
    p0: Array, p1: Array, null: Null | Nulls, *, just_after: bool = False
) -> tuple[Array, Array]:
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


STOUFFER = Combination(statistic=_statistic, critical=lambda alpha: -float(ndtri(alpha)))
