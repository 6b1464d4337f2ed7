"""The projected walk where no two points are equal: P with pieces of the line, exactly.

n + 1 independent draws, in ascending order: the one at which M is asked is any of them with equal
probability, and the walk goes through those before it. So the expected error is the mean over the
places of the chance that the walk through the labels before errs on the next one. '<' and '<='
are the same here.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
DROPPED = 1e-13
"""Draws that are less likely are counted as errors."""


@lru_cache(maxsize=1024)
def expected_error(n: int, T: int, epsilon: float, mass: float, low: float, high: float) -> float:
    """E[Err_P(M(S))] where the left piece has mass `mass`.

    `low` and `high` are the probabilities of label 1 on the left piece and on the right one.
    """
    left = scipy.stats.binom.pmf(np.arange(n + 2), n + 1, mass)
    m = np.flatnonzero(left > DROPPED)
    errors = _errors(n, T, epsilon, low, high, m)
    return float(left[m] @ errors) + float(left[left <= DROPPED].sum())


def _errors(n: int, T: int, epsilon: float, low: float, high: float, m: Counts) -> Array:
    """The same, m of the n + 1 on the left piece, for each of some m."""
    wrong = expit(epsilon / 2 * np.arange(-T, T + 1))  # for label 0
    at = np.zeros((len(m), 2 * T + 1))
    at[:, T] = 1.0
    total = np.zeros(len(m))
    for i in range(n + 1):
        one = np.where(i < m, low, high)
        total += (1 - one) * (at @ wrong) + one * (at @ wrong[::-1])
        up, down = np.zeros_like(at), np.zeros_like(at)
        up[:, 1:], down[:, :-1] = at[:, :-1], at[:, 1:]
        up[:, -1] += at[:, -1]
        down[:, 0] += at[:, 0]
        at = one[:, None] * up + (1 - one)[:, None] * down
    return total / (n + 1)


def best_error(mass: float, low: float, high: float) -> float:
    """Opt_P(Thr): of thresholds before the left piece, between the pieces and behind the right."""
    zero, one = (mass * low, (1 - mass) * high), (mass * (1 - low), (1 - mass) * (1 - high))
    return min(sum(one), zero[0] + one[1], sum(zero))
