"""Convex losses l(a, y) of a real prediction a and a target y in {-1, +1}.

Source: Dwork and Feldman (2018), sections 4.2 and 4.4.

The paper leaves l open; it asks for convexity, a Lipschitz constant L_l and, in Theorem 4.12,
smoothness sigma_l, both in the first argument. Labels 0 and 1 become the targets -1 and +1 for
every loss, the squared and the absolute one included.

    logistic      ln(1 + e^(-y a))                                L_l = 1            sigma_l = 1/4
    squared       (a - y)^2 / 2                                   L_l = most |a| + 1 sigma_l = 1
    absolute      |a - y|                                         L_l = 1            no sigma_l
    hinge         max(0, 1 - y a)                                 L_l = 1            no sigma_l
    huber         absolute, its kink rounded over |a - y| <= h    L_l = 1            sigma_l = 1 / h
    smooth-hinge  hinge, its kink rounded over 1 - h <= y a <= 1  L_l = 1            sigma_l = 1 / h

The squared loss has no Lipschitz constant on the whole line; its constant is that on the
predictions that there can be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]


class Loss(Protocol):
    """A convex loss; a and y are numbers or arrays of one shape, and so is what comes out."""

    def value(self, a: Array, y: Array) -> Array:
        """l(a, y)."""
        ...

    def slope(self, a: Array, y: Array) -> Array:
        """Derivative in a; at a kink one of its subgradients."""
        ...

    def curvature(self, a: Array, y: Array) -> Array:
        """Second derivative in a; 0 where there is none."""
        ...

    def lipschitz(self, most: float) -> float:
        """L_l: the largest |slope| for |a| <= most."""
        ...

    @property
    def smoothness(self) -> float:
        """sigma_l: the Lipschitz constant of the slope; infinite where there is a kink."""
        ...


@dataclass(frozen=True, slots=True)
class Logistic:
    """ln(1 + e^(-y a))."""

    smoothness = 0.25

    def value(self, a: Array, y: Array) -> Array:
        """Without overflow."""
        return np.logaddexp(0.0, -y * a)

    def slope(self, a: Array, y: Array) -> Array:
        """-y sigma(-y a)."""
        slope: Array = -y * expit(-y * a)
        return slope

    # it is the same for both targets
    def curvature(self, a: Array, y: Array) -> Array:  # noqa: ARG002
        """sigma(a) sigma(-a)."""
        curvature: Array = expit(a) * expit(-a)
        return curvature

    # the paper's constant is that of the whole line
    def lipschitz(self, most: float) -> float:  # noqa: ARG002
        """1, approached far on the wrong side."""
        return 1.0


@dataclass(frozen=True, slots=True)
class Squared:
    """(a - y)^2 / 2."""

    smoothness = 1.0

    def value(self, a: Array, y: Array) -> Array:
        """Half the square."""
        return (a - y) ** 2 / 2

    def slope(self, a: Array, y: Array) -> Array:
        """The difference a - y."""
        return a - y

    def curvature(self, a: Array, y: Array) -> Array:  # noqa: ARG002
        """1."""
        return np.ones_like(a)

    def lipschitz(self, most: float) -> float:
        """`most` + 1, at the far end from the target."""
        return most + 1.0


@dataclass(frozen=True, slots=True)
class Kink:
    """Slope that climbs from `low` to `high` at a = y.

    Max over s in [low, high] of s (a - y) - h s^2 / 2.

    Parameters
    ----------
    one_sided : bool
        Hinge-like: slopes between -y and 0. Otherwise like the absolute value: between -1 and 1.
    h : float
        Length over which the slope climbs by 1; 0 is the kink itself.
    """

    one_sided: bool
    h: float = 0.0

    def slopes(self, y: Array) -> tuple[Array, Array]:
        """Least and greatest slope."""
        return (
            (np.minimum(-y, 0.0), np.maximum(-y, 0.0))
            if self.one_sided
            else (-np.abs(y), np.abs(y))
        )

    def value(self, a: Array, y: Array) -> Array:
        """0 at a = y."""
        slope = self.slope(a, y)
        return slope * (a - y) - self.h * slope**2 / 2

    def slope(self, a: Array, y: Array) -> Array:
        """(a - y) / h between the least and the greatest slope.

        Where h = 0 the sign decides, and it is 0 at the kink.
        """
        low, high = self.slopes(y)
        climb = (a - y) / self.h if self.h else np.sign(a - y)
        return np.minimum(np.maximum(climb, low), high)

    def curvature(self, a: Array, y: Array) -> Array:
        """1 / h where the slope climbs."""
        if not self.h:
            return np.zeros_like(a)
        low, high = self.slopes(y)
        climb = (a - y) / self.h
        return np.where((low < climb) & (climb < high), 1 / self.h, 0.0)

    def lipschitz(self, most: float) -> float:  # noqa: ARG002
        """1."""
        return 1.0

    @property
    def smoothness(self) -> float:
        """1 / h."""
        return 1 / self.h if self.h else math.inf


SHARP: Final[dict[str, Callable[[], Loss]]] = {
    "logistic": Logistic,
    "squared": Squared,
    "absolute": lambda: Kink(one_sided=False),
    "hinge": lambda: Kink(one_sided=True),
}
"""Losses that empirical risk minimisation takes."""

SMOOTH: Final[dict[str, Callable[[float], Loss]]] = {
    "logistic": lambda h: Logistic(),  # noqa: ARG005  (nothing is rounded)
    "squared": lambda h: Squared(),  # noqa: ARG005
    "huber": lambda h: Kink(one_sided=False, h=h),
    "smooth-hinge": lambda h: Kink(one_sided=True, h=h),
}
"""Losses that gradient descent takes; h is the length over which a kink is rounded."""

ROUNDED: Final = ("huber", "smooth-hinge")
"""Those of `SMOOTH` that h changes."""
