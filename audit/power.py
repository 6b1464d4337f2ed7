"""Power: the smallest true leak that a planned audit would have refuted with probability 0.9, its screening included."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri
from scipy.stats import binom

from dpassay.limits import ranking_bound
from dpassay.lower_bounds import Method, largest_rejecting
from dpassay.scales import Scale

POWER = 0.9
LARGEST = 50.0
"""Losses above this are not looked for; `detectable` is then inf."""
LEFT_OUT = 5e-13
"""Counts beyond this tail are left out of the sum: counted as 'not refuted'."""


SCREEN_ALPHA = 0.01
"""Cells are ranked by a lower bound at this level; it chases no tiny counts in a crowd, and certifies nothing."""
SPAN = 1e-10
"""Screening counts beyond this tail are put to the nearest count inside."""
NODES = 33
"""Counts near a mean that a law of screening counts is spread over."""

Array = NDArray[np.float64]


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
    events : int
        Events that are looked at for each pair, in both directions.
    complements : bool
        Whether the complement of every event is among them.
    """

    draws: int
    pairs: int
    finalists: int = 1
    events: int = 2
    complements: bool = True


def tight_pair(epsilon: float, delta: float) -> tuple[float, float]:
    """Probabilities (p1, p0) of one event under a binary pair that has exactly this loss in both directions.

    Randomised response when delta = 0: p1 = sigma(epsilon) and p0 = 1 - p1; for epsilon = 0 the two differ by delta.
    """
    p0 = (1 - delta) * float(expit(-epsilon))
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
    """Probability that the screening puts the leaking pair among the finalists of its query, whatever the others are.

    The leaking pair is `tight_pair` of its leak. Every other pair has the same base, and a neighbour of its own that leaks at
    most what the claim allows, through the same event or its complement, in either direction. Given the base's count the
    chance that one of them ranks as high as the leaking pair (a tie counts against it) is at most that of a neighbour at the
    one or the other end of what the claim allows, each end for the ranks on its side; so the number of those that do is at
    most binomial. Where more events than an event and its complement are looked at, each of the others adds the chance that
    it ranks as high by itself: at the larger of two frequencies, that of the leaking event and an even share of the rest.

    Returns
    -------
    float
        A floor, but for the grid of `NODES` counts around every mean that laws of counts are spread over.
    """
    n, rivals, finalists = screening.draws, screening.pairs - 1, screening.finalists
    if rivals < finalists:
        return 1.0
    p1, p0 = tight_pair(*scale.at(leak))
    low, high = _allowed(p1, *scale.at(promised))
    x, y = _near(n, p1), _near(n, p0, low, high)
    ranks = _ranks(x, y, scale, screening)
    own, fewest, most = (_spread_over(y, n, p) for p in (p0, low, high))
    beaten = _others(p1, scale, promised, screening)
    found = np.empty(ranks.shape)
    for row, rank in enumerate(ranks):
        falling = np.arange(len(y)) <= rank.argmin()
        order = np.argsort(-rank, kind="stable")
        reached = np.cumsum(np.where(falling, fewest, most)[order])
        last = np.searchsorted(-rank[order], -rank, side="right") - 1
        found[row] = binom.cdf(finalists - 1, rivals, np.minimum(1.0, reached[last] + beaten(rank)))
    return float(_spread_over(x, n, p1) @ found @ own)


def _allowed(p: float, epsilon: float, delta: float) -> tuple[float, float]:
    """Return the least and the largest probability of an event that the claim allows beside p, in both directions."""
    down, up = math.exp(-epsilon), math.exp(min(epsilon, LARGEST))
    low = max(0.0, (p - delta) * down, 1 - up * (1 - p) - delta)
    high = min(1.0, 1 - (1 - p - delta) * down, up * p + delta)
    return low, high


def _near(n: int, *means: float) -> NDArray[np.int64]:
    """Return counts out of n around some means, ascending."""
    spans = [np.linspace(binom.ppf(SPAN, n, p), binom.isf(SPAN, n, p), NODES) for p in means]
    return np.unique(np.concatenate(spans).round().astype(np.int64))


def _spread_over(counts: NDArray[np.int64], n: int, p: float) -> Array:
    """Spread Bin(n, p) over some counts: each takes what lies nearest to it."""
    edges = binom.cdf((counts[:-1] + counts[1:]) // 2, n, p)
    return np.diff(edges, prepend=0.0, append=1.0)


def _ranks(x: NDArray[np.int64], y: NDArray[np.int64], scale: Scale, screening: Screening) -> Array:
    """Rank every pair of counts of one event (x, y) as the screening does: by the best bound of its faces."""
    n, one, other = screening.draws, x[:, None], y[None]
    faces = [(one, other), (other, one)] + ([(n - one, n - other), (n - other, n - one)] if screening.complements else [])
    found: Array = np.max([ranking_bound(a, n, b, n, scale=scale, alpha=SCREEN_ALPHA) for a, b in faces], axis=0)
    return found


def _others(p1: float, scale: Scale, promised: float, screening: Screening) -> Callable[[Array], Array]:
    """Return the chance that the other events of a rival rank at least so high, together."""
    number = screening.events - (2 if screening.complements else 1)
    if number < 1:
        return np.zeros_like
    n, tails = screening.draws, []
    for base in (p1, (1 - p1) / number):
        low, high = _allowed(base, *scale.at(promised))
        for end, forward in ((low, True), (high, False)):
            x, y = _near(n, base), _near(n, end)
            one, other = (x[:, None], y[None]) if forward else (y[None], x[:, None])
            rank = ranking_bound(one, n, other, n, scale=scale, alpha=SCREEN_ALPHA).ravel()
            weights = np.outer(_spread_over(x, n, base), _spread_over(y, n, end)).ravel()
            order = np.argsort(rank, kind="stable")
            tails.append((rank[order], np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)))

    def beaten(level: Array) -> Array:
        each = [tail[np.searchsorted(rank, level, side="left")] for rank, tail in tails]
        return np.asarray(number * np.maximum(each[0] + each[1], each[2] + each[3]))

    return beaten


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
    most = min(LARGEST, scale.most)
    if promised >= most:
        return math.inf
    epsilon, delta = scale.at(promised)
    p1, p0 = tight_pair(epsilon, delta)
    reach = 2 * float(ndtri(POWER) - ndtri(alpha)) * scale.spread(p1, p0) / math.sqrt(n)

    def seen(leak: float, x: NDArray[np.int64], y: NDArray[np.int64]) -> bool:
        certified = _power(*tight_pair(*scale.at(leak)), x, y, n)
        if certified < POWER or screening is None:
            return certified >= POWER
        return certified * hit(leak, scale=scale, promised=promised, screening=screening) >= POWER

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
    crowded = screening is not None and screening.pairs > screening.finalists
    while high - low > (1e-3 * (high - promised) if crowded else 1e-6):
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle, x, y) else (middle, high)
    return high


def _counts(least: float, most: float, n: int) -> NDArray[np.int64]:
    """Counts that Bin(n, p) gives for some p in [least, most], up to a tail of `LEFT_OUT` at either end."""
    return np.arange(int(binom.ppf(LEFT_OUT, n, least)), int(binom.isf(LEFT_OUT, n, most)) + 1)


def _power(p1: float, p0: float, x: NDArray[np.int64], y: NDArray[np.int64], n: int) -> float:
    return float(np.sum(binom.pmf(x, n, p1) * np.where(y >= 0, binom.cdf(y, n, p0), 0.0)))
