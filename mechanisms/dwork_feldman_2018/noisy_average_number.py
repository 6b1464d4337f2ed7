"""Truncated noisy vote for agnostic learning (Dwork and Feldman 2018, Corollary 4.7).

The released number.

Average r classifiers, each trained on a block of its own, to v in [0, 1]; add Laplace noise of
scale gamma / epsilon for the rate gamma = 1 / r of the average (Lemmas 4.5 and 4.6); project to [0,
1].

Claim as printed: epsilon-differentially private prediction. Projecting loses nothing: 0 and 1 lie
beyond every v, where all answers have one likelihood ratio.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from dpassay.claims import DP, Claim
from dpassay.errors import require
from dpassay.mechanisms.dwork_feldman_2018.noisy import Noisy
from dpassay.noise import Noise

COROLLARY: Final = "Dwork and Feldman 2018, Corollary 4.7"
BEYOND: Final = "Dwork and Feldman 2018, Lemmas 4.5 and 4.6 (Corollary 4.7 is for epsilon <= 1)"
"""What says the same for larger epsilon."""
LEMMA: Final = (
    "Dwork and Feldman 2018, Lemma 4.5 (Corollary 4.7 is for the mean of Boolean functions)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyAverageNumber(Noisy):
    """The number v + zeta, projected to [0, 1].

    Parameters
    ----------
    epsilon : float
        Claimed privacy loss of one prediction, in nats; finite and > 0. The corollary is stated for
        epsilon <= 1.
    r : int
        Number of blocks, >= 1. The corollary takes 2 / (alpha epsilon) for excess error alpha
        (`blocks_for`).
    learner, predictor, gamma
        See `Noisy`; a predictor's answers must lie in [0, 1].

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    def __post_init__(self) -> None:
        super(NoisyAverageNumber, self).__post_init__()
        low, high = self.source.numbers
        allowed = "one that answers in [0, 1]"
        require(low >= 0 and high <= 1, "predictor", f"answers in [{low:g}, {high:g}]", allowed)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim."""
        votes = self.predictor is None and self.rate == self.source.claims[0].promised
        source = COROLLARY if votes and self.epsilon <= 1 else BEYOND if votes else LEMMA
        return (
            DP(epsilon=self.epsilon, coins=self.coins, source=self.cited(source), status="printed"),
        )

    @property
    def numbers(self) -> tuple[float, float]:
        """Answers are projected."""
        return (0.0, 1.0)

    @property
    def noise(self) -> Noise:
        """Laplace noise."""
        return Noise(kind="laplace", scale=self.rate / self.epsilon)


def blocks_for(alpha: float, epsilon: float) -> int:
    """Return r = ceil(2 / (alpha epsilon)), Corollary 4.7's blocks for excess error alpha.

    Alpha lies in (0, 1].

    One half of alpha is the learner's, the other the noise's: epsilon-private answers add
    gamma / epsilon = 1 / (r epsilon).
    """
    require(0 < alpha <= 1, "alpha", alpha, "a number in (0, 1]")
    return math.ceil(2 / (alpha * epsilon))
