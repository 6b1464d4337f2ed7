"""Soft majority vote over disjoint blocks (Dwork and Feldman 2018, Theorem 4.1).

Split S into r blocks, train A on each to get f_1, ..., f_r, let v(S, x) = 2 |{i : f_i(x) = 1}| - r,
and answer 1 with probability e^(epsilon v / 2) / (1 + e^(epsilon v / 2)).

Claim as printed: epsilon-differentially private prediction, for every epsilon > 0 and every learner
A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.errors import require
from dpassay.laws import FiniteLaw, bernoulli_law, mixture_law
from dpassay.mechanism import Mechanism, Reachable, WorstCase
from dpassay.mechanisms.shared.blocks import (
    SEVERAL_VOTES,
    Blocks,
    check_binary,
    one_record_per_block,
    partition_count,
    partitions,
)
from dpassay.mechanisms.shared.learners import ORDERLESS, BlockLearner, Teacher
from dpassay.mechanisms.shared.ranges import check_positive, check_word
from dpassay.pairs import Change

MAX_PARTITIONS = 10_000
"""Fresh partitions are enumerated up to this number; beyond it there is no exact law."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftMajority(Mechanism):
    """Soft majority of r teachers.

    Parameters
    ----------
    epsilon : float
        Claimed privacy loss of one prediction, in nats; finite and > 0. Relation: replace-one.
    r : int
        Number of blocks, >= 1 and at most the number of records. The theorem takes r = ceil(6
        ln(4 / alpha) / epsilon) for error alpha (`blocks_for`), and n = r n'; here block sizes may
        differ by one.
    learner : str or scikit-learn classifier
        The algorithm A: a name of `dpassay.mechanisms.shared.learners.LEARNERS`, `module:object`,
        or an object. A block with one class becomes a constant predictor. Its coins, if any, are
        frozen.
    partition : {"fixed", "fresh"}
        `fixed`: record i is in block i mod r, and a replacement takes the place of the record it
        replaces; the proof holds for each such partition. `fresh`: a uniformly random partition in
        every trial, as the proof words it; unless the partitions can be enumerated, every trial
        trains r models, so that sampling takes hours on real data.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    epsilon: float = 1.0
    r: int = 25
    learner: Any = "logistic"
    partition: Literal["fixed", "fresh"] = "fixed"
    block_learner: BlockLearner = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)
        require(isinstance(self.r, int) and self.r >= 1, "r", self.r, "an integer >= 1")
        check_word("fixed", "fresh", partition=self.partition)
        object.__setattr__(self, "block_learner", BlockLearner(self.learner))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim."""
        return (
            DP(
                epsilon=self.epsilon,
                coins=self._coins,
                source="Dwork and Feldman 2018, Theorem 4.1",
                status="printed",
            ),
        )

    @property
    def _coins(self) -> str:
        if self.partition == "fixed":
            return (
                "answer fresh; partition and training frozen (the claim holds for every value of "
                "these)"
            )
        return (
            "partition and answer fresh; training frozen (the claim holds for every value of its "
            "coins)"
        )

    @property
    def exchangeable(self) -> bool:
        """Whether the order of the records does not matter.

        All partitions are equally likely, and A counts its records. A fixed partition knows places.
        """
        return self.partition == "fresh" and self.learner in ORDERLESS

    def symmetries(self, sides: tuple[int, ...]) -> tuple[str, ...]:  # noqa: ARG002
        """A majority looks at no point."""
        return ("points",) if self.learner == "majority" else ()

    def blocks_for(self, alpha: float) -> int:
        """Return r = ceil(6 ln(4 / alpha) / epsilon), the theorem's blocks for error alpha.

        Alpha lies in (0, 1).
        """
        require(0 < alpha < 1, "alpha", alpha, "a number in (0, 1)")
        return math.ceil(6 * math.log(4 / alpha) / self.epsilon)

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless labels are 0 and 1 and each block has a record."""
        check_binary(data)
        require(self.r <= len(data), "r", self.r, f"at most the number of records, {len(data)}")

    def prepare(self, data: Labelled) -> Blocks | Labelled:
        """Train the r teachers of a fixed partition; a fresh one leaves nothing to prepare."""
        self.check(data)
        if self.partition == "fresh":
            return data
        blocks = tuple(data.take(slice(j, None, self.r)) for j in range(self.r))
        return Blocks(
            blocks=blocks, teachers=tuple(self.block_learner.fit(block) for block in blocks)
        )

    def update(self, state: Blocks | Labelled, change: Change) -> Blocks | Labelled:
        """Return the neighbour's state, retraining only the changed record's teacher."""
        if isinstance(state, Labelled):
            neighbour: Labelled = change.apply(state)
            return neighbour
        place, j = divmod(change.index, self.r)
        block: Labelled = change.at(place).apply(state.blocks[j])
        check_binary(block)
        return Blocks(
            blocks=(*state.blocks[:j], block, *state.blocks[j + 1 :]),
            teachers=(*state.teachers[:j], self.block_learner.fit(block), *state.teachers[j + 1 :]),
        )

    def sample(
        self,
        state: Blocks | Labelled,
        queries: NDArray[np.float64],
        size: int,
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Labels of `size` independent trials at q queries, shape (size, q)."""
        if isinstance(state, Blocks):
            votes = self._votes(state.teachers, queries)[None]
        else:
            orders = rng.permuted(np.tile(np.arange(len(state)), (size, 1)), axis=1)
            votes = np.stack([self._votes(self._teach(state, order), queries) for order in orders])
        return (rng.random((size, len(queries))) < expit(self.logit(votes))).astype(np.int64)

    def distribution(
        self, state: Blocks | Labelled, queries: NDArray[np.float64]
    ) -> FiniteLaw | None:
        """Exact law: sigma(epsilon v / 2), averaged over at most 10,000 partitions if fresh."""
        if isinstance(state, Blocks):
            return bernoulli_law(self.logit(self._votes(state.teachers, queries)))
        if partition_count(len(state), self.r) > MAX_PARTITIONS:
            return None
        teachers = (
            [self.block_learner.fit(state.take(list(block))) for block in blocks]
            for blocks in partitions(len(state), self.r)
        )
        return mixture_law(
            [bernoulli_law(self.logit(self._votes(each, queries))) for each in teachers]
        )

    def logit(self, votes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log-odds of label 1 given the number of teachers that vote 1.

        epsilon v / 2 with v = 2 votes - r.
        """
        return np.asarray(self.epsilon * (2 * votes - self.r) / 2, dtype=float)

    def pairs(self) -> tuple[WorstCase, ...]:
        """One record per block, one label flipped: from no vote to one, and just below the middle.

        The first is the largest loss, of an answer that may be too rare to be sampled; the second
        loses less where answers are frequent.
        """
        rare = f"the votes for 1 rise from 0 to 1 of {self.r}, where label 1 is rarest"
        ones = self.r // 2 - 1
        if ones < 1:
            return (one_record_per_block(self.r, 0, rare),)
        middle = f"the votes for 1 rise from {ones} to {ones + 1} of {self.r}, near half"
        return one_record_per_block(self.r, 0, rare), one_record_per_block(self.r, ones, middle)

    def reachable(self) -> Reachable:
        """Vote counts 0, ..., r; a replaced record moves one vote at most."""
        votes = np.arange(self.r + 1)
        how = (
            "A record lies in one block, so a replacement changes one teacher, and the vote count "
            "by at most 1. Every count and every such change occurs for r records, one per block, "
            "whatever the learner: a block of one class gives a constant teacher."
        )
        fresh = (
            " With a fresh partition the law is an average over partitions that both neighbours "
            "share, and the loss of an average is at most the largest of the losses; with one "
            "record per block all partitions are equivalent, so the same worst case is attained."
        )
        return Reachable(
            states=tuple(f"{k} of {self.r} votes for 1" for k in votes),
            law=bernoulli_law(self.logit(votes)),
            moves=np.stack([votes[:-1], votes[1:]], axis=1),
            argument=how + (fresh if self.partition == "fresh" else ""),
            several=SEVERAL_VOTES,
        )

    def _votes(self, teachers: Any, queries: NDArray[np.float64]) -> NDArray[np.int64]:
        votes: NDArray[np.int64] = np.sum(
            [teacher.predict(queries) for teacher in teachers], axis=0, dtype=np.int64
        )
        return votes

    def _teach(self, data: Labelled, order: NDArray[np.int64]) -> list[Teacher]:
        blocks = (np.sort(order[j :: self.r]) for j in range(self.r))
        return [self.block_learner.fit(data.take(block)) for block in blocks]
