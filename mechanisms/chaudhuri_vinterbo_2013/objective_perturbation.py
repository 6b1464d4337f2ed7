"""Objective perturbation, for logistic regression, the Huberised SVM and the SVM.

Source: Chaudhuri and Vinterbo (2013), Algorithm 3.

    w* = argmin over w of lambda ||w||^2 / 2 + (1/n) sum_i l(w, x_i, y_i) + (2 / (alpha n)) R^T w,
    R ~ e^(-||r||)

Claim as printed (section 4.1): alpha + 2 ln(1 + c / (lambda n)). Section 5 runs it "such that it
yields alpha-differential privacy" (oplr): `oplr=True` takes the extra term off alpha beforehand,
and where nothing would be left, does as Algorithm 2 of Chaudhuri, Monteleoni and Sarwate (2011):
alpha / 2, and lambda raised to c / (n (e^(alpha/4) - 1)).

With the hinge loss it is epsilon-private for no epsilon (docs/findings.md, 'Algorithm 3 with the
hinge loss'). Else the extra term is ln(1 + c / (lambda n)) at most, and none for the logistic loss
if alpha lambda n >= 2 (docs/findings.md, 'Algorithm 3').
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.mechanisms.chaudhuri_vinterbo_2013.crossings import Crossing
from dpassay.mechanisms.chaudhuri_vinterbo_2013.line_loss import most_on_the_line, worst_pair
from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import UP, farthest
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbation import TrainedWeights
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbation_scores import Scored
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbed import minimise
from dpassay.mechanisms.shared.linear import gamma
from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]
CITED: Final = "Chaudhuri, Monteleoni and Sarwate 2011"
"""Where the constant c of a loss is from, and how `oplr` comes to alpha; the text that is audited
prints neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectivePerturbation(Scored):
    """Algorithm 3.

    Parameters
    ----------
    n, alpha, lambda_, loss, h, d, feature_scale, g, m, delta, lambdas, release, edges, tolerance
        See `LinearTraining`.
    oplr : bool
        Whether the extra term is taken off alpha, so that alpha is the loss of the whole.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    oplr: bool = False

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The privacy that is printed, what is true, and what is said of the score."""
        n, c = self.least_n, self.training_loss.c
        text = "Chaudhuri and Vinterbo 2013, " + (
            "section 5 (oplr)" if self.oplr else "section 4.1 (Algorithm 3)"
        )
        source = (
            f"{text}, which leaves open how: as {CITED} do, c = {c:g}"
            if self.oplr
            else f"{text}, with c = {c:g} of {CITED}"
        )
        epsilon = self.alpha + (0.0 if self.oplr else 2 * math.log1p(c / (self.lambda_ * n)))
        printed = DP(
            epsilon=epsilon,
            unit="released weights",
            coins="R fresh",
            source=source,
            status="printed",
        )
        # where it has no second derivative an interval of R leads to one weight: nothing is true
        if self.loss == "hinge":
            unsaid = f"not printed: {text} without its conditions on the loss"
            return (replace(printed, source=unsaid, status="own"), *self.score_claims)
        if self.oplr and self.n is None:  # what is true tends to alpha as n grows
            return (printed, *self.score_claims)
        corrected = DP(
            epsilon=self.loss_of_privacy(*self.in_force(self.lambda_, n), n),
            unit="released weights",
            coins="R fresh",
            source="docs/findings.md, 'Algorithm 3'",
            status="corrected",
        )
        return (printed, corrected, *self.score_claims)

    def loss_of_privacy(self, alpha: float, lambda_: float, n: int) -> float:
        """Bound on the loss of Algorithm 3 without bookkeeping.

        See docs/findings.md, 'Algorithm 3'.
        """
        A, c = lambda_ * n, self.training_loss.c
        if self.loss == "huber":
            return (alpha + math.log1p(c / A)) * UP
        if self.d == 1:
            return most_on_the_line(alpha, A)
        a = alpha / 2
        root = math.sqrt((2 - a) ** 2 + 4 * a * (a * A + 1))
        s = 1.0 if a * A >= 1 else min(1.0, 2 * (a * A + 1) / (2 - a + root))
        return (a * (1 + s) + math.log1p(s * (1 - s) / A)) * UP

    @property
    def worst_weight(self) -> float:
        """Where the most can leak.

        Where the Huber loss begins to bend and the hinge does, or what `worst_pair` finds.
        """
        if self.loss != "logistic":
            return self.training_loss.turn[0]
        alpha, lambda_ = self.in_force(self.lambda_, self.own_n)
        return worst_pair(alpha, lambda_ * self.own_n, self.own_n)[0]

    def in_force(self, lambda_: float, n: int) -> tuple[float, float]:
        """Return alpha and lambda that Algorithm 3 is run with on n training records."""
        if not self.oplr:
            return self.alpha, lambda_
        c = self.training_loss.c
        left = self.alpha - 2 * math.log1p(c / (lambda_ * n))
        return (
            (left, lambda_) if left > 0 else (self.alpha / 2, c / (n * math.expm1(self.alpha / 4)))
        )

    def numbers_to_cover(self, lambda_: float) -> tuple[int, ...]:
        """Numbers of records to cover.

        Weights spread the more the larger n is while lambda is raised to a number over n, and the
        less where it is not.
        """
        if not self.oplr or self.n is not None:
            return (self.least_n,)
        last = math.floor(self.training_loss.c / (lambda_ * math.expm1(self.alpha / 2)))
        return (max(1, last), last + 1)

    def reach(self, lambda_: float, n: int, length: float) -> float:
        """Largest norm of the minimiser: the noise joins the records' pull."""
        alpha, lambda_ = self.in_force(lambda_, n)
        return farthest(self.training_loss, lambda_, 2 * length / (alpha * n))

    def held_at(self, lambda_: float, n: int) -> float:
        """The noise moves the weights themselves."""
        return self.reach(lambda_, n, self.length)

    def weights(self, V: Array, lambda_: float, R: Array) -> Array:
        """Minimisers (size, d) for noise R (size, d).

        Raises
        ------
        ArithmeticError
            If the certified distance from a minimiser is a larger part of 1 + ||w|| than
            `tolerance`.
        """
        alpha, lambda_ = self.in_force(lambda_, len(V))
        W, distance = minimise(
            V, self.training_loss, lambda_, 2 / (alpha * len(V)) * R, self.tolerance
        )
        self.accept(distance, lambda_)
        return W

    def turned(self, n: int) -> list[float]:
        """A record pulls up, its replacement down.

        The others so much that the noise keeps its sign, and grows.
        """
        alpha, lambda_ = self.in_force(self.lambda_, n)
        if self.loss != "logistic":
            others = [-1.0 if lambda_ * n * self.worst_weight < 1 else 0.0, *[0.0] * (n - 2)]
            return [1.0, -1.0, *others[: n - 1]]
        _, v, new, other = worst_pair(alpha, lambda_ * n, n)
        return [v, new, *[other] * (n - 1)]

    def crossing(self, state: TrainedWeights, lambda_: float, t: Array) -> Crossing:
        """The weight is >= t if and only if the gradient at t is <= 0.

        -R >= (alpha n / 2)(lambda t + mean pull at t).
        """
        V, n, loss = state.V[:, 0], len(state.V), self.training_loss
        alpha, lambda_ = self.in_force(lambda_, n)
        z = np.multiply.outer(t, V)
        pulls = loss.slope(z) * V
        if self.loss == "hinge":
            pulls[(z == 1) & (V < 0)] = 0.0  # the slope just below t counts
        pull = np.array([math.fsum(row) for row in pulls.tolist()]) / n
        r = alpha * n / 2 * (lambda_ * t + pull)
        far = float(np.abs(t).max())
        error = (
            alpha
            * n
            / 2
            * (gamma(16) + loss.c * gamma(4) * far + 4 * UNIT_ROUNDOFF * lambda_ * far)
        )
        # rounding may take a record to the other side of its kink; not one of length 1
        if self.loss == "hinge":
            doubtful = (np.abs(z - 1) <= 4 * UNIT_ROUNDOFF) & (np.abs(V) < 1)
            error += alpha / 2 * float((doubtful * np.abs(V)).sum(axis=1).max())
        return Crossing(r=r, error=error + 8 * UNIT_ROUNDOFF * float(np.abs(r).max()))
