"""Truncated noisy vote for agnostic learning (Dwork and Feldman 2018, Corollary 4.7).

The released label.

Average r classifiers, each trained on a block of its own, to v in [0, 1]; add Laplace noise of
scale b = gamma / epsilon for the rate gamma = 1 / r of the average; project to [0, 1]; answer 1
with that probability (section 2.1: "outputting 1 with probability v(x) + zeta (truncated to range
[0, 1])"). Over the noise,

    P[1] = E Proj(v + zeta) = v + (b / 2) (e^(-v / b) - e^(-(1 - v) / b)).

Claim as printed: epsilon-differentially private prediction. It holds for the projected number
(`noisy-average-number`), and so for the label made from it; the label alone loses less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism, Reachable, WorstCase
from dpassay.mechanisms.dwork_feldman_2018.averaged import Averaged, Parts
from dpassay.mechanisms.dwork_feldman_2018.noisy_average_number import BEYOND, COROLLARY
from dpassay.mechanisms.shared.blocks import one_record_per_block
from dpassay.mechanisms.shared.ranges import check_positive
from dpassay.noise import Noise
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyAverage(Mechanism):
    """The label of the truncated noisy vote.

    Parameters
    ----------
    epsilon : float
        Claimed privacy loss of one prediction, in nats; finite and > 0. The corollary is stated for
        epsilon <= 1.
    r : int
        Number of blocks, >= 1 and at most the number of records; `noisy_average_number.blocks_for`
        has the corollary's.
    learner : str or scikit-learn classifier
        As for `SoftMajority`.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    epsilon: float = 1.0
    r: int = 25
    learner: Any = "logistic"
    average: Averaged = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)
        object.__setattr__(self, "average", Averaged(r=self.r, learner=self.learner))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim, and the smallest epsilon that holds for the label."""
        coins = (
            "noise and answer fresh; partition and training frozen (the claim holds for every "
            "value of these)"
        )
        said = COROLLARY if self.epsilon <= 1 else BEYOND
        printed = DP(epsilon=self.epsilon, coins=coins, source=said, status="printed")
        source = "docs/findings.md, 'Corollary 4.7: the label loses less than the number'"
        return printed, DP(
            epsilon=self.exact_loss(), coins=coins, source=source, status="corrected"
        )

    @property
    def scale(self) -> float:
        """The noise's b = 1 / (r epsilon)."""
        return 1 / (self.r * self.epsilon)

    def exact_loss(self) -> float:
        """Largest loss over all datasets of any size: the vote moves from 0 to 1 of r.

        ln((2 epsilon + e^-epsilon - e^(-(r - 1) epsilon)) / (1 - e^(-r epsilon))).
        """
        more = math.expm1(-self.epsilon) - math.expm1(-(self.r - 1) * self.epsilon)
        ratio = (2 * self.epsilon + more) / -math.expm1(-self.r * self.epsilon)
        return math.log(ratio) + 16 * UNIT_ROUNDOFF  # not below the truth by rounding

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless labels are 0 and 1 and each block has a record."""
        self.average.check(data)

    def prepare(self, data: Labelled) -> Parts:
        """Train on every block."""
        return self.average.prepare(data)

    def update(self, state: Parts, change: Change) -> Parts:
        """Return the neighbour's state, retraining only the block of the changed record."""
        return self.average.update(state, change)

    def sample(
        self, state: Parts, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Labels of `size` independent trials at q queries, shape (size, q), with own noise."""
        noise = Noise(kind="laplace", scale=self.scale).draw((size, len(queries)), rng)
        p = np.clip(self.average.distribution(state, queries).values + noise, 0.0, 1.0)
        return (rng.random((size, len(queries))) < p).astype(np.int64)

    def distribution(self, state: Parts, queries: NDArray[np.float64]) -> FiniteLaw:
        """Exact law, the noise integrated out."""
        return self._law(self.average.distribution(state, queries).values)

    def pairs(self) -> tuple[WorstCase, ...]:
        """One record per block, one label flipped.

        From no vote to one, and just below the middle.
        """
        rare = one_record_per_block(
            self.r, 0, f"the votes for 1 rise from 0 to 1 of {self.r}, where label 1 is rarest"
        )
        ones = self.r // 2 - 1
        if ones < 1:
            return (rare,)
        reason = f"the votes for 1 rise from {ones} to {ones + 1} of {self.r}, near half"
        return rare, one_record_per_block(self.r, ones, reason)

    def reachable(self) -> Reachable | None:
        """Vote counts 0, ..., r."""
        known = self.average.reachable()
        if known is None:
            return None
        return replace(known, law=self._law(known.law.table[:, 0]))

    def _law(self, v: NDArray[np.float64]) -> FiniteLaw:
        """Both labels by the same formula, so that the rare one loses no digits.

        P[0] at v is P[1] at 1 - v.
        """
        log_p = np.log(
            np.stack(
                [self._one(self.r - np.round(v * self.r)), self._one(np.round(v * self.r))], axis=1
            )
        )
        scale = 1 + self.r * self.epsilon
        return FiniteLaw(
            log_p=np.minimum(log_p, 0.0),
            error=16 * UNIT_ROUNDOFF * (scale + float(np.abs(log_p).max())),
        )

    def _one(self, votes: NDArray[np.float64]) -> NDArray[np.float64]:
        """P[1] at this number of votes for 1."""
        few = np.minimum(votes, self.r - votes)  # the other half is its mirror image
        more: NDArray[np.float64] = -np.exp(-few * self.epsilon) * np.expm1(
            -(self.r - 2 * few) * self.epsilon
        )
        return votes / self.r + np.where(votes == few, 1, -1) * self.scale / 2 * more
