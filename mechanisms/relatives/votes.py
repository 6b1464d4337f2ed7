"""What the relatives share.

Voters are counted for each of K labels, and the answer is drawn from the counts alone.

A replaced record moves one vote at most: from a label a to a label b.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.errors import require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism, Reachable, WorstCase
from dpassay.mechanisms.shared.blocks import SEVERAL_VOTES, Blocks
from dpassay.mechanisms.shared.learners import BlockLearner
from dpassay.mechanisms.shared.noisy_max import NoisyMax
from dpassay.mechanisms.shared.teachers import (
    Counts,
    check_labels,
    counted,
    every_count,
    few_counts,
    states_of,
    worst_votes,
)
from dpassay.pairs import Change

COINS: Final = (
    "noise fresh; partition and training frozen (the claim holds for every value of these)"
)


class Votes(Mechanism):
    """An algorithm that depends on the dataset through counts of votes only.

    A subclass says who votes (`voters`, `counts`, `ARGUMENT`, `SEVERAL`) and what is answered: by
    `noisy_max`, or by `draw` and `law`.

    Attributes
    ----------
    K : int
        Number of labels 0, ..., K - 1.
    voters : int
        Number of votes.
    noisy_max : NoisyMax
        The noisy plurality that is answered.
    """

    __slots__ = ()
    ARGUMENT: ClassVar[str]
    """Why a replaced record moves one vote at most, and why all counts and moves occur."""
    SEVERAL: ClassVar[str]
    """The same for several records; see `Reachable`."""
    if TYPE_CHECKING:

        @property
        def K(self) -> int: ...  # noqa: D102
        @property
        def voters(self) -> int: ...  # noqa: D102
        @property
        def noisy_max(self) -> NoisyMax: ...  # noqa: D102
        def counts(self, state: Any, queries: NDArray[np.float64]) -> Counts: ...  # noqa: D102

    @property
    def labels(self) -> tuple[int, ...]:
        """0, ..., K - 1."""
        return tuple(range(self.K))

    def draw(self, counts: Counts, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Answers of `size` independent trials for counts (q, K), shape (size, q)."""
        return self.noisy_max.draw(counts, size, rng)

    def law(self, counts: Counts) -> FiniteLaw | None:
        """Exact law of the answer for counts (q, K); None where it is out of reach."""
        return self.noisy_max.law(counts) if self.noisy_max.has_law(self.voters, self.K) else None

    def sample(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Labels of `size` independent trials at q queries, shape (size, q)."""
        return self.draw(self.counts(state, queries), size, rng)

    def distribution(self, state: Any, queries: NDArray[np.float64]) -> FiniteLaw | None:
        """Exact law of the answer."""
        return self.law(self.counts(state, queries))

    def pairs(self) -> tuple[WorstCase, ...]:
        """The worst move of one vote for each claim, and one in the middle."""
        return worst_votes(self.reachable(), self.voters, self.K, self.claims, self.labels)

    def reachable(self) -> Reachable | None:
        """All counts; None if they are too many, or their law is out of reach."""
        if not few_counts(self.voters, self.K):
            return None
        counts = every_count(self.voters, self.K)
        law = self.law(counts)
        return None if law is None else states_of(counts, law, self.ARGUMENT, self.SEVERAL)


class TeacherVotes(Votes):
    """Votes of r teachers, each trained on a block of its own.

    Attributes
    ----------
    teachers : Teachers
        Those who vote. A subclass declares it as a field.
    """

    __slots__ = ()

    ARGUMENT = (
        "A record lies in one block, so a replacement changes one teacher and moves at most one "
        "vote. Every count and every such move occurs for r records, one per block, whatever the "
        "learner: a block of one class gives a constant teacher."
    )
    SEVERAL = SEVERAL_VOTES

    if TYPE_CHECKING:

        @property
        def r(self) -> int: ...  # noqa: D102

        @property
        def learner(self) -> Any: ...  # noqa: D102

        @property
        def block_learner(self) -> BlockLearner: ...  # noqa: D102

    def __post_init__(self) -> None:
        require(isinstance(self.r, int) and self.r >= 1, "r", self.r, "an integer >= 1")
        require(isinstance(self.K, int) and self.K >= 2, "K", self.K, "an integer >= 2")
        object.__setattr__(self, "block_learner", BlockLearner(self.learner, self.K))

    @property
    def voters(self) -> int:
        """One vote of each teacher."""
        return self.r

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless labels are below K and each block has a record."""
        check_labels(data, self.K)
        require(self.r <= len(data), "r", self.r, f"at most the number of records, {len(data)}")

    def prepare(self, data: Labelled) -> Blocks:
        """Train on every block."""
        self.check(data)
        blocks = tuple(data.take(slice(j, None, self.r)) for j in range(self.r))
        return Blocks(blocks=blocks, teachers=tuple(map(self.block_learner.fit, blocks)))

    def update(self, state: Blocks, change: Change) -> Blocks:
        """Return the neighbour's state, retraining only the block of the changed record."""
        place, j = divmod(change.index, self.r)
        block: Labelled = change.at(place).apply(state.blocks[j])
        check_labels(block, self.K)
        return Blocks(
            blocks=(*state.blocks[:j], block, *state.blocks[j + 1 :]),
            teachers=(*state.teachers[:j], self.block_learner.fit(block), *state.teachers[j + 1 :]),
        )

    def counts(self, state: Blocks, queries: NDArray[np.float64]) -> Counts:
        """Votes for each label at each query, shape (q, K)."""
        return counted(np.stack([teacher.predict(queries) for teacher in state.teachers]), self.K)
