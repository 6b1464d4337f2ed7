"""Power: the smallest true leak of one cell that is refuted with probability 0.9.

By its certification.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.stats.binomial_law import masses, quantile, upper_quantile
from dpassay.stats.lower_bounds import Method, largest_rejecting
from dpassay.stats.regions import Line
from dpassay.stats.scales import Scale

POWER = 0.9
LARGEST = 50.0
"""Losses above this are not looked for; `detectable` is then inf."""
LEFT_OUT = 5e-13
"""Counts beyond this tail are left out of the sum: counted as 'not refuted'."""


SCREEN_ALPHA = 0.01
"""Chance makes a cell of an audit look as if it leaked this often; certifies nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """What stands between a leaking pair and its certification at one query.

    The leaking pair must be among the `finalists` of `pairs` after `draws` screening trials per
    dataset.
    """

    draws: int
    pairs: int
    finalists: int = 1


def tight_pair(epsilon: float, delta: float) -> tuple[float, float]:
    """Probabilities (p1, p0) of an event under a binary pair with exactly this loss both ways.

    Randomised response when delta = 0: p1 = sigma(epsilon) and p0 = 1 - p1; for epsilon = 0 the two
    differ by delta.
    """
    return Line(epsilon, delta).tight


def power(
    p1: float,
    p0: float,
    *,
    epsilon: float,
    delta: float,
    n: int,
    alpha: float,
    method: Method = "clopper-pearson",
) -> float:
    """Return the probability that p1 <= e^epsilon p0 + delta is refuted, from the binomial laws.

    Nothing is simulated. It is the sum over x of b(x; n, p1) P[Bin(n, p0) <= y*(x)], y*(x) being
    the largest y that still rejects; n is the number of trials on each side.
    """
    x = counts_near(p1, n)
    return power_of(
        p1, p0, x, largest_rejecting(method, x, n, allowed=Line(epsilon, delta), alpha=alpha), n
    )


@lru_cache(maxsize=256)
def detectable(
    *,
    scale: Scale,
    promised: float,
    n: int,
    alpha: float,
    method: Method = "clopper-pearson",
    frequency: float = 1.0,
) -> float:
    """Return the smallest leak of a cell above the promise that is refuted with probability 0.9.

    Only the certification of the cell counts, nothing is screened. The alternative is the `tight`
    pair, the claim's own worst face, or an event that is rarer: `frequency` is its probability on
    the likelier side, where that is less than the worst face's. What a whole audit would see, and
    through what events, is `dpassay.engine.detection.design.smallest_seen`.

    The result is within 1e-6 for the two closed forms, within 1e-3 of its distance to the claim for
    the others; inf where not even the largest leak (a loss of 50, a difference of 1) would be seen.
    """
    most = min(LARGEST, scale.most)
    if promised >= most:
        return math.inf

    def pair(leak: float) -> tuple[float, float]:
        allowed = scale.allowed(leak)
        p1, p0 = allowed.tight
        return (p1, p0) if p1 <= frequency else (frequency, float(allowed.inverse(frequency)))

    p1, p0 = pair(promised)
    if p0 <= 0:
        return math.inf
    reach = 2 * float(ndtri(POWER) - ndtri(alpha)) * scale.spread(p1, p0) / math.sqrt(n)

    def seen(leak: float, x: NDArray[np.int64], y: NDArray[np.int64]) -> bool:
        return power_of(*pair(leak), x, y, n) >= POWER

    high = promised
    while high < most:
        high = min(most, promised + reach)
        x = counts_near(p1, n, pair(high)[0])
        y = largest_rejecting(method, x, n, allowed=scale.allowed(promised), alpha=alpha)
        if seen(high, x, y):
            break
        reach *= 2
    else:
        return math.inf
    low = promised
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle, x, y) else (middle, high)
    return high


def counts_near(least: float, n: int, most: float | None = None) -> NDArray[np.int64]:
    """Counts that Bin(n, p) gives for p in [least, most], up to tails of `LEFT_OUT`."""
    last = upper_quantile(LEFT_OUT, n, least if most is None else most)
    return np.arange(int(quantile(LEFT_OUT, n, least)), int(last) + 1)


def power_of(p1: float, p0: float, x: NDArray[np.int64], y: NDArray[np.int64], n: int) -> float:
    """Probability of counts (x, up to y) out of n, the power of a test that rejects there.

    The counts x are consecutive and leave out next to nothing of Bin(n, p1). See `power`.
    """
    near = counts_near(p0, n)
    at_most = np.concatenate([[0.0], np.cumsum(masses(near, n, p0))])
    refuted = masses(x, n, p1) @ at_most[np.clip(y + 1 - near[0], 0, len(near))]
    return float(refuted) * (1 - 2 * LEFT_OUT if len(x) > 1 else 1.0)
