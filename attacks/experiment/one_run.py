"""The one-run audit (Steinke, Nasr and Jagielski 2023): many coins, guessed at together.

Every coin says which of two records is in the training set. An attacker who has seen everything
that a model answered guesses some of the coins and abstains from the others. If all the answers
together are (epsilon, delta)-differentially private for a replaced record, v or more of r guesses
are right with probability at most

    P[W >= v] + 2 m delta max over i = 1..m of P[v > W >= v - i] / i,
    W ~ Bin(r, e^epsilon / (1 + e^epsilon)),

for m coins (their Theorem 5.2). Several models with coins of their own are one algorithm with all
the coins: it is as private as each of them. What is bounded is the loss of the whole transcript,
not that of a single answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpassay.attacks.observed import Array, Flags
from dpassay.errors import is_real, require
from dpassay.stats.guesses import p_value

MOST = 60.0
"""No larger loss is told: e^-60 cannot be told from 0 next to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRun:
    """What the guesses certify."""

    epsilon: float  # the largest loss that is rejected at delta
    delta: float
    r: int  # guesses that were made
    v: int  # right guesses
    m: int  # coins
    alpha: float  # error probability of epsilon


def largest_rejected(v: int, r: int, *, delta: float = 0.0, m: int, alpha: float) -> float:
    """Return the largest epsilon that v right guesses of r reject, 0 if none; see `p_value`."""
    require(is_real(alpha) and 0 < alpha < 1, "alpha", alpha, "a number in (0, 1)")
    known = {"v": v, "r": r, "delta": delta, "m": m}
    if p_value(**known, epsilon=0.0) > alpha:  # type: ignore[arg-type]
        return 0.0
    if p_value(**known, epsilon=MOST) <= alpha:  # type: ignore[arg-type]
        return MOST
    low, high = 0.0, MOST
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if p_value(
                **known,  # type: ignore[arg-type]
                epsilon=middle,
            )
            <= alpha
            else (low, middle)
        )
    return low


def one_run(
    guesses: Array, heads: Flags, *, share: float, alpha: float, delta: float = 0.0
) -> OneRun:
    """Audit models with independent fair coins by the guesses about which the attacker is surest.

    `guesses` (models, coins) say by how much heads look likelier than tails; the sign is the
    guess, and 0 guesses heads. `share`, declared beforehand, is the part of a model's coins
    that is guessed at, in (0, 1], rounded up to whole coins.
    """
    require(
        guesses.shape == heads.shape and guesses.ndim == 2,
        "guesses",
        f"shape {guesses.shape}",
        f"of shape {heads.shape}",
    )
    models, coins = heads.shape
    each = guessed_at(share, coins)
    right = right_of_the_surest(guesses, heads)[:, :each]
    v, r, m = int(right.sum()), models * each, models * coins
    return OneRun(
        epsilon=largest_rejected(v, r, delta=delta, m=m, alpha=alpha),
        delta=delta,
        r=r,
        v=v,
        m=m,
        alpha=alpha,
    )


def guessed_at(share: float, coins: int) -> int:
    """Return how many coins of a model a share of them is, rounded up."""
    return min(coins, math.ceil(share * coins))


def right_of_the_surest(guesses: Array, heads: Flags) -> Flags:
    """Return which guesses are right, the surest of each model first; ties in their order."""
    surest = np.argsort(-np.abs(guesses), axis=1, kind="stable")
    right: Flags = np.take_along_axis((guesses >= 0) == heads, surest, axis=1)
    return right
