"""Scales: the number by which a claim about events measures a leak, and the (epsilon, delta) that this number stands for.

A leak of t on a scale means: for every event that the claim speaks of, P[M(S) in E] <= e^epsilon P[M(S') in E] + delta with
(epsilon, delta) = `at(t)`. One engine therefore tests all of them; a bound inverts the test along t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.claims import DP, Claim, ScoreStability, Stability
from dpassay.stats.divergence import Loss, label_difference, privacy_loss


@dataclass(frozen=True, slots=True)
class Ratio:
    """The privacy loss in nats at a given delta: ln((p1 - delta) / p0).

    Parameters
    ----------
    delta : float
        In [0, 1).
    """

    delta: float = 0.0
    unions = True
    """Whether the claim speaks of unions of labels too."""
    most = math.inf
    """No leak is larger."""

    def at(self, t: float) -> tuple[float, float]:
        """Return (t, delta)."""
        return t, self.delta

    def between(self, p1: ArrayLike, p0: ArrayLike) -> NDArray[np.float64]:
        """Leak of an event with these probabilities, of any sign; -inf where p1 does not exceed delta."""
        excess = np.asarray(p1, dtype=float) - self.delta
        with np.errstate(divide="ignore"):
            return np.where(excess > 0, np.log(np.where(excess > 0, excess, 1.0)) - np.log(p0), -np.inf)

    def spread(self, p1: float, p0: float) -> float:
        """Standard error of the plug-in leak, times sqrt(n): S of the asymptotic form."""
        return math.sqrt(p1 * (1 - p1) / (p1 - self.delta) ** 2 + (1 - p0) / p0) if p1 > self.delta and p0 > 0 else math.inf

    def exact(self, log_p: NDArray[np.float64], log_q: NDArray[np.float64], error: float = 0.0) -> Loss:
        """Leak of every cell between exact laws; see `privacy_loss`."""
        return privacy_loss(log_p, log_q, self.delta, error)


@dataclass(frozen=True, slots=True)
class Difference:
    """The change of a label's probability, p1 - p0: (0, t)-differential privacy for single labels."""

    unions = False
    most = 1.0

    def at(self, t: float) -> tuple[float, float]:
        """Return (0, t)."""
        return 0.0, t

    def between(self, p1: ArrayLike, p0: ArrayLike) -> NDArray[np.float64]:
        """Difference of the probabilities, of any sign."""
        difference: NDArray[np.float64] = np.asarray(p1, dtype=float) - np.asarray(p0, dtype=float)
        return difference

    def spread(self, p1: float, p0: float) -> float:
        """Standard error of the plug-in difference, times sqrt(n)."""
        return math.sqrt(p1 * (1 - p1) + p0 * (1 - p0))

    def exact(self, log_p: NDArray[np.float64], log_q: NDArray[np.float64], error: float = 0.0) -> Loss:
        """Largest difference of a label's probability; see `label_difference`."""
        return label_difference(log_p, log_q, error)


Scale = Ratio | Difference


def scale_of(claim: Claim) -> Scale:
    """Return the scale of a claim about events; one about means (`PredictionStability`) has none."""
    if isinstance(claim, DP):
        return Ratio(claim.delta)
    if isinstance(claim, (Stability, ScoreStability)):
        return Difference()
    raise TypeError(f"{claim} is no claim about events")
