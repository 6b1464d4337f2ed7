"""The exact Gaussian distance between two laws.

The smallest mu for which they are mu-Gaussian differentially private.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp

from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.stats.divergence import Loss

Array = NDArray[np.float64]

STEEPNESS = 1.2534
"""sqrt(pi / 2), rounded up: Phi^-1(p) changes at most so fast with ln p, for p <= 1/2, and with
ln(1 - p) beyond."""


def gaussian_shift(log_p: Array, log_q: Array, law_error: float = 0.0) -> Loss:
    """Return the smallest mu >= 0 with P[E] <= Phi(Phi^-1(Q[E]) + mu) for all events E.

    It then holds for all tests that toss coins, too.

    That is the largest Phi^-1(P[E]) - Phi^-1(Q[E]), and the K - 1 nested events that collect labels
    in falling order of P / Q reach it. For by the Neyman-Pearson lemma no test, randomised or not,
    lies above the broken line through the points (Q[E], P[E]) of these events, (0, 0) and (1, 1);
    and the points that a mu allows are those on or below the graph of q -> Phi(Phi^-1(q) + mu), a
    convex set, since the function is concave for mu >= 0: it holds the whole line if it holds its
    corners. (Dong, Roth and Su 2022, section 2; by the complements the other direction has the same
    mu.)

    `log_p` and `log_q` (..., K) are log-probabilities and broadcast; `law_error` bounds the error
    of each entry. mu is inf where one dataset gives an answer that the other never gives, and that
    for certain. A probability and its complement are each known up to a factor, of which
    `STEEPNESS` makes the error.
    """
    log_p, log_q = np.broadcast_arrays(log_p, log_q)
    labels = log_p.shape[-1]
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isneginf(log_p), -np.inf, log_p - log_q)
    order = np.argsort(-ratio, axis=-1, kind="stable")
    one, one_scale = _quantiles(np.take_along_axis(log_p, order, axis=-1))
    other, other_scale = _quantiles(np.take_along_axis(log_q, order, axis=-1))
    nothing = np.isneginf(one) | np.isposinf(other)
    shift = np.where(nothing, -np.inf, one - np.where(nothing, 0.0, other))
    best = np.argmax(shift, axis=-1)[..., None]
    value, scale = (
        np.take_along_axis(each, best, axis=-1)[..., 0] for each in (shift, one_scale + other_scale)
    )
    event = np.zeros(log_p.shape, dtype=bool)
    np.put_along_axis(event, order, np.arange(labels) <= best, axis=-1)
    rounding = 8 * (labels + 2) * UNIT_ROUNDOFF
    error = np.where(np.isposinf(value), 0.0, 2 * STEEPNESS * law_error + rounding * scale)
    return Loss(value=np.maximum(value, 0.0), event=event, error=error)


def _quantiles(log_p: Array) -> tuple[Array, Array]:
    """Return Phi^-1 of the sums of the first 1, ..., K - 1 probabilities, from the smaller tail.

    With them comes what roundings scale with.
    """
    below = np.logaddexp.accumulate(log_p, axis=-1)[..., :-1]
    above = np.logaddexp.accumulate(log_p[..., ::-1], axis=-1)[..., ::-1][..., 1:]
    low = below <= above
    tail = np.minimum(np.where(low, below, above), 0.0)
    z = np.where(low, 1.0, -1.0) * ndtri_exp(tail)
    return z, 1 + np.where(np.isfinite(tail), np.abs(tail), 0.0)
