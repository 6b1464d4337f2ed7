"""Fresh random strings.

The law of the largest noisy score where every score has a law of its own, in one dimension.

t_j = S_j + s Z_j, S_j = q(w_j, V) the score of a weight w_j trained with a fresh string, Z_j
standard exponential; all are independent. Weights are cut into bins whose chances are exact
(`Perturbation.crossing`), and on a bin S_j is replaced by one value. Between kinks, which are those
values, P[t_j <= t] = A_j - B_j e^(-t/s), A_j the chance of a value up to t and B_j the sum of
chance times e^(value/s) over those. With u = e^(-(t - a)/s) and b_j = B_j e^(-a/s) on an interval
that begins at a,

    P[i wins] = sum over intervals of  b_i * integral of prod over j != i of (A_j - b_j u) du,

a polynomial of degree k - 1, integrated exactly as in
`dpassay.mechanisms.chaudhuri_vinterbo_2013.selection`. Proofs: docs/findings.md, 'Fresh coins'.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.data import Labelled
from dpassay.mechanisms.chaudhuri_vinterbo_2013.crossings import laplace_bins
from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import Score
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbation import TrainedWeights
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbation_scores import Scored
from dpassay.mechanisms.chaudhuri_vinterbo_2013.selection import NODE_ERROR, nodes
from dpassay.mechanisms.shared.linear import gamma
from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]

HALF_WIDTH: Final = 2.5e-4
"""Of the scores in a bin, as a part of s; log-probabilities are wrong by twice as much, 5e-4."""
BINS: Final = 3000
"""Where that takes more bins they are made wider, up to `WIDER` times: 0.008."""
WIDER: Final = 16
FAR: Final = 40.0
"""Noise beyond which weights are not cut up any more; it has probability e^-40."""
MOST_BINS: Final = 200_000
MOST_PARAMETERS: Final = 20
GAP: Final = 1e-6
"""Of the noise at two edges, at least; their difference is not to drown in rounding."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mixture:
    """A random score, by bins.

    Parameters
    ----------
    values : array (B,)
        A score for each bin, ascending.
    log_p : array (B,)
        Logarithms of the chances of the bins.
    half_width : float
        How far the score can be from the value of its bin, in all bins but some.
    astray : float
        Chance of those.
    error : float
        Bound on the numerical error of each of `log_p`.
    """

    values: Array
    log_p: Array
    half_width: float = 0.0
    astray: float = 0.0
    error: float = 0.0


def located(trainer: Any, data: Labelled) -> tuple[TrainedWeights, ...]:
    """State of a trainer on the line for each of its parameters.

    None of another trainer, whose scores have no law here.
    """
    known = isinstance(trainer, Scored) and trainer.d == 1 and trainer.m >= 1
    return tuple(trainer.locate(data, theta) for theta in trainer.thetas) if known else ()


def score_mixture(
    trainer: Scored, data: Labelled, theta: float, state: TrainedWeights, half_width: float
) -> Mixture | None:
    """Cut the score of what is trained at a parameter into bins of a half width or up to 16.

    None if that takes too many.

    The part U of the score from positive labels times features rises with the weight, and the part
    D from negative ones falls: scores on [a, b] lie between U(a) + D(b) and U(b) + D(a), whatever
    happens inside.
    """
    n = len(state.V)
    held_out = trainer.signed(data, slice(n, None))[:, 0]
    most = trainer.reach(theta, n, FAR)
    grid = _where(trainer, state, theta, most)
    U, D = _parts(trainer.scored, held_out, grid)
    half_width = min(
        max(half_width, float((U - D)[-1] - (U - D)[0]) / (2 * BINS)), WIDER * half_width
    )
    edges = _refined(trainer.scored, held_out, grid, 2 * half_width)
    if edges is None:
        return None
    at = trainer.crossing(state, theta, edges)
    kept = np.diff(np.maximum.accumulate(at.r), prepend=-np.inf) > GAP
    law = laplace_bins(at.r[kept][None], at.error, at.shift)
    if law is None:
        return None
    U, D = _parts(trainer.scored, held_out, np.concatenate([[-np.inf], edges[kept], [np.inf]]))
    widths = (np.diff(U) - np.diff(D)) / 2
    q = U + D
    values = (q[:-1] + q[1:]) / 2
    values[0], values[-1] = (
        v if math.isfinite(v) else end for v, end in ((values[0], q[1]), (values[-1], q[-2]))
    )
    good, log_p = widths <= half_width, law.log_p[0]
    rounding = gamma(len(held_out) + 16) * (trainer.scored.middle + most) * 4
    order = np.argsort(values, kind="stable")
    return Mixture(
        values=values[order],
        log_p=log_p[order],
        half_width=float(widths[good].max(initial=0.0)) + rounding,
        astray=float(np.exp(log_p[~good] + law.error).sum()),
        error=law.error,
    )


