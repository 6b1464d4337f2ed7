"""Certified Rényi loss of a single record, from guesses at its fair coin.

If calling it a member has probability p with the record and q without it, a guess is right with
probability s = (1 + p - q) / 2. The larger of D_a(Bern(p) || Bern(q)) and D_a(Bern(q) || Bern(p))
does not change when (p, q) becomes (1 - q, 1 - p), and it is quasi-convex in (p, q) (van Erven and
Harremoes 2014, Theorem 13). Among all (p, q) with the same s it is therefore smallest half way
between these two, at p = s and q = 1 - s. A lower limit of s above 1/2 so bounds the Rényi loss in
the worse direction; by data processing the loss of what is seen is no smaller.
"""

from __future__ import annotations

import math

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.errors import is_real, require
from dpassay.stats.bounds import clopper_pearson_lower

ORDERS: Array = 1 + np.geomspace(1e-3, 1e3, 241)
"""At which the bound of zCDP is looked for."""


def divergence(hit: float, order: float) -> float:
    """Return D_order(Bern(hit) || Bern(1 - hit)) in nats, what randomised response loses.

    Parameters
    ----------
    hit : float
        Probability of the likelier answer, in [0.5, 1]; at 1 it is inf.
    order : float
        > 1.
    """
    require(is_real(order) and order > 1, "order", order, "a number > 1")
    require(is_real(hit) and 0.5 <= hit <= 1, "hit", hit, "a number in [0.5, 1]")
    if hit in {0.5, 1}:
        return math.inf if hit == 1 else 0.0
    one, other = math.log(hit), math.log1p(-hit)
    both = np.logaddexp(order * one + (1 - order) * other, order * other + (1 - order) * one)
    return max(0.0, float(both) / (order - 1))


def renyi_guessed(right: int, trials: int, *, order: float, alpha: float) -> float:
    """Return the certified Rényi loss when so many guesses at fair coins are right.

    Parameters
    ----------
    right, trials : int
        0 <= right <= trials; one guess at each of independent targets, by a rule chosen before.
    order : float
        > 1.
    alpha : float
        Error probability; bounds of all orders hold together, they come from one limit.

    Returns
    -------
    float
        Nats, at least 0.
    """
    return divergence(_hit(right, trials, alpha), order)


def concentrated_guessed(right: int, trials: int, *, alpha: float) -> float:
    """Return the certified rho of zCDP: the largest Rényi loss over its order.

    Over a grid of orders, so that it may be smaller than it could be, never larger.
    """
    hit = _hit(right, trials, alpha)
    return float(max(divergence(hit, order) / order for order in ORDERS.tolist()))


def _hit(right: int, trials: int, alpha: float) -> float:
    return max(0.5, float(clopper_pearson_lower(right, trials, alpha)))
