"""Power: the smallest true loss that a planned test would have refuted with probability 0.9."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from dpassay.bounds import clopper_pearson_lower

POWER = 0.9
LARGEST = 50.0
"""Losses above this are not looked for; `detectable` is then inf."""


def tight_pair(loss: float, delta: float) -> tuple[float, float]:
    """Probabilities (p1, p0) of one event under a binary pair that has exactly this loss in both directions.

    Randomised response when delta = 0: p1 = sigma(loss) and p0 = 1 - p1.
    """
    p0 = (1 - delta) / (1 + math.exp(loss))
    return 1 - p0, p0


def power(p1: float, p0: float, *, epsilon: float, delta: float, n: int, alpha: float) -> float:
    """Probability that `loss_lower` exceeds epsilon, computed from the binomial laws without simulation.

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

    Returns
    -------
    float
        Sum over x of b(x; n, p1) P[Bin(n, p0) <= y*(x)], y*(x) being the largest y that still rejects; the x left out
        have probability below 1e-12 together, counted as 'not refuted'.
    """
    x = np.arange(int(binom.ppf(5e-13, n, p1)), int(binom.isf(5e-13, n, p1)) + 1)
    limit = (clopper_pearson_lower(x, n, alpha / 2) - delta) * math.exp(-epsilon)
    x, limit = x[limit > 0], limit[limit > 0]
    largest = binom.ppf(alpha / 2, n, limit) - 1  # the upper limit of y is below `limit` iff P[Bin(n, limit) <= y] < alpha / 2
    return float(np.sum(binom.pmf(x, n, p1) * np.where(largest >= 0, binom.cdf(largest, n, p0), 0.0)))


def detectable(*, epsilon: float, delta: float, n: int, alpha: float) -> float:
    """Smallest loss above epsilon that is refuted with probability 0.9 at one cell, in nats.

    The alternative is `tight_pair`, the claim's own worst face; a leak through a rarer event needs more trials.

    Returns
    -------
    float
        Within 1e-6; inf where not even a loss of 50 would be seen.
    """

    def enough(loss: float) -> bool:
        return power(*tight_pair(loss, delta), epsilon=epsilon, delta=delta, n=n, alpha=alpha) >= POWER

    low, high = epsilon, epsilon + 1e-3
    while not enough(high):
        low, high = high, epsilon + 2 * (high - epsilon)
        if high > LARGEST:
            return math.inf
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
