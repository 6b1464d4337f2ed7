"""Probabilities and quantiles of binomial laws, by the incomplete beta function.

Those of `scipy.stats`, which alone takes longer to import than a small audit.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtrik, betainc, betaincc, gammaln, xlog1py, xlogy

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

LEAST = 2.0**-52
"""SciPy's quantiles are NaN beyond."""


def at_most(k: ArrayLike, n: int, p: ArrayLike) -> Array:
    """P[Bin(n, p) <= k], for integers k of any sign; broadcast."""
    count = np.asarray(k)
    inside = np.clip(count, 0, n - 1)
    found = betaincc(inside + 1, n - inside, np.asarray(p, dtype=float))
    return np.where(count < 0, 0.0, np.where(count >= n, 1.0, found))


def more_than(k: ArrayLike, n: int, p: ArrayLike) -> Array:
    """P[Bin(n, p) > k], for integers k of any sign; broadcast."""
    count = np.asarray(k)
    inside = np.clip(count, 0, n - 1)
    found = betainc(inside + 1, n - inside, np.asarray(p, dtype=float))
    return np.where(count < 0, 1.0, np.where(count >= n, 0.0, found))


def masses(k: Counts, n: int, p: float) -> Array:
    """P[Bin(n, p) = k] for consecutive integers k that leave out next to nothing of the law.

    Each follows from the one before. What is left out is shared among them, and the sum is 1.
    """
    if not 0 < p < 1:
        return np.asarray(k == (n if p >= 1 else 0), dtype=float)
    steps = np.log((n - k[:-1]) / k[1:]) + math.log(p / (1 - p))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    found = np.exp(logs - logs.max())
    return np.asarray(found / found.sum())


def log_mass(k: ArrayLike, n: int | Counts, p: ArrayLike) -> Array:
    """Ln P[Bin(n, p) = k], for integers k in [0, n]."""
    count, chance = np.asarray(k), np.asarray(p, dtype=float)
    choices = gammaln(n + 1) - (gammaln(count + 1) + gammaln(n - count + 1))
    return np.asarray(choices + xlogy(count, chance) + xlog1py(n - count, -chance))


def quantile(share: float, n: int, p: ArrayLike) -> Counts:
    """Least k with P[Bin(n, p) <= k] >= share, for a share in (0, 1).

    A p that is nearer to 0 or 1 than `LEAST`, but neither, is taken for so near.
    """
    chance = np.asarray(p, dtype=float)
    found = np.ceil(bdtrik(share, n, np.clip(chance, LEAST, 1 - LEAST)))
    sure = np.where(chance <= 0, 0.0, np.where(chance >= 1, float(n), np.maximum(found, 0.0)))
    return sure.astype(np.int64)


def upper_quantile(share: float, n: int, p: ArrayLike) -> Counts:
    """Least k with P[Bin(n, p) > k] <= share, for a share in (0, 1)."""
    return n - quantile(share, n, 1 - np.asarray(p, dtype=float))
