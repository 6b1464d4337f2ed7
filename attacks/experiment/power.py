"""What guesses at fair coins certify, what they could have shown, and how many a claim takes.

A bound that was counted on T guesses cannot exceed what T right guesses certify: that is its cap.
Where the cap is not above a claim, the number could not have broken it whatever leaks, and 'not
broken' would say nothing. Beside it stands the smallest leak that the number would have shown with
probability 0.9. Both are computed from the test itself, by enumeration of its binomial law; the
leak is that of randomised response, which shows all of its loss in a guess.

How many guesses certify a stated share of a claim is asked of a mechanism that just keeps it, again
randomised response (with probability delta it tells the bit outright). The count of right guesses
is binomial, and with probability 0.55 at least its 45 % point: a bound that reaches the share there
has a median that reaches it, and so has, but for one in a thousand, the median of a thousand
repetitions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from scipy.special import betaincinv, expit
from scipy.stats import binom

from dpassay.attacks.experiment.one_run import bisected, largest_rejected
from dpassay.claims import DP
from dpassay.errors import is_real, require
from dpassay.numerics import lower_number, upper_number
from dpassay.privacy_curves import Renyi, ZeroConcentrated
from dpassay.stats.bounds import Counts, clopper_pearson_lower
from dpassay.stats.guesses import concentrated, divergence
from dpassay.stats.lower_bounds import Method, choose, lower_bound
from dpassay.stats.power import POWER, power, tight_pair
from dpassay.stats.scales import Ratio

SHARE = 0.85
"""Of a claim that the median bound is to reach."""
POINT = 0.45
"""Of the binomial law of the right guesses, at which it is to reach it."""
MOST_LEAK = 50.0
"""Larger leaks are not looked for: `detectable` is inf then."""
MOST_TRIALS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessClaim:
    """What (epsilon, delta) allows guesses about a single record, one at each of many targets."""

    allowed: float = 0.0  # epsilon; 0 if nothing is claimed
    delta: float = 0.0

    def certified(self, right: int, trials: int, alpha: float) -> float:
        """Return the certified loss when so many guesses at fair coins are right."""
        q = float(clopper_pearson_lower(right, trials, alpha))
        return max(0.0, float(Ratio(self.delta).between(q, 1 - q))) if q > 0 else 0.0

    def loss(self, hit: float) -> float:
        """Return the loss at which guesses are right with this chance."""
        return math.log((hit - self.delta) / (1 - hit)) if self.delta < hit < 1 else math.inf

    def hit(self) -> float:
        """Return the largest chance of a right guess that is allowed."""
        return (1 + self.delta * math.exp(-self.allowed)) / (1 + math.exp(-self.allowed))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunClaim(GuessClaim):
    """What (epsilon, delta) of everything answered allows the guesses of a one-run audit."""

    coins: int | None = None  # by default as many as guesses

    def certified(self, right: int, trials: int, alpha: float) -> float:
        """Return the largest loss that the right guesses reject."""
        m = self.coins or trials
        return largest_rejected(right, trials, delta=self.delta, m=m, alpha=alpha)

    def hit(self) -> float:
        """Return the chance at delta = 0."""
        return 1 / (1 + math.exp(-self.allowed))


@dataclass(frozen=True, slots=True, kw_only=True)
class RenyiClaim:
    """What a claim of RDP or zCDP allows several answers about one record to lose together.

    If calling a record a member has probability p with it and q without it, a guess is right
    with probability s = (1 + p - q) / 2. The larger of D_a(Bern(p) || Bern(q)) and D_a(Bern(q)
    || Bern(p)) does not change when (p, q) becomes (1 - q, 1 - p), and it is quasi-convex in
    (p, q) (van Erven and Harremoes 2014, Theorem 13). Among all (p, q) with the same s it is
    therefore smallest half way between these two, at p = s and q = 1 - s. A lower limit of s
    above 1/2 so bounds the Rényi loss in the worse direction; by data processing the loss of
    what is seen is no smaller. All these bounds, like those of epsilon and gamma, rise with one
    limit of s: they hold together, with its error probability and at no further cost.
    """

    order: float | None  # None where rho is claimed
    allowed: float  # Rényi loss of this order in nats, or rho

    def loss(self, hit: float) -> float:
        """Return what randomised response loses that tells the truth with probability `hit`.

        Of zCDP it is the largest Rényi loss over its order, on a grid of orders, so that it may
        be smaller than it could be, never larger.
        """
        return concentrated(hit) if self.order is None else divergence(hit, self.order)

    def certified(self, right: int, trials: int, alpha: float) -> float:
        """Return the certified loss when so many guesses at fair coins are right."""
        return self.loss(max(0.5, float(clopper_pearson_lower(right, trials, alpha))))

    def hit(self) -> float:
        """Return the largest chance of a right guess that is allowed, in (0.5, 1]."""
        return bisected(lambda hit: self.loss(hit) > self.allowed, 0.5, 1.0, absolute=2.0**-53)[1]


@lru_cache(maxsize=256)
def renyi_claim(claim: DP | None, m: int | None) -> RenyiClaim | None:
    """Return what m answers may lose by a claim of RDP or zCDP; None of every other claim.

    The claim is for a single answer; m is as in `composed`. Rényi
    losses of an order add up (Mironov 2017, Proposition 1; Bun and Steinke 2016, Lemma 1.7). Of
    several orders the result is the one that allows the fewest right guesses, so guesses that
    break any of them break it.
    """
    curve, m = None if claim is None else claim.curve, m or 1
    if isinstance(curve, ZeroConcentrated):
        return RenyiClaim(order=None, allowed=m * curve.rho)
    if not isinstance(curve, Renyi):
        return None
    known = [RenyiClaim(order=order, allowed=m * loss) for order, loss in curve.orders]
    return min(known, key=RenyiClaim.hit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Return the largest lower bound that could have been certified, in nats."""

    cap: float  # the bound of an attacker who is always right
    # smallest true leak for which it exceeds the claim with probability 0.9, or inf
    detectable: float

    def as_json(self) -> dict[str, Any]:
        """Return JSON values: the cap as a bound is, rounded down, the leak rounded up."""
        return {"cap": lower_number(self.cap), "detectable": upper_number(self.detectable)}


