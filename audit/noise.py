"""Additive noise: Laplace or Gaussian, and what it leaks when the value under it moves.

A shift of s scales between the values is all that matters, and half-lines are the worst events: the
likelihood ratio of the two laws is monotone in the answer. By symmetry both directions leak the
same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri, ndtri_exp

from dpassay.errors import as_real, require
from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]
LN2 = float(np.log(2))
POINTS = np.linspace(-8.0, 8.0, 257)
"""Thresholds, in scales around the middle of the values, at which a trade-off function is
enclosed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Noise of mean 0 that is added to a number.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    scale : float
        Laplace: b, density exp(-abs(z) / b) / (2 b). Gaussian: the standard deviation. Finite and
        > 0, in units of the number.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    kind: Literal["laplace", "gaussian"]
    scale: float

    def __post_init__(self) -> None:
        require(self.kind in ("laplace", "gaussian"), "kind", self.kind, "'laplace' or 'gaussian'")
        require(0 < as_real(self.scale) < np.inf, "scale", self.scale, "a finite number > 0")
        object.__setattr__(self, "scale", as_real(self.scale))

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draw independent noise of this shape."""
        draw = rng.laplace if self.kind == "laplace" else rng.normal
        drawn: Array = draw(scale=self.scale, size=shape)
        return drawn

    def log_below(self, z: Array) -> Array:
        """Return ln P[noise < z] for z in scales."""
        if self.kind == "gaussian":
            log_p: Array = log_ndtr(z)
            return log_p
        with np.errstate(over="ignore"):
            return np.where(z < 0, z - LN2, np.log1p(-np.exp(-np.abs(z)) / 2))

    def quantile(self, p: Array) -> Array:
        """Return the p-quantiles, in the units of the number."""
        if self.kind == "gaussian":
            return self.scale * np.asarray(ndtri(p))
        return self.scale * np.asarray(np.sign(p - 0.5) * -np.log(2 * np.minimum(p, 1 - p)))

    def log_ratio(self, z: Array, s: Array) -> Array:
        """Return the log-likelihood ratio of s against 0 at answer z, in scales; rising in z."""
        return np.clip(2 * z - s, -s, s) if self.kind == "laplace" else s * z - s * s / 2

    def hockey_stick(self, s: Array, epsilon: Array) -> Array:
        """Return delta(epsilon), the largest P[E] - e^epsilon Q[E], for a shift of s >= 0 scales.

        Laplace: (1 - e^((epsilon - s) / 2))_+. Gaussian: Phi(s/2 - epsilon/s) - e^epsilon
        Phi(-s/2 - epsilon/s), Theorem 8 of Balle and Wang (2018).
        """
        if self.kind == "laplace":
            return np.maximum(0.0, -np.expm1((epsilon - s) / 2))
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(s > 0, epsilon / s, np.inf)
            delta = np.exp(log_ndtr(s / 2 - far)) - np.exp(epsilon + log_ndtr(-s / 2 - far))
        return np.where(s > 0, np.maximum(0.0, delta), 0.0)

    def doubt(self, s: Array, epsilon: Array) -> Array:
        """Return a bound on the error of `hockey_stick`, where Gaussian terms may almost agree."""
        if self.kind == "laplace":
            return 4 * UNIT_ROUNDOFF * (1 + s) * np.ones_like(epsilon)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_p = np.where(s > 0, log_ndtr(s / 2 - epsilon / s), -np.inf)  # of the larger term
            size = np.where(s > 0, 1 + np.abs(log_p) + epsilon, 0.0)
        return 64 * UNIT_ROUNDOFF * size * np.exp(log_p)

    def loss(self, s: Array, delta: float, wide: float = 0.0) -> tuple[Array, Array]:
        """Return the smallest epsilon at this delta for a shift of s >= 0 scales, and its error.

        Laplace: s + 2 ln(1 - delta), at least 0. Gaussian: the root of delta(epsilon) = delta, by
        bisection; inf at delta = 0 unless s = 0. `wide` bounds the error of s itself; the loss
        increases with s.
        """
        s = np.asarray(s, dtype=float)
        if self.kind == "laplace":
            spent = 2 * np.log1p(-delta)
            return np.maximum(0.0, s + spent), wide + 4 * UNIT_ROUNDOFF * (s - spent)
        if delta == 0:
            return np.where(s > 0, np.inf, 0.0), np.zeros_like(s)
        apart, places = np.unique(s, return_inverse=True)
        value = self._root(apart, np.full_like(apart, delta))
        slack = self.doubt(apart, value)
        least = self._root(np.maximum(0.0, apart - wide), delta + slack)
        most = self._root(apart + wide, delta - np.minimum(slack, delta / 2))
        error = np.maximum(value - least, most - value) + 2 * UNIT_ROUNDOFF * value
        return value[places].reshape(s.shape), error[places].reshape(s.shape)

    def distance(self, s: Array, wide: float = 0.0) -> tuple[Array, Array]:
        """Return the smallest mu of Gaussian DP for a shift of s >= 0 scales, and its error.

        Gaussian: s, at every threshold. Laplace: -2 Phi^-1(e^(-s/2) / 2), at the threshold
        half-way. For with h(u) = -Phi^-1(e^-u / 2), u >= 0, the threshold u in [0, s] has
        h(u) + h(s - u), and one of u >= s has h(u) - h(u - s); h' = Phi(-h) / phi(h) falls as h
        rises, so h is concave: the first is the largest at s / 2, the second at u = s. Where
        answers are projected to limits, the threshold half-way lies between them, and projecting
        adds no event. `wide` bounds the error of s; h' <= sqrt(pi / 2).
        """
        s = np.asarray(s, dtype=float)
        if self.kind == "gaussian":
            return s, wide * np.ones_like(s)
        mu = -2 * np.asarray(ndtri_exp(-s / 2 - LN2))
        return mu, 1.2534 * wide + 32 * UNIT_ROUNDOFF * (1 + s)

    def _root(self, s: Array, delta: Array) -> Array:
        """Return where the decreasing hockey stick meets delta."""
        # at that epsilon even Phi(s/2 - epsilon/s) is at most delta
        top = s * (s / 2 - ndtri(np.minimum(delta, 0.5)))
        low, high = np.zeros_like(s), np.maximum(0.0, top)
        high[self.hockey_stick(s, low) <= delta] = 0.0
        while True:
            middle = (low + high) / 2
            inside = (low < middle) & (middle < high)
            if not inside.any():
                return high
            above = self.hockey_stick(s, middle) > delta
            low = np.where(inside & above, middle, low)
            high = np.where(inside & ~above, middle, high)

    def threshold(self, v0: float, v1: float, epsilon: float) -> float:
        """Return the answer at which the log-likelihood ratio of v1 against v0 is epsilon."""
        middle, apart = (v0 + v1) / 2, v1 - v0
        if self.kind == "laplace":
            return middle + float(np.copysign(min(epsilon * self.scale, abs(apart)) / 2, apart))
        return middle + epsilon * self.scale**2 / apart

    def tests(self, s: float) -> Array:
        """Return tests (false positives, true positives) of half-lines, for a shift of s scales."""
        z = s / 2 + POINTS * max(1.0, s / 2)
        return np.exp(np.stack([self.log_below(-z), self.log_below(s - z)], axis=1))

    def limits(self, s: float) -> Array:
        """Return corners of a polygon that no test is above, where tangents at `tests` meet."""
        z = s / 2 + POINTS * max(1.0, s / 2)
        x, y = self.tests(s).T
        slope = np.exp(np.clip(self.log_ratio(z, np.asarray(s)), -700, 700))
        cut = y - slope * x  # of each tangent with x = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            corner = np.clip(
                np.nan_to_num((cut[:-1] - cut[1:]) / (slope[1:] - slope[:-1])), x[1:], x[:-1]
            )
        height = np.maximum(cut[:-1] + slope[:-1] * corner, cut[1:] + slope[1:] * corner)
        ends = [[0.0, cut[-1]], [1.0, cut[0] + slope[0]]]
        corners = np.concatenate([ends, np.stack([corner, height], axis=1)])
        corners[:, 1] += 1e-13  # rounding
        return corners
