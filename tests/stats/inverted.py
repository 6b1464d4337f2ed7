"""The two combined tests of one event against (epsilon, delta), and the bounds that invert them."""

from __future__ import annotations

from functools import partial

from dpassay.stats.combined import FISHER, STOUFFER, Combination, Null, rejects
from dpassay.stats.lower_bounds import combined_lower
from dpassay.stats.regions import LineRegion


def _rejects(
    test: Combination,
    x: int,
    n1: int,
    y: int,
    n0: int,
    *,
    epsilon: float,
    delta: float,
    alpha: float,
) -> bool:
    """Whether p1 <= e^epsilon p0 + delta is rejected by x of n1 against y of n0."""
    return rejects(test, Null(x=x, n1=n1, y=y, n0=n0, allowed=LineRegion(epsilon, delta)), alpha)


stouffer_rejects = partial(_rejects, STOUFFER)
fisher_rejects = partial(_rejects, FISHER)
stouffer_lower = partial(combined_lower, STOUFFER)
fisher_lower = partial(combined_lower, FISHER)
