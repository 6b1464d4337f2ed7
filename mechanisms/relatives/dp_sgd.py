"""DP-SGD (Abadi et al. 2016, arXiv 1607.00133, Algorithm 1) for logistic regression.

T rounds from weights w = 0. Each takes every record with probability q into its lot, clips each
gradient g_i = (1 / (1 + e^(-<w, x_i>)) - y_i) x_i to length C, adds N(0, sigma^2 C^2 I) to their
sum, divides by q n, the expected size of a lot, and steps: w <- w - eta * that. Released are the
final weights: looked at through their `score` <w, x>, or the `label` that has a score above 0.

Abadi et al. let a record be added or removed, where the sum moves by C; their Theorem 1 has
constants that are not stated. Here a record is replaced, and n is known, so the claims are ours:

* The sum of a lot moves by at most 2 C: g_i goes, another of length C comes. So one round is a
  Gaussian mechanism whose shift is at most 2 / sigma standard deviations: (2 / sigma)-GDP (Dong,
  Roth and Su 2022, Theorem 2.7).
* q = 1: T rounds, each of which may know what came before, are mu-GDP with
  mu = 2 sqrt(T) / sigma (there, Corollary 3.3). The last weights are made from all of them.
* q < 1: tell the adversary which lots had the replaced record; its coins are those of both
  datasets. If it was in B of them, all other rounds are the same on both sides, and the rest is
  (2 sqrt(B) / sigma)-GDP. B is binomial with T and q. A mixture whose component is known has the
  mean of the divergences, so for every epsilon >= 0 the privacy profile is at most

      delta(epsilon) = sum_b P[B = b] (Phi(-epsilon / mu_b + mu_b / 2)
                                       - e^epsilon Phi(-epsilon / mu_b - mu_b / 2)),

  mu_b = 2 sqrt(b) / sigma (there, Corollary 2.13). That hides nothing of the lots, so it is not the
  best possible claim; the claim is the smallest such epsilon at delta.

The numbers of theorems are those of arXiv 1905.02383. The texts of the two papers are not among our
sources; what is used of them is derived above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, expit, log_ndtr

from dpassay.claims import DP, GDP, Claim
from dpassay.data import Labelled
from dpassay.errors import is_real, require
from dpassay.mechanism import Mechanism, WorstCase
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.mechanisms.shared.ranges import check_proportion, check_word
from dpassay.pairs import FlipLabel

Array = NDArray[np.float64]
AT_ONCE = 1 << 20
"""Gradients that are held together."""
MOST_RECORDS = 1000
"""Of the worst case."""
LEAST_EPSILON = 1e-12
"""Claimed for a delta that needs no epsilon."""
MOST_EPSILON = 1e4


def profile(epsilon: float, mu: Array) -> Array:
    """Return delta(epsilon) of mu-GDP; 0 where mu is."""
    shift = np.where(mu > 0, mu, 1.0)
    one = np.exp(log_ndtr(-epsilon / shift + shift / 2))
    other = np.exp(epsilon + log_ndtr(-epsilon / shift - shift / 2))
    return np.where(mu > 0, np.maximum(one - other, 0.0), 0.0)


def sampled_epsilon(T: int, sigma: float, q: float, delta: float) -> float:
    """Return the smallest epsilon of the module's profile at delta, rounded up.

    Parameters
    ----------
    T : int
        Rounds.
    sigma : float
        Standard deviation of the noise, in lengths of a clipped gradient.
    q : float
        Probability that a record is in a lot.
    delta : float
        Additive slack.
    """
    times = np.arange(T + 1)
    share = np.diff(bdtr(times, T, q), prepend=0.0)
    mu = 2 * np.sqrt(times) / sigma
    low, high = 0.0, MOST_EPSILON
    if float(share @ profile(low, mu)) <= delta:
        return LEAST_EPSILON
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if float(share @ profile(middle, mu)) <= delta else (middle, high)
    return high * (1 + 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class DPSGD(Mechanism):
    """Logistic regression by noisy steps along clipped gradients.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise, in multiples of C; finite and > 0, and so that the claim is
        at most GDP(30).
    C : float
        Length that gradients are clipped to; finite and > 0.
    T : int
        Number of rounds, >= 1.
    eta : float
        Learning rate; finite and > 0.
    q : float
        Probability that a record is in the lot of a round; in (0, 1]. 1 takes all records.
    delta : float
        Additive slack of the claim where q < 1; in (0, 1).
    release : {"score", "label"}
        What is looked at: <w, x>, or whether it is above 0.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    sigma: float = 2.0
    C: float = 1.0
    T: int = 2
    eta: float = 0.5
    q: float = 1.0
    delta: float = 1e-3
    release: Literal["score", "label"] = "score"

    def __post_init__(self) -> None:
        for name in ("sigma", "C", "eta"):
            value = getattr(self, name)
            require(is_real(value) and 0 < value < math.inf, name, value, "a finite number > 0")
        require(isinstance(self.T, int) and self.T >= 1, "T", self.T, "an integer >= 1")
        require(is_real(self.q) and 0 < self.q <= 1, "q", self.q, "a number in (0, 1]")
        check_proportion(delta=self.delta)
        check_word("score", "label", release=self.release)
        require(self.mu <= 30, "sigma", self.sigma, f"at least {math.sqrt(self.T) / 15:g} for T")

    @property
    def mu(self) -> float:
        """Gaussian distance of T rounds that all have the replaced record."""
        return 2 * math.sqrt(self.T) / self.sigma

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The whole curve where all records are in every lot, else its mixture at delta."""
        coins, source = "lots and noise fresh", "docs/findings.md, 'DP-SGD'"
        if self.q == 1:
            given = "Dong, Roth and Su 2022, Theorem 2.7 and Corollary 3.3"
            text = f"ours: {source}, from {given}"
            return (GDP(mu=self.mu, coins=coins, source=text, status="own"),)
        epsilon = sampled_epsilon(self.T, self.sigma, self.q, self.delta)
        text = f"ours: {source}, from Dong, Roth and Su 2022, Corollaries 2.13 and 3.3"
        return (DP(epsilon=epsilon, delta=self.delta, coins=coins, source=text, status="own"),)

    @property
    def numbers(self) -> tuple[float, float] | None:
        """Scores are any numbers."""
        return (-math.inf, math.inf) if self.release == "score" else None

    @property
    def labels(self) -> tuple[int, ...]:
        """None of scores."""
        return () if self.release == "score" else (0, 1)

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless the labels are 0 and 1."""
        check_binary(data)

    def prepare(self, data: Labelled) -> Labelled:
        """Keep the records."""
        self.check(data)
        return data

    def sample(
        self, state: Labelled, queries: Array, size: int, rng: np.random.Generator
    ) -> NDArray[np.float64] | NDArray[np.int64]:
        """Train `size` times, and return scores or labels at q queries, shape (size, q)."""
        scores = self.trained(state, size, rng) @ queries.T
        return scores if self.release == "score" else (scores > 0).astype(np.int64)

    def trained(self, data: Labelled, size: int, rng: np.random.Generator) -> Array:
        """Return the final weights of `size` runs, shape (size, d)."""
        n, d = data.X.shape
        step = max(1, AT_ONCE // n)
        parts = [self._run(data, min(step, size - first), rng) for first in range(0, size, step)]
        return np.concatenate(parts) if parts else np.empty((0, d))

    def _run(self, data: Labelled, runs: int, rng: np.random.Generator) -> Array:
        n, d = data.X.shape
        w = np.zeros((runs, d))
        for _ in range(self.T):
            sums = self.summed(w, data, rng)
            noise = rng.normal(scale=self.sigma * self.C, size=(runs, d))
            w = w - self.eta * (sums + noise) / (self.q * n)
        return w

    def summed(self, w: Array, data: Labelled, rng: np.random.Generator) -> Array:
        """Return the sums of the clipped gradients of a lot, shape (runs, d).

        A gradient is a multiple of its record, so only the multiples are clipped.
        """
        length = np.linalg.norm(data.X, axis=1)
        multiple = expit(w @ data.X.T) - data.y
        most = np.divide(self.C, length, out=np.full_like(length, np.inf), where=length > 0)
        multiple = np.clip(multiple, -most, most)
        if self.q < 1:
            multiple = multiple * (rng.random(multiple.shape) < self.q)
        sums: Array = multiple @ data.X
        return sums

    def pairs(self) -> tuple[WorstCase, ...]:
        """A record of length 4 C among so many zeros that the weights stay small.

        Then <w, x> stays small, the gradient is about x / 2 or -x / 2, and clipped in every round.
        Weights are at most eta C (T + 6 sigma sqrt(T)) / (q n) but for noise of six deviations.
        """
        farthest = self.eta * self.C * (self.T + 6 * self.sigma * math.sqrt(self.T)) / self.q
        n = math.ceil(max(1.0, min(4 * self.C * farthest, MOST_RECORDS)))
        X = np.zeros((n, 1))
        X[0] = 4 * self.C
        reason = (
            "the gradient of the long record is clipped in every round, and its label turns it "
            "round: every sum moves by 2 C"
        )
        return (
            WorstCase.of(
                Labelled(X, np.zeros(n, dtype=np.int64)),
                FlipLabel(0),
                how="one long record among zeros, its label flipped",
                reason=reason,
                query=[[1.0]],
            ),
        )
