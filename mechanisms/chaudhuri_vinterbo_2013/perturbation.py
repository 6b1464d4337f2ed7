"""Linear classifiers trained with noise.

What Algorithms 3 and 4 of Chaudhuri and Vinterbo (2013), section 4.1, share.

Records are (x, y), x cut back to the unit ball as in `dpassay.mechanisms.shared.linear` and labels
0, 1 standing for y = -1, 1; the last m of them are V, the first n are T. The noise R has density
proportional to e^(-||r||) in R^d: a Gamma(d) length in a uniform direction.

In one dimension the weight falls into each interval with a probability in closed form: the law of a
prediction, and of the bin that the weight lies in, is exact by change of variables.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainccinv

from dpassay.claims import Claim
from dpassay.data import Labelled
from dpassay.errors import as_real, is_count, is_real, require
from dpassay.laws import FiniteLaw, NoiseLaw
from dpassay.mechanism import Mechanism, WorstCase
from dpassay.mechanisms.chaudhuri_vinterbo_2013.auc import (
    UNIT_VECTORS,
    as_text,
    released_auc,
    sample_of,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.crossings import Crossing, laplace_bins
from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import (
    LOSSES,
    SCORES,
    UP,
    MarginLoss,
    Score,
)
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.mechanisms.shared.linear import cut_back, targets
from dpassay.pairs import Replace

Array = NDArray[np.float64]

SECTION_5: Final = "0.001;0.112;0.223;0.334;0.445;0.556;0.667;0.778;0.889;1.0"
"""Lambda of the paper's experiments."""
RELEASES: Final = ("prediction", "vector", "bins", "auc")
LOOKED_AT: Final = {
    "prediction": "the sign of <w, x> alone",
    "vector": "the number <w, u> alone",
    "bins": "the bin of <w, u> alone",
    "auc": "the area under the ROC curve alone",
}
"""What each of them shows of the weights."""
WIDTH: Final = 1e-3
"""Of the bins at the worst weight."""


