"""Regions: which pairs (p1, p0) of an event's probabilities a claim allows.

In each, p1 is at most a rising function of p0.

A region is convex, since the function is concave: what holds for all events then holds for all
tests that toss coins too. The opposite, that p1 is at least so much, is a region with the sides
exchanged: `reverse`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_ndtr, ndtr, ndtri

from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]

CERTAIN = 1 - 1e-12
"""A null point with p1 above this counts as p1 = 1; so rounding cannot split the two."""
STEEPEST = 50.0
"""A bound on what is likelier by more than e to this is 1 anyway."""


@dataclass(frozen=True, slots=True)
class LineRegion:
    """p1 <= e^epsilon p0 + delta.

    Both numbers are >= 0 and delta < 1; or both are <= 0: then p0 >= -delta e^-epsilon, since p1 >=
    0.
    """

    epsilon: float
    delta: float

    @property
    def slack(self) -> float:
        """Return what p1 may be beside p0 = 0."""
        return self.delta

    @property
    def reverse(self) -> LineRegion:
        """p1 >= e^epsilon p0 + delta is p0 <= e^-epsilon p1 - delta e^-epsilon."""
        return LineRegion(-self.epsilon, -self.delta * math.exp(-self.epsilon))

    @property
    def least(self) -> float:
        """Return where p0 begins."""
        return -self.delta * math.exp(-self.epsilon)

    @property
    def accuracy(self) -> float:
        """Largest probability of a right guess between the two sides, at even odds."""
        return (math.exp(self.epsilon) + self.delta) / (1 + math.exp(self.epsilon))

    @property
    def tight(self) -> tuple[float, float]:
        """Return the probabilities of an event on the edge in both directions, with p1 + p0 = 1."""
        p0 = (1 - self.delta) * float(expit(-self.epsilon))
        return 1 - p0, p0

    def most(self, p0: Array) -> Array:
        """Largest p1 beside each p0, 1 where it is certain."""
        p1 = math.exp(self.epsilon) * p0 + self.delta
        return np.where(p1 >= CERTAIN, 1.0, np.maximum(p1, 0.0))

    def inverse(self, p1: ArrayLike) -> Array:
        """Least p0 beside each p1, unrounded."""
        return np.maximum(0.0, np.asarray(p1, dtype=float) - self.delta) * math.exp(-self.epsilon)

    def around(self, p: float) -> tuple[float, float]:
        """Return the least and largest probability allowed beside p, in both directions."""
        down, up, delta = math.exp(-self.epsilon), math.exp(min(self.epsilon, STEEPEST)), self.delta
        low = max(0.0, (p - delta) * down, 1 - up * (1 - p) - delta)
        high = min(1.0, 1 - (1 - p - delta) * down, up * p + delta)
        return min(low, p), max(high, p)

    def edge(self, p0: Array, *, both: bool) -> Array:
        """Return the largest p1 allowed beside p0, unrounded, in `both` directions or in one."""
        p1 = math.exp(self.epsilon) * p0 + self.delta
        other = 1 - (1 - p0 - self.delta) * math.exp(-self.epsilon) if both else p1
        return np.clip(np.minimum(p1, other), 0.0, 1.0)

    def steepness(self, p0: Array) -> Array:
        """Return how fast the edge rises at each p0."""
        return np.full_like(p0, math.exp(self.epsilon))

    def corners(self, n1: int) -> Array:
        """Return values of p0 at which weights jump or p1 reaches 1.

        No cell of a grid may hold one of them inside.
        """
        found = [np.array([(1 - self.delta) * math.exp(-self.epsilon)])]
        if self.delta < 0:  # weights are clipped where p1 is next to 0 or 1
            clips = (np.array([1 / n1, 1 - 1 / n1]) - self.delta) * math.exp(-self.epsilon)
            found += [clips, np.array([0.5])]
        return np.concatenate(found)

    def errors(self, p0: Array, p1: Array, n1: int, n0: int) -> tuple[Array, Array]:
        """Standard errors of the two sides on the log scale.

        s1 / s0 is monotone in p0 between the corners.

        Where delta < 0, p1 can be 0 though p0 is not: x must keep some weight there, so p1 is
        clipped to [1 / n1, 1 - 1 / n1].
        """
        if self.delta < 0:
            p1 = np.where(p1 >= 1, p1, np.clip(p1, 1 / n1, 1 - 1 / n1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.sqrt(p1 * (1 - p1) / n1) / (p1 - self.delta), np.sqrt((1 - p0) / (n0 * p0))

    def near_certain(self, p0: Array, p1: Array, x: int, n1: int, n0: int) -> Array:
        """Floor of w1 z1 on cells that end at p1 = 1, where z1 falls to -inf and w1 to 0.

        With u = 1 - p1: w1 <= s1 / s0, and -z1 <= sqrt(-2 ln P[Bin(n1, p1) < x]) with
        P[...] >= P[Bin = x - 1] >= p1^(x - 1) u^(n1 - x + 1). The product of these two falls with u
        below 1/e, so its value at the left end bounds it.
        """
        p, q = p1[..., :-1], p0[..., 1:]
        u = 1 - p
        with np.errstate(divide="ignore", invalid="ignore"):
            most_weight = np.sqrt(u / n1) / (p - self.delta) * np.sqrt(n0 * q / (1 - q))
            surprise = (n1 - x + 1) * -np.log(u) + (x - 1) * -np.log(p)
            floor = -most_weight * np.sqrt(2 * surprise)
        return np.where((u > 0) & (u < 1 / math.e), floor, np.where(u > 0, -np.inf, 0.0))


@dataclass(frozen=True, slots=True)
class CurveRegion:
    """p1 <= Phi(Phi^-1(p0) + mu).

    This is the trade-off function G_mu of Dong, Roth and Su (2022), section 2; a negative mu is a
    reverse.
    """

    mu: float

    slack = 0.0
    least = 0.0

    @property
    def reverse(self) -> CurveRegion:
        """p1 >= Phi(Phi^-1(p0) + mu) is p0 <= Phi(Phi^-1(p1) - mu)."""
        return CurveRegion(-self.mu)

    @property
    def accuracy(self) -> float:
        """Phi(mu / 2): half of 1 + p1 - p0 is the largest where p1 = 1 - p0."""
        return float(ndtr(self.mu / 2))

    @property
    def tight(self) -> tuple[float, float]:
        """The half-line between two normal laws.

        The edge is its own mirror image, and all of it is tight in both directions.
        """
        return float(ndtr(self.mu / 2)), float(ndtr(-self.mu / 2))

    def most(self, p0: Array) -> Array:
        """Largest p1 beside each p0, never rounded below the true one; 1 where that is certain."""
        z = ndtri(p0)
        with np.errstate(invalid="ignore"):
            p1 = ndtr(z + self.mu + 8 * UNIT_ROUNDOFF * (1 + np.abs(z) + abs(self.mu)))
        p1 = np.where(np.asarray(p0) <= 0, 0.0, p1 * (1 + 8 * UNIT_ROUNDOFF))
        return np.where(p1 >= CERTAIN, 1.0, p1)

    def inverse(self, p1: ArrayLike) -> Array:
        """Least p0 beside each p1, unrounded."""
        return np.asarray(ndtr(ndtri(np.asarray(p1, dtype=float)) - self.mu))

    def around(self, p: float) -> tuple[float, float]:
        """Least and largest probability beside p; the other direction allows the same."""
        z = float(ndtri(p))
        return float(ndtr(z - self.mu)), float(ndtr(z + self.mu))

    def edge(self, p0: Array, *, both: bool) -> Array:  # noqa: ARG002
        """Largest p1 beside p0, unrounded; the other direction says the same."""
        return np.asarray(ndtr(ndtri(p0) + self.mu))

    def steepness(self, p0: Array) -> Array:
        """Return the edge's slope at p0 in (0, 1): phi(z + mu) / phi(z), z = Phi^-1(p0)."""
        return np.exp(np.clip(-self.mu * (ndtri(p0) + self.mu / 2), -STEEPEST, STEEPEST))

    def corners(self, n1: int) -> Array:  # noqa: ARG002
        """None: the ratio of the errors is smooth, and where p1 is 1 nothing is rejected."""
        return np.empty(0)

    def errors(self, p0: Array, p1: Array, n1: int, n0: int) -> tuple[Array, Array]:  # noqa: ARG002
        """Standard errors of Phi^-1 of the two sides' shares, up to a common factor: s1 / s0 and 1.

        (s1 / s0)^2 = n0 / n1 g(z + mu) / g(z) with z = Phi^-1(p0), g = Phi (1 - Phi) / phi^2. ln g
        is convex, as (ln Phi)'' > -1 (1 + (ln Phi)'' is the variance of a truncated normal
        variable), so s1 / s0 is monotone in p0.
        """
        z = np.clip(ndtri(p0), -FARTHEST, FARTHEST)
        ratio = np.exp(
            np.clip((log_noise(z + self.mu) - log_noise(z)) / 2, -STEEPEST, STEEPEST)
        ) * np.sqrt(n0 / n1)
        return ratio, np.ones_like(ratio)

    def near_certain(self, p0: Array, p1: Array, x: int, n1: int, n0: int) -> Array:  # noqa: ARG002
        """Nothing is shown where p1 reaches 1."""
        return np.full(p1[..., :-1].shape, -np.inf)


FARTHEST = 100.0
"""No float is so near to 0 or 1 that its normal quantile is so large."""

Region = LineRegion | CurveRegion
"""Every kind of region there is."""


def log_noise(z: Array) -> Array:
    """Return ln(Phi(z) Phi(-z) / phi(z)^2).

    It is twice the log of the standard error of Phi^-1 of a share, at one trial.
    """
    return np.asarray(log_ndtr(z) + log_ndtr(-z) + z * z + math.log(2 * math.pi))
