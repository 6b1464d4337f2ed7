"""Power: the smallest true loss that a planned test would have refuted with probability 0.9."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binom

from dpassay.lower_bounds import Method, largest_rejecting

POWER = 0.9
LARGEST = 50.0
"""Losses above this are not looked for; `detectable` is then inf."""
LEFT_OUT = 5e-13
"""Counts beyond this tail are left out of the sum: counted as 'not refuted'."""


def tight_pair(loss: float, delta: float) -> tuple[float, float]:
    """Probabilities (p1, p0) of one event under a binary pair that has exactly this loss in both directions.

    Randomised response when delta = 0: p1 = sigma(loss) and p0 = 1 - p1.
    """
    p0 = (1 - delta) / (1 + math.exp(loss))
    return 1 - p0, p0


def power(
    p1: float, p0: float, *, epsilon: float, delta: float, n: int, alpha: float, method: Method = "clopper-pearson"
) -> float:
    """Probability that the lower bound exceeds epsilon, computed from the binomial laws without simulation.

    Parameters
    ----------
    p1, p0 : float
        True probabilities of the event on the two sides.
    epsilon, delta : float
        The claim.
    n : int
        Trials on each side.
    alpha : float
        Error probability of the bound.
    method : {"clopper-pearson", "stouffer", "accuracy"}
        The test behind the bound.

    Returns
    -------
    float
        Sum over x of b(x; n, p1) P[Bin(n, p0) <= y*(x)], y*(x) being the largest y that still rejects.
    """
    x = _counts(p1, p1, n)
    return _power(p1, p0, x, largest_rejecting(method, x, n, epsilon=epsilon, delta=delta, alpha=alpha), n)


@lru_cache(maxsize=256)
def detectable(*, epsilon: float, delta: float, n: int, alpha: float, method: Method = "clopper-pearson") -> float:
    """Smallest loss above epsilon that is refuted with probability 0.9 at one cell, in nats.

    The alternative is `tight_pair`, the claim's own worst face; a leak through a rarer event needs more trials.

    Returns
    -------
    float
        Within 1e-6 for the two closed forms, 1e-3 of its distance to epsilon for Stouffer; inf where not even a loss of 50
        would be seen.
    """
    p1, p0 = tight_pair(epsilon, delta)
    spread = math.sqrt(p1 * (1 - p1) / (p1 - delta) ** 2 + (1 - p0) / p0)  # S of the asymptotic form, at the claim
    reach = 2 * float(ndtri(POWER) - ndtri(alpha)) * spread / math.sqrt(n)
    while epsilon + reach <= LARGEST:
        x = _counts(p1, tight_pair(epsilon + reach, delta)[0], n)
        y = largest_rejecting(method, x, n, epsilon=epsilon, delta=delta, alpha=alpha)
        if _power(*tight_pair(epsilon + reach, delta), x, y, n) >= POWER:
            break
        reach *= 2
    else:
        return math.inf
    low, high = epsilon, epsilon + reach
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if _power(*tight_pair(middle, delta), x, y, n) >= POWER else (middle, high)
    return high


def _counts(least: float, most: float, n: int) -> NDArray[np.int64]:
    """Counts that Bin(n, p) gives for some p in [least, most], up to a tail of `LEFT_OUT` at either end."""
    return np.arange(int(binom.ppf(LEFT_OUT, n, least)), int(binom.isf(LEFT_OUT, n, most)) + 1)


def _power(p1: float, p0: float, x: NDArray[np.int64], y: NDArray[np.int64], n: int) -> float:
    return float(np.sum(binom.pmf(x, n, p1) * np.where(y >= 0, binom.cdf(y, n, p0), 0.0)))
