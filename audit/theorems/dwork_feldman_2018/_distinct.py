"""The projected walk where no two points are equal: P with pieces of the line, exactly.

n + 1 independent draws, in ascending order: the one at which M is asked is any of them with equal
probability, and the walk goes through those before it. So the expected error is the mean over the
places of the chance that the walk through the labels before errs on the next one. '<' and '<='
are the same here.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import expit
from scipy.stats import binom


@lru_cache(maxsize=1024)
def expected_error(n: int, T: int, epsilon: float, mass: float, low: float, high: float) -> float:
    """E[Err_P(M(S))] where the left piece has mass `mass`.

    Parameters
    ----------
    n, T, epsilon
        Of ExpPW and of the sample.
    mass : float
        In [0, 1].
    low, high : float
        Probability of label 1 on the left piece and on the right one.
    """
    if mass in (0.0, 1.0):
        return _error(n, T, epsilon, low if mass else high, high, n + 1)
    left = binom.pmf(np.arange(n + 2), n + 1, mass)
    return math.fsum(
        float(p) * _error(n, T, epsilon, low, high, m) for m, p in enumerate(left) if p > 1e-13
    ) + float(left[left <= 1e-13].sum())


def _error(n: int, T: int, epsilon: float, low: float, high: float, m: int) -> float:
    """The same, m of the n + 1 on the left piece."""
    wrong = expit(epsilon / 2 * np.arange(-T, T + 1))  # for label 0
    at, total = np.zeros(2 * T + 1), 0.0
    at[T] = 1.0
    for i in range(n + 1):
        one = low if i < m else high
        total += float(at @ ((1 - one) * wrong + one * wrong[::-1]))
        up = np.concatenate([[0.0], at[:-2], [at[-2] + at[-1]]])
        down = np.concatenate([[at[0] + at[1]], at[2:], [0.0]])
        at = one * up + (1 - one) * down
    return total / (n + 1)


def best_error(mass: float, low: float, high: float) -> float:
    """Opt_P(Thr): of thresholds before the left piece, between the pieces and behind the right."""
    zero, one = (mass * low, (1 - mass) * high), (mass * (1 - low), (1 - mass) * (1 - high))
    return min(sum(one), zero[0] + one[1], sum(zero))
