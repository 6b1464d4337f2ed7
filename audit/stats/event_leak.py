"""Bounds on the leak of one event from Clopper-Pearson limits of its two probabilities.

Vectorised, cheap and wide.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.scales import Scale


def leak_lower(
    x: ArrayLike, n1: int, y: ArrayLike, n0: int, *, scale: Scale, alpha: float
) -> NDArray[np.float64]:
    """Return a lower confidence bound on the leak for x ~ Bin(n1, p1), y ~ Bin(n0, p0) independent.

    `x` and `y` count one event, chosen before these draws, on the two datasets; they broadcast.
    Each of the two Clopper-Pearson limits takes half of `alpha`. The bound is at least 0, since a
    leak is never negative, and stays finite where y = 0.
    """
    return np.maximum(0.0, ranking_bound(x, n1, y, n0, scale=scale, alpha=alpha))


def ranking_bound(
    x: ArrayLike, n1: int, y: ArrayLike, n0: int, *, scale: Scale, alpha: float
) -> NDArray[np.float64]:
    """Return `leak_lower` before it is cut off at 0, to rank cells that show nothing yet.

    It is -inf where p1 may be no larger than delta.
    """
    return scale.between(
        clopper_pearson_lower(x, n1, alpha / 2), clopper_pearson_upper(y, n0, alpha / 2)
    )


def leak_upper(
    x: ArrayLike, n1: int, y: ArrayLike, n0: int, *, scale: Scale, alpha: float
) -> NDArray[np.float64]:
    """Return an upper confidence bound on the leak of one event; see `leak_lower`.

    The largest of these over all events, both directions and all audited cells bounds the largest
    leak among them at the same `alpha`, without a correction: it is an intersection-union test
    (Berger 1982). On the scale of losses it is inf where y = 0 and the event may exceed delta.
    """
    return np.maximum(
        0.0,
        scale.between(
            clopper_pearson_upper(x, n1, alpha / 2), clopper_pearson_lower(y, n0, alpha / 2)
        ),
    )
