"""Blocks: a partition of the records, and what a change of one record can do to the votes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dpassay.data import Labelled
from dpassay.errors import InvalidInput, require
from dpassay.mechanism import WorstCase
from dpassay.mechanisms.shared.learners import Teacher
from dpassay.pairs import FlipLabel

SEVERAL_VOTES = (
    "k replaced records lie in at most k blocks and change at most k votes; with one record per "
    "block, any k labels can be flipped."
)
"""Why k replaced records make just the moves of up to k votes; see `Reachable`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks:
    """State under a fixed partition: the blocks and the teacher trained on each."""

    blocks: tuple[Labelled, ...]
    teachers: tuple[Teacher, ...]


def check_binary(data: Labelled) -> None:
    """Raise `InvalidInput` unless every label is 0 or 1."""
    labels = np.unique(data.y)
    if labels[-1] > 1:
        raise InvalidInput(
            f"labels = {labels.tolist()}: must be 0 and 1; this algorithm predicts one of two "
            "labels"
        )


def check_column(data: Labelled, feature: int) -> None:
    """Raise `InvalidInput` unless every label is 0 or 1, and `feature` is a column, from 0."""
    check_binary(data)
    columns = data.X.shape[1]
    require(feature < columns, "feature", feature, f"below the number of columns, {columns}")


def one_record_per_block(r: int, ones: int, reason: str) -> WorstCase:
    """Return r records at one point, `ones` of them labelled 1, of which a zero is flipped.

    One block's prediction moves.
    """
    data = Labelled(np.zeros((r, 1)), (np.arange(r) >= r - ones).astype(np.int64))
    return WorstCase.of(
        data,
        FlipLabel(0),
        how=f"{r} record{'s' * (r > 1)}, {ones} of them labelled 1, one label flipped",
        reason=reason,
        query=[[0.0]],
    )


def block_sizes(n: int, r: int) -> list[int]:
    """Sizes of the r blocks of n records, in descending order: they differ by at most one."""
    return [len(range(j, n, r)) for j in range(r)]


def partition_count(n: int, r: int) -> int:
    """Number of partitions of n records into unnamed blocks of the sizes `block_sizes`."""
    sizes = block_sizes(n, r)
    named = math.factorial(n) // math.prod(math.factorial(size) for size in sizes)
    return named // math.prod(math.factorial(sizes.count(size)) for size in set(sizes))


def partitions(n: int, r: int) -> list[tuple[tuple[int, ...], ...]]:
    """All partitions that `partition_count` counts, records ascending in each block.

    Under a fresh one each is equally likely.
    """

    def extend(rest: tuple[int, ...], sizes: tuple[int, ...]) -> list[tuple[tuple[int, ...], ...]]:
        if not rest:
            return [()]
        first, found = rest[0], []
        # the block of the first record may have any of the sizes that are left
        for size in sorted(set(sizes)):
            remaining = list(sizes)
            remaining.remove(size)
            for others in combinations(rest[1:], size - 1):
                left = tuple(record for record in rest[1:] if record not in others)
                found += [((first, *others), *more) for more in extend(left, tuple(remaining))]
        return found

    return extend(tuple(range(n)), tuple(block_sizes(n, r)))
