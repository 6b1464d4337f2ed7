"""PATE: the noisy plurality of teachers with Laplace noise (Papernot et al. 2017, arXiv 1610.05755).

Train r teachers on disjoint blocks, count their votes n_j(x), answer argmax_j {n_j(x) + Lap(1/gamma)}.

Claim as printed (Theorem 2): (2 gamma, 0)-differential privacy, where the counts of neighbours differ by at most 1 in each
coordinate. They do when one record is replaced: one vote leaves a label and goes to another. The claims that depend on the data
are those of `pate-data-dependent`.

The paper's text is not among our sources. That the plurality is (2 gamma, 0)-private where one count goes up by one and another
down is what the authors' analysis says (tensorflow/privacy, research/pate_2017/analysis.py, `logmgf_from_counts`); the number of
the theorem is that of public restatements. The claim was derived anew (docs/findings.md, 'PATE: the noisy plurality').
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.errors import is_real, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism, Reachable, WorstCase
from dpassay.mechanisms.shared.blocks import SEVERAL_VOTES, Blocks
from dpassay.mechanisms.shared.noisy_max import NoisyMax
from dpassay.mechanisms.shared.teachers import Teachers, every_count, few_counts, states_of, worst_votes
from dpassay.pairs import Change

ARGUMENT = (
    "A record lies in one block, so a replacement changes one teacher and moves one vote at most; r records, one per block, reach"
    " all counts and every move, whatever the learner (a block with one class is a constant predictor)."
)
THEOREM = "Papernot et al. 2017, Theorem 2, known from restatements only"
COINS = "noise fresh; partition and training frozen, the claim is made for every value of theirs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pate(Mechanism):
    """Noisy plurality of r teachers, Laplace noise.

    Parameters
    ----------
    gamma : float
        The noise has scale 1 / gamma, in votes; finite and > 0. The claim is 2 gamma.
    r, K, learner
        See `Teachers`.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    gamma: float = 0.5
    r: int = 25
    K: int = 2
    learner: Any = "logistic"
    teachers: Teachers = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(is_real(self.gamma) and 0 < self.gamma < math.inf, "gamma", self.gamma, "a finite number > 0")
        object.__setattr__(self, "teachers", Teachers(r=self.r, K=self.K, learner=self.learner))

    @property
    def labels(self) -> tuple[int, ...]:
        """0, ..., K - 1."""
        return tuple(range(self.K))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim."""
        return (DP(epsilon=2 * self.gamma, coins=COINS, source=THEOREM, status="printed"),)

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
