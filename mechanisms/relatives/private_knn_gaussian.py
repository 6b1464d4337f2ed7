"""Private nearest neighbours with Poisson sampling and Gaussian noise.

At each query every record is taken with probability q; of those taken the k nearest vote, all of
them if they are fewer; argmax_j {n_j + N(0, sigma^2)} is answered. Each query has coins of its own.
That is what public code for Private-kNN of Zhu et al. (2020) does. Its paper is not among our
sources, and no claim of it is made. The distance is as in `private-knn`.

Derived here, for one answer and a replaced record i. Fix the coins of all other records. Without i
the noisy counts have a law M; with it, they have N or, of the neighbour, N'. As i is taken with
probability q on both sides, the datasets have P = (1 - q) M + q N and P' = (1 - q) M + q N'. Let
e^epsilon' = 1 + q (e^epsilon - 1). Then

    P - e^epsilon' P' = q (N - e^epsilon ((1 - beta) M + beta N')),  beta = e^(epsilon' - epsilon),

as (e^epsilon' - 1)(1 - q) = q (e^epsilon - e^epsilon'); Balle, Barthe and Gaboardi (2018) call it
advanced joint convexity. The hockey-stick divergence is convex, so that of P and P' at epsilon' is
at most q times the larger of those of N to M and of N to N' at epsilon. Their counts differ by one
vote that moves, or by one that is added: by sqrt(2) in length at most. So at epsilon' the loss
needs no more than delta = q times the profile of a Gaussian shifted by sqrt(2) / sigma deviations.
The coins of the others mix such pairs, and convexity covers them. What these coins hide is given
away, so the loss is smaller than claimed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.errors import is_real, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism, WorstCase
from dpassay.mechanisms.shared.noisy_max import NoisyMax
from dpassay.mechanisms.shared.teachers import check_labels
from dpassay.noise import Noise
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Change, FlipLabel

Array = NDArray[np.float64]
MOST_COUNTS = 100_000
"""Counts of votes that a law is tabled for."""
LEAST_EPSILON = 1e-12
"""Claimed for a delta that needs no epsilon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateKNNGaussian(Mechanism):
    """Noisy plurality of the k nearest of a random part of the records.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise, in votes; finite and > 0.
    q : float
        Probability that a record is taken, at each query anew; in (0, 1].
    delta : float
        Additive slack of the claim; in (0, 1).
    k : int
        Most neighbours that vote, >= 1.
    K : int
        Number of labels 0, ..., K - 1; >= 2.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    sigma: float = 4.0
    q: float = 0.2
    delta: float = 1e-5
    k: int = 25
    K: int = 2

    def __post_init__(self) -> None:
        known = is_real(self.sigma) and 0 < self.sigma < math.inf
        require(known, "sigma", self.sigma, "a finite number > 0")
        require(is_real(self.q) and 0 < self.q <= 1, "q", self.q, "a number in (0, 1]")
        known = is_real(self.delta) and 0 < self.delta < 1
        require(known, "delta", self.delta, "a number in (0, 1)")
        require(isinstance(self.k, int) and self.k >= 1, "k", self.k, "an integer >= 1")
        require(isinstance(self.K, int) and self.K >= 2, "K", self.K, "an integer >= 2")

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Ours: ln(1 + q (e^epsilon - 1)), epsilon of the whole Gaussian at delta / q."""
        whole = LEAST_EPSILON
        if self.delta < self.q:
            exact, error = Noise(kind="gaussian", scale=self.sigma).loss(
                np.asarray(math.sqrt(2) / self.sigma), self.delta / self.q, 1e-15
            )
            whole = max(float(exact + error), LEAST_EPSILON)
        return (
            DP(
                epsilon=whole + math.log(self.q + (1 - self.q) * math.exp(-whole)) + 1e-12,
                delta=self.delta,
                coins="samples and noise fresh at each query",
                source="ours: docs/findings.md, 'Private nearest neighbours of a sample'",
                status="own",
            ),
        )

    @property
    def labels(self) -> tuple[int, ...]:
        """0, ..., K - 1."""
        return tuple(range(self.K))

    @property
    def noisy_max(self) -> NoisyMax:
        """The plurality with Gaussian noise of standard deviation sigma."""
        return NoisyMax(kind="gaussian", scale=self.sigma)

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless the labels are below K."""
        check_labels(data, self.K)

    def prepare(self, data: Labelled) -> Labelled:
        """Keep the records."""
        self.check(data)
        return data

    def update(self, state: Labelled, change: Change) -> Labelled:
        """Return the changed records."""
        return self.prepare(change.apply(state))

    def ranked(self, data: Labelled, queries: Array) -> NDArray[np.int64]:
        """Labels of the records, the nearest first, shape (queries, n); ties by their places."""
        distance = scipy.spatial.distance.cdist(queries, data.X, "sqeuclidean")
        return np.asarray(data.y)[np.argsort(distance, axis=1, kind="stable")]

    def sample(
        self, state: Labelled, queries: Array, size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Labels of `size` independent trials, shape (size, queries).

        Gaps between records that are taken are geometric, so no more than k are drawn.
        """
        ranked = self.ranked(state, queries)
        # a label K stands for nobody
        voters = np.concatenate([ranked, np.full((len(ranked), 1), self.K)], axis=1)
        gaps = np.minimum(rng.geometric(self.q, (size, len(queries), self.k)), voters.shape[1])
        places = np.minimum(np.cumsum(gaps, axis=2) - 1, voters.shape[1] - 1)
        votes = voters[np.arange(len(queries))[:, None], places]
        counts = np.stack([(votes == label).sum(axis=2) for label in self.labels], axis=2)
        noise = self.noisy_max.noise.draw(counts.shape, rng)
        drawn: NDArray[np.int64] = (counts + noise).argmax(axis=2)
        return drawn

    def distribution(self, state: Labelled, queries: Array) -> FiniteLaw | None:
        """Exact law of the answer; None where there are too many counts, or they lie too far apart.

        The law of the counts is followed from the nearest record to the farthest.
        """
        if not self._has_law():
            return None
        chances = self._counts(self.ranked(state, queries))
        known = chances.any(axis=0)
        won = self.noisy_max.law(np.argwhere(known))
        with np.errstate(divide="ignore"):
            weights = np.log(chances[:, known])
        log_p = scipy.special.logsumexp(weights[:, :, None] + won.log_p, axis=1)
        # nothing is negative: a binomial over n records errs by 3 n roundings, a sum over them by n
        steps = 4 * (len(state) + weights.shape[1] + 8) * UNIT_ROUNDOFF
        return FiniteLaw(log_p=np.minimum(log_p, 0.0), error=won.error + steps)

    def _has_law(self) -> bool:
        few = (self.k + 1) ** self.K <= MOST_COUNTS
        return few and self.noisy_max.has_law(self.k, self.K)

    def _counts(self, ranked: NDArray[np.int64]) -> Array:
        """Probability of all counts at each query, shape (queries, k + 1, ..., k + 1).

        If fewer than k votes are taken, the count of each label is binomial over all its records.
        If k are taken, some record casts the last, and the other votes are binomial over the
        records before it.
        """
        k, n = self.k, ranked.shape[1]
        binomial = np.zeros((n + 1, k + 1))
        binomial[0, 0] = 1.0
        for i in range(n):
            binomial[i + 1] = (1 - self.q) * binomial[i]
            binomial[i + 1, 1:] += self.q * binomial[i, :-1]
        counts = np.indices((k + 1,) * self.K).reshape(self.K, -1)
        some, full = counts[:, counts.sum(axis=0) < k], counts[:, counts.sum(axis=0) == k]
        found = np.zeros((len(ranked), *(k + 1,) * self.K))
        for votes, law in zip(ranked, found, strict=True):
            of_label = votes == np.array(self.labels)[:, None]
            before = np.concatenate([np.zeros((self.K, 1), int), of_label.cumsum(axis=1)], axis=1)
            ends = zip(before[:, -1], some, strict=True)
            law[tuple(some)] = np.prod([binomial[m, j] for m, j in ends], axis=0)
            for label, last in enumerate(of_label):
                one = np.eye(self.K, dtype=int)[:, [label]]
                places = zip(before[:, :-1][:, last], full - one, strict=True)
                reached = np.prod([binomial[m][:, j] for m, j in places], axis=0).sum(axis=0)
                law[tuple(full)] += self.q * np.where(full[label] > 0, reached, 0.0)
        return found

    def pairs(self) -> tuple[WorstCase, ...]:
        """A record that is alone, and one among as many as fill the vote: of the other label.

        Or a tenth of its own. What its vote decides is rare there, as delta is.
        """
        others = max(1, round((self.k - 1) / self.q))
        cases = (
            (0, 0, "one record alone, its label flipped"),
            (0, others, "records at one point, all of label 1; that of one is flipped"),
            (others // 10, others, "records at one point, nine tenths of label 1; one is flipped"),
        )
        return tuple(
            WorstCase.of(
                Labelled(
                    np.zeros((1 + n, 1)), np.concatenate([np.zeros(1 + own), np.ones(n - own)])
                ),
                FlipLabel(0),
                how=how,
                reason="the flipped record is the nearest: if it is taken, its vote counts",
                query=[[0.0]],
            )
            for own, n, how in cases
        )
