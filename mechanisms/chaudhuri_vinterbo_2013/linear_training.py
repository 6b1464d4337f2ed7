"""Training a linear classifier with noise: parameters, features, and the noise itself.

Records are (x, y), x cut back to the unit ball as in `dpassay.mechanisms.shared.linear` and labels
0, 1 standing for y = -1, 1; the last m of them are V, the first n are T. The noise R has density
proportional to e^(-||r||) in R^d: a Gamma(d) length in a uniform direction.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.errors import as_real, is_count, is_real, require
from dpassay.mechanism import Mechanism
from dpassay.mechanisms.chaudhuri_vinterbo_2013.auc import as_text, sample_of
from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import (
    LOSSES,
    SCORES,
    MarginLoss,
    Score,
)
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.mechanisms.shared.linear import cut_back, targets
from dpassay.mechanisms.shared.ranges import check_proportion

Array = NDArray[np.float64]

SECTION_5: Final = "0.001;0.112;0.223;0.334;0.445;0.556;0.667;0.778;0.889;1.0"
"""Lambda of the paper's experiments."""
RELEASES: Final = ("prediction", "vector", "bins", "auc")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearTraining(Mechanism):
    """What every algorithm that trains linear classifiers is told.

    Parameters
    ----------
    n : int, optional
        Records of a dataset, T and V together, > m: the claims depend on it, so other datasets are
        refused. Left out, all are taken, and the claims are those that hold for any number.
    alpha : float
        Privacy parameter, in nats; finite and > 0.
    lambda_ : float
        Weight of ||w||^2 / 2; finite and > 0.
    loss : {"logistic", "huber", "hinge"}
        See `dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses`; the hinge loss in one
        dimension only.
    h : float
        Of the Huber loss: half the length over which its kink is rounded; in (0, 1].
    d : int
        Dimension: the first d columns of X are used, the others are not looked at; >= 1.
    feature_scale : float or list of float
        What x is divided by before it is cut back to the unit ball: one number, or one for each of
        the d columns (a text with semicolons between them will do); public, finite and > 0.
    g : {"logistic", "hinge", "ramp"}
        What the validation score is minus the mean of.
    m : int
        Records of V, >= 0; 0: nothing is claimed about a score.
    delta : float
        Of the claims about the score, in (0, 1); k strings may be bad with probability delta / k
        each.
    lambdas : list of float
        Lambda, the k parameters that the claims about the score are for; written as
        `feature_scale`.
    release : {"prediction", "vector", "bins", "auc"}
        The label 1[<w, x> >= 0] at a query x; the number <w, u>, u the direction of the query; the
        bin that <w, u> lies in; or the area under the ROC curve of <w, phi(x)> on the public
        sample, whatever is asked (`dpassay.mechanisms.chaudhuri_vinterbo_2013.auc`).
    public : Labelled or str
        Public sample for `auc`, with both labels and at least d columns, kept as a text; left out,
        the d unit vectors labelled 1 and the origin labelled 0.
    edges : list of float
        Ascending edges of the bins; by default 0 and a narrow bin on each side, at the weight where
        the most can leak.
    tolerance : float
        Largest certified distance of trained weights w from the minimiser, as a part of
        1 + ||w||; > 0. A worse one is an error.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    n: int | None = None
    alpha: float = 1.0
    lambda_: float = 0.1
    loss: str = "logistic"
    h: float = 0.5
    d: int = 1
    feature_scale: Any = "1.0"
    g: str = "ramp"
    m: int = 10
    delta: float = 0.01
    lambdas: Any = SECTION_5
    release: str = "bins"
    edges: Any = ""
    tolerance: float = 1e-8
    public: Any = ""

    def __post_init__(self) -> None:
        require(is_count(self.m, 0), "m", self.m, "an integer >= 0")
        require(is_count(self.d), "d", self.d, "an integer >= 1")
        known = self.n is None or is_count(self.n, self.m + 1)
        require(known, "n", self.n, f"an integer > m = {self.m}, or None")
        for name in ("alpha", "lambda_", "tolerance"):
            value = getattr(self, name)
            require(is_real(value) and 0 < value < math.inf, name, value, "a finite number > 0")
        require(self.loss in LOSSES, "loss", self.loss, f"one of {', '.join(LOSSES)}")
        require(self.loss != "hinge" or self.d == 1, "d", self.d, "1 for the hinge loss")
        require(is_real(self.h) and 0 < self.h <= 1, "h", self.h, "a number in (0, 1]")
        scores = ", ".join(SCORES)
        require(self.g in SCORES, "g", self.g, f"one of {scores}")
        check_proportion(delta=self.delta)
        require(self.release in RELEASES, "release", self.release, f"one of {', '.join(RELEASES)}")
        for name in ("feature_scale", "lambdas"):
            self._list(name, "finite numbers > 0, at least one", least=1, low=0.0)
        self._list("edges", "finite numbers in ascending order", least=0, low=-math.inf)
        right = bool((np.diff(np.array(numbers_of(self.edges))) > 0).all())
        allowed = "in ascending order"
        require(right, "edges", self.edges, allowed)
        object.__setattr__(self, "public", as_text(self.public))
        sample_of(self.public, self.d)
        fits = self.scale.size in (1, self.d)
        allowed = f"one number, or one for each of d = {self.d} columns"
        require(fits, "feature_scale", self.feature_scale, allowed)

    def _list(self, name: str, allowed: str, *, least: int, low: float) -> None:
        """Check a list of numbers and keep it as a text, which a record can hold."""
        given = getattr(self, name)
        values = numbers_of(given)
        known = len(values) >= least and all(low < value < math.inf for value in values)
        require(known, name, given, allowed)
        object.__setattr__(self, name, ";".join(map(repr, values)))

    @property
    def scale(self) -> Array:
        """`feature_scale` as an array, shape (1,) or (d,)."""
        return np.array(numbers_of(self.feature_scale))

    @property
    def thetas(self) -> tuple[float, ...]:
        """Lambda."""
        return numbers_of(self.lambdas)

    @property
    def training_loss(self) -> MarginLoss:
        """What is minimised."""
        return LOSSES[self.loss](self.h)

    @property
    def scored(self) -> Score:
        """What the score is minus the mean of."""
        return SCORES[self.g]

    @property
    def least_n(self) -> int:
        """Number of training records: that of the datasets taken, or the least possible."""
        return 1 if self.n is None else self.n - self.m

    @property
    def own_n(self) -> int:
        """Training records of its own worst cases."""
        return 2 if self.n is None else self.least_n

    @property
    def fixed_n(self) -> int | None:
        """The only number of records that it takes; None where n was left out."""
        return self.n

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless there are n records, labelled 0 and 1, with d columns.

        Some of them must be left to train on.
        """
        check_binary(data)
        allowed = f"the number of records, {len(data)}"
        require(self.n is None or len(data) == self.n, "n", self.n, allowed)
        require(self.m < len(data), "m", self.m, f"below the number of records, {len(data)}")
        allowed = f"at most the number of columns, {data.X.shape[1]}"
        require(self.d <= data.X.shape[1], "d", self.d, allowed)

    def features(self, X: Array) -> Array:
        """Return phi of each row, shape (n, d)."""
        return cut_back(X[:, : self.d], self.scale, 1.0)

    def directions(self, queries: Array) -> Array:
        """Return unit vectors, shape (q, d).

        Those of phi(x), and of the first axis where that is 0.
        """
        phi = self.features(queries)
        length = np.sqrt(np.vecdot(phi, phi))
        phi[length == 0] = np.eye(self.d)[0]
        return phi / np.where(length == 0, 1.0, length)[:, None]

    def towards(self, directions: Array, columns: int) -> Array:
        """Return the queries (k, columns) whose `directions` are the given ones, shape (k, d)."""
        queries = np.zeros((len(directions), columns))
        queries[:, : self.d] = directions * self.scale
        return queries

    def signed(self, data: Labelled, rows: slice) -> Array:
        """Return y phi(x) of some records, shape (n, d)."""
        return self.features(data.X[rows]) * targets(data)[rows, None]

    def noise(self, size: int, rng: np.random.Generator) -> Array:
        """Draw R from G, shape (size, d)."""
        normal = rng.normal(size=(size, self.d))
        drawn: Array = (
            normal * (rng.gamma(self.d, size=size) / np.linalg.norm(normal, axis=1))[:, None]
        )
        return drawn

    def margins(self, trained: Array, X: Array) -> Array:
        """<w, phi(x)> for each of the trained weights and each point, shape (size, q)."""
        margins: Array = trained @ self.features(X).T
        return margins


def numbers_of(given: Any) -> tuple[float, ...]:
    """Numbers from a text that semicolons part, one number, or several; NaN for what is none."""
    if isinstance(given, str):
        parts = re.split(r"[;,\s]+", given.strip().strip("()[]").strip(" ,;"))
        return tuple(_number(part) for part in parts if part)
    return tuple(as_real(value) for value in given) if np.iterable(given) else (as_real(given),)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
