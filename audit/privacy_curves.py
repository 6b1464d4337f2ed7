"""Privacy curves: promises that hold one epsilon for every delta.

A curve says more than any of its points: an algorithm that keeps (4.89, 1e-6) may break the same
curve at delta = 0.01, where far fewer trials show it. A search or a screening chooses the point;
fresh trials hold the algorithm against it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from dpassay.errors import as_real, require

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# where a curve that is given by a formula is looked at; and the delta next to which a curve is read
# where nothing has chosen a point
DELTAS, USUAL = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6), 0.01
# a profile has no more points; no larger rho is a claim: nothing that is counted would exceed it
MOST_POINTS, LARGEST_RHO = 64, 300.0
# orders at which zero-concentrated privacy is read: any of them is implied
ORDERS = tuple(1 + 10 ** (k / 20) for k in range(-40, 81))
# so much is added to a computed epsilon, for the numerical error of its maximum, and events are
# looked at down to a probability of e to minus RAREST
UPWARDS, RAREST, GRID, HALVINGS = 1e-6, 650.0, 500, 60
Array: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True, slots=True)
class ZeroConcentrated:
    """rho-zCDP: the Renyi divergence of every order alpha > 1 is at most rho alpha.

    Bun and Steinke, 'Concentrated differential privacy' (2016), Definition 1.1; rho is in (0, 300].
    """

    kind: ClassVar[str] = "zCDP"

    rho: float

    def __post_init__(self) -> None:
        rho = as_real(self.rho)
        require(0 < rho <= LARGEST_RHO, "rho", self.rho, f"a number in (0, {LARGEST_RHO:g}]")
        object.__setattr__(self, "rho", rho)

    def __str__(self) -> str:
        return f"zCDP({self.rho:g})"

    def points(self) -> tuple[tuple[float, float], ...]:
        """Return (epsilon, delta) that it implies, delta falling."""
        return _points(tuple((alpha, self.rho * alpha) for alpha in ORDERS))

    def composed(self, m: int) -> tuple[tuple[float, float], ...]:
        """Return (epsilon, delta) of zCDP(m rho), which m runs keep: Bun and Steinke, Lemma 1.7."""
        return ZeroConcentrated(m * self.rho).points() if m * self.rho <= LARGEST_RHO else ()

    def as_json(self) -> dict[str, Any]:
        """Return what `curve_from_json` reads."""
        return {"kind": self.kind, "rho": self.rho}


@dataclass(frozen=True, slots=True)
class Renyi:
    """Renyi differential privacy: the divergence of each order alpha is at most its epsilon.

    Mironov, 'Renyi differential privacy' (2017), Definition 4. `orders` are pairs of alpha > 1,
    finite, and epsilon > 0 in nats.
    """

    kind: ClassVar[str] = "RDP"

    orders: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        require(len(self.orders) > 0, "alpha", None, "at least one order")
        orders = []
        for alpha, epsilon in self.orders:
            order, bound = as_real(alpha), as_real(epsilon)
            require(1 < order <= 1e6, "alpha", alpha, "a number in (1, 1e6]")
            require(0 < bound <= 1e6, "epsilon", epsilon, "a number in (0, 1e6]")
            orders.append((order, bound))
        object.__setattr__(self, "orders", tuple(orders))

    def __str__(self) -> str:
        if len(self.orders) == 1:
            return f"RDP({self.orders[0][0]:g}, {self.orders[0][1]:g})"
        return f"RDP of {len(self.orders)} orders"

    def points(self) -> tuple[tuple[float, float], ...]:
        """Return (epsilon, delta) that it implies, delta falling."""
        return _points(self.orders)

    def composed(self, m: int) -> tuple[tuple[float, float], ...]:
        """Return (epsilon, delta) that m runs keep: Mironov (2017), Proposition 1."""
        return _points(tuple((alpha, m * epsilon) for alpha, epsilon in self.orders))

    def as_json(self) -> dict[str, Any]:
        """Return what `curve_from_json` reads."""
        return {"kind": self.kind, "orders": [list(each) for each in self.orders]}


@dataclass(frozen=True, slots=True)
class Points:
    """A privacy profile: (epsilon, delta)-differential privacy at each of some points, `known`."""

    kind: ClassVar[str] = "Profile"

    known: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        numbers = ((as_real(e), as_real(d)) for e, d in self.known)
        known = tuple(sorted(numbers, key=lambda point: (-point[1], point[0])))
        allowed = f"1 to {MOST_POINTS} pairs (epsilon, delta)"
        require(0 < len(known) <= MOST_POINTS, "points", len(known), allowed)
        object.__setattr__(self, "known", known)

    def __str__(self) -> str:
        return f"Profile of {len(self.known)} points"

    def points(self) -> tuple[tuple[float, float], ...]:
        """Return (epsilon, delta) as they are known, delta falling."""
        return self.known

    def composed(self, m: int) -> tuple[tuple[float, float], ...]:
        """Return (m epsilon, m delta) where m delta < 1: basic composition of each point."""
        return tuple((m * epsilon, m * delta) for epsilon, delta in self.known if m * delta < 1)

    def as_json(self) -> dict[str, Any]:
        """Return what `curve_from_json` reads."""
        return {"kind": self.kind, "points": [list(each) for each in self.known]}


Curve = ZeroConcentrated | Renyi | Points
"""Every kind of curve."""


def curve_from_json(facts: Mapping[str, Any]) -> Curve:
    """Read back what `as_json` wrote; raise InvalidInput if a kind or number is not allowed."""
    kind = facts.get("kind")
    known = (ZeroConcentrated.kind, Renyi.kind, Points.kind)
    require(kind in known, "curve", kind, f"of kind {', '.join(known)}")
    if kind == ZeroConcentrated.kind:
        return ZeroConcentrated(facts.get("rho", math.nan))
    name = "orders" if kind == Renyi.kind else "points"
    pairs = facts.get(name)
    right = isinstance(pairs, list) and all(
        isinstance(each, list) and len(each) == 2 for each in pairs
    )
    require(right, name, pairs, "a list of pairs of numbers")
    told = tuple((each[0], each[1]) for each in pairs or ())
    return Renyi(told) if kind == Renyi.kind else Points(told)


def usual(points: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the point whose delta is next to `USUAL`, by its logarithm; delta may be 0."""
    return min(points, key=lambda each: abs(math.log(max(each[1], 1e-300) / USUAL)))


