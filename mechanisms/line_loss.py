"""Algorithm 3 of Chaudhuri and Vinterbo (2013) on the line with the logistic loss: what it loses at most, and where.

At a weight w >= 0 let one record be v in D and v' in D' (labels times features, in [-1, 1]), and let p(v) = v sigma(-v w) be its
pull and k(v) = v^2 sigma(v w) sigma(-v w) its curvature. The noise that leads to w differs by (alpha / 2)(p(v) - p(v')), and
densities change variables by lambda n + k(v) + K with K >= 0 from the other records. The loss is at most

    (alpha / 2) |p(v) - p(v')| + max(0, ln((lambda n + k(v)) / (lambda n + k(v')))).

The sum parts into a function of v and one of v'. Each is bounded on the cells of a grid by taking what rises at one corner and
what falls at the other. By symmetry w >= 0 is enough.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.mechanisms.margin_losses import UP, LogisticMargin

Array = NDArray[np.float64]
CELLS: Final = 600
"""Of the grid, in w and in v."""
FAR: Final = 60.0
"""Largest w of the grid; behind it sigma(w) = 1 is taken."""


@cache
def worst_on_the_line(alpha: float, curvature: float) -> tuple[float, float, float, float]:
    """Bound the loss.

    Parameters
    ----------
    alpha : float
    curvature : float
        lambda n.

    Returns
    -------
    bound : float
    w, v, v' : float
        Where the loss is about that, turned so that v > 0 and v' < 0; w has either sign then.
    """
    w = np.concatenate([np.linspace(0.0, 8.0, 3 * CELLS // 4), np.geomspace(8.0, FAR, CELLS // 4 + 1)[1:]])
    v = np.linspace(0.0, 1.0, CELLS + 1)
    near, far = np.append(w[:-1], FAR)[:, None], np.append(w[1:], np.inf)[:, None]  # ends of each stretch of w
    a, b = v[:-1], v[1:]

    def bend(z: Array) -> Array:
        bent: Array = expit(z) * expit(-z)
        return bent

    with np.errstate(invalid="ignore"):
        least = np.nan_to_num(a * a * bend(b * far))
    most = b * b * bend(a * near)
    up, down = alpha / 2 * b * expit(-a * near), alpha / 2 * b * expit(b * far)
    high, low = np.log(curvature + most), -np.log(curvature + least)
    sums = [(up + high, down + low, 1.0), (down + high, up + low, -1.0)]  # v pulls towards w, and away from it
    bound, best = alpha / 2 * LogisticMargin().turn[1], 0.0
    for first, second, side in sums:
        each = first.max(axis=1) + second.max(axis=1)
        cell = int(each.argmax())
        if each[cell] > best:
            best = float(each[cell])
            place = side * float(w[cell]), float(v[first[cell].argmax() + 1]), -float(v[second[cell].argmax() + 1])
    return max(bound, best) * UP, *place
