"""Standing: by how many standard errors counts exceed what a claim allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from dpassay.stats.regions import Region

Array = NDArray[np.float64]

STEPS = 4
"""Of Fisher's scoring, which is quadratic near its end and begins near it."""
INSIDE = 1e-12
"""Probabilities are kept so far from 0 and 1."""


def standing(x: ArrayLike, y: ArrayLike, n: int, *, allowed: Region) -> Array:
    """Return by how many standard errors counts exceed what a claim allows; 0 where they keep it.

    It is the root of the deviance: of twice the logarithm of the likelihood ratio of the observed
    shares and the most likely pair (p1, p0) on the edge of the claim (Wilks 1938). On the edge it
    is about the positive part of a standard normal variable. A difference in standard errors of the
    observed shares is about the same where counts are large; where y is 0 it hardly grows with x,
    as the standard error is then anybody's guess, and the root does.

    `x` and `y` count one event in `n` trials of each dataset and broadcast. `allowed` bounds p1 by
    a rising function of p0.
    """
    one, other = np.broadcast_arrays(np.asarray(x) / n, np.asarray(y) / n)
    found = np.zeros(one.shape)
    beyond = one > allowed.edge(other, both=False)
    found[beyond] = _root(one[beyond], other[beyond], n, allowed)
    return found


def _root(p1: Array, p0: Array, n: int, allowed: Region) -> Array:
    """Return the root of the deviance of shares that break the claim."""
    low, high = INSIDE, float(np.clip(allowed.inverse(1 - INSIDE), 2 * INSIDE, 1 - INSIDE))
    # the edge above p0 is the one end, that beside p1 the other
    p = np.clip((p0 + allowed.inverse(np.clip(p1, INSIDE, 1 - INSIDE))) / 2, low, high)
    for _ in range(STEPS):
        q = np.clip(allowed.edge(p, both=False), INSIDE, 1 - INSIDE)
        steep, noise = allowed.steepness(p), p * (1 - p)
        weight = steep / (q * (1 - q))
        p = np.clip(
            p + (weight * (p1 - q) + (p0 - p) / noise) / (weight * steep + 1 / noise), low, high
        )
    q = np.clip(allowed.edge(p, both=False), INSIDE, 1 - INSIDE)
    gained = xlogy(p1, p1 / q) + xlogy(1 - p1, (1 - p1) / (1 - q))
    gained += xlogy(p0, p0 / p) + xlogy(1 - p0, (1 - p0) / (1 - p))
    found: Array = np.sqrt(2 * n * np.maximum(gained, 0.0))
    return found
