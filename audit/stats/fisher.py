"""Fisher's combination of exact tails.

A certified test for events that are expected a few times only.

Under the null hypothesis P1 = P[Bin(n1, p1) >= x] and P0 = P[Bin(n0, p0) <= y] are independent and
stochastically at least uniform, so -ln P1 - ln P0 is stochastically at most half a chi-squared
variable with 4 degrees of freedom (Fisher 1932).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import betainc, chdtri

from dpassay.stats.combined import Array, Combination, Null, Nulls, rejects
from dpassay.stats.inversion import lower
from dpassay.stats.regions import Line
from dpassay.stats.scales import Scale

TINY = 1e-300
"""A tail below this counts as this, which makes the statistic smaller than it is."""


def fisher_rejects(
    x: int, n1: int, y: int, n0: int, *, epsilon: float, delta: float, alpha: float
) -> bool:
    """Return whether p1 <= e^epsilon p0 + delta is rejected; arguments of `stouffer_rejects`."""
    return rejects(FISHER, Null(x=x, n1=n1, y=y, n0=n0, allowed=Line(epsilon, delta)), alpha)


def fisher_lower(x: int, n1: int, y: int, n0: int, *, scale: Scale, alpha: float) -> float:
    """Lower confidence bound on the leak; see `dpassay.stats.inversion.lower`."""
    return lower(FISHER, x, n1, y, n0, scale=scale, alpha=alpha)


def _statistic(p0: Array, null: Null | Nulls) -> tuple[Array, Callable[[], Array]]:
    """Return -ln P1 - ln P0, with a floor on each cell from its ends.

    As p0 grows the first term falls and the second rises.
    """
    x, y, n1, n0 = null.x, null.y, null.n1, null.n0
    one = -np.log(np.maximum(betainc(x, n1 - x + 1, null.p1(p0)), TINY))
    rest = betainc(np.maximum(n0 - y, 1), y + 1, 1 - p0)
    other = np.where(y < n0, -np.log(np.maximum(rest, TINY)), 0.0)
    return one + other, lambda: one[..., 1:] + other[..., :-1]


FISHER = Combination(statistic=_statistic, critical=lambda alpha: float(chdtri(4, alpha)) / 2)
