"""Output perturbation, for logistic regression, the Huberised SVM and the SVM.

Source: Chaudhuri and Vinterbo (2013), Algorithm 4.

    w* = argmin over w of lambda ||w||^2 / 2 + (1/n) sum_i l(w, x_i, y_i),
    released: w* + 2 R / (lambda alpha n),  R ~ e^(-||r||)

Claim as printed (section 4.1): alpha-differentially private. One record moves w* by at most
2 / (lambda n): tight for the Huber loss where lambda n (1 - h) >= 1 and the hinge loss where lambda
n >= 1; in one dimension the logistic loss loses little more than half of it (docs/findings.md,
'Algorithm 4').
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.laws import NoiseLaw
from dpassay.mechanisms.chaudhuri_vinterbo_2013.crossings import Crossing
from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import UP, farthest, steepest
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbation import TrainedWeights
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbation_scores import Scored
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbed import minimise
from dpassay.noise import Noise
from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPerturbation(Scored):
    """Algorithm 4; parameters as for `LinearTraining`."""

    release: str = "vector"

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The privacy as printed, what is true where that is less, and claims on the score."""
        source, unit, coins = (
            "Chaudhuri and Vinterbo 2013, section 4.1 (Algorithm 4)",
            "released weights",
            "R fresh",
        )
        printed = DP(epsilon=self.alpha, unit=unit, coins=coins, source=source, status="printed")
        true = self.alpha * self.range_of_pulls(self.lambda_) / 2
        if true == self.alpha:
            return (printed, *self.score_claims)
        source = "docs/findings.md, 'Algorithm 4'"
        return (
            printed,
            DP(epsilon=true, unit=unit, coins=coins, source=source, status="corrected"),
            *self.score_claims,
        )

    def step(self, lambda_: float, n: int) -> float:
        """2 / (lambda alpha n), what R is multiplied by."""
        return 2 / (lambda_ * self.alpha * n)

    def range_of_pulls(self, lambda_: float) -> float:
        """As for Algorithm 3, but the weights compared are minimisers, no farther from 0.

        No farther than minimisers get, that is.
        """
        at, most = self.training_loss.turn
        far = farthest(self.training_loss, lambda_)
        if self.d > 1 or self.loss != "logistic" or far >= at:
            return most if self.d == 1 else 2.0
        return max(1.0, float(expit(far)) + steepest(self.training_loss, far)) * UP

    def reach(self, lambda_: float, n: int, length: float) -> float:
        """Largest norm of the minimiser, and the noise on top."""
        return farthest(self.training_loss, lambda_) + self.step(lambda_, n) * length

    def weights(self, V: Array, lambda_: float, R: Array) -> Array:
        """Released weights (size, d) for noise R (size, d)."""
        return self._centre(V, lambda_)[0] + self.step(lambda_, len(V)) * R

    def locate(self, data: Labelled, lambda_: float) -> TrainedWeights:
        """State of a dataset, with the minimiser."""
        V = self.signed(data, slice(0, len(data) - self.m))
        centre, distance = self._centre(V, lambda_)
        return TrainedWeights(data=data, V=V, centre=centre, distance=distance)

    def _centre(self, V: Array, lambda_: float) -> tuple[Array, float]:
        """Minimiser (d,), and a bound on the distance from it.

        Raises
        ------
        ArithmeticError
            If that exceeds `tolerance`.
        """
        W, distance = minimise(V, self.training_loss, lambda_, np.zeros((1, V.shape[1])), 0.0)
        distance *= 1 + float(np.linalg.norm(W))
        self.accept(distance, lambda_)
        return W[0], distance

    def turned(self, n: int) -> list[float]:
        """A lone record: nothing but the regulariser resists."""
        return [1.0, -1.0, *[0.0] * (n - 1)]

    def crossing(self, state: TrainedWeights, lambda_: float, t: Array) -> Crossing:
        """The weight is >= t if and only if R >= (t - w*) lambda alpha n / 2."""
        assert state.centre is not None
        step, centre = self.step(lambda_, len(state.V)), float(state.centre[0])
        r = (t - centre) / step
        hidden = state.distance + 2 * UNIT_ROUNDOFF * (float(np.abs(t).max()) + abs(centre))
        return Crossing(r=r, error=8 * UNIT_ROUNDOFF * float(np.abs(r).max()), shift=hidden / step)

    def vector_law(self, state: TrainedWeights, side: Array) -> NoiseLaw:
        """The minimiser plus Laplace noise."""
        assert state.centre is not None
        noise = Noise(kind="laplace", scale=self.step(self.lambda_, len(state.V)))
        return NoiseLaw(values=side * state.centre[0], noise=noise, error=state.distance)
