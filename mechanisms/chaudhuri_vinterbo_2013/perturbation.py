"""Linear classifiers trained with noise.

What Algorithms 3 and 4 of Chaudhuri and Vinterbo (2013), section 4.1, share.

In one dimension the weight falls into each interval with a probability in closed form: the law of a
prediction, and of the bin that the weight lies in, is exact by change of variables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainccinv

from dpassay.claims import Claim
from dpassay.data import Labelled
from dpassay.laws import FiniteLaw, NoiseLaw
from dpassay.mechanism import WorstCase
from dpassay.mechanisms.chaudhuri_vinterbo_2013.auc import UNIT_VECTORS, released_auc, sample_of
from dpassay.mechanisms.chaudhuri_vinterbo_2013.crossings import Crossing, laplace_bins
from dpassay.mechanisms.chaudhuri_vinterbo_2013.linear_training import LinearTraining, numbers_of
from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import UP
from dpassay.pairs import Replace

Array = NDArray[np.float64]

LOOKED_AT: Final = {
    "prediction": "the sign of <w, x> alone",
    "vector": "the number <w, u> alone",
    "bins": "the bin of <w, u> alone",
    "auc": "the area under the ROC curve alone",
}
"""What each release shows of the weights."""
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
class TrainedWeights:
    """State: a dataset, labels times features V (n, d), and for Algorithm 4 the minimiser.

    V is of its training records.

    `centre` (d,) lies within `distance` of it.
    """

    data: Labelled
    V: Array
    centre: Array | None = None
    distance: float = 0.0

    @property
    def mirrored(self) -> TrainedWeights:
        """The state whose weights have the law of -w."""
        return replace(self, V=-self.V, centre=None if self.centre is None else -self.centre)


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation(LinearTraining):
    """What Algorithms 3 and 4 share; parameters as for `LinearTraining`."""

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
    def cuts(self) -> tuple[float, ...]:
        """Edges of the bins, ascending."""
        at = abs(self.worst_weight)
        return numbers_of(self.edges) or tuple(sorted({-at - WIDTH, -at, 0.0, at, at + WIDTH}))

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

    def numbers_to_cover(self, lambda_: float) -> tuple[int, ...]:  # noqa: ARG002
        """Numbers of training records among which is the worst for a score.

        Of all that are taken.
        """
        return (self.least_n,)

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

    def locate(self, data: Labelled, lambda_: float) -> TrainedWeights:  # noqa: ARG002
        """State of a dataset."""
        return TrainedWeights(data=data, V=self.signed(data, slice(0, len(data) - self.m)))

    def turned(self, n: int) -> list[float]:
        """Labels times features in the worst case.

        Of a training record, of what replaces it, and of the n - 1 others.
        """
        raise NotImplementedError

    def crossing(self, state: TrainedWeights, lambda_: float, t: Array) -> Crossing:
        """Standard Laplace noise Z = R or -R that takes the weight over each of t, on the line."""
        raise NotImplementedError

    def accept(self, distance: float, lambda_: float) -> None:
        """Raise `ArithmeticError` if weights are certified to no better than this distance."""
        if not distance <= self.tolerance:
            said = (
                f"{self.loss} loss, lambda = {lambda_:g}: weights certified to {distance:.1e} only"
            )
            raise ArithmeticError(f"{said}; tolerance = {self.tolerance:g} was asked")

    def vector_law(self, state: TrainedWeights, side: Array) -> NoiseLaw | None:  # noqa: ARG002
        """In one dimension, the law of side * w."""
        return None

    def prepare(self, data: Labelled) -> TrainedWeights:
        """Features, and what can be computed without noise."""
        self.check(data)
        return self.locate(data, self.lambda_)

    def sample(
        self, state: TrainedWeights, queries: Array, size: int, rng: np.random.Generator
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

    def distribution(self, state: TrainedWeights, queries: Array) -> FiniteLaw | NoiseLaw | None:
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
