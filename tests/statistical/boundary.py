"""The boundary of a claim of (epsilon, delta): where a test that errs errs most."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

Array = NDArray[np.float64]


def boundary(epsilon: float, delta: float, points: int, at_top: int) -> tuple[Array, Array]:
    """Pairs p1 = min(1, e^epsilon p0 + delta). `points` evenly, dense where p1 reaches 1, and down
    to rare events; `at_top` where p1 is 1."""
    top = (1 - delta) * math.exp(-epsilon)
    even = np.linspace(0, 1, points)
    p0 = np.unique(
        np.concatenate(
            [
                top * even,
                top * (1 - 10 ** (-4 * even)),
                top * 10 ** (-4 * even),
                np.linspace(top, 1, at_top),
            ]
        )
    )
    return np.minimum(1.0, math.exp(epsilon) * p0 + delta), p0


def largest_rejected(rejects: Callable[[int, int], bool], n1: int, n0: int) -> NDArray[np.int64]:
    """For each x the largest y that is rejected, -1 where there is none; it can only rise with x.
    That it does: tests/stats/test_stouffer.py."""
    found, y = [], -1
    for x in range(n1 + 1):
        while y < n0 and rejects(x, y + 1):
            y += 1
        found.append(y)
    return np.array(found)


def error_of(largest: NDArray[np.int64], n0: int, p1: Array, p0: Array) -> Array:
    """P[rejected] at every pair of probabilities."""
    n1 = len(largest) - 1
    refuted = np.where(largest >= 0, binom.cdf(largest, n0, p0[:, None]), 0.0)
    return np.asarray(np.sum(binom.pmf(np.arange(n1 + 1), n1, p1[:, None]) * refuted, axis=1))
