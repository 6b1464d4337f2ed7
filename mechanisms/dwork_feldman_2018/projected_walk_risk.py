"""The expected error of the exponential projected walk, computed from the distribution.

Source: Dwork and Feldman (2018), Theorem 5.3.

P is uniform over the records of the dataset. S are `samples` independent draws from it,
M = ExpPW(T, epsilon) with T = ceil(2 ln(2 / alpha) / epsilon), and the answer is
E_S[Err_P(M(S))] - e^epsilon Opt_P(Thr_(N,k)): by how much the expected error exceeds e^epsilon
times that of the best union of intervals with k ends.

Claim as printed: for samples >= 4 (k + 2) ln(2 / alpha) / (alpha epsilon) it is at most e^epsilon
alpha, for every P. As Lemma 5.2, on which it rests, it fails where equal points are sorted by label
(docs/findings.md, 'Theorem 5.3 with ties').

The expectation is a sum over what S can be, point by point: of the u records that are left, m lie
at the point and a of these are labelled 1, both binomial; only m, and where the walk stands, matter
for what follows. All terms are positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

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
from dpassay.mechanisms.shared.ranges import check_proportion
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import FlipLabel

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
MOST_WORK = 10**10
"""No expectation is computed that takes more multiplications."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedWalkRisk(Mechanism):
    """Expected error of ExpPW(T, epsilon) beyond e^epsilon times the best union of intervals.

    Parameters
    ----------
    epsilon, feature, ties, traversed
        See `ProjectedWalk`; with `ties="index"` equal points keep the order in which they were
        drawn.
    alpha : float
        The error of Theorem 5.3; in (0, 1).
    k : int
        Number of interval ends, >= 1.
    samples : int, optional
        Records that are drawn, n in the theorem; the least that it allows by default, and no fewer.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    epsilon: float = 1.0
    alpha: float = 0.3
    k: int = 1
    samples: int | None = None
    feature: int = 0
    ties: Ties = "sum"
    traversed: Traversed = "up-to"
    walk: ProjectedWalk = field(init=False, repr=False, compare=False)

    alone = True  # records are a distribution here, and hundreds of points would take minutes
    without_query = True  # the error is one number for the whole distribution
    exchangeable = True  # records are counted at each point

    def __post_init__(self) -> None:
        walk = ProjectedWalk(
            epsilon=self.epsilon, feature=self.feature, ties=self.ties, traversed=self.traversed
        )
        check_proportion(alpha=self.alpha)
        require(isinstance(self.k, int) and self.k >= 1, "k", self.k, "an integer >= 1")
        object.__setattr__(self, "walk", walk)
        least = self.least_samples
        enough = self.samples is None or (isinstance(self.samples, int) and self.samples >= least)
        allowed = f"an integer >= {least}, which Theorem 5.3 asks for"
        require(enough, "samples", self.samples, allowed)

    @property
    def least_samples(self) -> int:
        """ceil(4 (k + 2) ln(2 / alpha) / (alpha epsilon))."""
        return math.ceil(4 * (self.k + 2) * math.log(2 / self.alpha) / (self.alpha * self.epsilon))

    @property
    def n(self) -> int:
        """How many records are drawn."""
        return self.least_samples if self.samples is None else self.samples

    @property
    def derived_parameters(self) -> dict[str, int]:
        """Records that are drawn."""
        return {"samples": self.n}

    @property
    def T(self) -> int:
        """Bound of the walk."""
        return self.walk.bound_for(self.alpha)

    @property
    def numbers(self) -> tuple[float, float]:
        """An error minus e^epsilon times another, which is at most 1/2."""
        return (-math.exp(self.epsilon), 1.0)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim."""
        return (
            Accuracy(
                bound=math.exp(self.epsilon) * self.alpha,
                excess=True,
                unit=(
                    f"expected error after training on {self.n} draws from the records, minus "
                    f"e^{self.epsilon:g} times the error of the best {in_words(self.k)}"
                ),
                coins="none: the error is its mean over the draws and the coins of the answers",
                source="Dwork and Feldman 2018, Theorem 5.3",
                status="printed",
            ),
        )

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless the labels are 0 and 1 and the feature exists."""
        self.walk.check(data)

    def prepare(self, data: Labelled) -> tuple[Counts, Counts]:
        """Return the number of records labelled 1, and 0, at each point in ascending order."""
        self.check(data)
        x = np.unique(data.X[:, self.feature])
        ones, zeros = (
            (data.X[data.y == y, self.feature][:, None] == x).sum(axis=0) for y in (1, 0)
        )
        return ones, zeros

    def sample(
        self,
        state: tuple[Counts, Counts],
        queries: Array,
        size: int,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Array:
        """The excess, the same in every trial, shape (size, q)."""
        law = self.distribution(state, queries)
        return np.full((size, len(queries)), np.nan if law is None else law.values[0])

    def distribution(self, state: tuple[Counts, Counts], queries: Array) -> PointLaw | None:
        """The excess and its rounding; None where it would take too long.

        A draw is a factor of two probabilities and a row of the walk's matrix, a sum of up to 2
        T + 1 positive terms.
        """
        ones, zeros = state
        if len(ones) * (self.n * (2 * self.T + 1)) ** 2 > MOST_WORK:
            return None
        total = int((ones + zeros).sum())
        best = math.exp(self.epsilon) * least_error(ones, zeros, self.k) / total
        rounding = UNIT_ROUNDOFF * (
            (32 + 8 * self.T) * (self.n + len(ones))
            + 64 * (1 + self.epsilon * self.T)
            + 8 * (1 + best)
        )
        return PointLaw(
            values=np.full(len(queries), self.expected_error(ones, zeros) - best), error=rounding
        )

    def expected_error(self, ones: Counts, zeros: Counts) -> float:
        """Return E[Err_P(M(S))], for the numbers of records labelled 1 and 0 at each point."""
        size = left = int((ones + zeros).sum())
        # for label 0; the other way round for label 1
        wrong = expit(self.epsilon / 2 * np.arange(-self.T, self.T + 1))
        reached = np.zeros((self.n + 1, 2 * self.T + 1))  # P[records so far, value of the walk]
        reached[0, self.T], error = 1.0, 0.0
        for one, zero in zip(ones.tolist(), zeros.tolist(), strict=True):
            before = reached.sum(axis=0)
            reached = self._through(reached, one, zero, left)
            value = before if self.traversed == "below" else reached.sum(axis=0)
            error += float((zero * value @ wrong + one * value @ wrong[::-1]) / size)
            left -= one + zero
        return error

    def _through(self, reached: Array, one: int, zero: int, left: int) -> Array:
        """Draw how many of the `left` records lie at a point, and walk through them.

        The point has one + zero of the `left` of P from there on.
        """
        share, after = binomials(self.n, one + zero, left), np.zeros_like(reached)
        before = np.flatnonzero(reached.any(axis=1))  # records so far
        for m in np.flatnonzero(share[self.n - before].any(axis=0)).tolist():
            few = before[before <= self.n - m]
            after[few + m] += (share[self.n - few, m][:, None] * reached[few]) @ move(
                self.ties, self.T, m, one, one + zero
            )
        return after

    def pairs(self) -> tuple[WorstCase, ...]:
        """One record in five is labelled 1, all at one point."""
        data = Labelled(np.ones((5, 1 + self.feature)), np.array([0, 0, 0, 0, 1]))
        reason = (
            "one label in five is 1, and where equal points are sorted by label these are the last"
            if self.ties == "label"
            else "one label in five is 1; the flip leaves none, and then all that the walk errs is "
            "excess error"
        )
        return (
            WorstCase.of(
                data,
                FlipLabel(4),
                how="5 records at one point, one of them labelled 1, its label flipped",
                reason=reason,
            ),
        )


@lru_cache(maxsize=1024)
def binomials(n: int, one: int, of: int) -> Array:
    """Return P[Bin(m, one / of) = a] for all m, a <= n, shape (n + 1, n + 1).

    By Pascal's rule, a few roundings for each m.
    """
    table, p, q = np.zeros((n + 1, n + 1)), one / of, (of - one) / of
    table[0, 0] = 1.0
    for m in range(1, n + 1):
        table[m] = q * table[m - 1]
        table[m, 1:] += p * table[m - 1, :-1]
    table.flags.writeable = False
    return table


@lru_cache(maxsize=16384)
def move(ties: Ties, T: int, m: int, one: int, of: int) -> Array:
    """Law of the walk's next value by its last, after m records at a point.

    Each is labelled 1 with probability one / of.

    Shape (2 T + 1, 2 T + 1).
    """
    rows = np.arange(2 * T + 1)
    v, found = rows - T, np.zeros((2 * T + 1, 2 * T + 1))
    if ties == "index":
        np.add.at(found, (rows, np.minimum(rows + 1, 2 * T)), one / of)
        np.add.at(found, (rows, np.maximum(rows - 1, 0)), (of - one) / of)
        found = np.linalg.matrix_power(found, m)
    else:
        a = np.arange(m + 1)[:, None]  # labels 1 among them
        ends = (
            np.clip(v + 2 * a - m, -T, T)
            if ties == "sum"
            else np.minimum(np.maximum(v - (m - a), -T) + a, T)
        )
        np.add.at(
            found, (np.broadcast_to(rows, ends.shape), ends + T), binomials(m, one, of)[m][:, None]
        )
    found.flags.writeable = False
    return found
