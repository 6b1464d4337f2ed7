"""The boundary of a claim of (epsilon, delta): where a test that errs errs most."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def boundary(
    epsilon: float, delta: float, points: int, at_top: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pairs p1 = min(1, e^epsilon p0 + delta).

    `points` evenly, dense where p1 reaches 1, and down to rare events; `at_top` where p1 is 1.
    """
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