@lru_cache(maxsize=64)
def _points(orders: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """Return what bounds on Renyi divergences say about (epsilon, delta), epsilon rising.

    An event of probabilities p and q has divergences of its own, which are no larger (data
    processing). What they allow is a region of (p, q); epsilon(delta) is the largest
    ln((p - delta) / q) in it. That is no larger than any conversion by a formula, and nothing
    smaller follows for events: Asoodeh et al., 'A better bound gives a hundred rounds' (2020).
    """
    import numpy as np
    from scipy.optimize import minimize_scalar

    next_to_1 = np.log1p(-np.logspace(-0.31, -13))
    grid = np.concatenate([-np.geomspace(RAREST, math.log(2), GRID), next_to_1])
    highest = most(grid, orders)

    def largest(value: Callable[[Array, Array], Array]) -> float:
        """Return the maximum of a function of ln q and p: on the grid, then near its best point."""
        seen = value(grid, highest)
        best = int(np.argmax(seen))
        if not math.isfinite(seen[best]):
            return 0.0
        low, high = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
        near = minimize_scalar(
            lambda log_q: -value(np.array([log_q]), most(np.array([log_q]), orders)).item(),
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-7},
        )
        return max(float(seen[best]), -float(near.fun)) + UPWARDS

    def at(delta: float) -> float:
        """Return epsilon(delta)."""
        return largest(lambda log_q, p: np.log(np.maximum(p - delta, 1e-300)) - log_q)

    apart = largest(lambda log_q, p: p - np.exp(log_q))
    found = [(0.0, apart)] if apart < 1 else []
    return (*found, *((told, d) for d in DELTAS if d < apart and (told := at(d)) > 0))


def most(log_q: Array, orders: tuple[tuple[float, float], ...]) -> Array:
    """Return the largest p (k,) that the divergences allow beside each q, rounded up."""
    import numpy as np

    alpha, bound = (np.array(column)[:, None] for column in zip(*orders, strict=True))
    log_q = np.asarray(log_q, dtype=float)
    rest_q = np.log(-np.expm1(log_q))
    # where p lies between q and 1: its logit is halved, so both ends are near
    low, high = log_q - rest_q, np.maximum(log_q - rest_q + 1, 60.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        log_p, rest_p = -np.logaddexp(0, -middle), -np.logaddexp(0, middle)
        there = _divergence(log_p, rest_p, log_q, rest_q, alpha)
        back = _divergence(log_q, rest_q, log_p, rest_p, alpha)
        fine = (np.maximum(there, back) <= bound).all(axis=0)
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
    return np.asarray(np.exp(-np.logaddexp(0, -high)))


def _divergence(log_p: Array, rest_p: Array, log_q: Array, rest_q: Array, alpha: Array) -> Array:
    """Return the Renyi divergence of order alpha of an event, from logarithms."""
    import numpy as np

    inside = alpha * log_p + (1 - alpha) * log_q
    outside = alpha * rest_p + (1 - alpha) * rest_q
    return np.asarray(np.logaddexp(inside, outside) / (alpha - 1))
