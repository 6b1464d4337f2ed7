"""Linear predictors f(w, x) = <w, phi(x)> with w in a ball.

The convex problems of Dwork and Feldman (2018), section 4.4.

phi(x) is x divided by a public scale, and cut back radially to norm L_f where it is longer. It maps
each record by itself, whatever the others are, so it costs no privacy; and it makes f(., x)
L_f-Lipschitz for every x, as the paper asks. There is no intercept. Labels 0 and 1 are the targets
-1 and +1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.errors import as_real, is_count, is_real, require
from dpassay.laws import PointLaw
from dpassay.mechanism import Mechanism, Reachable, WorstCase
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.mechanisms.shared.ranges import check_positive
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import FlipLabel

OF_THE_MEAN = (
    "prediction before noise: none; answer: fresh noise of mean 0, so that its mean is that "
    "prediction"
)
"""The coins of a rate that is claimed beside a noisy answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearPredictor(Mechanism):
    """What empirical risk minimisation and gradient descent share.

    Parameters
    ----------
    n : int
        Number of records, >= 1: the claims depend on it, so other datasets are refused.
    R : float
        Radius of the Euclidean ball of weights K; finite and > 0.
    L_f : float
        Lipschitz constant of f(., x): the largest norm of a feature vector; finite and > 0.
    feature_scale : float or tuple of float
        What x is divided by before it is cut back to norm L_f: one number, or one for each column;
        public, finite and > 0.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    n: int = 100
    R: float = 1.0
    L_f: float = 1.0
    feature_scale: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        require(is_count(self.n), "n", self.n, "an integer >= 1")
        check_positive(R=self.R, L_f=self.L_f)
        if not is_real(self.feature_scale) and np.iterable(self.feature_scale):
            object.__setattr__(
                self, "feature_scale", tuple(as_real(value) for value in self.feature_scale)
            )
        scale = self.scale
        allowed = "a finite number > 0, or a tuple of them, one for each column"
        require(
            bool(scale.size and ((scale > 0) & (scale < math.inf)).all()),
            "feature_scale",
            self.feature_scale,
            allowed,
        )

    @property
    def scale(self) -> NDArray[np.float64]:
        """`feature_scale` as an array, shape (1,) or (d,)."""
        several = isinstance(self.feature_scale, tuple)
        return np.array(
            self.feature_scale if several else [as_real(self.feature_scale)], dtype=float
        )

    @property
    def numbers(self) -> tuple[float, float]:
        """Least and greatest prediction.

        -R L_f and R L_f, by the inequality of Cauchy and Schwarz.
        """
        return (-self.R * self.L_f, self.R * self.L_f)

    @property
    def fixed_n(self) -> int:
        """The only number of records that it takes."""
        return self.n

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless there are n records labelled 0 and 1, a column per scale."""
        check_binary(data)
        require(len(data) == self.n, "n", self.n, f"the number of records, {len(data)}")
        columns = data.X.shape[1]
        allowed = f"one number, or one for each of {columns}"
        require(self.scale.size in (1, columns), "feature_scale", self.feature_scale, allowed)

    def features(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return phi of each row, shape (n, d).

        The map as floats compute it, of norm at most L_f but for rounding.
        """
        return cut_back(X, self.scale, self.L_f)

    def predictions(
        self, w: NDArray[np.float64], queries: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """<w, phi(x)> for weights (..., d) at q queries, shape (..., q), within `numbers`."""
        predictions: NDArray[np.float64] = np.clip(w @ self.features(queries).T, *self.numbers)
        return predictions

    def law(
        self, w: NDArray[np.float64], distance: float, queries: NDArray[np.float64]
    ) -> PointLaw:
        """Predictions by weights (d,) within `distance` of those that define the algorithm."""
        error = self.L_f * distance + gamma(len(w) + 2) * self.R * self.L_f
        return PointLaw(values=self.predictions(w, queries), error=error)

    def opposite(self, rate: float, argument: str, of: str = "") -> Reachable:
        """Return the two states of `lone_record` where no neighbours are further apart.

        Predictions -rate / 2 and rate / 2.

        `of` as in `dpassay.mechanism.Reachable`.
        """
        law = PointLaw(values=np.array([-rate, rate]) / 2, error=gamma(8) * rate)
        states = tuple(f"prediction {value:g}" for value in law.values)
        return Reachable(states=states, law=law, moves=np.array([[0, 1]]), argument=argument, of=of)

    def lone_record(self, reason: str) -> WorstCase:
        """One record of norm L_f, all others at the origin, where they pull at nothing.

        Its label is flipped.
        """
        X = np.zeros((self.n, self.scale.size))
        X[0, 0] = self.L_f * self.scale[0]
        data = Labelled(X, np.zeros(self.n, dtype=np.int64))
        how = (
            f"{self.n} records, one with features of norm {self.L_f:g} and all others at the "
            "origin, its label flipped"
        )
        return WorstCase.of(data, FlipLabel(0), how=how, reason=reason)


def cut_back(
    X: NDArray[np.float64], scale: NDArray[np.float64], most: float
) -> NDArray[np.float64]:
    """Rows divided by a scale, and by their norm over `most` where that exceeds 1; shape (n, d)."""
    scaled = X / scale
    largest = np.maximum(np.abs(scaled).max(axis=1, keepdims=True), np.finfo(float).tiny)
    unit = scaled / largest  # no square of it overflows
    reach = most / np.maximum(1.0, np.sqrt(np.vecdot(unit, unit)))[:, None]
    return np.where(largest > reach, unit * reach, scaled)


def targets(data: Labelled) -> NDArray[np.float64]:
    """-1 for label 0 and +1 for label 1, shape (n,)."""
    return np.asarray(2 * data.y - 1, dtype=float)


def gamma(k: int) -> float:
    """Bound on the relative error of k roundings in a row, k u / (1 - k u).

    Of a sum or product of k + 1 terms, say.
    """
    return k * UNIT_ROUNDOFF / (1 - k * UNIT_ROUNDOFF)
