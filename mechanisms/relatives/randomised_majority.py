"""Randomised response (Warner 1965) on the majority label of the records, whatever is asked.

Let b = 1 if more than half of the labels are 1, else 0. Answer b with probability
p = e^epsilon / (1 + e^epsilon), else 1 - b. Warner proposed this for a respondent who has the
property b; here the dataset is the respondent. Warner claims no differential privacy; that the loss
is epsilon is our reading: one label can turn the majority, and P[b] then goes from p to 1 - p.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.laws import FiniteLaw, bernoulli_law
from dpassay.mechanism import Mechanism, WorstCase
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.mechanisms.shared.ranges import check_positive
from dpassay.pairs import FlipLabel

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomisedMajority(Mechanism):
    """The majority label, told wrongly with probability 1 / (1 + e^epsilon).

    epsilon in nats, finite and > 0.
    """

    epsilon: float = 1.0

    exchangeable = True  # the labels are counted

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)

    @property
    def claims(self) -> tuple[DP, ...]:
        """Ratio of p to 1 - p."""
        return (
            DP(
                epsilon=self.epsilon,
                coins="answer fresh",
                source="ours: ln(p / (1 - p)) with p of Warner 1965",
            ),
        )

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless the labels are 0 and 1."""
        check_binary(data)

    def prepare(self, data: Labelled) -> float:
        """Log-odds of the answer 1."""
        return self.epsilon if 2 * data.y.sum() > len(data) else -self.epsilon

    def sample(
        self, state: float, queries: Array, size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Answers of `size` independent trials at q queries, shape (size, q)."""
        return (rng.random((size, len(queries))) < expit(state)).astype(np.int64)

    def distribution(self, state: float, queries: Array) -> FiniteLaw:
        """Exact law."""
        return bernoulli_law(np.full(len(queries), state))

    def symmetries(self, sides: tuple[int, ...]) -> tuple[str, ...]:  # noqa: ARG002
        """No point is looked at; with even n the labels are not alike, as a draw counts as 0."""
        return ("points",)

    def pairs(self) -> tuple[WorstCase, ...]:
        """One record."""
        data = Labelled(np.zeros((1, 1)), np.array([0]))
        reason = "the record alone decides the majority"
        return (
            WorstCase.of(
                data, FlipLabel(0), how="one record labelled 0, its label flipped", reason=reason
            ),
        )
