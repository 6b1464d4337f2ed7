"""What right guesses at fair coins say of the loss of what the guesses were made from."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import is_count, is_real, require
from dpassay.stats.binomial_law import at_most, more_than

Array = NDArray[np.float64]

ORDERS: Array = 1 + np.geomspace(1e-3, 1e3, 241)
"""At which the bound of zCDP is looked for."""


def p_value(v: int, r: int, *, epsilon: float, delta: float = 0.0, m: int) -> float:
    """Bound the probability of v or more right guesses of r under DP (Theorem 5.2).

    r is declared before the guesses are made; 0 <= v <= r <= m, where m is the number of coins.
    """
    require(is_count(r) and is_count(v, 0) and v <= r, "v", v, f"an integer in 0..{r}")
    require(is_count(m) and m >= r, "m", m, f"an integer >= r = {r}")
    require(is_real(epsilon) and epsilon >= 0, "epsilon", epsilon, "a number >= 0")
    require(is_real(delta) and 0 <= delta <= 1, "delta", delta, "a number in [0, 1]")
    q = 1 / (1 + math.exp(-epsilon))
    found = float(more_than(v - 1, r, q))
    if delta > 0:
        # beyond v nothing is added to the probability, and more is divided by; where Hoeffding's
        # inequality leaves W less than 1e-34, nothing is, or all is there (the last place)
        low, high = r * q - math.sqrt(40 * r), r * q + math.sqrt(40 * r)
        i = np.arange(max(1, v - math.ceil(high)), max(1, v - max(0, math.floor(low))) + 1)
        between = at_most(v - 1, r, q) - at_most(v - i - 1, r, q)
        between[-1] = at_most(v - 1, r, q)
        found += 2 * m * delta * float((between / i).max(initial=0.0))
    return min(1.0, found)


def divergence(hit: float, order: float) -> float:
    """Return D_order(Bern(hit) || Bern(1 - hit)) in nats, what randomised response loses.

    `hit`: probability of the likelier answer, in [0.5, 1]; at 1 it is inf. `order`: > 1.
    """
    require(is_real(order) and order > 1, "order", order, "a number > 1")
    require(is_real(hit) and 0.5 <= hit <= 1, "hit", hit, "a number in [0.5, 1]")
    return float(_divergences(hit, np.array([order]))[0])


def _divergences(hit: float, orders: Array) -> Array:
    if hit in {0.5, 1}:
        return np.full(orders.shape, 0.0 if hit == 0.5 else math.inf)
    one, other = math.log(hit), math.log1p(-hit)
    both = np.logaddexp(orders * one + (1 - orders) * other, orders * other + (1 - orders) * one)
    return np.maximum(0.0, both / (orders - 1))


def concentrated(hit: float) -> float:
    """Return the rho that randomised response loses, over a grid of orders.

    `hit`: see `divergence`.
    """
    return float((_divergences(hit, ORDERS) / ORDERS).max())
