"""Power: the smallest true leak of one cell that is refuted with probability 0.9.

By its certification.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.stats.binomial_law import masses, quantile, upper_quantile
from dpassay.stats.bounds import clopper_pearson_lower
from dpassay.stats.combined import Null, rejects
from dpassay.stats.lower_bounds import COMBINED, Method
from dpassay.stats.regions import CurveRegion, LineRegion, Region
from dpassay.stats.scales import Scale

POWER = 0.9
LARGEST = 50.0
"""Losses above this are not looked for; `detectable` is then inf."""
KNOTS = 17
"""A combined test's largest y is found at so many counts x; between them it is nearly straight, and
interpolated."""
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
    return LineRegion(epsilon, delta).tight


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
    largest = largest_rejecting(method, x, n, allowed=LineRegion(epsilon, delta), alpha=alpha)
    return power_of(p1, p0, x, largest, n)


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
    through what events, is `dpassay.engine.detection.audits.smallest_seen`.

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


def largest_rejecting(
    method: Method, x: NDArray[np.int64], n: int, *, allowed: Region, alpha: float
) -> NDArray[np.int64]:
    """Return for each count x the largest y that still refutes what is allowed, -1 where none does.

    `x` are counts of the event in n trials, ascending; the result rises with x.
    """
    if method == "accuracy":
        # the smallest K with P[Bin(2n, accuracy) >= K] <= alpha
        needed = int(upper_quantile(alpha, 2 * n, allowed.accuracy)) + 1
        return np.maximum(x + n - needed, -1)
    if method == "clopper-pearson":
        limit = allowed.inverse(clopper_pearson_lower(x, n, alpha / 2))
        # p0's limit is below iff P[Bin(n, limit) <= y] < alpha/2
        with_limit = quantile(alpha / 2, n, np.clip(limit, 0.0, 1.0)) - 1
        return np.where(limit > 0, with_limit, -1).astype(np.int64)

    test = COMBINED[method]

    def refuted(count: int, y: int) -> bool:
        return rejects(test, Null(x=count, n1=n, y=y, n0=n, allowed=allowed), alpha)

    knots = np.unique(np.linspace(0, len(x) - 1, min(len(x), KNOTS)).round().astype(int))
    found, last = [], -1
    for knot in knots:
        count = int(x[knot])
        last = _largest(partial(refuted, count), last, n, _about(count, n, allowed, alpha))
        found.append(last)
    return np.floor(np.interp(np.arange(len(x)), knots, found)).astype(np.int64)


def _about(x: int, n: int, allowed: Region, alpha: float) -> int:
    """About the largest y that refutes beside x, from -1 to n: where two normal laws would.

    Beside a curve the envelope has gaps at a few counts; there the search begins at the bottom.
    """
    if isinstance(allowed, CurveRegion):
        return -1
    share, spread = x / n, math.sqrt(x * (n - x) / n) / n
    most, high, low = allowed.inverse(np.clip([share, share + spread, share - spread], 0, 1))
    found = most
    for _ in range(2):
        rest = max(found, 0.5 / n)
        found = most + float(ndtri(alpha)) * math.hypot((high - low) / 2, math.sqrt(rest / n))
    return max(-1, min(n, round(float(n * found))))


def _largest(test: Callable[[int], bool], known: int, n: int, guess: int) -> int:
    """Largest y in (known, n] that passes a test; `known` if none does.

    The test holds up to some y and not beyond. It is looked for from a guess on.
    """
    if known >= n:
        return known
    start, step = max(min(guess, n), known + 1), 1
    if test(start):
        low = start
        while low + step <= n and test(low + step):
            low, step = low + step, 2 * step
        high = min(low + step, n + 1)
    else:
        high = start
        while high - step > known and not test(high - step):
            high, step = high - step, 2 * step
        low = max(high - step, known)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if test(middle) else (low, middle)
    return low
