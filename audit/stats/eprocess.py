"""E-processes: a claim may be refuted at any look, at one proven error probability for all looks.

Trials of the two sides are drawn in pairs; a and b say whether the event came on either side. Under
(epsilon, delta)-differential privacy, P[a = 1] <= e^epsilon P[b = 1] + delta and the same for the
complement with the sides exchanged, so each of

    g1 = a - e^epsilon b - delta,
    g2 = (1 - b) - e^epsilon (1 - a) - delta,
    g3 = a - b - (e^epsilon - 1 + 2 delta) / (e^epsilon + 1)

has a mean of at most 0. Each is scaled so that its least value is -1, or above. Then 1 + lambda g
is positive and has a mean of at most 1 for every lambda in (0, 1); its product over the pairs is a
test supermartingale, and so is the average E of these products over g and lambda (Waudby-Smith and
Ramdas 2023, section 4). By Ville's inequality E ever reaches 1 / alpha with probability at most
alpha. Since the factors commute, E depends on how often each of the four pairs came, and on nothing
else.

Proof for g3: with p1 = P[a = 1], p0 = P[b = 1], add p1 <= e^epsilon p0 + delta to
1 - p0 <= e^epsilon (1 - p1) + delta: (1 + e^epsilon) (p1 - p0) <= e^epsilon - 1 + 2 delta.

A claim of mu-Gaussian privacy allows p1 <= f(p0) with f concave, so every tangent of f is a claim
(epsilon, delta) that it implies; E is averaged over a few tangents (`lines`). A claim that a
probability changes by at most gamma is (0, gamma), for the event that it is about: there g1, g2 and
g3 are the same number.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from dpassay.errors import InvalidInput, as_real, is_count, require
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.stats.regions import STEEPEST, CurveRegion, LineRegion, Region

Array = NDArray[np.float64]
PairCounts = NDArray[np.int64]

BETS = np.array([0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.5, 0.7, 0.9])
"""The lambdas."""
PAIRS = ((0, 0), (0, 1), (1, 0), (1, 1))
"""The pairs (a, b), in the order of the counts."""
ROUNDING = 1e-4
"""More than the numerical error of ln E over 10^10 pairs; added to the threshold."""
NORMAL_ERROR = 1e-12
"""More than the relative error of the normal distribution function; it is added to delta."""
TANGENTS = np.array([0.0, 0.5, 1.0, 2.0])
"""Where a Gaussian claim is replaced by tangents: so many standard deviations beyond the middle of
the two normal laws."""


def payoffs(epsilon: float, delta: float) -> Array:
    """Return g1, g2, g3 of each pair (a, b), shape (3, 4), in [-1, inf).

    `epsilon`, `delta`: what is claimed; epsilon >= 0, delta in [0, 1).
    """
    require(as_real(epsilon) >= 0, "epsilon", epsilon, "a number >= 0")
    require(0 <= as_real(delta) < 1, "delta", delta, "a number in [0, 1)")
    a, b = np.array(PAIRS, dtype=float).T
    small = math.exp(-epsilon)  # everything is divided by e^epsilon, which may overflow
    least = 1 + delta * small
    middle = (1 - small + 2 * delta * small) / (1 + small)
    return np.stack(
        [
            ((a - delta) * small - b) / least,
            ((1 - b - delta) * small - (1 - a)) / least,
            (a - b - middle) / (1 + middle),
        ]
    )


def threshold(alpha: float, cells: int = 1) -> float:
    """Return the ln E at which one of so many cells is refuted, `ROUNDING` included.

    `alpha`: probability that any of the cells is ever refuted though its claim holds, at most; in
    (0, 1). Bonferroni over the cells, which may depend on one another; nothing is paid for the
    number of looks. `cells`: cells and directions that are looked at.
    """
    require(0 < as_real(alpha) < 1, "alpha", alpha, "a number in (0, 1)")
    require(is_count(cells, 1), "cells", cells, "an integer >= 1")
    return math.log(cells / alpha) + ROUNDING


def lines(region: Region) -> tuple[LineRegion, ...]:
    """Return claims (epsilon, delta), both numbers >= 0, that a region implies.

    Raise InvalidInput for the reverse of a claim: that something is at least so large is not tested
    here.
    """
    if isinstance(region, LineRegion):
        if region.epsilon < 0 or region.delta < 0:
            raise InvalidInput(
                f"{region}: must have epsilon and delta >= 0; early stopping refutes upper limits "
                "only"
            )
        return (region,)
    if region.mu < 0:
        raise InvalidInput(f"{region}: must have mu >= 0; early stopping refutes upper limits only")
    return tuple(_tangent(region, float(beyond)) for beyond in TANGENTS)


def log_e_of(counts: ArrayLike, region: Region) -> NDArray[np.float64]:
    """Return ln E against what a region allows: the average over its `lines`.

    `counts` (..., 4): how often each of `PAIRS` came. `region`: what the claim allows for the event
    and, the sides exchanged, for its complement.
    """
    every = [_log_wealth(counts, line.epsilon, line.delta) for line in lines(region)]
    wealth = np.concatenate(every, axis=-1)
    most = wealth.max(axis=-1, keepdims=True)  # finite: scipy's logsumexp takes twice the time
    mixed: Array = np.log(np.mean(np.exp(wealth - most), axis=-1)) + most[..., 0]
    return mixed


def deal(x: ArrayLike, y: ArrayLike, n: ArrayLike, rng: np.random.Generator) -> PairCounts:
    """Return how often each of `PAIRS` comes when the trials of both sides are paired at random.

    Independent trials of one law come in any order with equal probability. So to pair those of one
    side with those of the other at random, after they were counted, is as good as to have noted
    their order.

    `x` and `y` (...) count the event in `n` (...) trials of either side, below 10^9; `rng` needs a
    stream of its own. The result has the shape (..., 4).
    """
    one, other, of = (np.asarray(each, dtype=np.int64) for each in np.broadcast_arrays(x, y, n))
    both = np.asarray(rng.hypergeometric(one, of - one, other), dtype=np.int64)
    dealt: PairCounts = np.stack([of - one - other + both, other - both, one - both, both], axis=-1)
    return dealt


def _log_wealth(counts: ArrayLike, epsilon: float, delta: float) -> Array:
    """Return ln of the wealth of every payoff and bet, shape (..., 30)."""
    played = payoffs(epsilon, delta)
    gains = np.log1p(BETS[:, None] * np.maximum(played, -1.0)[:, None, :]).reshape(-1, len(PAIRS))
    wealth: Array = np.asarray(counts, dtype=float) @ gains.T
    return wealth


def _tangent(curve: CurveRegion, beyond: float) -> LineRegion:
    """Return the tangent of p1 = Phi(Phi^-1(p0) + mu) at Phi^-1(p0) = -mu / 2 - beyond.

    Its slope is phi(z + mu) / phi(z) = e^(-z mu - mu^2 / 2) = e^(beyond mu), and the curve lies
    below it, since it is concave (Dong, Roth and Su 2022, proposition 2.12).
    """
    epsilon = beyond * curve.mu
    above, below = ndtr(curve.mu / 2 - beyond), ndtr(-curve.mu / 2 - beyond)
    # beyond STEEPEST, e^epsilon p0 would lose its digits; with a larger delta less is claimed
    taken = math.exp(epsilon) * below if epsilon <= STEEPEST else 0.0
    delta = max(above - taken, 0.0) + NORMAL_ERROR * (1 + epsilon) * (above + taken)
    return LineRegion(epsilon, float(min(delta, 1 - UNIT_ROUNDOFF)))
