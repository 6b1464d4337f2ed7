"""A classifier as a real-valued predictor: it answers 0.0 or 1.0.

"Any learning algorithm that outputs a Boolean function is uniform RO prediction stable at the
trivial rate 1" (Dwork and Feldman 2018, section 4.3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, PredictionStability
from dpassay.data import Labelled
from dpassay.laws import PointLaw
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.mechanisms.shared.learners import BlockLearner, Teacher
from dpassay.mechanisms.shared.predictors import Predictor


@dataclass(frozen=True, slots=True, kw_only=True)
class Boolean(Predictor):
    """One classifier, trained on everything.

    Parameters
    ----------
    learner : str or scikit-learn classifier
        As for `SoftMajority`; its coins, if any, are frozen.
    """

    learner: Any = "logistic"
    block_learner: BlockLearner = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "block_learner", BlockLearner(self.learner))

    @property
    def numbers(self) -> tuple[float, float]:
        """Predictions are 0 or 1."""
        return (0.0, 1.0)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The trivial rate."""
        source = "Dwork and Feldman 2018, section 4.3"
        return (
            PredictionStability(
                gamma=1.0, coins="none; training frozen", source=source, status="printed"
            ),
        )

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless the labels are 0 and 1."""
        check_binary(data)

    def prepare(self, data: Labelled) -> Teacher:
        """Train."""
        self.check(data)
        return self.block_learner.fit(data)

    def distribution(self, state: Teacher, queries: NDArray[np.float64]) -> PointLaw:
        """Return the predictions themselves; there are no coins."""
        return PointLaw(values=state.predict(queries).astype(float), error=0.0)

    def sample(
        self,
        state: Teacher,
        queries: NDArray[np.float64],
        size: int,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> NDArray[np.float64]:
        """Predictions, the same in every trial, shape (size, q)."""
        return np.tile(state.predict(queries).astype(float), (size, 1))
