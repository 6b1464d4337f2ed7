"""Executors: counts of tasks, from the ledger or from whoever runs the shards.

By default this process does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from time import monotonic
from typing import Any, Literal

from numpy.typing import NDArray

from dpassay.data import digest
from dpassay.errors import TargetError
from dpassay.trials.backends import Inline, Job, forget, local
from dpassay.trials.blocks import BlockCounts, joined
from dpassay.trials.cluster import Cluster, Remote
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated
from dpassay.trials.ledger import Key, Ledger, block_key, code_of, dataset_key
from dpassay.trials.tasks import (
    ANSWERS,
    SLOW_ANSWERS,
    Piece,
    Shard,
    ShardResult,
    Task,
    TrialRunner,
    answers_of,
    bundle,
    same,
    unrepeatable,
)

BEHIND = 16
"""Times `ahead` shards may have come back behind one that has not: their counts are kept."""
MOMENT = 0.2
"""Seconds that all the shards under way take together, about."""
LONGEST = 16
"""A shard asks for so many times the least at most."""
Kind = Literal["inline", "local", "dask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorOptions:
    """Who runs the trials, and where finished ones are kept; none of it changes a number.

    Trials run in this process, in `jobs` others (always for an isolated mechanism), or on a
    cluster.
    """

    kind: Kind = "inline"
    jobs: int = 1
    limits: Limits = field(default_factory=Limits)
    ledger: Ledger | None = None  # finished shards are written there, and looked for first
    cluster: Cluster | None = None  # goes with the kind `dask`


@dataclass(slots=True, kw_only=True)
class Pace:
    """How fast answers have come so far, and so how many make a shard worth its shipping."""

    least: int  # answers of a shard, as long as nothing is known
    ahead: int  # shards under way at a time
    _began: float = field(default_factory=monotonic)
    _came: int = 0

    def take(self, answers: int) -> None:
        """Count answers that have come."""
        self._came += answers

    @property
    def answers(self) -> int:
        """Answers of the next shard."""
        a_second = self._came / max(monotonic() - self._began, 1e-3)
        return max(self.least, min(LONGEST * self.least, int(a_second * MOMENT / self.ahead)))


class Executor:
    """Gives the counts of tasks in their order, and an error where the first one lies."""

    def __init__(self, runner: TrialRunner, options: ExecutorOptions) -> None:
        if isinstance(runner.target, Isolated):
            runner.target.hosts.check_not_lost()
        self._runner = runner
        # trials of what has coins of its own are never those that would come now
        self._ledger = options.ledger if runner.target.seeded else None
        self._code = code_of(runner.target) if self._ledger else []
        self._queries = [digest(group.queries) for group in runner.brief.groups]
        self._checked = False
        self._backend = self._opened(options)

    def counts(self, tasks: Sequence[Task]) -> Iterator[NDArray[Any]]:
        """Yield the counts (q, K) of each task in turn; errors are those of `drawn`."""
        return (found.calls.sum(axis=0) for found in self.drawn(tasks))

    def drawn(self, tasks: Sequence[Task]) -> Iterator[BlockCounts]:
        """Yield the counts of each task in turn, call by call; a failure raises `TargetError`."""
        most = SLOW_ANSWERS if self._runner.target.slow else ANSWERS
        pace = Pace(least=most, ahead=self._backend.ahead)
        shards = bundle(tasks, self._runner.brief.groups, most, lambda: pace.answers)
        found = self._pieces(shards, pace)
        for _, pieces in groupby(found, key=lambda each: each[0].task):
            yield joined(counts for _, counts in pieces)

    def afresh(self, shards: Sequence[Shard]) -> Iterator[tuple[BlockCounts, ...]]:
        """Yield the counts of the pieces of each shard, from a process that has done nothing else.

        They never come from the ledger. If the trials run in this process there is no
        other: only the states of the datasets are made anew.
        """
        for done in self._backend.afresh(shards):
            if done.failure is not None:
                raise TargetError(*done.failure)
            yield done.counts

    @property
    def seeded(self) -> bool:
        """Return whether trials come out the same again."""
        return self._runner.target.seeded

    def stream(self, task: Task) -> tuple[str | float, ...]:
        """Return the key of the random streams of a task."""
        return self._runner.stream(task)

    def close(self) -> None:
        """Stop whoever works for it."""
        self._backend.close()

    def _opened(self, options: ExecutorOptions) -> Inline:
        if options.cluster is not None:
            return Remote(options.cluster, self._runner, self._keep, options.limits)
        if options.kind == "local" or isinstance(self._runner.target, Isolated):
            return local(self._runner, self._keep, options.jobs, options.limits)
        return Inline(self._runner, self._keep)

    def _pieces(self, shards: Iterable[Shard], pace: Pace) -> Iterator[tuple[Piece, BlockCounts]]:
        """Yield every piece with its counts, in order; a few shards are under way at any time."""
        under_way: deque[tuple[Shard, dict[Piece, BlockCounts], Job | None]] = deque()
        try:
            for shard in shards:
                held = self._held(shard)
                missing = tuple(piece for piece in shard if piece not in held)
                under_way.append((shard, held, self._backend.start(missing) if missing else None))
                while self._backend.under_way >= self._backend.ahead:
                    self._backend.look()
                while under_way and self._may_finish(under_way):
                    yield from self._finished(*under_way[0], pace)
                    under_way.popleft()
            while under_way:
                yield from self._finished(*under_way[0], pace)
                under_way.popleft()
        finally:
            for _, _, job in under_way:
                if job is not None:
                    self._backend.abandon(job)

    def _may_finish(self, under_way: Sequence[tuple[Shard, Any, Job | None]]) -> bool:
        """Return whether the first shard has come back, or too many others wait for it."""
        job = under_way[0][2]
        came = job is None or job.ended
        return came or len(under_way) >= BEHIND * self._backend.ahead

    def _finished(
        self, shard: Shard, held: dict[Piece, BlockCounts], job: Job | None, pace: Pace
    ) -> Iterator[tuple[Piece, BlockCounts]]:
        done = ShardResult(counts=()) if job is None else self._backend.finish(job)
        drawn = iter(done.counts)
        for piece in shard:
            counts = held.get(piece)
            if counts is None and (counts := next(drawn, None)) is not None:
                pace.take(answers_of(piece, self._runner.brief.groups))
            if counts is None:
                break
            yield piece, counts
        if done.failure is not None:
            raise TargetError(*done.failure)

    def _held(self, shard: Shard) -> dict[Piece, BlockCounts]:
        """Return what the ledger holds of a shard; the first find is run again as a check."""
        if self._ledger is None:
            return {}
        found = {
            piece: counts
            for piece in shard
            if (counts := self._ledger.get(self._key(piece))) is not None
        }
        if found and not self._checked:
            piece, counts = next(iter(found.items()))
            done = self._backend.finish(self._backend.start((piece,), forget))
            if done.failure is not None:
                raise TargetError(*done.failure)
            if not same(done.counts[0], counts):
                raise TargetError(unrepeatable(self._runner.brief.change(piece.task)))
            self._checked = True
        return found

    def _keep(self, shard: Shard, done: ShardResult) -> None:
        if self._ledger is not None and done.failure is None:
            self._ledger.keep(
                (self._key(piece), counts) for piece, counts in zip(shard, done.counts, strict=True)
            )

    def _key(self, piece: Piece) -> Key:
        task = piece.task
        coding = self._runner.brief.codings[task.group].key
        dataset = dataset_key(
            self._runner.stream(task), self._queries[task.group], coding, self._code, task.rows
        )
        return block_key(dataset, piece.first, piece.stop, task.size)


@contextmanager
def executor(runner: TrialRunner, options: ExecutorOptions) -> Iterator[Executor]:
    """Open an executor, and leave no process behind it."""
    opened = Executor(runner, options)
    try:
        yield opened
    finally:
        opened.close()
