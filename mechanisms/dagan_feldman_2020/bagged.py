"""Models on parts of the data.

The baselines that Dagan and Feldman (2020) compare with, after [SSSSS10].

"A simple, general, and well-known approach to improve stability is via averaging of models trained
on disjoint subsets of data. Alternatively, one can pick a random subset of the dataset and run the
algorithm on that subset. Clearly, this technique improves stability by a factor k at the expense of
using k times more data" (introduction; k is r here, as in `soft-majority`).

* `disjoint`: record i is in block i mod r; a uniformly chosen block's model answers.
  P[1] = votes / r. It is the label made from the average of the models phi(x) = E h(x) of the
  footnote to the definition of stability; phi itself is the target `averaged`.
* `subset`: a model is trained on a uniformly random subset of n' = floor(n / r) records in every
  trial, and answers.

Claim as printed: stability gamma / r for a learner of stability gamma; every learner of labels has
gamma = 1.

Both are attained, the second where r divides n and the learner separates two points
(docs/findings.md, 'Bagging'). No epsilon is claimed, and none is finite: a label that no model
gives is impossible, and one replaced record makes it possible.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, Stability
from dpassay.data import Labelled
from dpassay.errors import is_count, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism, Reachable, WorstCase
from dpassay.mechanisms.dagan_feldman_2020.subset_draws import (
    MOST_SUBSETS,
    draw_subsets,
    share_law,
    subset_count,
    subsets,
)
from dpassay.mechanisms.dagan_feldman_2020.threshold_subsets import threshold_answers, threshold_law
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.mechanisms.shared.blocks import SEVERAL_VOTES, Blocks, one_record_per_block
from dpassay.mechanisms.shared.learners import ORDERLESS
from dpassay.mechanisms.shared.ranges import check_word
from dpassay.pairs import Change, FlipLabel

COLUMNS = 32
"""Columns of the own worst case, all alike: so many that a learner finds those that it looks at."""
MARGIN = 1.1
"""A smaller constant than the printed one is a claim of its own from this factor on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bagged(Mechanism):
    """One of r models, or a model of one part in r of the records.

    Parameters
    ----------
    r : int
        Number of blocks, or of how many records one is in the subset; >= 1 and at most the number
        of records. The paper's k.
    how : {"disjoint", "subset"}
        See the module's docstring. Relation: replace-one; a replacement takes the place of the
        record it replaces.
    learner : str or scikit-learn classifier
        As for `SoftMajority`: a name of `dpassay.mechanisms.shared.learners.LEARNERS` (`threshold`
        is the exact minimiser of the empirical error), `module:object`, or an object. A block with
        one class becomes a constant predictor.
    n : int
        Number of records, >= r: the claim of `subset` depends on it, and refuses other datasets;
        `disjoint` takes any.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    r: int = 25
    how: Literal["disjoint", "subset"] = "disjoint"
    learner: Any = "threshold"
    n: int = 100
    blocks: SoftMajority = field(init=False, repr=False, compare=False)
    """What trains on the blocks, and how they change."""

    def __post_init__(self) -> None:
        require(is_count(self.r), "r", self.r, "an integer >= 1")
        check_word("disjoint", "subset", how=self.how)
        require(is_count(self.n), "n", self.n, "an integer >= 1")
        if self.how == "subset":
            require(self.r <= self.n, "r", self.r, f"at most the number of records, n = {self.n}")
        object.__setattr__(self, "blocks", SoftMajority(r=self.r, learner=self.learner))

    @property
    def size(self) -> int:
        """Records in a random subset: n' = floor(n / r)."""
        return self.n // self.r

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim; n' / n where rounding down makes that smaller by more than a tenth."""
        if self.how == "disjoint":
            coins = (
                "block fresh; partition and training frozen (the claim holds for every value of "
                "these)"
            )
        else:
            coins = "subset fresh; training frozen (the claim holds for every value of its coins)"
        source = "Dagan and Feldman 2020, introduction, after [SSSSS10]"
        printed = Stability(gamma=1 / self.r, coins=coins, source=source, status="printed")
        share = self.size / self.n
        if self.how == "disjoint" or share * MARGIN >= 1 / self.r:
            return (printed,)
        return printed, Stability(
            gamma=share, coins=coins, source="docs/findings.md, 'Bagging'", status="corrected"
        )

    @property
    def exchangeable(self) -> bool:
        """Whether the order of the records does not matter.

        All subsets are equally likely, and the learner counts its records.
        """
        return self.how == "subset" and self.learner in ORDERLESS

    @property
    def fixed_n(self) -> int | None:
        """The only number of records that it takes; disjoint blocks take any."""
        return self.n if self.how == "subset" else None

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless the labels are 0 and 1 and the number of records fits."""
        self.blocks.check(data)
        if self.how == "subset":
            require(len(data) == self.n, "n", self.n, f"the number of records, {len(data)}")

    def prepare(self, data: Labelled) -> Blocks | Labelled:
        """Train on the blocks; a random subset leaves nothing to prepare."""
        self.check(data)
        return data if self.how == "subset" else self.blocks.prepare(data)

    def update(self, state: Blocks | Labelled, change: Change) -> Blocks | Labelled:
        """Return the neighbour's state, retraining only the block of the changed record."""
        return self.blocks.update(state, change)

    def sample(
        self,
        state: Blocks | Labelled,
        queries: NDArray[np.float64],
        size: int,
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Labels of `size` independent trials at q queries, shape (size, q).

        Each is on a block or a subset of its own.
        """
        if isinstance(state, Blocks):
            answers = np.stack([teacher.predict(queries) for teacher in state.teachers])
            return np.take_along_axis(
                answers, rng.integers(self.r, size=(size, len(queries))), axis=0
            )
        drawn = draw_subsets(len(state), self.size, size, rng, kept=True)
        return np.concatenate([self._answers(state, rows, queries) for rows in drawn])

    def distribution(
        self, state: Blocks | Labelled, queries: NDArray[np.float64]
    ) -> FiniteLaw | None:
        """Exact law: the share of the models that answer 1.

        For more than 10,000 subsets only with the learner `threshold`.
        """
        if isinstance(state, Blocks):
            return share_law(np.stack([teacher.predict(queries) for teacher in state.teachers]))
        if subset_count(len(state), self.size, kept=True) > MOST_SUBSETS:
            return (
                threshold_law(state, self.size, queries[:, 0])
                if self.learner == "threshold"
                else None
            )
        answers = self._answers(state, subsets(len(state), self.size, kept=True), queries)
        return share_law(answers)

    def pairs(self) -> tuple[WorstCase, ...]:
        """From no model that answers 1 to as many as one record can make.

        Disjoint: one record per block, one label flipped; and the same just below the middle, where
        the loss is finite. Subset: one record apart from all others, which decides there whenever
        it is drawn, its label flipped.
        """
        if self.how == "subset":
            return (self._alone(),)
        first = one_record_per_block(
            self.r, 0, f"the votes for 1 rise from 0 to 1 of {self.r}: no model answered 1 before"
        )
        ones = self.r // 2
        if ones < 1:
            return (first,)
        return first, one_record_per_block(
            self.r, ones, f"the votes for 1 rise from {ones} to {ones + 1} of {self.r}"
        )

    def _alone(self) -> WorstCase:
        X, y = np.ones((self.n, COLUMNS)), np.zeros(self.n, dtype=np.int64)
        X[0] = 2.0
        how = (
            f"{self.n} records labelled 0, one of them apart from all others; its label is flipped"
        )
        reason = (
            f"the record is drawn with probability {self.size}/{self.n} and then decides the "
            "answer at its point, if the learner separates two points; without it no model "
            "answers 1"
        )
        return WorstCase.of(Labelled(X, y), FlipLabel(0), how=how, reason=reason, query=X[:1])

    def reachable(self) -> Reachable | None:
        """Vote counts 0, ..., r of disjoint blocks."""
        if self.how == "subset":
            return None
        votes = np.arange(self.r + 1)
        return Reachable(
            states=tuple(f"{k} of {self.r} models answer 1" for k in votes),
            law=share_law((np.arange(self.r)[:, None] < votes).astype(np.int64)),
            moves=np.stack([votes[:-1], votes[1:]], axis=1),
            argument=(
                "A record lies in one block, so a replacement changes one of the r models. Every "
                "count and every such change occurs for r records, one per block, whatever the "
                "learner: a block of one class gives a constant model."
            ),
            several=SEVERAL_VOTES,
        )

    def _answers(
        self, data: Labelled, rows: NDArray[np.int64], queries: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """What the models of these subsets answer, shape (subsets, q)."""
        if self.learner == "threshold":
            return threshold_answers(data.X[:, 0], data.y, rows, queries[:, 0])
        fit = self.blocks.block_learner.fit
        return np.stack([fit(data.take(row)).predict(queries) for row in rows])
