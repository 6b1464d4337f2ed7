"""PATE: the noisy plurality of teachers with Laplace noise (Papernot et al. 2017, arXiv 1610.05755).

Train r teachers on disjoint blocks, count their votes n_j(x), answer argmax_j {n_j(x) + Lap(1/gamma)}.

Claims as printed, in the paper's letters:
* Theorem 2: (2 gamma, 0)-differential privacy, for counts that "differ by at most 1 in each coordinate", as they do when one
  record is replaced: one vote leaves a label and goes to another.
* Theorem 3 and Lemma 4, for one dataset d whose plurality o* leads every other label by `lead` votes: with
  q = (K - 1)(2 + gamma lead) / (4 e^(gamma lead)) >= Pr[M(d) != o*] and q < (e^(2 gamma) - 1) / (e^(4 gamma) - 1), the l-th moment is

    alpha(l) <= ln((1 - q) ((1 - q) / (1 - e^(2 gamma) q))^l + q e^(2 gamma l)),

  and at most 2 gamma^2 l (l + 1) in any case (Theorem 2); epsilon = min over l of (alpha(l) + ln(1/delta)) / l (Theorem 1).
  It bounds what d says of its neighbours, not what they say of d. Read as a claim about every dataset it is false.

The papers of this entry were not at hand; what is stated of them is from memory, and every claim was derived anew (docs/findings.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.errors import is_real, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Reachable, WorstCase
from dpassay.mechanisms.noisy_max import NoisyMax
from dpassay.mechanisms.soft_majority import SEVERAL_VOTES, Blocks
from dpassay.mechanisms.teachers import Teachers, every_count, few_counts, states_of, worst_votes
from dpassay.pairs import Change

MOMENTS = 1000
"""Moments l = 1, ..., so many are tried."""
ARGUMENT = (
    "A record lies in one block, so a replacement changes one teacher and moves one vote at most; r records, one per block, reach"
    " all counts and every move, whatever the learner (a block with one class is a constant predictor)."
)
COINS = "noise fresh; partition and training frozen, the claim holds for every value of theirs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pate:
    """Noisy plurality of r teachers, Laplace noise.

    Parameters
    ----------
    gamma : float
        The noise has scale 1 / gamma, in votes; finite and > 0. The claim is 2 gamma.
    r, K, learner
        See `Teachers`.
    lead : int, optional
        Votes by which the plurality leads every other label, for the claim that depends on the data; from 1 to r, and r unless
        given.
    delta : float
        Additive slack of that claim; in (0, 1).

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    gamma: float = 0.5
    r: int = 25
    K: int = 2
    learner: Any = "logistic"
    lead: int | None = None
    delta: float = 1e-3
    teachers: Teachers = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(is_real(self.gamma) and 0 < self.gamma < math.inf, "gamma", self.gamma, "a finite number > 0")
        object.__setattr__(self, "teachers", Teachers(r=self.r, K=self.K, learner=self.learner))
        known = self.lead is None or (isinstance(self.lead, int) and 1 <= self.lead <= self.r)
        require(known, "lead", self.lead, f"an integer from 1 to r = {self.r}")
        require(is_real(self.delta) and 0 < self.delta < 1, "delta", self.delta, "a number in (0, 1)")

    @property
    def labels(self) -> tuple[int, ...]:
        """0, ..., K - 1."""
        return tuple(range(self.K))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim, and the one that depends on the data, read as if it did not."""
        printed = DP(epsilon=2 * self.gamma, coins=COINS, source="Papernot et al. 2017, Theorem 2", status="printed")
        lead = self.r if self.lead is None else self.lead
        dependent = replace(
            printed,
            epsilon=dependent_epsilon(self.gamma, self.K, lead, self.delta),
            delta=self.delta,
            unit=f"single prediction, of a dataset whose plurality leads by {lead} of {self.r} votes",
            coins=f"{COINS}; holds for this dataset only, and the number itself may leak; held here against all datasets",
            source="Papernot et al. 2017, Theorem 3 and Lemma 4 (depends on the data)",
        )
        if (self.gamma, self.r, self.K, lead, self.delta) == (0.5, 25, 2, 25, 1e-3):  # the catalogue's
            dependent = replace(dependent, expected="refuted")
        return printed, dependent

    @property
    def noisy_max(self) -> NoisyMax:
        """The plurality with Laplace noise of scale 1 / gamma."""
        return NoisyMax(kind="laplace", scale=1 / self.gamma)

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless the labels are below K and there is a record for each block."""
        self.teachers.check(data)

    def prepare(self, data: Labelled) -> Blocks:
        """Train on every block."""
        return self.teachers.prepare(data)

    def update(self, state: Blocks, change: Change) -> Blocks:
        """Return the neighbour's state, retraining only on the block that holds the changed record."""
        return self.teachers.update(state, change)

    def sample(self, state: Blocks, queries: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Labels of `size` independent trials at q queries, shape (size, q)."""
        return self.noisy_max.draw(self.teachers.counts(state, queries), size, rng)

    def distribution(self, state: Blocks, queries: NDArray[np.float64]) -> FiniteLaw:
        """Exact law of the winner."""
        return self.noisy_max.law(self.teachers.counts(state, queries))

    def pairs(self) -> tuple[WorstCase, ...]:
        """The worst move of one vote for each claim, and one in the middle."""
        return worst_votes(self.reachable(), self.r, self.K, self.claims, self.labels)

    def reachable(self) -> Reachable | None:
        """All counts of r votes; None if they are too many."""
        if not few_counts(self.r, self.K):
            return None
        counts = every_count(self.r, self.K)
        return states_of(counts, self.noisy_max.law(counts), ARGUMENT, SEVERAL_VOTES)


def miss(gamma: float, K: int, lead: int) -> float:
    """Return Lemma 4's bound on Pr[M(d) != o*] where the plurality leads every other of K labels by `lead` votes.

    Exact for K = 2.
    """
    return (K - 1) * (2 + gamma * lead) / 4 * math.exp(-gamma * lead)


def log_moment(gamma: float, q: float, l: int) -> float:  # noqa: E741  (the paper's letter)
    """Return Theorem 3's bound on alpha(l), or Theorem 2's where that is smaller or q too large."""
    anyway, c = 2 * gamma**2 * l * (l + 1), math.exp(2 * gamma)
    if q >= 1 / (1 + c):  # (c - 1) / (c^2 - 1)
        return anyway
    usual, rare = math.log1p(-q) + l * (math.log1p(-q) - math.log1p(-c * q)), math.log(q) + 2 * gamma * l
    return min(anyway, float(np.logaddexp(usual, rare)))


def dependent_epsilon(gamma: float, K: int, lead: int, delta: float) -> float:
    """Return the epsilon that Theorems 1 and 3 and Lemma 4 give a dataset whose plurality leads by `lead` votes."""
    q = miss(gamma, K, lead)
    return min((log_moment(gamma, q, l) - math.log(delta)) / l for l in range(1, MOMENTS + 1))  # noqa: E741
