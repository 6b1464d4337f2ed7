"""Shards: how the trials of a result are cut into portions of work, and how a portion is done.

No number depends on the cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.errors import TargetError
from dpassay.pairs import Change
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.trials.blocks import (
    BlockCounts,
    block_of,
    blocks,
    draw_blocks,
    joined,
    rows_of,
    stream_key,
    where,
)
from dpassay.trials.encoders import Coding
from dpassay.trials.wire import Line, Text

ANSWERS = 500_000
"""A piece asks for so many answers (trials times queries), and a shard too unless they come fast:
milliseconds to seconds of work."""
SLOW_ANSWERS = 5_000
"""The same of a mechanism that is asked for one run at a time, or outside of Python: each of its
runs may take milliseconds, and a shard must not take a minute."""
DATASETS = 8
"""A shard works on so many datasets at most, since preparing one may take long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Trials of one dataset."""

    group: int
    pair: int | None  # which change was made to the base; None for the base itself
    phase: str  # what the trials are for
    size: int  # how many
    lot: int = 0  # which of several lots of that phase

    @property
    def name(self) -> str:
        """Phase and lot, as random streams are named after them."""
        return f"{self.phase} {self.lot}" if self.lot else self.phase

    @property
    def rows(self) -> int:
        """Trials that a call of `sample` is asked for at most."""
        return rows_of(self.phase, self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some successive blocks of a task."""

    task: Task
    first: int
    stop: int


Shard = tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardResult:
    """What came of a shard: counts of its pieces, up to the one that failed."""

    counts: tuple[BlockCounts, ...]
    failure: tuple[Line, Text] | None = None  # cause and detail of the `TargetError` that ended it


def cut(task: Task, queries: int, most: int = ANSWERS) -> Iterator[Piece]:
    """Cut a task into pieces of about `most` answers."""
    step = max(1, most // (block_of(task.size) * queries))
    every = blocks(task.size)
    for first in every[::step]:
        yield Piece(task=task, first=first, stop=min(first + step, every.stop))


def answers_of(piece: Piece, groups: Sequence[PairGroup]) -> int:
    """Return for how many answers a piece asks."""
    length, task = block_of(piece.task.size), piece.task
    trials = min((piece.stop - piece.first) * length, task.size)
    return trials * len(groups[task.group].queries)


def bundle(
    tasks: Iterable[Task],
    groups: Sequence[PairGroup],
    most: int = ANSWERS,
    worth: Callable[[], int] | None = None,
) -> Iterator[Shard]:
    """Gather successive pieces until they are worth being shipped.

    A piece asks for about `most` answers and a shard for as many, or for what `worth` says then.
    """
    shard: list[Piece] = []
    answers = datasets = 0
    for task in tasks:
        datasets += 1
        for piece in cut(task, len(groups[task.group].queries), most):
            shard.append(piece)
            answers += answers_of(piece, groups)
            if answers >= (worth() if worth else most) or datasets >= DATASETS:
                yield tuple(shard)
                shard, answers, datasets = [], 0, 0
    if shard:
        yield tuple(shard)


def span(task: Task, first: int, stop: int) -> str:
    """Name the trials of some blocks in a message."""
    length = block_of(task.size)
    return f"{task.phase} trials {first * length} to {min(stop * length, task.size) - 1}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class ShardBrief:
    """What the trials of some shards are about."""

    groups: tuple[PairGroup, ...]  # what the tasks refer to
    codings: tuple[Coding, ...]  # what is counted, per group
    seed: int

    def change(self, task: Task) -> Change | None:
        """Return the change that makes the dataset of a task."""
        return None if task.pair is None else self.groups[task.group].pairs.changes[task.pair]


class TrialRunner:
    """Where the trials of a mechanism are run; see `ShardBrief` for what they are about.

    It keeps the state of the last base dataset and of its last neighbour.
    """

    def __init__(
        self,
        target: AuditTarget,
        groups: tuple[PairGroup, ...],
        codings: tuple[Coding, ...],
        seed: int,
    ) -> None:
        self.target = target
        self.brief = ShardBrief(groups=groups, codings=codings, seed=seed)
        self._base: tuple[object, Any] = (None, None)
        self._neighbour: tuple[object, Any] = (None, None)

    def stream(self, task: Task) -> tuple[str | float, ...]:
        """Return the key of the random streams of a task."""
        group, change = self.brief.groups[task.group], self.brief.change(task)
        return stream_key(self.target, group, change, phase=task.name, seed=self.brief.seed)

    def run(self, shard: Shard, *, probe: bool = False) -> ShardResult:
        """Run the trials of a shard.

        With `probe` the first piece twice, which must give the same counts where coins are seeded.
        """
        found: list[BlockCounts] = []
        try:
            for piece in shard:
                found.append(self._draw(piece))
                if probe and len(found) == 1 and self.target.seeded:
                    self._repeat(piece, found[0])
            self._unchanged({piece.task.group for piece in shard})
        except TargetError as error:
            return ShardResult(counts=tuple(found), failure=(error.cause, error.detail))
        return ShardResult(counts=tuple(found))

    def _repeat(self, piece: Piece, counts: BlockCounts) -> None:
        if not same(self._draw(piece), counts):
            raise TargetError(unrepeatable(self.brief.change(piece.task)))

    def _unchanged(self, groups: set[int]) -> None:
        """Raise if the mechanism has written into a dataset that it was lent."""
        for g in groups:
            if self.brief.groups[g].pairs.base.digest != self.brief.groups[g].digest:
                raise TargetError(
                    "it changed the dataset that it was given; a mechanism must leave its inputs "
                    "as they are"
                )

    def _draw(self, piece: Piece) -> BlockCounts:
        task = piece.task
        group, coding = self.brief.groups[task.group], self.brief.codings[task.group]
        change = self.brief.change(task)
        state, key, drawn = self._state(task), self.stream(task), []
        for block in range(piece.first, piece.stop):
            try:
                one = range(block, block + 1)
                drawn.append(
                    draw_blocks(
                        self.target, state, group, change, task.size, one, key, coding, task.rows
                    )
                )
            except TargetError as error:
                raise TargetError(
                    f"{error.cause} ({span(task, block, block + 1)})", error.detail
                ) from error
        return joined(drawn)

    def _state(self, task: Task) -> Any:
        """Return the state of a task's dataset, made anew for every phase."""
        place, data = (task.phase, task.group), self.brief.groups[task.group].pairs.base
        if self._base[0] != place:
            self._base = self._neighbour = (None, None)
            self._base = (place, self.target.prepare(data))
        change = self.brief.change(task)
        if change is None:
            return self._base[1]
        if self._neighbour[0] != (place, task.pair):
            self._neighbour = (None, None)
            self._neighbour = (
                (place, task.pair),
                self.target.neighbour(data, self._base[1], change),
            )
        return self._neighbour[1]


def same(one: BlockCounts, other: BlockCounts) -> bool:
    """Return whether two counts of the same trials agree, as they must."""
    return one.marks == other.marks and np.array_equal(one.calls, other.calls, equal_nan=True)


def unrepeatable(change: Change | None) -> str:
    """Say that a mechanism has coins besides those of its generator."""
    return (
        f"sample on {where(change)} answers the same rng differently: it must draw from rng alone, "
        "else its trials cannot be shared out (--executor local) or taken up again (--resume)"
    )
