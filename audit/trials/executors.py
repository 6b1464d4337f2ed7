"""Executors: counts of tasks, from the ledger or from whoever runs the shards.

By default this process does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal, Protocol

from numpy.typing import NDArray

from dpassay.data import digest
from dpassay.errors import TargetError
from dpassay.trials.blocks import Counts, joined
from dpassay.trials.cluster import Cluster
from dpassay.trials.cluster_backend import Remote
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated
from dpassay.trials.ledger import Key, Ledger, block_key, code_of, dataset_key
from dpassay.trials.pace import Pace
from dpassay.trials.processes import local
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


class Backend(Protocol):
    """Runs shards; `ahead` of them may be under way, in whatever order they come back."""

    @property
    def ahead(self) -> int:
        """So many."""
        ...

    @property
    def under_way(self) -> int:
        """Return how many have been taken and have not ended."""
        ...

    def look(self) -> None:
        """Wait a moment until one of them ends, whichever it is."""
        ...

    def ended(self, receipt: Any) -> bool:
        """Return whether `finish` has nothing to wait for, unless it is to try again."""
        ...

    def start(self, shard: Shard) -> Any:
        """Take a shard and return a receipt."""
        ...

    def finish(self, receipt: Any) -> ShardResult:
        """Return what came of it, once it is done."""
        ...

    def abandon(self, receipt: Any) -> None:
        """Forget about it."""
        ...

    def afresh(self, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        """Yield what comes of each shard in an unused process, or here if there is none."""
        ...

    def close(self) -> None:
        """Leave nothing behind."""
        ...


class Inline:
    """Runs a shard here and now."""

    ahead = 1
    under_way = 0

    def __init__(self, runner: TrialRunner, keep: Callable[[Shard, ShardResult], None]) -> None:
        self._bench = runner
        self._keep = keep

    def start(self, shard: Shard) -> Shard:
        """Take a shard."""
        return shard

    def finish(self, receipt: Shard) -> ShardResult:
        """Run it."""
        done = self._bench.run(receipt)
        self._keep(receipt, done)
        return done

    def look(self) -> None:
        """There is nothing to wait for."""

    def ended(self, receipt: Shard) -> bool:
        """Return whether `finish` waits for nobody: it does the work."""
        del receipt
        return True

    def abandon(self, receipt: Shard) -> None:
        """Nothing has been done about it yet."""

    def afresh(self, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        """Run them one after another."""
        return map(self._bench.run, shards)

    def close(self) -> None:
        """There is nothing to close."""


class Executor:
    """Gives the counts of tasks in their order, and an error where the first one lies."""

    def __init__(self, runner: TrialRunner, options: ExecutorOptions) -> None:
        if isinstance(runner.target, Isolated):
            runner.target.check_not_lost()
        self._bench = runner
        # trials of what has coins of its own are never those that would come now
        self._ledger = options.ledger if runner.target.seeded else None
        self._code = code_of(runner.target) if self._ledger else []
        self._queries = [digest(group.queries) for group in runner.groups]
        self._checking: Shard | None = None
        self._checked = False
        self._crew = self._backend(options)

    def counts(self, tasks: Sequence[Task]) -> Iterator[NDArray[Any]]:
        """Yield the counts (q, K) of each task in turn; errors are those of `drawn`."""
        return (found.calls.sum(axis=0) for found in self.drawn(tasks))

    def drawn(self, tasks: Sequence[Task]) -> Iterator[Counts]:
        """Yield the counts of each task in turn, call by call; a failure raises `TargetError`."""
        most = SLOW_ANSWERS if self._bench.target.slow else ANSWERS
        pace = Pace(least=most, ahead=self._crew.ahead)
        shards = bundle(tasks, self._bench.groups, most, lambda: pace.answers)
        found = self._pieces(shards, pace)
        for _, pieces in groupby(found, key=lambda each: each[0].task):
            yield joined(counts for _, counts in pieces)

    def afresh(self, shards: Sequence[Shard]) -> Iterator[tuple[Counts, ...]]:
        """Yield the counts of the pieces of each shard, from a process that has done nothing else.

        They never come from the ledger. If the trials run in this process there is no
        other: only the states of the datasets are made anew.
        """
        for done in self._crew.afresh(shards):
            if done.failure is not None:
                raise TargetError(*done.failure)
            yield done.counts

    @property
    def seeded(self) -> bool:
        """Return whether trials come out the same again."""
        return self._bench.target.seeded

    def stream(self, task: Task) -> tuple[str | float, ...]:
        """Return the key of the random streams of a task."""
        return self._bench.stream(task)

    def close(self) -> None:
        """Stop whoever works for it."""
        self._crew.close()

    def _backend(self, options: ExecutorOptions) -> Backend:
        if options.cluster is not None:
            return Remote(options.cluster, self._bench, self._keep, options.limits)
        if options.kind == "local" or isinstance(self._bench.target, Isolated):
            return local(self._bench, self._keep, options.jobs, options.limits)
        return Inline(self._bench, self._keep)

    def _pieces(self, shards: Iterable[Shard], pace: Pace) -> Iterator[tuple[Piece, Counts]]:
        """Yield every piece with its counts, in order; a few shards are under way at any time."""
        under_way: deque[tuple[Shard, dict[Piece, Counts], Any]] = deque()
        try:
            for shard in shards:
                held = self._held(shard)
                missing = tuple(piece for piece in shard if piece not in held)
                under_way.append((shard, held, self._crew.start(missing) if missing else None))
                while self._crew.under_way >= self._crew.ahead:
                    self._crew.look()
                while under_way and self._may_finish(under_way):
                    yield from self._finished(*under_way[0], pace)
                    under_way.popleft()
            while under_way:
                yield from self._finished(*under_way[0], pace)
                under_way.popleft()
        finally:
            for _, _, receipt in under_way:
                if receipt is not None:
                    self._crew.abandon(receipt)

    def _may_finish(self, under_way: Sequence[tuple[Shard, Any, Any]]) -> bool:
        """Return whether the first shard has come back, or too many others wait for it."""
        receipt = under_way[0][2]
        came = receipt is None or self._crew.ended(receipt)
        return came or len(under_way) >= BEHIND * self._crew.ahead

    def _finished(
        self, shard: Shard, held: dict[Piece, Counts], receipt: Any, pace: Pace
    ) -> Iterator[tuple[Piece, Counts]]:
        done = ShardResult(counts=()) if receipt is None else self._crew.finish(receipt)
        drawn = iter(done.counts)
        for piece in shard:
            counts = held.get(piece)
            if counts is None and (counts := next(drawn, None)) is not None:
                pace.take(answers_of(piece, self._bench.groups))
            if counts is None:
                break
            yield piece, counts
        if done.failure is not None:
            raise TargetError(*done.failure)

    def _held(self, shard: Shard) -> dict[Piece, Counts]:
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
            self._checking = (piece,)
            done = self._crew.finish(self._crew.start(self._checking))
            if done.failure is not None:
                raise TargetError(*done.failure)
            if not same(done.counts[0], counts):
                raise TargetError(unrepeatable(self._bench.change(piece.task)))
            self._checking, self._checked = None, True
        return found

    def _keep(self, shard: Shard, done: ShardResult) -> None:
        if self._ledger is not None and done.failure is None and shard != self._checking:
            self._ledger.put(
                (self._key(piece), counts) for piece, counts in zip(shard, done.counts, strict=True)
            )

    def _key(self, piece: Piece) -> Key:
        task = piece.task
        coding = self._bench.codings[task.group].key
        dataset = dataset_key(
            self._bench.stream(task), self._queries[task.group], coding, self._code, task.rows
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
