"""What a certified number could have shown.

Its cap, and the smallest leak that it would have shown with probability 0.9.

A bound that was counted on T guesses cannot exceed what T right guesses certify: that is its cap.
Where the cap is not above a claim, the number could not have broken it whatever leaks, and 'not
broken' would say nothing. Both numbers are computed from the test itself, by enumeration of its
binomial law; the leak is that of randomised response, which shows all of its loss in a guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from scipy.special import betaincinv

from dpassay.attacks.experiment.one_run import largest_rejected
from dpassay.errors import is_real, require
from dpassay.numerics import lower_number, upper_number
from dpassay.stats.bounds import Counts, clopper_pearson_lower
from dpassay.stats.lower_bounds import Method, choose, lower_bound
from dpassay.stats.power import POWER, power, tight_pair
from dpassay.stats.scales import Ratio

MOST_LEAK = 50.0
"""Larger leaks are not looked for: `detectable` is inf then."""
MOST_TRIALS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a certified lower bound could have been, in nats."""

    cap: float  # the bound of an attacker who is always right
    # smallest true leak for which it exceeds the claim with probability 0.9, or inf
    detectable: float

    def as_json(self) -> dict[str, Any]:
        """Return JSON values: the cap as a bound is, rounded down, the leak rounded up."""
        return {"cap": lower_number(self.cap), "detectable": upper_number(self.detectable)}


def guessed(right: int, trials: int, *, delta: float, alpha: float) -> float:
    """Return the certified loss when so many guesses at fair coins are right.

    It is ln((q - delta) / (1 - q)), at least 0, where q is the Clopper-Pearson lower limit.
    """
    q = float(clopper_pearson_lower(right, trials, alpha))
    return max(0.0, float(Ratio(delta).between(q, 1 - q))) if q > 0 else 0.0


@lru_cache(maxsize=1024)
def of_guesses(trials: int, *, claimed: float, delta: float, alpha: float) -> Reach:
    """Return the reach of `dpassay.attacks.experiment.certified` with so many targets.

    `claimed` is in nats, 0 if nothing is claimed; `alpha` is that of the bound of one record.
    """
    return reach_of(
        trials,
        lambda right: guessed(right, trials, delta=delta, alpha=alpha),
        claimed=claimed,
        leak=lambda q: _leak(q, delta),
    )


def reach_of(
    trials: int,
    certified: Callable[[int], float],
    *,
    claimed: float,
    leak: Callable[[float], float],
) -> Reach:
    """Return the reach of a bound that rises with the right guesses.

    `certified` maps right guesses to the bound, `leak` the chance of a right guess to the true
    loss.
    """
    cap = certified(trials)
    if not cap > claimed:
        return Reach(cap=cap, detectable=math.inf)
    # low right guesses do not break the claim, high do
    low, high = 0, trials
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if certified(middle) > claimed else (middle, high)
    # the smallest chance of a right guess with which at least so many are right, at power 0.9
    hit = float(betaincinv(high, trials - high + 1, POWER))
    return Reach(cap=cap, detectable=leak(hit))


@lru_cache(maxsize=1024)
def of_one_run(r: int, m: int, *, delta: float, alpha: float) -> Reach:
    """Return the reach of `one_run` with r guesses at m coins, held against no loss at all."""
    return reach_of(
        r,
        lambda v: largest_rejected(v, r, delta=delta, m=m, alpha=alpha),
        claimed=0.0,
        leak=lambda q: _leak(q, delta),
    )


@lru_cache(maxsize=1024)
def of_counts(n: int, *, claimed: float, delta: float, alpha: float) -> Reach:
    """Return the reach of n transcripts a side, by the test that is chosen for an event."""
    scale = Ratio(delta)

    def test(x: int, y: int) -> Method:
        return choose(x, y, n, n, labels=2, scale=scale, alpha=alpha)

    cap = lower_bound(test(n, 0), Counts(x=n, n1=n, y=0, n0=n), scale=scale, alpha=alpha).value
    if not cap > claimed:
        return Reach(cap=cap, detectable=math.inf)

    def seen(leak: float) -> bool:
        p1, p0 = tight_pair(leak, delta)
        method = test(round(n * p1), round(n * p0))
        return power(p1, p0, epsilon=claimed, delta=delta, n=n, alpha=alpha, method=method) >= POWER

    low, high = claimed, claimed + 0.25
    while not seen(high):
        low, high = high, high + 2 * (high - claimed)
        if high > MOST_LEAK:
            return Reach(cap=cap, detectable=math.inf)
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return Reach(cap=cap, detectable=high)


def targets_to_break(claimed: float, *, delta: float = 0.0, alpha: float) -> int:
    """Return the smallest number of targets at which a total leak breaks a claim.

    All guesses are right then. It is 0 if no number is enough. `alpha` is that of the bound of
    one record.
    """
    _check(claimed, delta, alpha)
    return smallest(
        lambda trials: guessed(trials, trials, delta=delta, alpha=alpha) > claimed, MOST_TRIALS, 0.0
    )


def targets_to_see(
    leak: float, claimed: float, *, delta: float = 0.0, alpha: float, most: int = MOST_TRIALS
) -> int:
    """Return the number of targets from which on a leak breaks a claim with probability 0.9.

    It is within 1 % of the smallest, and 0 if `most` targets are too few.
    """
    _check(claimed, delta, alpha)
    require(
        is_real(leak) and leak > claimed,
        "--detect",
        leak,
        f"a number above the claim of {claimed:g}",
    )

    def seen(trials: int) -> bool:
        return of_guesses(trials, claimed=claimed, delta=delta, alpha=alpha).detectable <= leak

    return smallest(seen, most, 0.01)


def smallest(enough: Callable[[int], bool], most: int, tolerance: float) -> int:
    """Return the smallest number that is enough, up to the tolerance; 0 where `most` is not.

    It is found by doubling and halving.
    """
    high = 1
    while not enough(high):
        if high >= most:
            return 0
        high = min(most, 2 * high)
    low = high // 2
    while high - low > max(1.0, tolerance * high):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _check(claimed: float, delta: float, alpha: float) -> None:
    require(is_real(claimed) and claimed >= 0, "claimed", claimed, "a number >= 0")
    require(is_real(delta) and 0 <= delta < 1, "delta", delta, "a number in [0, 1)")
    require(is_real(alpha) and 0 < alpha < 1, "alpha", alpha, "a number in (0, 1)")


def _leak(q: float, delta: float) -> float:
    """Return the loss at which guesses are right with chance q.

    The q of (epsilon, delta) is (e^epsilon + delta) / (1 + e^epsilon).
    """
    return math.log((q - delta) / (1 - q)) if delta < q < 1 else math.inf
