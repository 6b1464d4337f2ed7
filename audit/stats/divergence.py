"""The exact leak between two laws.

The smallest epsilon, gamma or mu that holds, and the event that needs it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp

from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]

STEEPNESS = 1.2534
"""sqrt(pi / 2), rounded up: Phi^-1(p) changes at most so fast with ln p, for p <= 1/2, and with
ln(1 - p) beyond."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellLoss:
    """Leak of each cell (dataset pair, query) of a batch, by the worst event in one direction.

    `value` (...) is the max over events E of ln((P[E] - delta) / Q[E]) in nats, 0 where no event
    exceeds delta's allowance; or the largest difference of a label's probability, or of a
    prediction. `event` (..., K) marks the labels that attain it; `error` (...) bounds the numerical
    error of `value`.
    """

    value: Array
    event: NDArray[np.bool_]
    error: Array

    @property
    def certain(self) -> Array:
        """Return the loss less its numerical error.

        Cells are ranked by it, so that doubt hides no violation.
        """
        return self.value - self.error


def privacy_loss(
    log_p: Array, log_q: Array, delta: float = 0.0, law_error: float = 0.0
) -> CellLoss:
    """Return the smallest epsilon with P[E] <= e^epsilon Q[E] + delta for all events E.

    This is the delta-approximate max-divergence of Dwork and Feldman (2018), section 3. By the
    Neyman-Pearson lemma the worst event collects the labels with the largest ratios P/Q, so K
    nested events suffice; for delta = 0 it is one label. It is never negative, and inf where P
    gives an event, beyond delta, that Q never produces.

    `log_p` and `log_q` (..., K) are log-probabilities of the labels under the two datasets and
    broadcast; `law_error` bounds the error of each entry.
    """
    log_p, log_q = np.broadcast_arrays(log_p, log_q)
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isneginf(log_p), -np.inf, log_p - log_q)
    labels = log_p.shape[-1]
    if delta == 0:
        best = np.argmax(ratio, axis=-1)
        loss = np.take_along_axis(ratio, best[..., None], axis=-1)[..., 0]
        event = np.arange(labels) == best[..., None]
        error = np.where(np.isfinite(loss), 2 * law_error + 2 * UNIT_ROUNDOFF * np.abs(loss), 0.0)
        return CellLoss(value=np.maximum(loss, 0.0), event=event, error=error)

    order = np.argsort(-ratio, axis=-1, kind="stable")
    p = np.cumsum(np.take_along_axis(np.exp(log_p), order, axis=-1), axis=-1)
    # exp(log_q) would underflow
    log_q = np.logaddexp.accumulate(np.take_along_axis(log_q, order, axis=-1), axis=-1)
    relative = law_error + 2 * labels * UNIT_ROUNDOFF
    # what P[E] - delta may be off by, all of it where P[E] is about delta
    slack = relative * p + UNIT_ROUNDOFF * delta
    low, nested, high = (_log_ratio(p - delta + shift, log_q) for shift in (-slack, 0.0, slack))
    size = np.argmax(nested, axis=-1)
    event = np.zeros(log_p.shape, dtype=bool)
    np.put_along_axis(event, order, np.arange(labels) <= size[..., None], axis=-1)
    loss, least, most = (np.maximum(each.max(axis=-1), 0.0) for each in (nested, low, high))
    loss = np.where(np.isinf(most) & np.isfinite(least), least, loss)
    with np.errstate(invalid="ignore"):
        spread = np.maximum(most - loss, loss - least)
    rounding = relative + 4 * UNIT_ROUNDOFF * np.abs(np.where(np.isfinite(loss), loss, 0.0))
    return CellLoss(
        value=loss, event=event, error=np.where(np.isinf(least), 0.0, spread + rounding)
    )


def label_difference(log_p: Array, log_q: Array, law_error: float = 0.0) -> CellLoss:
    """Return the largest P[y] - Q[y] over the labels y, the smallest gamma that holds.

    Dagan and Feldman (2020), section 2. Arguments are as for `privacy_loss`.
    """
    log_p, log_q = np.broadcast_arrays(log_p, log_q)
    p, q = np.exp(log_p), np.exp(log_q)
    best = np.argmax(p - q, axis=-1)[..., None]
    one, other = (np.take_along_axis(each, best, axis=-1)[..., 0] for each in (p, q))
    relative = np.expm1(law_error) + 4 * UNIT_ROUNDOFF
    event, error = np.arange(log_p.shape[-1]) == best, relative * (one + other)
    return CellLoss(value=np.maximum(one - other, 0.0), event=event, error=error)


def prediction_difference(p: Array, q: Array, law_error: float = 0.0) -> CellLoss:
    """Return by how much the (mean) prediction on the first dataset exceeds that on the second.

    Predictions are of shape (..., 1), each with an absolute error of at most `law_error`. The
    difference is never negative, and its events are empty.
    """
    p, q = np.broadcast_arrays(p, q)
    difference = (p - q)[..., 0]
    error = 2 * law_error + UNIT_ROUNDOFF * np.abs(difference)
    event = np.zeros((*difference.shape, 0), dtype=bool)
    return CellLoss(value=np.maximum(difference, 0.0), event=event, error=error)


def _log_ratio(excess: Array, log_q: Array) -> Array:
    return np.where(excess > 0, np.log(np.where(excess > 0, excess, 1.0)) - log_q, -np.inf)


def gaussian_shift(log_p: Array, log_q: Array, law_error: float = 0.0) -> CellLoss:
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
    return CellLoss(value=np.maximum(value, 0.0), event=event, error=error)


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
