"""Power: the smallest true leak that a planned audit would have refuted with probability 0.9, its screening included."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binom

from dpassay.lower_bounds import Method, largest_rejecting
from dpassay.scales import Scale

POWER = 0.9
LARGEST = 50.0
"""Losses above this are not looked for; `detectable` is then inf."""
LEFT_OUT = 5e-13
"""Counts beyond this tail are left out of the sum: counted as 'not refuted'."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """What stands between a leaking pair and its certification at one query.

    Parameters
    ----------
    draws : int
        Screening trials per dataset.
    pairs : int
        Pairs among which the leaking one must be seen.
    finalists : int
        How many of them are certified.
    """

    draws: int
    pairs: int
    finalists: int = 1


def tight_pair(epsilon: float, delta: float) -> tuple[float, float]:
    """Probabilities (p1, p0) of one event under a binary pair that has exactly this loss in both directions.

    Randomised response when delta = 0: p1 = sigma(epsilon) and p0 = 1 - p1; for epsilon = 0 the two differ by delta.
    """
    p0 = (1 - delta) / (1 + math.exp(epsilon))
    return 1 - p0, p0


def power(
    p1: float, p0: float, *, epsilon: float, delta: float, n: int, alpha: float, method: Method = "clopper-pearson"
) -> float:
    """Probability that p1 <= e^epsilon p0 + delta is refuted, computed from the binomial laws without simulation.

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
    method : {"clopper-pearson", "stouffer", "fisher", "accuracy"}
        The test behind the bound.

    Returns
    -------
    float
        Sum over x of b(x; n, p1) P[Bin(n, p0) <= y*(x)], y*(x) being the largest y that still rejects.
    """
    x = _counts(p1, p1, n)
    return _power(p1, p0, x, largest_rejecting(method, x, n, epsilon=epsilon, delta=delta, alpha=alpha), n)


def hit(leak: float, *, scale: Scale, promised: float, screening: Screening) -> float:
    """Probability that the screening puts the leaking pair among the finalists of its query.

    The family: the leaking pair is `tight_pair` of its leak; every other pair shares its base and leaks as much as the claim
    allows. Given the base's counts a pair ranks higher the fewer counts y its neighbour has, so the leaking pair is a finalist
    unless as many others as there are finalists have no more than its y (a tie counts against it).

    Returns
    -------
    float
        Sum over y of b(y; draws, p0) P[Bin(pairs - 1, P[Bin(draws, p0') <= y]) < finalists].
    """
    n, rivals = screening.draws, screening.pairs - 1
    if rivals < screening.finalists:
        return 1.0
    p1, p0 = tight_pair(*scale.at(leak))
    epsilon, delta = scale.at(promised)
    rival = min(1.0, max(0.0, (p1 - delta) * math.exp(-epsilon), 1 - math.exp(epsilon) * (1 - p1) - delta))
    y = _counts(p0, p0, n)
    return float(np.sum(binom.pmf(y, n, p0) * binom.cdf(screening.finalists - 1, rivals, binom.cdf(y, n, rival))))


@lru_cache(maxsize=256)
def detectable(
    *,
    scale: Scale,
    promised: float,
    n: int,
    alpha: float,
    method: Method = "clopper-pearson",
    screening: Screening | None = None,
) -> float:
    """Smallest leak above the promised one that is refuted with probability 0.9.

    The alternative is `tight_pair`, the claim's own worst face; a leak through a rarer event needs more trials.

    Parameters
    ----------
    scale : Scale
        How the leak is measured.
    promised : float
        The claimed leak.
    n : int
        Certification trials on each side.
    alpha : float
        Error probability of the cell's bound.
    method : {"clopper-pearson", "stouffer", "fisher", "accuracy"}
        The test.
    screening : Screening, optional
        If given, the leaking pair must first be found: the probability is that of the whole procedure, `hit` times `power`,
        the trials of the two being independent.

    Returns
    -------
    float
        Within 1e-6 for the two closed forms, 1e-3 of its distance to the claim for the others; inf where not even the largest
        leak (a loss of 50, a difference of 1) would be seen.
    """
    epsilon, delta = scale.at(promised)
    p1, p0 = tight_pair(epsilon, delta)
    most = min(LARGEST, scale.most)
    reach = 2 * float(ndtri(POWER) - ndtri(alpha)) * scale.spread(p1, p0) / math.sqrt(n)

    def seen(leak: float, x: NDArray[np.int64], y: NDArray[np.int64]) -> bool:
        found = 1.0 if screening is None else hit(leak, scale=scale, promised=promised, screening=screening)
        return found * _power(*tight_pair(*scale.at(leak)), x, y, n) >= POWER

    high = promised
    while high < most:
        high = min(most, promised + reach)
        x = _counts(p1, tight_pair(*scale.at(high))[0], n)
        y = largest_rejecting(method, x, n, epsilon=epsilon, delta=delta, alpha=alpha)
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


def _counts(least: float, most: float, n: int) -> NDArray[np.int64]:
    """Counts that Bin(n, p) gives for some p in [least, most], up to a tail of `LEFT_OUT` at either end."""
    return np.arange(int(binom.ppf(LEFT_OUT, n, least)), int(binom.isf(LEFT_OUT, n, most)) + 1)


def _power(p1: float, p0: float, x: NDArray[np.int64], y: NDArray[np.int64], n: int) -> float:
    return float(np.sum(binom.pmf(x, n, p1) * np.where(y >= 0, binom.cdf(y, n, p0), 0.0)))