def bin_words(cuts: tuple[float, ...], answer: int) -> str:
    """Name the numbers in a bin, counted from 0, between these cuts.

    Each but the first has its lower end in it.
    """
    low = f"{cuts[answer - 1]:.6g} <= " if answer > 0 else ""
    high = f" < {cuts[answer]:.6g}" if answer < len(cuts) else ""
    return f"{low}<w, u>{high}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trained:
    """State: a dataset, labels times features V (n, d), and for Algorithm 4 the minimiser.

    V is of its training records.

    `centre` (d,) lies within `distance` of it.
    """

    data: Labelled
    V: Array
    centre: Array | None = None
    distance: float = 0.0

    @property
    def mirrored(self) -> Trained:
        """The state whose weights have the law of -w."""
        return replace(self, V=-self.V, centre=None if self.centre is None else -self.centre)


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation(Mechanism):
    """What Algorithms 3 and 4 share.

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
        require(
            is_real(self.delta) and 0 < self.delta < 1, "delta", self.delta, "a number in (0, 1)"
        )
        require(self.release in RELEASES, "release", self.release, f"one of {', '.join(RELEASES)}")
        for name in ("feature_scale", "lambdas"):
            self._list(name, "finite numbers > 0, at least one", least=1, low=0.0)
        self._list("edges", "finite numbers in ascending order", least=0, low=-math.inf)
        require(
            bool((np.diff(np.array(_numbers(self.edges))) > 0).all()),
            "edges",
            self.edges,
            "in ascending order",
        )
        object.__setattr__(self, "public", as_text(self.public))
        sample_of(self.public, self.d)
        fits = self.scale.size in (1, self.d)
        require(
            fits,
            "feature_scale",
            self.feature_scale,
            f"one number, or one for each of d = {self.d} columns",
        )

    def _list(self, name: str, allowed: str, *, least: int, low: float) -> None:
        """Check a list of numbers and keep it as a text, which a record can hold."""
        given = getattr(self, name)
        values = _numbers(given)
        known = len(values) >= least and all(low < value < math.inf for value in values)
        require(known, name, given, allowed)
        object.__setattr__(self, name, ";".join(map(repr, values)))

    @property
    def derived_parameters(self) -> dict[str, str]:
        """Edges of the bins, and the public sample, where they are used."""
        if self.release == "bins":
            return {"edges": ";".join(map(repr, self.cuts))}
        return {"public": UNIT_VECTORS} if self.release == "auc" else {}

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What is promised."""
        raise NotImplementedError

    @property
    def scale(self) -> Array:
        """`feature_scale` as an array, shape (1,) or (d,)."""
        return np.array(_numbers(self.feature_scale))

    @property
    def thetas(self) -> tuple[float, ...]:
        """Lambda."""
        return _numbers(self.lambdas)

    @property
    def cuts(self) -> tuple[float, ...]:
        """Edges of the bins, ascending."""
        at = abs(self.worst_weight)
        return _numbers(self.edges) or tuple(sorted({-at - WIDTH, -at, 0.0, at, at + WIDTH}))

    @property
    def training_loss(self) -> MarginLoss:
        """What is minimised."""
        return LOSSES[self.loss](self.h)

    @property
    def scored(self) -> Score:
        """What the score is minus the mean of."""
        return SCORES[self.g]

    @property
    def labels(self) -> tuple[int, ...]:
        """0 and 1, or the bins."""
        return tuple(range(len(self.cuts) + 1)) if self.release == "bins" else (0, 1)

    @property
    def numbers(self) -> tuple[float, float] | None:
        """Limits of the numbers that are answered; None where labels are."""
        return {"vector": (-math.inf, math.inf), "auc": (0.0, 1.0)}.get(self.release)

    @property
    def without_query(self) -> bool:
        """Whether nothing is asked at a point: where only the AUC is released."""
        return self.release == "auc"

    @property
    def one_query(self) -> bool:
        """Whether every query shows the same of the weights."""
        return self.alike(self.release)

    def alike(self, release: str) -> bool:
        """Whether w or -w is looked at, by bins that lie alike on both sides.

        In one dimension, whatever the query is.
        """
        mirrored = self.cuts == tuple(-cut for cut in reversed(self.cuts))
        return self.d == 1 and (release == "vector" or (release == "bins" and mirrored))

    @property
    def looked_at(self) -> str:
        """What of the weights is answered; nothing is said where that is all of them."""
        return "" if self.release == "vector" and self.d == 1 else LOOKED_AT[self.release]

    def answer_words(self, answer: int, query: Array) -> str:  # noqa: ARG002
        """Which numbers lie in a bin."""
        return bin_words(self.cuts, answer) if self.release == "bins" else ""

    @property
    def dimension(self) -> int:
        """Coordinates of the vector that is released; 0 where none is."""
        return self.d if self.release == "vector" else 0

    @property
    def worst_weight(self) -> float:
        """In one dimension, where the most can leak."""
        return self.training_loss.turn[0]

    @property
    def length(self) -> float:
        """What ||R|| exceeds with probability delta / k; rounded up."""
        return float(gammainccinv(self.d, self.delta / len(self.thetas))) * UP

    @property
    def least_n(self) -> int:
        """Number of training records: that of the datasets taken, or the least possible."""
        return 1 if self.n is None else self.n - self.m

    def numbers_to_cover(self, lambda_: float) -> tuple[int, ...]:  # noqa: ARG002
        """Numbers of training records among which is the worst for a score.

        Of all that are taken.
        """
        return (self.least_n,)

    @property
    def own_n(self) -> int:
        """Training records of its own worst cases."""
        return 2 if self.n is None else self.least_n

    def in_force(self, lambda_: float, n: int) -> tuple[float, float]:  # noqa: ARG002
        """Return alpha and lambda that the algorithm is run with on n training records."""
        return self.alpha, lambda_

    def range_of_pulls(self, lambda_: float) -> float:  # noqa: ARG002
        """How far two records' gradients at the same weights can be apart.

        It is 2, and less for the logistic loss on the line.
        """
        return self.training_loss.turn[1] if self.d == 1 else 2.0

    def reach(self, lambda_: float, n: int, length: float) -> float:
        """Largest norm of what is released for noise of at most this length.

        Over all datasets of n training records.
        """
        raise NotImplementedError

    def held_at(self, lambda_: float, n: int) -> float:
        """Norm of weights at which the records pull hardest, for the largest released norm."""
        return self.reach(lambda_, n, 0.0)

    def weights(self, V: Array, lambda_: float, R: Array) -> Array:
        """Trained weights (size, d) for noise R (size, d)."""
        raise NotImplementedError

    def locate(self, data: Labelled, lambda_: float) -> Trained:  # noqa: ARG002
        """State of a dataset."""
        return Trained(data=data, V=self.signed(data, slice(0, len(data) - self.m)))

    def turned(self, n: int) -> list[float]:
        """Labels times features in the worst case.

        Of a training record, of what replaces it, and of the n - 1 others.
        """
        raise NotImplementedError

    def crossing(self, state: Trained, lambda_: float, t: Array) -> Crossing:
        """Standard Laplace noise Z = R or -R that takes the weight over each of t, on the line."""
        raise NotImplementedError

    def accept(self, distance: float, lambda_: float) -> None:
        """Raise `ArithmeticError` if weights are certified to no better than this distance."""
        if not distance <= self.tolerance:
            said = (
                f"{self.loss} loss, lambda = {lambda_:g}: weights certified to {distance:.1e} only"
            )
            raise ArithmeticError(f"{said}; tolerance = {self.tolerance:g} was asked")

    def vector_law(self, state: Trained, side: Array) -> NoiseLaw | None:  # noqa: ARG002
        """In one dimension, the law of side * w."""
        return None

    @property
    def fixed_n(self) -> int | None:
        """The only number of records that it takes; None where n was left out."""
        return self.n

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless there are n records, labelled 0 and 1, with d columns.

        Some of them must be left to train on.
        """
        check_binary(data)
        require(
            self.n is None or len(data) == self.n,
            "n",
            self.n,
            f"the number of records, {len(data)}",
        )
        require(self.m < len(data), "m", self.m, f"below the number of records, {len(data)}")
        require(
            self.d <= data.X.shape[1],
            "d",
            self.d,
            f"at most the number of columns, {data.X.shape[1]}",
        )

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

    def prepare(self, data: Labelled) -> Trained:
        """Features, and what can be computed without noise."""
        self.check(data)
        return self.locate(data, self.lambda_)

    def sample(
        self, state: Trained, queries: Array, size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Answers of `size` independent trials at q queries, shape (size, q)."""
        w = self.weights(state.V, self.lambda_, self.noise(size, rng))
        if self.release == "auc":
            return np.tile(
                released_auc(self, w, sample_of(self.public, self.d))[:, None], (1, len(queries))
            )
        if self.release == "prediction":
            return (self.margins(w, queries) >= 0).astype(np.int64)
        answers: NDArray[Any] = w @ self.directions(queries).T
        return (
            answers
            if self.release == "vector"
            else np.searchsorted(self.cuts, answers, side="right")
        )

    def distribution(self, state: Trained, queries: Array) -> FiniteLaw | NoiseLaw | None:
        """Exact law in one dimension, by change of variables; none of the AUC."""
        if self.d > 1 or self.release == "auc":
            return None
        side = self.directions(queries)[:, 0]
        if self.release == "vector":
            return self.vector_law(state, side)
        edges = np.array(self.cuts if self.release == "bins" else (0.0,))
        up, down = (self.crossing(each, self.lambda_, edges) for each in (state, state.mirrored))
        law = laplace_bins(
            np.where(side[:, None] > 0, up.r, down.r),
            max(up.error, down.error),
            max(up.shift, down.shift),
        )
        nowhere = self.features(queries)[:, 0] == 0
        if law is None or self.release == "bins" or not nowhere.any():
            return law
        return FiniteLaw(
            log_p=np.where(nowhere[:, None], [-np.inf, 0.0], law.log_p), error=law.error
        )

    def pairs(self) -> tuple[WorstCase, ...]:
        """A training record whose pull turns, a validation record far from 0.

        As far as weights can get.
        """
        n = self.own_n
        first, new, *others = self.turned(n)
        turned = self.line([first, *others], [-1.0] * self.m)
        rest = "; all other training records are at the origin"
        reason = "for the weights, one training record changes sides and pulls the other way"
        if others and not any(others):
            reason += rest
        cases = [
            self.case(
                turned, 0, new, "records on the first axis; the first of them changes sides", reason
            )
        ]
        if self.m:
            theta = min(self.thetas)
            pull = min(1.0, self.training_loss.peak / self.held_at(theta, n))
            reason = (
                "for the score, all records pull the weights one way, and one validation record "
                "moves from one end to the other; the weights do not depend on it"
            )
            how = "records on the first axis; one validation record changes sides"
            cases.append(
                self.case(self.line([pull] * n, [1.0] * self.m), n + self.m - 1, -1.0, how, reason)
            )
        return tuple(cases)

    def line(self, training: list[float], validation: list[float]) -> Labelled:
        """Records on the first axis, given by label times feature."""
        v = np.array([*training, *validation])
        X = np.zeros((len(v), self.d))
        X[:, 0] = np.abs(v) * self.scale[0]
        return Labelled(X, (v > 0).astype(np.int64))

    def case(self, data: Labelled, index: int, v: float, how: str, reason: str) -> WorstCase:
        """Records, one of which is replaced by one on the first axis; asked on that axis."""
        new = self.line([v], [])
        return WorstCase.of(
            data,
            Replace(index, new.X[0], int(new.y[0])),
            how=how,
            reason=reason,
            query=[[self.scale[0], *[0.0] * (self.d - 1)]],
        )


def _numbers(given: Any) -> tuple[float, ...]:
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
