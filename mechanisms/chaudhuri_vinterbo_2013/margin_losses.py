"""Convex losses and validation scores of a margin z = y <w, x>.

Source: Chaudhuri and Vinterbo (2013), section 4.1.

    logistic  ln(1 + e^(-z)), c = 1/4
    huber     0 for z > 1 + h, (1 + h - z)^2 / (4 h) for |1 - z| <= h, 1 - z for z < 1 - h,
              c = 1 / (2 h)
    hinge     max(0, 1 - z), c = 0
    ramp      min(1, max(0, 1 - z)), a score only

c bounds the second derivative; the hinge loss has none at its kink, and c = 0 is what is left
elsewhere. All are 1-Lipschitz in w where ||x|| <= 1. The Huber loss is that of Chaudhuri,
Monteleoni and Sarwate (2011), Corollary 13, which the paper's "SVM" needs to be differentiable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import expit, lambertw

Array = NDArray[np.float64]
UP: Final = 1 + 1e-12
"""What a constant is multiplied by so that rounding does not make it too small."""


class MarginLoss(Protocol):
    """A convex, falling loss l(z) with |l'| <= 1."""

    def __hash__(self) -> int:
        """By its parameters: what is computed from it is kept."""
        ...

    @property
    def c(self) -> float:
        """Largest second derivative."""
        ...

    @property
    def peak(self) -> float:
        """The t at which t |l'(t)| is largest; it rises before and falls behind."""
        ...

    @property
    def turn(self) -> tuple[float, float]:
        """Where on w >= 0, and how large, the range of v l'(v w) over v in [-1, 1] is at most.

        |l'(-w)| + `steepest`(w).
        """
        ...

    def value(self, z: Array) -> Array:
        """l(z)."""
        ...

    def slope(self, z: Array) -> Array:
        """l'(z), in [-1, 0]."""
        ...

    def curvature(self, z: Array) -> Array:
        """l''(z), where the slope bends one of its two values."""
        ...


@dataclass(frozen=True, slots=True)
class LogisticMargin:
    """ln(1 + e^(-z))."""

    c = 0.25
    peak = 1 + float(lambertw(math.exp(-1)).real)

    @property
    def turn(self) -> tuple[float, float]:
        """At the root of w^2 sigma(w) sigma(-w) = max t sigma(-t) behind 2.4.

        See docs/findings.md, 'Algorithm 3'.
        """
        return _logistic_turn()

    def value(self, z: Array) -> Array:
        """Without overflow."""
        return np.logaddexp(0.0, -z)

    def slope(self, z: Array) -> Array:
        """-sigma(-z)."""
        return -np.asarray(expit(-z), dtype=float)

    def curvature(self, z: Array) -> Array:
        """sigma(z) sigma(-z)."""
        p: Array = expit(z)
        return p * (1 - p)


@cache
def _logistic_turn() -> tuple[float, float]:
    most = LogisticMargin.peak - 1  # t sigma(-t) at the peak
    w = float(
        scipy.optimize.brentq(lambda w: w * w * expit(w) * expit(-w) - most, 2.4, 50.0, xtol=1e-14)
    )
    return w, (float(expit(w)) + most / w) * UP


@dataclass(frozen=True, slots=True)
class HuberMargin:
    """The hinge with its kink rounded over |1 - z| <= h, for h in (0, 1]."""

    h: float

    @property
    def c(self) -> float:
        """1 / (2 h)."""
        return 1 / (2 * self.h)

    @property
    def peak(self) -> float:
        """Where the slope begins to bend, or the middle of what is left of it."""
        return max(1 - self.h, (1 + self.h) / 2)

    @property
    def turn(self) -> tuple[float, float]:
        """2, up to w = 1 - h."""
        return 1 - self.h, 2.0

    def value(self, z: Array) -> Array:
        """With the steepness q: q (1 + h - z) - h q^2."""
        q = -self.slope(z)
        return q * (1 + self.h - z) - self.h * q * q

    def slope(self, z: Array) -> Array:
        """Minus the steepness: (1 + h - z) / (2 h) between 0 and 1."""
        return -np.clip((1 + self.h - z) / (2 * self.h), 0.0, 1.0)

    def curvature(self, z: Array) -> Array:
        """1 / (2 h) where it bends."""
        return np.where(np.abs(1 - z) <= self.h, self.c, 0.0)


@dataclass(frozen=True, slots=True)
class HingeMargin:
    """max(0, 1 - z), with which Algorithm 3 cannot be private.

    See docs/findings.md, 'Algorithm 3 with the hinge loss'.
    """

    c = 0.0
    peak = 1.0

    @property
    def turn(self) -> tuple[float, float]:
        """2, up to the kink."""
        return 1.0, 2.0

    def value(self, z: Array) -> Array:
        """max(0, 1 - z)."""
        return np.maximum(0.0, 1 - z)

    def slope(self, z: Array) -> Array:
        """-1 up to the kink, where it is the lowest subgradient, and 0 behind."""
        return -np.asarray(z <= 1, dtype=float)

    def curvature(self, z: Array) -> Array:
        """0 but at the kink, where there is none."""
        return np.zeros_like(z)


LOSSES: Final[dict[str, Callable[[float], MarginLoss]]] = {
    "logistic": lambda h: LogisticMargin(),  # noqa: ARG005  (nothing is rounded)
    "huber": HuberMargin,
    "hinge": lambda h: HingeMargin(),  # noqa: ARG005
}
"""Losses that are trained with; the argument is h."""


def steepest(loss: MarginLoss, W: float) -> float:
    """Largest a |l'(a W)| over a in [0, 1], W >= 0.

    The most that one record of norm <= 1 can pull at weights of norm W.
    """
    t = min(W, loss.peak)
    slope = -float(loss.slope(np.array(t)))
    return slope * (t / W if W > 0 else 1.0)


@cache
def farthest(loss: MarginLoss, lambda_: float, noise: float = 0.0) -> float:
    """Largest norm of minimisers of lambda ||w||^2 / 2 + mean loss + <b, w>, ||b|| <= noise.

    Over all datasets.

    lambda w is the mean pull of the records minus b; along w itself that is at most
    `steepest`(||w||) + noise, which falls with ||w||. Equal records against the direction of b
    attain it. Rounded up.
    """
    low, high = 0.0, (1 + noise) / lambda_ * UP
    while low < (middle := (low + high) / 2) < high:
        if lambda_ * middle <= steepest(loss, middle) + noise:
            low = middle
        else:
            high = middle
    return high * UP


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A validation score's g, 1-Lipschitz.

    Parameters
    ----------
    g : callable
        g(z) >= 0, falling.
    most : float
        g*, the largest value.
    spread : callable
        Largest |g(z) - g(z')| over |z|, |z'| <= W.
    """

    g: Callable[[Array], Array]
    most: float
    spread: Callable[[float], float]

    @property
    def middle(self) -> float:
        """g(0)."""
        return float(self.g(np.array(0.0)))


SCORES: Final[dict[str, Score]] = {
    "logistic": Score(g=LogisticMargin().value, most=math.inf, spread=lambda W: W),
    "hinge": Score(
        g=lambda z: np.maximum(0.0, 1 - z), most=math.inf, spread=lambda W: min(2 * W, 1 + W)
    ),
    "ramp": Score(g=lambda z: np.clip(1 - z, 0.0, 1.0), most=1.0, spread=lambda W: min(1.0, W)),
}
"""Scores that section 4.1 names; q(w, V) is minus the mean of g over V."""
