"""Certified Rényi loss of a single record, from guesses at its fair coin.

If calling it a member has probability p with the record and q without it, a guess is right with
probability s = (1 + p - q) / 2. The larger of D_a(Bern(p) || Bern(q)) and D_a(Bern(q) || Bern(p))
does not change when (p, q) becomes (1 - q, 1 - p), and it is quasi-convex in (p, q) (van Erven and
Harremoes 2014, Theorem 13). Among all (p, q) with the same s it is therefore smallest half way
between these two, at p = s and q = 1 - s. A lower limit of s above 1/2 so bounds the Rényi loss in
the worse direction; by data processing the loss of what is seen is no smaller.

All these bounds, like those of epsilon and gamma, rise with one limit of s: they hold together,
with its error probability and at no further cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dpassay.attacks.experiment.reach import MOST_TRIALS, Reach, reach_of, smallest
from dpassay.claims import DP
from dpassay.errors import is_real, require
from dpassay.privacy_curves import Renyi, ZeroConcentrated
from dpassay.stats.bounds import clopper_pearson_lower
from dpassay.stats.guesses import concentrated, divergence


def renyi_guessed(right: int, trials: int, *, order: float, alpha: float) -> float:
    """Return the certified Rényi loss, in nats, when so many guesses at fair coins are right.

    There is one guess at each of independent targets, by a rule chosen before. Bounds of all
    orders hold together, because they come from one limit.
    """
    return divergence(_hit(right, trials, alpha), order)


def concentrated_guessed(right: int, trials: int, *, alpha: float) -> float:
    """Return the certified rho of zCDP: the largest Rényi loss over its order.

    Over a grid of orders, so that it may be smaller than it could be, never larger.
    """
    return concentrated(_hit(right, trials, alpha))


@dataclass(frozen=True, slots=True, kw_only=True)
class RenyiClaim:
    """What a claim of RDP or zCDP allows several answers about one record to lose together."""

    order: float | None  # None where rho is claimed
    allowed: float  # Rényi loss of this order in nats, or rho

    def loss(self, hit: float) -> float:
        """Return what randomised response loses that tells the truth with probability `hit`."""
        return concentrated(hit) if self.order is None else divergence(hit, self.order)

    def certified(self, right: int, trials: int, alpha: float) -> float:
        """Return the certified loss; see `renyi_guessed` and `concentrated_guessed`."""
        return self.loss(_hit(right, trials, alpha))

    def hit(self) -> float:
        """Return the largest chance of a right guess that is allowed, in (0.5, 1]."""
        low, high = 0.5, 1.0
        for _ in range(52):
            middle = (low + high) / 2
            low, high = (low, middle) if self.loss(middle) > self.allowed else (middle, high)
        return high


@lru_cache(maxsize=256)
def renyi_claim(claim: DP | None, m: int | None) -> RenyiClaim | None:
    """Return what m answers may lose by a claim of RDP or zCDP; None of every other claim.

    The claim is for a single answer; m is as in `dpassay.attacks.composition.composed`. Rényi
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


@lru_cache(maxsize=1024)
def of_renyi(claim: RenyiClaim, trials: int, *, alpha: float) -> Reach:
    """Return the reach of the certified loss of one record, on the scale of the claim."""
    return reach_of(
        trials,
        lambda right: claim.certified(right, trials, alpha),
        claimed=claim.allowed,
        leak=claim.loss,
    )


def targets_to_exceed(claim: RenyiClaim, leak: float | None, *, alpha: float) -> int:
    """Return the number of targets from which on a loss exceeds a claim with probability 0.9.

    It is within 1 % of the smallest, and 0 if ten million are too few. The leak is on the scale
    of the claim; None is a total leak, where every guess is right.
    """
    if leak is None:
        return smallest(lambda n: claim.certified(n, n, alpha) > claim.allowed, MOST_TRIALS, 0.0)
    allowed = f"a number above the claim of {claim.allowed:g}"
    require(is_real(leak) and leak > claim.allowed, "--detect", leak, allowed)
    return smallest(lambda n: of_renyi(claim, n, alpha=alpha).detectable <= leak, MOST_TRIALS, 0.01)


def _hit(right: int, trials: int, alpha: float) -> float:
    return max(0.5, float(clopper_pearson_lower(right, trials, alpha)))
