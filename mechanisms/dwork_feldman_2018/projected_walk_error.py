"""The empirical error of the exponential projected walk, computed from the dataset.

Source: Dwork and Feldman (2018), Lemma 5.2.

For S of n examples and M = ExpPW(T, epsilon), the answer is Err_S(M(S)) - Opt_S(Thr_(N,k)): by how
much the expected number of examples that M labels wrongly, divided by n, exceeds that of the best
union of intervals with k ends.

Claim as printed: it is at most (k + 2) T / n + e^(-epsilon T / 2), for every S. Nothing is private
here; the algorithm's privacy is that of `projected-walk`, whose readings these are. The lemma holds
for `ties="sum"` with the query's own point traversed. It fails where equal points are taken one by
one, in the order given or sorted by label (docs/findings.md, 'Ties in the projected walk'), and
where the walk goes through smaller points only (docs/findings.md, 'Points smaller than x').
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.claims import Accuracy, Claim
from dpassay.data import Labelled
from dpassay.errors import require
from dpassay.laws import PointLaw
from dpassay.mechanism import Mechanism, WorstCase
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk, Ties, Traversed
from dpassay.mechanisms.dwork_feldman_2018.unions import in_words, least_error
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import FlipLabel


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedWalkError(Mechanism):
    """Excess of the empirical error of ExpPW(T, epsilon) over that of the best union of intervals.

    Parameters
    ----------
    epsilon, T, feature, ties, traversed
        See `ProjectedWalk`.
    n : int
        Number of records, >= 1: the claim depends on it, so other datasets are refused.
    k : int
        Number of interval ends, >= 1.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    epsilon: float = 1.0
    T: int = 8
    n: int = 100
    k: int = 1
    feature: int = 0
    ties: Ties = "sum"
    traversed: Traversed = "up-to"
    walk: ProjectedWalk = field(init=False, repr=False, compare=False)

    without_query = True  # the error is one number for the whole dataset

    def __post_init__(self) -> None:
        walk = ProjectedWalk(
            epsilon=self.epsilon,
            T=self.T,
            feature=self.feature,
            ties=self.ties,
            traversed=self.traversed,
        )
        object.__setattr__(self, "walk", walk)
        require(isinstance(self.n, int) and self.n >= 1, "n", self.n, "an integer >= 1")
        require(isinstance(self.k, int) and self.k >= 1, "k", self.k, "an integer >= 1")

    @property
    def numbers(self) -> tuple[float, float]:
        """A difference of two errors."""
        return (-1.0, 1.0)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim."""
        return (
            Accuracy(
                bound=self.walk.excess_error(self.n, self.k),
                excess=True,
                unit=(
                    "empirical error on the whole dataset minus that of the best "
                    f"{in_words(self.k)}"
                ),
                coins="none: the error is its mean over the coins of the answers",
                source="Dwork and Feldman 2018, Lemma 5.2",
                status="printed",
            ),
        )

    @property
    def exchangeable(self) -> bool:
        """Whether the order of the records does not matter: as in the walk, and errors are summed.

        The sum is rounded once, so that it has no order.
        """
        return self.walk.exchangeable

    @property
    def fixed_n(self) -> int:
        """The only number of records that it takes."""
        return self.n

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless there are n records, labelled 0 and 1, with the feature."""
        self.walk.check(data)
        require(len(data) == self.n, "n", self.n, f"the number of records, {len(data)}")

    def prepare(self, data: Labelled) -> float:
        """Compute the excess."""
        self.check(data)
        logit = self.walk.logit(self.walk.prepare(data), data.X)
        error = math.fsum(expit(np.where(data.y == 1, -logit, logit)).tolist()) / self.n
        x = np.unique(data.X[:, self.feature])
        ones, zeros = (
            (data.X[data.y == y, self.feature][:, None] == x).sum(axis=0) for y in (1, 0)
        )
        return error - least_error(ones, zeros, self.k) / self.n

    def sample(
        self,
        state: float,
        queries: NDArray[np.float64],
        size: int,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> NDArray[np.float64]:
        """The excess, the same in every trial, shape (size, q)."""
        return np.full((size, len(queries)), state)

    def distribution(self, state: float, queries: NDArray[np.float64]) -> PointLaw:
        """The excess and its rounding.

        An error of a logit passes into a probability once, and a sum is exact but for one.
        """
        rounding = 8 * UNIT_ROUNDOFF * (2 + self.epsilon * self.T)
        return PointLaw(values=np.full(len(queries), state), error=rounding)

    def pairs(self) -> tuple[WorstCase, ...]:
        """All records at one point.

        The last 2 T of them undo what the others have said, or nobody listens.
        """
        few = min(2 * self.T, self.n // 2)
        last = 1 if self.ties == "label" else 0
        reason = (
            "all records lie at one point; a walk that takes ties one by one is decided by the "
            f"last {few} labels, which are equal"
            if few == 2 * self.T
            else "all records lie at one point"
        )
        if self.traversed == "below":
            few, reason = (
                0,
                (
                    "all records lie at one point and have one label; a walk through smaller "
                    "points meets none of them"
                ),
            )
        y = np.where(np.arange(self.n) < self.n - few, 1 - last, last)
        data = Labelled(np.ones((self.n, 1 + self.feature)), y)
        labelled = (
            f"the last {few} of them labelled {last} and the others {1 - last}"
            if few
            else f"labelled {1 - last}"
        )
        how = f"{self.n} record{'s' * (self.n > 1)} at one point, {labelled}, one label flipped"
        return (WorstCase.of(data, FlipLabel(0), how=how, reason=reason),)