def _where(trainer: Scored, state: TrainedWeights, theta: float, most: float) -> Array:
    """Return weights between which all noise up to FAR ends, nearly evenly."""
    grid = np.linspace(-most, most, 65)
    for _ in range(2):
        r = trainer.crossing(state, theta, grid).r
        low, high = int((r <= -FAR).sum()) - 1, int((r < FAR).sum())
        grid = np.linspace(grid[max(low, 0)], grid[min(high, 64)], 65)
    return grid


def _refined(score: Score, held_out: Array, edges: Array, most: float) -> Array | None:
    """Split bins until U - D rises by no more than `most` in any; None if that takes too many."""
    for _ in range(40):
        U, D = _parts(score, held_out, edges)
        pieces = np.maximum(1, np.ceil(np.diff(U - D) / most))
        if pieces.sum() > MOST_BINS:
            return None
        if (pieces == 1).all():
            break
        count = pieces.astype(np.int64)
        place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        inner = np.repeat(edges[:-1], count) + np.repeat(np.diff(edges) / count, count) * place
        edges = np.append(inner, edges[-1])
    return edges


def _parts(score: Score, held_out: Array, w: Array) -> tuple[Array, Array]:
    """U and D at weights, which may be infinite at the ends; what does not move is in U."""
    m, still = len(held_out), int((held_out == 0).sum())
    up, down = held_out[held_out > 0], held_out[held_out < 0]
    U = -(score.g(np.multiply.outer(w, up)).sum(axis=-1) + still * score.middle) / m
    D = -score.g(np.multiply.outer(w, down)).sum(axis=-1) / m
    return U, D


def mixture_log_p(mixtures: Sequence[Mixture], scale: float) -> tuple[Array, float] | None:
    """Law of the index whose random score with exponential noise is largest.

    Parameters
    ----------
    mixtures : sequence of Mixture
        k >= 1 independent scores.
    scale : float
        s, the mean of the noise; > 0.

    Returns
    -------
    log_p : array (k,)
        Logarithms of the probabilities.
    error : float
        Bound on the error of each: what the bins and those astray change, and rounding. None where
        no bound is known because more is astray than the rarest index has, or k is above 20.
    """
    k = len(mixtures)
    if k > MOST_PARAMETERS:
        return None
    top = max(float(each.values[-1]) for each in mixtures)
    kinks = np.unique(np.concatenate([each.values for each in mixtures]))
    kinks = kinks[kinks >= max(float(each.values[0]) for each in mixtures)]
    A, log_b = np.empty((k, len(kinks))), np.empty((k, len(kinks)))
    for j, each in enumerate(mixtures):
        place = np.searchsorted(each.values, kinks, side="right") - 1
        A[j] = np.cumsum(np.exp(each.log_p))[place]
        log_b[j] = (
            np.logaddexp.accumulate(each.log_p + (each.values - top) / scale)[place]
            - (kinks - top) / scale
        )
    # of an interval in u, which ends at 1
    length = -np.expm1(-np.append(np.diff(kinks), np.inf) / scale)
    x, weights = nodes(k)
    u = 1 - np.multiply.outer(length, x)
    below = np.maximum(A[:, :, None] - np.exp(log_b)[:, :, None] * u, 0.0)
    ones = np.ones_like(below[:1])
    before = np.cumprod(np.concatenate([ones, below[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([ones, below[:0:-1]]), axis=0)[::-1]
    with np.errstate(divide="ignore"):
        log_p = logsumexp(log_b + np.log(length * ((before * after) @ weights)), axis=1)
    log_p -= logsumexp(log_p)
    bins = max(len(each.values) for each in mixtures)
    largest = (
        1
        + float(np.abs(log_p).max())
        + (top - min(float(each.values[0]) for each in mixtures)) / scale
    )
    largest += max(float(np.abs(each.log_p).max()) for each in mixtures)
    rounding = 4 * (bins + 16) * UNIT_ROUNDOFF * largest  # of each A_j and b_j, relatively
    numerical = 2 * (3 * math.e * k * k * rounding + NODE_ERROR) + 2 * k * max(
        each.error for each in mixtures
    )
    astray = sum(each.astray for each in mixtures) / float(np.exp(log_p.min() - numerical))
    if astray >= 0.5:
        return None
    moved = 2 * max(each.half_width for each in mixtures) / scale
    return np.minimum(log_p, 0.0), moved - math.log1p(-astray) + numerical


def fresh_log_p(
    trainer: Any,
    data: Labelled,
    states: Sequence[TrainedWeights],
    scale: float,
    half_width: float = HALF_WIDTH,
) -> tuple[Array, float] | None:
    """Law of the index over all parameters of a trainer; see `mixture_log_p`.

    None also where a score has no law.

    Parameters
    ----------
    trainer, data
        What is trained on what; its `thetas` are the parameters.
    states
        What `located` returns.
    scale : float
        s, the mean of the noise on a score.
    half_width : float
        Of the bins, as a part of s.
    """
    known = zip(trainer.thetas, states, strict=False)
    found = [
        score_mixture(trainer, data, theta, state, half_width * scale) for theta, state in known
    ]
    mixtures = [each for each in found if each is not None]
    return mixture_log_p(mixtures, scale) if len(mixtures) == len(trainer.thetas) else None
