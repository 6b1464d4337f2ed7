"""Scales: the number by which a claim about events measures a leak.

And the region that this number stands for.

A leak of t on a scale means: for every event that the claim speaks of, (P[M(S) in E], P[M(S') in
E]) lies in the region `allowed(t)`; p1 <= e^epsilon p0 + delta, for a loss. One engine therefore
tests all of them; a bound inverts the test along t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtri

from dpassay.claims import DP, GDP, Claim, ScoreStability, Stability
from dpassay.noise import Noise
from dpassay.stats.divergence import CellLoss, gaussian_shift, label_difference, privacy_loss
from dpassay.stats.regions import FARTHEST, Array, CurveRegion, LineRegion, log_noise

LARGEST = 700.0
"""e to this is a float."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """The privacy loss in nats at a given delta in [0, 1): ln((p1 - delta) / p0)."""

    delta: float = 0.0
    most = math.inf
    """No leak is larger."""
    rarer_is_harder = True
    """Whether a leak is seen the less the rarer the event is through which it leaks."""
    by_accuracy = False
    """Whether the accuracy test of both labels bounds it from above; it is of no use to ratios."""
    profiled = True
    """Whether it is about all events, so that there is a privacy profile."""

    @property
    def unions(self) -> bool:
        """Return whether a union of labels may leak more than each: not the largest ratio."""
        return self.delta > 0

    def allowed(self, t: float) -> LineRegion:
        """Return what a leak of t allows."""
        return LineRegion(*self.at(t))

    def at(self, t: float) -> tuple[float, float]:
        """Return (t, delta)."""
        return t, self.delta

    def between(self, p1: ArrayLike, p0: ArrayLike) -> Array:
        """Return the leak of an event, of any sign; -inf where p1 does not exceed delta."""
        excess = np.asarray(p1, dtype=float) - self.delta
        with np.errstate(divide="ignore"):
            return np.where(
                excess > 0, np.log(np.where(excess > 0, excess, 1.0)) - np.log(p0), -np.inf
            )

    def share(self, x: int, n: int) -> float:
        """Return the share that a count is taken for when the search for a bound begins."""
        return x / n

    def gain(self, p1: Array) -> Array:
        """Return what p1 adds to the leak; it is `gain` less `loss`."""
        return self.between(p1, 1.0)

    def loss(self, p0: Array) -> Array:
        """Return what p0 takes off the leak."""
        found: Array = np.log(p0)
        return found

    def epsilon(self, promised: float) -> float:
        """Return the epsilon by which a profile is scaled."""
        return promised

    def move(self, kind: str, leak: float) -> float | None:
        """Return the move of the noise's centre at which the worst half-line leaks so much.

        Only call it where there is a formula.
        """
        return leak if kind == "Laplace" and self.delta == 0 else None

    def spread(self, p1: float, p0: float) -> float:
        """Standard error of the plug-in leak, times sqrt(n): S of the asymptotic form."""
        return (
            math.sqrt(p1 * (1 - p1) / (p1 - self.delta) ** 2 + (1 - p0) / p0)
            if p1 > self.delta and p0 > 0
            else math.inf
        )

    def exact(self, log_p: Array, log_q: Array, error: float = 0.0) -> CellLoss:
        """Leak of every cell between exact laws; see `privacy_loss`."""
        return privacy_loss(log_p, log_q, self.delta, error)

    def of_noise(self, noise: Noise, shift: Array, wide: float) -> tuple[Array, Array]:
        """Return the leak of values, known up to `wide`, so many scales apart, and its error."""
        return noise.loss(shift, self.delta, wide)

    def ratio(self, leak: float, promised: float) -> float:
        """Return the log-likelihood ratio at the threshold that leaks so much.

        It is twice the claim where that is infinite.
        """
        return leak if math.isfinite(leak) else 2 * promised


@dataclass(frozen=True, slots=True)
class DifferenceScale:
    """The change of a label's probability, p1 - p0: (0, t)-privacy for single labels."""

    unions = False
    most = 1.0
    rarer_is_harder = False
    by_accuracy = True
    profiled = False

    def allowed(self, t: float) -> LineRegion:
        """Return what a leak of t allows."""
        return LineRegion(*self.at(t))

    def at(self, t: float) -> tuple[float, float]:
        """Return (0, t)."""
        return 0.0, t

    def between(self, p1: ArrayLike, p0: ArrayLike) -> Array:
        """Difference of the probabilities, of any sign."""
        difference: Array = np.asarray(p1, dtype=float) - np.asarray(p0, dtype=float)
        return difference

    def share(self, x: int, n: int) -> float:
        """Return x / n."""
        return x / n

    def gain(self, p1: Array) -> Array:
        """Return p1."""
        return p1

    def loss(self, p0: Array) -> Array:
        """Return p0."""
        return p0

    def epsilon(self, promised: float) -> float:
        """There is no profile."""
        raise NotImplementedError

    def move(self, kind: str, leak: float) -> None:
        """There is no formula."""

    def spread(self, p1: float, p0: float) -> float:
        """Standard error of the plug-in difference, times sqrt(n)."""
        return math.sqrt(p1 * (1 - p1) + p0 * (1 - p0))

    def exact(self, log_p: Array, log_q: Array, error: float = 0.0) -> CellLoss:
        """Largest difference of a label's probability; see `label_difference`."""
        return label_difference(log_p, log_q, error)

    def of_noise(self, noise: Noise, shift: Array, wide: float) -> tuple[Array, Array]:
        """It speaks of labels."""
        raise NotImplementedError

    def ratio(self, leak: float, promised: float) -> float:
        """It speaks of labels."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class ShiftScale:
    """The distance of two normal laws of variance 1 between which the event lies like this.

    Phi^-1(p1) - Phi^-1(p0).

    It is the same for the complement of the event in the other direction.
    """

    unions = True
    most = math.inf
    rarer_is_harder = True
    by_accuracy = False
    profiled = True

    def allowed(self, t: float) -> CurveRegion:
        """Return what a leak of t allows: the trade-off function G_t."""
        return CurveRegion(t)

    def between(self, p1: ArrayLike, p0: ArrayLike) -> Array:
        """Return the leak of an event, of any sign.

        It is -inf where p1 is 0 or p0 is 1, else inf at 0 and 1.
        """
        one, other = ndtri(np.asarray(p1, dtype=float)), ndtri(np.asarray(p0, dtype=float))
        nothing = np.isneginf(one) | np.isposinf(other)
        return np.where(nothing, -np.inf, one - np.where(nothing, 0.0, other))

    def share(self, x: int, n: int) -> float:
        """Return x / n, half a count off 0 and 1, where the leak is infinite."""
        return min(max(x, 0.5), n - 0.5) / n

    def gain(self, p1: Array) -> Array:
        """Return Phi^-1(p1)."""
        return np.asarray(ndtri(p1))

    def loss(self, p0: Array) -> Array:
        """Return Phi^-1(p0)."""
        return np.asarray(ndtri(p0))

    def epsilon(self, promised: float) -> float:
        """Return an epsilon for the claim: mu^2 / 2 and one standard deviation more.

        mu^2 / 2 is the mean loss of a normal law.
        """
        return promised + promised**2 / 2

    def move(self, kind: str, leak: float) -> float:
        """Return the leak itself for normal noise; for Laplace's that of `Noise.distance`."""
        return leak if kind == "Gaussian" else -2 * (float(log_ndtr(-leak / 2)) + math.log(2))

    def spread(self, p1: float, p0: float) -> float:
        """Standard error of the plug-in leak, times sqrt(n)."""
        z = np.clip(ndtri(np.array([p1, p0])), -FARTHEST, FARTHEST)
        return float(np.sqrt(np.exp(np.minimum(log_noise(z), LARGEST)).sum()))

    def exact(self, log_p: Array, log_q: Array, error: float = 0.0) -> CellLoss:
        """Leak of every cell between exact laws; see `gaussian_shift`."""
        return gaussian_shift(log_p, log_q, error)

    def of_noise(self, noise: Noise, shift: Array, wide: float) -> tuple[Array, Array]:
        """Leak of values that lie so many scales of the noise apart; see `Noise.distance`."""
        return noise.distance(shift, wide)

    def ratio(self, leak: float, promised: float) -> float:  # noqa: ARG002
        """Return 0: the threshold half-way between the values leaks the most."""
        return 0.0


Scale = Ratio | DifferenceScale | ShiftScale

SCALES: dict[str, Callable[[Any], Scale]] = {
    DP.kind: lambda claim: Ratio(claim.delta),
    GDP.kind: lambda claim: ShiftScale(),  # noqa: ARG005
    Stability.kind: lambda claim: DifferenceScale(),  # noqa: ARG005
    ScoreStability.kind: lambda claim: DifferenceScale(),  # noqa: ARG005
}
"""How the leak of each kind of claim about events is measured."""


def scale_of(claim: Claim) -> Scale:
    """Return the scale of a claim about events; `PredictionStability`, about means, has none."""
    if claim.kind not in SCALES:
        raise TypeError(f"{claim} is no claim about events")
    return SCALES[claim.kind](claim)
