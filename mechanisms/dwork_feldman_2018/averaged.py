"""Stability amplified by averaging over disjoint blocks (Dwork and Feldman 2018, Lemma 4.6).

Split S into r blocks, train A on each, predict (1/r) (f_1(x) + ... + f_r(x)). A replaced record
lies in one block, so one of the r terms moves, by at most gamma.

Claim as printed: uniform replace-one prediction stability with rate gamma / r, for every A with
rate gamma.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, PredictionStability
from dpassay.data import Labelled
from dpassay.errors import require
from dpassay.laws import PointLaw
from dpassay.mechanism import Reachable, WorstCase
from dpassay.mechanisms.dwork_feldman_2018.boolean import Boolean
from dpassay.mechanisms.shared.blocks import SEVERAL_VOTES, one_record_per_block
from dpassay.mechanisms.shared.predictors import Predictor, predictor_of
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Change


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """State: the blocks, and what the predictor has made of each."""

    blocks: tuple[Labelled, ...]
    states: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaged(Predictor):
    """Mean of r predictors, each trained on a block of its own; record i is in block i mod r.

    Parameters
    ----------
    r : int
        Number of blocks, >= 1 and at most the number of records. Lemma 4.6 has r blocks of n
        records each; here block sizes may differ by one.
    learner : str or scikit-learn classifier
        The algorithm A where no `predictor` is given: a classifier, of the trivial rate gamma = 1.
    predictor : object or `module:object`, optional
        Any other A: a mechanism that answers a number without coins and claims
        `PredictionStability`. Its claim must hold for every block size that occurs.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or the predictor claims no rate.
    """

    r: int = 25
    learner: Any = "logistic"
    predictor: Any = None
    part: Predictor = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(isinstance(self.r, int) and self.r >= 1, "r", self.r, "an integer >= 1")
        part = (
            Boolean(learner=self.learner)
            if self.predictor is None
            else predictor_of(self.predictor)
        )
        object.__setattr__(self, "part", part)

    @property
    def derived_parameters(self) -> dict[str, str]:
        """What is averaged."""
        return {"predictor": "a classifier"}

    @property
    def numbers(self) -> tuple[float, float]:
        """Least and greatest prediction: those of one predictor."""
        return self.part.numbers

    @property
    def gamma(self) -> float:
        """The rate that is claimed: that of one predictor divided by r."""
        return self.part.claims[0].promised / self.r

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim."""
        coins = "none; partition and training frozen (the claim holds for every value of these)"
        source = "Dwork and Feldman 2018, Lemma 4.6"
        return (
            PredictionStability(gamma=self.gamma, coins=coins, source=source, status="printed"),
        )

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless each block has a record and the predictor takes them."""
        require(self.r <= len(data), "r", self.r, f"at most the number of records, {len(data)}")
        if self.predictor is None:
            self.part.check(data)
            return
        for j in range(self.r):
            self.part.check(data.take(slice(j, None, self.r)))

    def prepare(self, data: Labelled) -> Parts:
        """Train on every block."""
        self.check(data)
        blocks = tuple(data.take(slice(j, None, self.r)) for j in range(self.r))
        return Parts(blocks=blocks, states=tuple(self.part.prepare(block) for block in blocks))

    def update(self, state: Parts, change: Change) -> Parts:
        """Return the neighbour's state, retraining only the block of the changed record."""
        place, j = divmod(change.index, self.r)
        block: Labelled = change.at(place).apply(state.blocks[j])
        return Parts(
            blocks=(*state.blocks[:j], block, *state.blocks[j + 1 :]),
            states=(*state.states[:j], self.part.prepare(block), *state.states[j + 1 :]),
        )

    def distribution(self, state: Parts, queries: NDArray[np.float64]) -> PointLaw:
        """Return the predictions themselves; there are no coins."""
        laws = [self.part.distribution(each, queries) for each in state.states]
        total = np.sum([law.values for law in laws], axis=0)
        rounding = (
            (self.r + 1)
            * UNIT_ROUNDOFF
            * float(np.max(np.mean([np.abs(law.values) for law in laws], axis=0)))
        )
        return PointLaw(
            values=total / self.r, error=sum(law.error for law in laws) / self.r + rounding
        )

    def sample(
        self,
        state: Parts,
        queries: NDArray[np.float64],
        size: int,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> NDArray[np.float64]:
        """Predictions, the same in every trial, shape (size, q)."""
        return np.tile(self.distribution(state, queries).values, (size, 1))

    def pairs(self) -> tuple[WorstCase, ...]:
        """One record per block, one label flipped, where the predictor is a classifier."""
        if self.predictor is not None:
            return ()
        reason = f"one of {self.r} predictions changes from 0 to 1, and so the mean by 1/{self.r}"
        reason = "the only prediction changes from 0 to 1" if self.r == 1 else reason
        return (one_record_per_block(self.r, 0, reason),)

    def reachable(self) -> Reachable | None:
        """Vote counts 0, ..., r, where the predictor is a classifier."""
        if self.predictor is not None:
            return None
        votes = np.arange(self.r + 1)
        return Reachable(
            states=tuple(f"{k} of {self.r} predictions are 1" for k in votes),
            law=PointLaw(values=votes / self.r, error=UNIT_ROUNDOFF),
            moves=np.stack([votes[:-1], votes[1:]], axis=1),
            argument=(
                "A record lies in one block, so a replacement changes one of the r predictions. "
                "Every count and every such change occurs for r records, one per block, whatever "
                "the learner: a block of one class gives a constant predictor."
            ),
            several=SEVERAL_VOTES,
        )
