"""How many guesses certify a stated share of a claim on a mechanism that just keeps it.

The mechanism is randomised response at epsilon, which tells all of its loss in a guess (with
probability delta it tells the bit outright). The count of right guesses is binomial, and with
probability 0.55 at least its 45 % point: a bound that reaches the share there has a median that
reaches it, and so has, but for one in a thousand, the median of a thousand repetitions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from scipy.stats import binom

from dpassay.attacks.experiment.one_run import largest_rejected
from dpassay.attacks.experiment.reach import guessed
from dpassay.attacks.experiment.renyi import RenyiClaim
from dpassay.errors import is_real, require
from dpassay.stats.bounds import Counts
from dpassay.stats.guesses import divergence
from dpassay.stats.lower_bounds import choose, lower_bound
from dpassay.stats.power import tight_pair
from dpassay.stats.scales import Ratio

SHARE = 0.85
"""Of the claim that the median bound is to reach."""
POINT = 0.45
"""Of the binomial law of the counts."""
MOST = 10_000_000


@lru_cache(maxsize=256)
def guesses_for(epsilon: float, *, delta: float = 0.0, alpha: float, share: float = SHARE) -> int:
    """Return the targets at which a record's median bound reaches a share of its loss.

    The result is 0 if ten million targets are too few.
    """
    _check(epsilon, delta, alpha, share)
    q = _right(epsilon, delta)
    return _from(
        lambda n: guessed(_low(n, q), n, delta=delta, alpha=alpha) >= share * epsilon,
    )


@lru_cache(maxsize=256)
def one_run_for(epsilon: float, *, delta: float = 0.0, alpha: float, share: float = SHARE) -> int:
    """Return the guesses, at as many coins, at which the one-run audit's median bound reaches it.

    The parameters are those of `guesses_for`; epsilon and delta are of everything answered.
    """
    _check(epsilon, delta, alpha, share)
    q = _right(epsilon, 0.0)
    return _from(
        lambda n: largest_rejected(_low(n, q), n, delta=delta, m=n, alpha=alpha) >= share * epsilon,
    )


def renyi_for(epsilon: float, *, order: float, alpha: float, share: float = SHARE) -> int:
    """Return the targets at which the median Rényi bound reaches a share of the Rényi loss.

    Of randomised response at epsilon; the other parameters are those of `guesses_for`.
    """
    _check(epsilon, 0.0, alpha, share)
    lost = divergence(_right(epsilon, 0.0), order)
    return renyi_guesses_for(RenyiClaim(order=order, allowed=lost), alpha=alpha, share=share)


@lru_cache(maxsize=256)
def renyi_guesses_for(claim: RenyiClaim, *, alpha: float, share: float = SHARE) -> int:
    """Return the guesses at which the median bound reaches a share of a claim of RDP or zCDP.

    On randomised response that just keeps it; the other parameters are those of `guesses_for`.
    """
    q = claim.hit()
    wanted = share * claim.allowed
    return _from(lambda n: claim.certified(_low(n, q), n, alpha) >= wanted)


def transcripts_for(
    epsilon: float, *, delta: float = 0.0, alpha: float, share: float = SHARE
) -> int:
    """Return the transcripts a side at which a rung's median bound reaches a share of its loss.

    Half of them choose the event, half are counted; both counts are taken at their unlucky
    quartiles, so that three in four bounds, about, reach it.
    """
    _check(epsilon, delta, alpha, share)
    p1, p0 = tight_pair(epsilon, delta)
    scale = Ratio(delta)

    def reached(n: int) -> bool:
        x, y = int(binom.ppf(0.25, n, p1)), int(binom.ppf(0.75, n, p0))
        method = choose(round(n * p1), round(n * p0), n, n, labels=2, scale=scale, alpha=alpha)
        counts = Counts(x=x, n1=n, y=y, n0=n)
        found = lower_bound(method, counts, scale=scale, alpha=alpha).value
        return found >= share * epsilon

    return 2 * _from(reached)


def _check(epsilon: float, delta: float, alpha: float, share: float) -> None:
    require(is_real(epsilon) and epsilon > 0, "epsilon", epsilon, "a number > 0")
    require(is_real(delta) and 0 <= delta < 1, "delta", delta, "a number in [0, 1)")
    require(is_real(alpha) and 0 < alpha < 1, "alpha", alpha, "a number in (0, 1)")
    require(is_real(share) and 0 < share < 1, "share", share, "a number in (0, 1)")


def _right(epsilon: float, delta: float) -> float:
    return (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))


def _low(n: int, q: float) -> int:
    return int(binom.ppf(POINT, n, q))


def _from(reached: Callable[[int], bool]) -> int:
    """Return a number that reaches it, next to the smallest; counts are whole, so it may waver."""
    high = 1
    while not reached(high):
        high *= 2
        if high > MOST:
            return 0
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
