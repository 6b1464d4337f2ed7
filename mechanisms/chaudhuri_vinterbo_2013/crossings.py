"""Weights in one dimension that fall or rise with their noise, and the laws of their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.laws import FiniteLaw
from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import Score
from dpassay.noise import Noise
from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]
LAPLACE = Noise(kind="laplace", scale=1.0)
REACH = 1e15
"""No weight is looked for beyond; there is none but with a probability below every float."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crossing:
    """Where noise Z takes a weight over thresholds: P[w >= t_i] = P[Z >= r_i].

    Parameters
    ----------
    r : array
        Ascending with t.
    error : float
        Bound on the numerical error of each by itself.
    shift : float
        And of all of them together.
    """

    r: Array
    error: float
    shift: float = 0.0


def laplace_bins(edges: Array, error: float, shift: float) -> FiniteLaw | None:
    """Law of the bin that standard Laplace noise lies in, for edges (q, m) ascending in each row.

    Errors as for `Crossing`.

    Between a and b >= a >= 0 there is e^-a (1 - e^-(b - a)) / 2. The logarithm changes by at most
    (1 + 2 / (b - a)) of what the edges are wrong by, on either side of 0, and by (2 + 4 / (b - a))
    of it across; by what they are shifted by together if that is all. None if two edges cannot be
    told apart.
    """
    a, b = edges[:, :-1], edges[:, 1:]
    width = b - a
    if (width <= 0).any():
        return None
    near = np.maximum(np.maximum(a, -b), 0.0)  # distance of the interval from 0
    with np.errstate(divide="ignore", invalid="ignore"):
        beside = -near + np.log(-np.expm1(-width) / 2)
        across = np.log(-(np.expm1(np.minimum(a, 0.0)) + np.expm1(-np.maximum(b, 0.0))) / 2)
    inner = np.where((a < 0) & (b > 0), across, beside)
    log_p = np.concatenate(
        [LAPLACE.log_below(edges[:, :1]), inner, LAPLACE.log_below(-edges[:, -1:])], axis=1
    )
    wrong = error + 8 * UNIT_ROUNDOFF * (1 + float(np.abs(edges).max()))
    return FiniteLaw(
        log_p=np.minimum(log_p, 0.0),
        error=shift + wrong * (2 + 4 / float(width.min(initial=np.inf))),
    )


def beyond(score: Score, a: float, b: float, beta2: float) -> tuple[float, float] | None:
    """Enclose the r > 0 beyond which |g(a r) - g(b r)| > beta2, infinite if there is none.

    None where it is not known.

    If a or b is <= 0 the difference does not fall with r; if both are positive it is at most g(0).
    """
    if beta2 >= score.most or a == b:
        return math.inf, math.inf
    if a > 0 and b > 0:
        return (math.inf, math.inf) if beta2 >= score.middle else None

    def change(r: float) -> tuple[float, float]:
        values = score.g(np.array([a * r, b * r]))
        return float(abs(values[0] - values[1])), 8 * UNIT_ROUNDOFF * float(values.sum() + beta2)

    def surely(r: float) -> bool:
        value, rounding = change(r)
        return value - rounding > beta2

    def perhaps(r: float) -> bool:
        value, rounding = change(r)
        return value + rounding > beta2

    return (_first(perhaps), _first(surely)) if surely(REACH) else (math.inf, math.inf)


def _first(beyond: Callable[[float], bool]) -> float:
    """Return where a condition that stays true begins to be."""
    low, high = 0.0, REACH
    while low < (middle := (low + high) / 2) < high:
        if beyond(middle):
            high = middle
        else:
            low = middle
    return high
