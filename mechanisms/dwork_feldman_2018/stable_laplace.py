"""Laplace noise on a prediction-stable predictor (Dwork and Feldman 2018, Lemma 4.5).

Output v + zeta, v = A(S, x) the prediction of an algorithm with rate gamma (Definition 4.4), zeta
Laplace noise.

Claim as printed: epsilon-differentially private prediction. The proof says "Laplace distribution
with scale epsilon/gamma"; the lines that follow use E|zeta| = gamma / epsilon and E zeta^2 = 2
gamma^2 / epsilon^2, which is scale gamma / epsilon, and only that gives the claim: it is what is
built. `scale="printed"` builds the other (docs/findings.md, 'The scale in Lemma 4.5').
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dpassay.claims import DP, Claim
from dpassay.mechanisms.dwork_feldman_2018.noisy import Noisy
from dpassay.mechanisms.shared.ranges import check_word
from dpassay.noise import Noise


@dataclass(frozen=True, slots=True, kw_only=True)
class StableLaplace(Noisy):
    """A prediction-stable predictor plus Laplace noise.

    Parameters
    ----------
    epsilon, r, learner, predictor, gamma
        See `Noisy`.
    scale : {"meant", "printed"}
        `meant`: gamma / epsilon. `printed`: epsilon / gamma, as the proof's first sentence has it.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or the predictor claims no rate.
    """

    scale: Literal["meant", "printed"] = "meant"

    def __post_init__(self) -> None:
        super(StableLaplace, self).__post_init__()
        check_word("meant", "printed", scale=self.scale)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim."""
        source = self.cited("Dwork and Feldman 2018, Lemma 4.5")
        return (DP(epsilon=self.epsilon, coins=self.coins, source=source, status="printed"),)

    @property
    def noise(self) -> Noise:
        """Laplace noise."""
        scale = self.rate / self.epsilon if self.scale == "meant" else self.epsilon / self.rate
        return Noise(kind="laplace", scale=scale)

    def excess_loss(self, L: float) -> float:
        """Part 1 of Lemma 4.5.

        The noise adds at most L gamma / epsilon to the expected loss, for a loss that is
        L-Lipschitz.
        """
        return L * self.rate / self.epsilon

    def excess_loss_smooth(self, sigma: float) -> float:
        """Part 2 of Lemma 4.5 as proven.

        At most sigma gamma^2 / epsilon^2 for a sigma-smooth loss (printed: sigma^2).
        """
        return sigma * (self.rate / self.epsilon) ** 2
