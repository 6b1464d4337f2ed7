"""Who is a member: fair coins, independent over pairs of records; one of each pair is in.

All datasets have the same size, and two that differ in one coin differ in one replaced record: the
coins of an experiment are the neighbours of replace-one claims. Each record alone is a member with
probability 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.observed import Array, Flags
from dpassay.data import Labelled
from dpassay.errors import is_count, require
from dpassay.seeds import stream


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coins:
    """Coins of several models over e records; records 2 j and 2 j + 1 are a pair."""

    heads: Flags  # (models, e / 2): whether the first of the pair is in, else the second

    @property
    def membership(self) -> Flags:
        """Return whether a record is in the training set of a model, shape (models, e)."""
        members: Flags = np.stack([self.heads, ~self.heads], axis=2).reshape(len(self.heads), -1)
        return members

    def rows(self, model: int) -> NDArray[np.int64]:
        """Records of a model's training set, shape (e / 2,), in ascending order."""
        return np.flatnonzero(self.membership[model])

    def dataset(self, records: Labelled, model: int) -> Labelled:
        """Training set of a model."""
        return records.take(self.rows(model))

    def guesses(self, scores: Array) -> Array:
        """Return how much more the first of each pair looks like a member (models, e / 2)."""
        first, second = scores[:, 0::2], scores[:, 1::2]
        # equal infinities differ by 0
        return np.subtract(first, second, out=np.zeros(first.shape), where=first != second)


def toss(models: int, e: int, *, seed: int, who: str, mirrored: bool = False) -> Coins:
    """Toss the coins of some models over e records, e even.

    `who` (`reference`, `target`) selects a stream of its own. If `mirrored`, every second model
    has the coins of the one before turned over, so that each record is in half of the models.
    That suits reference models only: certification needs targets with independent coins.
    """
    require(is_count(models), "models", models, "an integer >= 1")
    require(is_count(e, 2) and e % 2 == 0, "records", e, "an even integer >= 2")
    drawn = np.array([stream(seed, "coins", who, i).random(e // 2) < 0.5 for i in range(models)])
    if mirrored:
        drawn[1::2] = ~drawn[: models - 1 : 2]
    return Coins(heads=drawn)


def one_a_pair(e: int, number: int, argument: str, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw some of e records, at most one of each pair, so that their coins are independent.

    They are in ascending order. An error names the number as the user's `argument`.
    """
    require(
        is_count(number) and number <= e // 2,
        argument,
        number,
        f"an integer in 1..{e // 2}, half of the records",
    )
    pairs = np.sort(rng.permutation(e // 2)[:number])
    places: NDArray[np.int64] = 2 * pairs + rng.integers(2, size=number)
    return places
