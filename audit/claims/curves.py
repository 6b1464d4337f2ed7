"""Claims of a whole privacy curve: zero-concentrated, Renyi, points of an accountant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dpassay.claims.answers import DP
from dpassay.errors import require
from dpassay.privacy_curves import Curve, Points, Renyi, ZeroConcentrated, usual


def zCDP(rho: float, **promise: Any) -> DP:
    """Return the claim of rho-zero-concentrated differential privacy.

    The Renyi divergence of every order alpha > 1 is at most rho alpha: Bun and Steinke (2016),
    Definition 1.1. What is held against it are events: (epsilon, delta) at the delta where it is
    most clearly broken, chosen by other trials than those that certify.

    Parameters
    ----------
    rho : float
        In (0, 300].
    promise
        `relation`, `unit`, `source` and so on, see `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    Examples
    --------
    >>> print(zCDP(0.5))
    zCDP(0.5)
    """
    return _of_curve(ZeroConcentrated(rho), promise)


def RDP(alpha: float | Mapping[float, float], epsilon: float | None = None, **promise: Any) -> DP:
    """Return the claim of Renyi differential privacy: Mironov (2017), Definition 4.

    Parameters
    ----------
    alpha : float or mapping
        The order, > 1; or orders with their epsilons.
    epsilon : float, optional
        Largest divergence of that order in nats, > 0.
    promise
        `relation`, `unit`, `source` and so on, see `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    Examples
    --------
    >>> print(RDP(8, 1.5))
    RDP(8, 1.5)
    """
    if isinstance(alpha, Mapping):
        require(epsilon is None, "epsilon", epsilon, "left out where orders have their own")
        return _of_curve(Renyi(tuple(alpha.items())), promise)
    require(epsilon is not None, "epsilon", epsilon, "a number in (0, 1e6]")
    return _of_curve(Renyi(((alpha, epsilon or 0.0),)), promise)


def Profile(points: Iterable[tuple[float, float]], **promise: Any) -> DP:
    """Return the claim of (epsilon, delta)-differential privacy at several points at once.

    Parameters
    ----------
    points : iterable of (float, float)
        Pairs of epsilon and delta, at most 64; as an accountant gives them.
    promise
        `relation`, `unit`, `source` and so on, see `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    Examples
    --------
    >>> print(Profile([(1.0, 1e-2), (4.0, 1e-6)]))
    Profile of 2 points
    """
    curve = Points(tuple((epsilon, delta) for epsilon, delta in points))
    for epsilon, delta in curve.known:
        DP(epsilon=epsilon, delta=delta)
    return _of_curve(curve, promise)


def _of_curve(curve: Curve, promise: Mapping[str, Any]) -> DP:
    known = curve.points()
    require(len(known) > 0, "claim", str(curve), "one that forbids something")
    epsilon, delta = usual(known)
    return DP(epsilon=epsilon, delta=delta, curve=curve, **promise)
