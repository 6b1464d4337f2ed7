"""The largest of K counts with Laplace or Gaussian noise on each: the exact law of its index.

Counts n_j plus independent noise of density f and distribution function F, in units of the scale s:

    P[i wins] = integral of f(z - n_i / s) * prod over j != i of F(z - n_j / s) dz.

For K = 2 it is the law of one difference: of two Laplace, P[L - L' > t] = (2 + t) e^-t / 4 for
t >= 0; of two Gaussian, a Gaussian of variance 2. For K >= 3 Gauss-Legendre quadrature with a bound
on its error.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp

from dpassay.laws import FiniteLaw
from dpassay.noise import LN2, Noise
from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]
NODES = 32
"""Of one interval."""
RHO = 4.0
"""Sum of the half-axes of the ellipse around an interval of half-length 1, on which the integrand
is bounded."""
WIDTH = 1.0
"""Longest interval, in scales."""
STEEP = 16.0
"""Gaussian intervals are at most this divided by the range of the counts: there the logarithm of
the integrand is as steep."""
FARTHEST = 100.0
"""Largest range of three or more counts, in Gaussian scales, that is integrated over: the intervals
become too many."""
TAIL = 45.0
"""Scales beyond the least and greatest count that are integrated over."""
NODE_ERROR = 1e-13
"""What the rounding of nodes and weights adds; numpy states that they are tested to about 1e-14 up
to degree 100."""
ROOT_TAU = float(np.log(2 * np.pi) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyMax:
    """The label with the largest count plus noise.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    scale : float
        Laplace: b, 1 / gamma in the papers; Gaussian: the standard deviation. In units of the
        counts; finite and > 0.
    """

    kind: Literal["laplace", "gaussian"]
    scale: float

    @property
    def noise(self) -> Noise:
        """What is added to each count."""
        return Noise(kind=self.kind, scale=self.scale)

    def draw(
        self, counts: NDArray[np.int64], size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw the winner `size` times for counts (q, K), shape (size, q)."""
        drawn: NDArray[np.int64] = (counts + self.noise.draw((size, *counts.shape), rng)).argmax(
            axis=-1
        )
        return drawn

    def has_law(self, voters: int, K: int) -> bool:
        """Whether the law of K counts of so many voters is within reach."""
        return K == 2 or self.kind == "laplace" or voters / self.scale <= FARTHEST

    def law(self, counts: NDArray[np.int64]) -> FiniteLaw:
        """Return the exact law of the winner for counts (q, K), K >= 2."""
        if counts.shape[1] == 2:
            return self._of_two((counts[:, 1] - counts[:, 0]) / self.scale)
        # the law of a permutation is the permutation of the law
        order = np.argsort(counts, axis=1, kind="stable")
        different, places = np.unique(
            np.take_along_axis(counts, order, axis=1), axis=0, return_inverse=True
        )
        rows = [self._of_many(row / self.scale) for row in different]
        log_p = np.empty(counts.shape)
        np.put_along_axis(log_p, order, np.stack([row for row, _ in rows])[places.ravel()], axis=1)
        return FiniteLaw(log_p=np.minimum(log_p, 0.0), error=max(error for _, error in rows))

    def _of_two(self, lead: Array) -> FiniteLaw:
        """Law for a lead (n_1 - n_0) / s of label 1.

        First that the label behind wins, then the one in front.
        """
        t = np.abs(lead)
        if self.kind == "laplace":
            behind = np.log(2 + t) - t - 2 * LN2
            front = np.log1p(-np.exp(behind))
        else:
            behind, front = log_ndtr(-t / np.sqrt(2)), log_ndtr(t / np.sqrt(2))
        log_p = np.stack(
            [np.where(lead > 0, behind, front), np.where(lead > 0, front, behind)], axis=1
        )
        return FiniteLaw(
            log_p=log_p,
            error=64 * UNIT_ROUNDOFF * (1 + float(t.max()) + float(np.abs(behind).max())),
        )

    def _of_many(self, n: Array) -> tuple[Array, float]:
        """Return ln P[i wins] for counts n (K,) in scales, and a bound on the error of each.

        The integrand is cut at the counts, where that of Laplace noise has kinks, and into
        intervals of at most `WIDTH`.
        """
        n = n - n.min()
        cuts = np.unique(n)
        width = WIDTH if self.kind == "laplace" else min(WIDTH, STEEP / max(1.0, cuts[-1]))
        cuts = np.concatenate([[-TAIL], cuts, [cuts[-1] + TAIL]])
        parts = [np.linspace(a, b, int(np.ceil((b - a) / width)) + 1) for a, b in pairwise(cuts)]
        a, b = (
            np.concatenate([part[:-1] for part in parts]),
            np.concatenate([part[1:] for part in parts]),
        )
        u, weights = np.polynomial.legendre.leggauss(NODES)
        z = (a + b)[:, None] / 2 + (b - a)[:, None] / 2 * u
        log_weights = np.log((b - a)[:, None] / 2 * weights)
        log_F = self.noise.log_below(z[..., None] - n)  # (intervals, nodes, K)
        log_f = self._log_density(z[..., None] - n)
        terms = log_weights[..., None] + log_f + log_F.sum(axis=-1, keepdims=True) - log_F
        log_p: Array = logsumexp(terms, axis=(0, 1))
        left_out = logsumexp(np.stack([self._quadrature_error(a, b, n), self._beyond(n)]), axis=0)
        relative = float(np.exp(np.minimum(np.max(left_out - log_p), 0.0)))
        return log_p, 2 * relative + self._rounding(cuts[-1], len(n), float(np.abs(log_p).max()))

    def _rounding(self, farthest: float, K: int, largest: float) -> float:
        """Return a bound on what rounding does to the logarithms of the quadratures.

        Terms below e^-50 of a sum may have any error; in the others no factor has a logarithm below
        -(largest + 50), where a Gaussian's has a slope of at most 1 + sqrt(2 (largest + 50)).
        """
        deepest = largest + 50
        slope = 1.0 if self.kind == "laplace" else 1 + np.sqrt(2 * deepest)
        return NODE_ERROR + float(
            8 * (K + 8) * UNIT_ROUNDOFF * ((farthest + TAIL) * slope + deepest)
        )

    def _log_density(self, z: Array) -> Array:
        """Return the logarithm of the noise's density at z scales."""
        return -np.abs(z) - LN2 if self.kind == "laplace" else -z * z / 2 - ROOT_TAU

    def _quadrature_error(self, a: Array, b: Array, n: Array) -> Array:
        """Return the logarithm of a bound on the error of all quadratures, for each label (K,).

        With N nodes on an interval of half-length h the error is at most h (64/15) M
        rho^(-2(N-1)) / (1 - rho^-2), M the largest absolute value of the integrand, continued from
        the interval, on the ellipse with half-axes (rho +- 1/rho) h / 2 (Trefethen 2013,
        Approximation Theory and Approximation Practice, Theorem 19.3). There, with x the real part
        and y the imaginary one, Gaussian: |f(z)| = f(x) e^(y^2/2) and |F(z)| <= F(x) e^(y^2/2), by
        integrating |f| from minus infinity along the line of that imaginary part. Laplace, on whose
        side of n_j the interval lies: |e^z| / 2 = e^x / 2, and |1 - e^-z / 2| <= 1 + e^-x / 2.
        """
        h = (b - a) / 2
        low, high = ((a + b) / 2 + sign * h * (RHO + 1 / RHO) / 2 for sign in (-1, 1))
        low, high, left = low[:, None] - n, high[:, None] - n, (a[:, None] + b[:, None]) / 2 < n
        if self.kind == "laplace":
            log_F = np.where(left, high - LN2, np.log1p(np.exp(-np.where(left, 0.0, low)) / 2))
            log_f = np.where(left, high, -low) - LN2
        else:
            y = (h * (RHO - 1 / RHO) / 2)[:, None]
            log_F = log_ndtr(high) + y * y / 2
            log_f = -(np.clip(0.0, low, high) ** 2) / 2 - ROOT_TAU + y * y / 2
        log_M = log_f + log_F.sum(axis=1, keepdims=True) - log_F
        constant = np.log(64 / 15) - 2 * (NODES - 1) * np.log(RHO) - np.log1p(-(RHO**-2))
        bound: Array = logsumexp(np.log(h)[:, None] + log_M + constant, axis=0)
        return bound

    def _beyond(self, n: Array) -> Array:
        """Return the logarithm of a bound on what lies beyond the intervals, for each label (K,).

        ln P[noise of i is there].

        Below, every noise must be below its count by `TAIL` and more.
        """
        above = self.noise.log_below(n - n.max() - TAIL)
        below = self.noise.log_below(n.min() - TAIL - n).sum()
        bound: Array = np.logaddexp(above, below)
        return bound
