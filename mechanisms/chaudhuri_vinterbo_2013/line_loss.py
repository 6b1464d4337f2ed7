"""Algorithm 3 of Chaudhuri and Vinterbo (2013) on the line with the logistic loss.

What it loses at most, and where.

At a weight w >= 0 let one record be v in D and v' in D' (labels times features, in [-1, 1]), and
let p(v) = v sigma(-v w) be its pull and k(v) = v^2 sigma(v w) sigma(-v w) its curvature. The noise
that leads to w differs by (alpha / 2)(p(v) - p(v')), and densities change variables by lambda
n + k(v) + K with K >= 0 from the other records. The loss is at most

    (alpha / 2) |p(v) - p(v')| + max(0, ln((lambda n + k(v)) / (lambda n + k(v')))).

The sum parts into a function of v and one of v'. Each is bounded on the cells of a grid by taking
what rises at one corner and what falls at the other. By symmetry w >= 0 is enough.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import UP, LogisticMargin

Array = NDArray[np.float64]
CELLS: Final = 600
"""Of the grid, in w and in v."""
FAR: Final = 60.0
"""Largest w of the grid; behind it sigma(w) = 1 is taken."""


def bend(z: Array) -> Array:
    """sigma(z) sigma(-z)."""
    bent: Array = expit(z) * expit(-z)
    return bent


@cache
def most_on_the_line(alpha: float, curvature: float) -> float:
    """Bound the loss for any number of records, `curvature` being lambda n."""
    w = np.concatenate(
        [np.linspace(0.0, 8.0, 3 * CELLS // 4), np.geomspace(8.0, FAR, CELLS // 4 + 1)[1:]]
    )
    v = np.linspace(0.0, 1.0, CELLS + 1)
    # ends of each stretch of w
    near, far = np.append(w[:-1], FAR)[:, None], np.append(w[1:], np.inf)[:, None]
    a, b = v[:-1], v[1:]
    with np.errstate(invalid="ignore"):
        least = np.nan_to_num(a * a * bend(b * far))
    most = b * b * bend(a * near)
    up, down = alpha / 2 * b * expit(-a * near), alpha / 2 * b * expit(b * far)
    high, low = np.log(curvature + most), -np.log(curvature + least)
    sums = (
        (up + high).max(axis=1) + (down + low).max(axis=1),
        (down + high).max(axis=1) + (up + low).max(axis=1),
    )
    return max(float(np.max(sums)), alpha / 2 * LogisticMargin().turn[1]) * UP


@cache
def worst_pair(alpha: float, curvature: float, n: int) -> tuple[float, float, float, float]:
    """Search for the weight and pair of n records that lose most, the other records being equal.

    Returns
    -------
    w, v, v', u : float
        The weight, the record of D, the record of D' in its place, and each of the others.
    """
    ws = np.append(np.linspace(-6, 6, 121), LogisticMargin().turn[0])
    vs, others = (
        np.append(np.linspace(0, 1, 13), 0.32),
        -np.append(0.0, np.geomspace(0.25 / n, 1.0, 15)),
    )
    w, v, new, u = np.meshgrid(ws, vs, -vs, others, indexing="ij", sparse=True)
    rest, bent = (
        curvature * w - (n - 1) * u * expit(-u * w),
        curvature + (n - 1) * u * u * bend(u * w),
    )
    noise = np.abs(rest - new * expit(-new * w)) - np.abs(rest - v * expit(-v * w))
    loss = alpha / 2 * noise + np.log(
        (bent + v * v * bend(v * w)) / (bent + new * new * bend(new * w))
    )
    i, j, k, m = np.unravel_index(int(loss.argmax()), loss.shape)
    return float(ws[i]), float(vs[j]), -float(vs[k]), float(others[m])
