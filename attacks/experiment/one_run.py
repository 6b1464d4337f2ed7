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

At how many coins is guessed must be declared before the targets are looked at, and what is best
depends on the leak. If every answer tells its own coin as well as any other, all coins are guessed
at; if a few records leak, only the surest. So the share is chosen on the reference models: each
half of them is guessed at by the attack fitted on the other half, so that the rate of right guesses
is one of models that the attack has not seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpassay.attacks.experiment.models import Coins
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.scores import Attack
from dpassay.errors import is_real, require
from dpassay.stats.bounds import clopper_pearson_lower
from dpassay.stats.guesses import p_value

MOST = 60.0
"""No larger loss is told: e^-60 cannot be told from 0 next to 1."""
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Of the coins of a model, among which is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRun:
    """What the guesses certify."""

    epsilon: float  # the largest loss that is rejected at delta
    delta: float
    r: int  # guesses that were made
    v: int  # right guesses
    m: int  # coins
    alpha: float  # error probability of epsilon


def bisected(
    beyond: Callable[[float], bool],
    low: float,
    high: float,
    *,
    absolute: float = 0.0,
    relative: float = 0.0,
) -> tuple[float, float]:
    """Return two numbers between which a test turns true, no farther apart than a tolerance."""
    while high - low > absolute + relative * high:
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return low, high


def largest_rejected(v: int, r: int, *, delta: float = 0.0, m: int, alpha: float) -> float:
    """Return the largest epsilon that v right guesses of r reject, 0 if none; see `p_value`."""
    require(is_real(alpha) and 0 < alpha < 1, "alpha", alpha, "a number in (0, 1)")

    def allowed(epsilon: float) -> bool:
        return p_value(v, r, epsilon=epsilon, delta=delta, m=m) > alpha

    if allowed(0.0):
        return 0.0
    return bisected(allowed, 0.0, MOST, absolute=1e-9)[0] if allowed(MOST) else MOST


def one_run(
    guesses: Array, heads: Flags, *, share: float, alpha: float, delta: float = 0.0
) -> OneRun:
    """Audit models with independent fair coins by the guesses about which the attacker is surest.

    `guesses` (models, coins) say by how much heads look likelier than tails; the sign is the
    guess, and 0 guesses heads. `share`, declared beforehand, is the part of a model's coins
    that is guessed at, in (0, 1], rounded up to whole coins.
    """
    fits = guesses.shape == heads.shape and guesses.ndim == 2
    require(fits, "guesses", f"shape {guesses.shape}", f"of shape {heads.shape}")
    models, coins = heads.shape
    each = guessed_at(share, coins)
    v, r, m = int(right_of_the_surest(guesses, heads)[:, :each].sum()), models * each, heads.size
    epsilon = largest_rejected(v, r, delta=delta, m=m, alpha=alpha)
    return OneRun(epsilon=epsilon, delta=delta, r=r, v=v, m=m, alpha=alpha)


def guessed_at(share: float, coins: int) -> int:
    """Return how many coins of a model a share of them is, rounded up."""
    return min(coins, math.ceil(share * coins))


def right_of_the_surest(guesses: Array, heads: Flags) -> Flags:
    """Return which guesses are right, the surest of each model first; ties in their order."""
    surest = np.argsort(-np.abs(guesses), axis=1, kind="stable")
    right: Flags = np.take_along_axis((guesses >= 0) == heads, surest, axis=1)
    return right


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrossFitted:
    """Guesses at the coins of the reference models, by attacks that have not seen them."""

    guesses: Array  # (models, coins), as in `one_run`
    heads: Flags

    def of(self, coins: Flags) -> CrossFitted:
        """Return the guesses at some of the coins."""
        return CrossFitted(guesses=self.guesses[:, coins], heads=self.heads[:, coins])

    def share(self, models: int, alpha: float) -> float:
        """Return the share whose one-run bound at delta = 0 is expected to be the largest.

        The expectation is over targets whose guesses are right as often as here. Ties go to
        the larger share.
        """
        each = np.array([guessed_at(share, self.heads.shape[1]) for share in SHARES])
        right = np.cumsum(right_of_the_surest(self.guesses, self.heads).mean(axis=0))[each - 1]
        expected = clopper_pearson_lower(models * right, models * each, alpha)
        return SHARES[max(range(len(SHARES)), key=lambda i: (expected[i], i))]


def cross_fit(attack: Attack, reference: Observed, coins: Coins) -> CrossFitted:
    """Guess at the coins of each half of the reference models by the other half."""
    membership, half = coins.membership, 2 * (len(coins.heads) // 4)
    first, second = slice(None, half), slice(half, None)
    scores = [
        attack(reference.of(fitted), membership[fitted])(reference.of(scored))
        for fitted, scored in ((second, first), (first, second))
    ]
    return CrossFitted(guesses=coins.guesses(np.concatenate(scores)), heads=coins.heads)