@lru_cache(maxsize=1024)
def reach(claim: GuessClaim | RenyiClaim, trials: int, *, alpha: float) -> Reach:
    """Return the reach of a bound on so many guesses, on the scale of the claim."""
    cap = claim.certified(trials, trials, alpha)
    if not cap > claim.allowed:
        return Reach(cap=cap, detectable=math.inf)
    # so many right guesses break the claim, and one less does not
    right = _halved(lambda x: claim.certified(x, trials, alpha) > claim.allowed, 0, trials)
    # the smallest chance of a right guess with which at least so many are right, at power 0.9
    hit = float(betaincinv(right, trials - right + 1, POWER))
    return Reach(cap=cap, detectable=claim.loss(hit))


@lru_cache(maxsize=1024)
def reach_of_counts(n: int, *, claimed: float, delta: float, alpha: float) -> Reach:
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
    return Reach(cap=cap, detectable=bisected(seen, low, high, relative=1e-4)[1])


def guesses_to_see(
    claim: GuessClaim | RenyiClaim, leak: float | None, *, alpha: float, most: int = MOST_TRIALS
) -> int:
    """Return the number of guesses from which on a leak breaks a claim with probability 0.9.

    It is within 1 % of the smallest, and 0 if `most` are too few. The leak is on the scale of
    the claim; None is a total leak, where every guess is right. `alpha` is that of the bound of
    one record.
    """
    _check(claim.allowed, alpha)
    if leak is None:
        return _smallest(lambda n: claim.certified(n, n, alpha) > claim.allowed, most)
    allowed = f"a number above the claim of {claim.allowed:g}"
    require(is_real(leak) and leak > claim.allowed, "--detect", leak, allowed)
    return _smallest(lambda n: reach(claim, n, alpha=alpha).detectable <= leak, most, 0.01)


@lru_cache(maxsize=256)
def guesses_to_certify(
    claim: GuessClaim | RenyiClaim, *, alpha: float, share: float = SHARE
) -> int:
    """Return the guesses at which the median bound reaches a share of a claim that is just kept."""
    _check(claim.allowed, alpha, share)
    q = claim.hit()
    return _smallest(
        lambda n: claim.certified(int(binom.ppf(POINT, n, q)), n, alpha) >= share * claim.allowed
    )


def transcripts_to_certify(
    epsilon: float, *, delta: float = 0.0, alpha: float, share: float = SHARE
) -> int:
    """Return the transcripts a side at which a rung's median bound reaches a share of its loss.

    Half of them choose the event, half are counted; both counts are taken at their unlucky
    quartiles, so that three in four bounds, about, reach it.
    """
    _check(epsilon, alpha, share)
    p1, p0 = tight_pair(epsilon, delta)
    scale = Ratio(delta)

    def reached(n: int) -> bool:
        x, y = int(binom.ppf(0.25, n, p1)), int(binom.ppf(0.75, n, p0))
        method = choose(round(n * p1), round(n * p0), n, n, labels=2, scale=scale, alpha=alpha)
        counts = Counts(x=x, n1=n, y=y, n0=n)
        return lower_bound(method, counts, scale=scale, alpha=alpha).value >= share * epsilon

    return 2 * _smallest(reached)


def _check(allowed: float, alpha: float, share: float | None = None) -> None:
    require(is_real(allowed) and allowed >= 0, "epsilon", allowed, "a number >= 0")
    require(is_real(alpha) and 0 < alpha < 1, "alpha", alpha, "a number in (0, 1)")
    if share is not None:
        require(allowed > 0, "epsilon", allowed, "a number > 0")
        require(is_real(share) and 0 < share < 1, "share", share, "a number in (0, 1)")


def _smallest(
    enough: Callable[[int], bool], most: int = MOST_TRIALS, tolerance: float = 0.0
) -> int:
    """Return the smallest number that is enough, up to the tolerance; 0 where `most` is not."""
    high = 1
    while not enough(high):
        if high >= most:
            return 0
        high = min(most, 2 * high)
    return _halved(enough, high // 2, high, tolerance)


def _halved(enough: Callable[[int], bool], low: int, high: int, tolerance: float = 0.0) -> int:
    """Return the smallest number above `low` that is enough, up to the tolerance."""
    while high - low > max(1.0, tolerance * high):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def composed(claim: DP, m: int | None) -> tuple[float, float]:
    """Return the epsilon and delta that m answers with fresh coins may lose together.

    Basic composition gives (m epsilon, m delta), delta at most 1. Of a claim that is a curve it
    is the point with epsilon > 0 of the composed curve that allows the fewest right guesses. An
    m of None is one answer that shows all, such as scores.
    """
    m = m or 1
    basic = m * claim.epsilon, min(1.0, m * claim.delta)
    known = () if claim.curve is None else claim.curve.composed(m)
    points = (basic, *(each for each in known if each[0] > 0))
    # by how probable a right guess at a fair coin may be
    return min(points, key=lambda each: each[1] + (1 - each[1]) * float(expit(each[0])))
