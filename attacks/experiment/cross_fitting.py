"""At how many coins the one-run audit guesses: chosen on the reference models.

The number of guesses is declared before the targets are looked at (Steinke, Nasr and Jagielski
2023, Theorem 5.2), and what is best depends on the leak. If every answer tells its own coin as well
as any other, all coins are guessed at; if a few records leak, only the surest. Each half of the
reference models is guessed at by the attack fitted on the other half, so that the rate of right
guesses is one of models that the attack has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.attacks.experiment.coins import Coins
from dpassay.attacks.experiment.one_run import guessed_at, right_of_the_surest
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.scores.interface import Attack
from dpassay.stats.bounds import clopper_pearson_lower

SHARES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Of the coins of a model, among which is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrossFitted:
    """Guesses at the coins of the reference models, by attacks that have not seen them."""

    guesses: Array  # (models, coins), as in `dpassay.attacks.experiment.one_run.one_run`
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
    """Guess at the coins of each half of the reference models by the other half.

    There are at least four reference models. Mirrored models stay together, so each record is
    in some models of either half, and not in others.
    """
    membership, half = coins.membership, 2 * (len(coins.heads) // 4)
    first, second = slice(None, half), slice(half, None)
    scores = np.concatenate(
        [
            attack.fit(reference.of(fitted), membership[fitted]).score(reference.of(scored))
            for fitted, scored in ((second, first), (first, second))
        ]
    )
    return CrossFitted(guesses=coins.guesses(scores), heads=coins.heads)
