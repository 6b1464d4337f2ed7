"""Regularised empirical risk minimisation over a ball.

Source: Dwork and Feldman (2018), Theorem 4.9 and Corollaries 4.10 and 4.11.

    w_S = argmin over ||w|| <= R of (1/n) sum_i l(<w, phi(x_i)>, y_i) + lambda ||w||^2,
    A(S, x) = <w_S, phi(x)>

There are no coins. This is the predictor alone: the noise that makes a private prediction of it is
another mechanism's.

How the text is read (derivations and numbers in docs/findings.md, 'Theorem 4.9'):

* Theorem 4.9 minimises the *sum* of the losses. Without a regulariser of its own that is the same
  as their mean. Corollary 4.11 adds lambda ||w||^2 "to the objective function"; its rate 1/(lambda
  n) and its change of the objective by lambda R^2 are those of the *mean* plus lambda ||w||^2,
  where each record's loss carries the regulariser. `regulariser="sum"` adds it once to the sum, of
  which the printed rate is false for n > max(4, 2 L_f L_l / (lambda R)) (docs/findings.md, 'The
  regulariser on the sum').
* lambda ||w||^2 is 2 lambda-strongly convex in the convention of the works cited; the text plugs in
  lambda.
* With the regulariser a record's loss is (L_f L_l + 2 lambda R)-Lipschitz, not L_f L_l; but the
  regulariser does not depend on the data and cancels in the proof, so the rate holds with L_f L_l.

Claims: prediction stability at the printed rate 4 L_f^2 L_l / (lambda n), and at L_f^2
L_l / (lambda n), which the absolute and the hinge loss attain.

Solver and certificate: `dpassay.mechanisms.dwork_feldman_2018.solver`. A solution comes with a
proven bound on ||w - w_S||, and L_f times that is the error of the prediction.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, PredictionStability
from dpassay.data import Labelled
from dpassay.errors import is_real, require
from dpassay.laws import PointLaw
from dpassay.mechanism import Reachable, WorstCase
from dpassay.mechanisms.dwork_feldman_2018.losses import SHARP
from dpassay.mechanisms.dwork_feldman_2018.solver import Problem, solve
from dpassay.mechanisms.shared.linear import LinearPredictor, targets
from dpassay.mechanisms.shared.ranges import check_positive, check_word
from dpassay.pairs import Change

Array = NDArray[np.float64]

AIM: Final = 1e-9
"""Part of R that the solver tries to come within."""
MEMO: Final = 4096
"""Solved datasets that an `ERM` remembers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """State: the dataset and its weights.

    Parameters
    ----------
    data : Labelled
        What was learnt from.
    w : array (d,)
        Weights, ||w|| <= R but for rounding.
    distance : float
        Certified bound on ||w - w_S||.
    """

    data: Labelled
    w: Array
    distance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ERM(LinearPredictor):
    """Regularised empirical risk minimisation of a linear predictor.

    Parameters
    ----------
    n, R, L_f, feature_scale
        See `LinearPredictor`.
    epsilon : float
        Of the private prediction that the predictor is meant for, in nats; finite and > 0. Only the
        default of `lambda_` uses it.
    loss : {"logistic", "squared", "absolute", "hinge"}
        See `dpassay.mechanisms.dwork_feldman_2018.losses`.
    lambda_ : float, optional
        Weight of ||w||^2; finite and > 0. By default Corollary 4.11's 2 L_f L_l / (R sqrt(n
        epsilon / (1 + epsilon))).
    regulariser : {"mean", "sum"}
        What lambda ||w||^2 is added to.
    tolerance : float
        Largest certified distance ||w - w_S|| that a solution may have, as a part of R; in (0, 1].
        A worse one is an error.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    epsilon: float = 1.0
    loss: str = "hinge"
    lambda_: float | None = None
    regulariser: Literal["mean", "sum"] = "mean"
    tolerance: float = 1e-6
    solved: OrderedDict[str, Fit] = field(
        init=False, repr=False, compare=False, default_factory=OrderedDict
    )

    def __post_init__(self) -> None:
        LinearPredictor.__post_init__(self)
        check_positive(epsilon=self.epsilon)
        require(self.loss in SHARP, "loss", self.loss, f"one of {', '.join(SHARP)}")
        known = self.lambda_ is None or (is_real(self.lambda_) and 0 < self.lambda_ < math.inf)
        allowed = "a finite number > 0, or None for that of Corollary 4.11"
        require(known, "lambda_", self.lambda_, allowed)
        check_word("mean", "sum", regulariser=self.regulariser)
        right = is_real(self.tolerance) and 0 < self.tolerance <= 1
        allowed = "a number in (0, 1]"
        require(right, "tolerance", self.tolerance, allowed)

    @property
    def L_l(self) -> float:
        """Lipschitz constant of the loss on the predictions that there can be."""
        return SHARP[self.loss]().lipschitz(self.R * self.L_f)

    @property
    def regularisation(self) -> float:
        """The lambda that is claimed for."""
        if self.lambda_ is not None:
            return self.lambda_
        return (
            2
            * self.L_f
            * self.L_l
            / (self.R * math.sqrt(self.n * self.epsilon / (1 + self.epsilon)))
        )

    @property
    def derived_parameters(self) -> dict[str, float]:
        """Lambda."""
        return {"lambda_": self.regularisation}

    @property
    def weight(self) -> float:
        """Weight of ||w||^2 beside the mean of the losses.

        lambda, or lambda / n if it is added to their sum.
        """
        return self.regularisation if self.regulariser == "mean" else self.regularisation / self.n

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed rate, and the sharp one.

        Beside the mean that is a quarter of it: a factor of 2 each from the proof and from the
        regulariser's convexity.
        """
        printed = 4 * self.L_f**2 * self.L_l / (self.regularisation * self.n)
        rate = self.L_f**2 * self.L_l / (self.weight * self.n)
        coins = "there are none"
        source = "Dwork and Feldman 2018, Theorem 4.9 with the regulariser of Corollary 4.11"
        return (
            PredictionStability(gamma=printed, coins=coins, source=source, status="printed"),
            PredictionStability(gamma=rate, coins=coins, source=self.derived, status="corrected"),
        )

    @property
    def derived(self) -> str:
        """Where the sharp rate is derived."""
        return (
            "docs/findings.md, '"
            f"{'Theorem 4.9' if self.regulariser == 'mean' else 'The regulariser on the sum'}'"
        )

    def prepare(self, data: Labelled) -> Fit:
        """Minimise; equal datasets are solved once.

        Raises
        ------
        ArithmeticError
            If the certified distance from the minimiser exceeds `tolerance` times R.
        """
        self.check(data)
        key = data.digest
        if key not in self.solved:
            self.solved[key] = self._solve(data)
            if len(self.solved) > MEMO:
                self.solved.popitem(last=False)
        return self.solved[key]

    def update(self, state: Fit, change: Change) -> Fit:
        """Return the neighbour's state, found from the neighbour alone.

        So it does not depend on the way to it.
        """
        return self.prepare(change.apply(state.data))

    def sample(
        self,
        state: Fit,
        queries: Array,
        size: int,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Array:
        """The prediction at q queries, `size` times, shape (size, q)."""
        return np.tile(self.predictions(state.w, queries), (size, 1))

    def distribution(self, state: Fit, queries: Array) -> PointLaw:
        """The prediction, with the certified error of its weights."""
        return self.law(state.w, state.distance, queries)

    def pairs(self) -> tuple[WorstCase, ...]:
        """The lone record: only its slope, which the flip reverses, and the regulariser decide."""
        reason = "the flip reverses the slope of the only record that matters"
        if self._steady:
            reason += "; only the regulariser limits the change"
        return (self.lone_record(reason),)

    @property
    def _steady(self) -> bool:
        """Whether the slope of a lone record is the same all the way to the minimiser."""
        rate = self.claims[-1].promised
        return self.loss in ("absolute", "hinge") and rate / 2 <= min(1.0, self.R * self.L_f)

    def reachable(self) -> Reachable | None:
        """The two states of the lone record, for losses whose slope it keeps on the way.

        No neighbours are further apart.
        """
        rate = self.claims[-1].promised
        if not self._steady:
            return None
        most = "L_f^2 L_l / (lambda n)" if self.regulariser == "mean" else "L_f^2 L_l / lambda"
        argument = (
            f"No replacement changes a prediction of exact minimisers by more than {most} "
            f"({self.derived}). Flipping the label of one record of norm L_f, with all others at "
            "the origin, changes it by exactly that. Weights within tau of the minimisers add at "
            "most 2 L_f tau."
        )
        of = f"exact minimisers (released weights lie within {self.tolerance * self.R:g} of them)"
        return self.opposite(rate, argument, of)

    def _solve(self, data: Labelled) -> Fit:
        problem = Problem(
            phi=self.features(data.X),
            y=targets(data),
            loss=SHARP[self.loss](),
            lambda_=self.weight,
            R=self.R,
            L_f=self.L_f,
        )
        w, distance = solve(problem, min(AIM, self.tolerance) * self.R)
        if not distance <= self.tolerance * self.R:
            raise ArithmeticError(
                f"{self.loss} loss, lambda = {self.regularisation:g}: weights certified to "
                f"{distance:.1e} only; tolerance = {self.tolerance:g} of R = {self.R:g} was asked"
            )
        return Fit(data=data, w=w, distance=distance)
