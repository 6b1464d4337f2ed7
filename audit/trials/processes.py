"""Trials in processes of their own.

A shard that hangs or kills its worker is tried again piece by piece, then reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from dpassay.claims import Claim
from dpassay.errors import InvalidInput, TargetError
from dpassay.trials.blocks import Counts, where
from dpassay.trials.isolation.desk import Desk
from dpassay.trials.isolation.hosts import Hosts
from dpassay.trials.isolation.introduce import shared_by
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated
from dpassay.trials.pool import Pool, Question
from dpassay.trials.tasks import Brief, Shard, ShardResult, TrialRunner, span
from dpassay.trials.wire import Garbled
from dpassay.trials.written import shard_result_from

EXPECTED = "expected sample(state, queries, size, rng) to return labels of shape (size, queries)"
OVERTIME = "a shard took longer than {:g} s (--shard-timeout)"

Keep = Callable[[Shard, ShardResult], None]
"""Called with every shard that comes back, as soon as it does."""


@dataclass(slots=True, kw_only=True, eq=False)
class Job(Question):
    """A shard that is to be run; `last` if it is not tried again.

    It ends with what came of it, or why nothing did.
    """

    shard: Shard
    last: bool
    done: ShardResult | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Local:
    """Runs shards in `jobs` processes."""

    brief: Brief
    part: Claim | None
    keep: Keep
    jobs: int
    hosts: Hosts
    theirs: bool = True
    ahead: int = field(init=False)
    _pool: Pool = field(init=False)

    def __post_init__(self) -> None:
        self.ahead = 4 * self.jobs
        self._pool = Pool(self.hosts, self.jobs, self._take, OVERTIME)

    def start(self, shard: Shard) -> list[Job]:
        """Take a shard."""
        job = self._job(shard, last=False)
        self._pool.submit(job)
        return [job]

    def finish(self, receipt: list[Job]) -> ShardResult:
        """Wait for a shard; pieces of one that failed are tried once more, one by one."""
        counts: list[Counts] = []
        place = 0
        while place < len(receipt):
            job = receipt[place]
            self._pool.wait(job)
            if job.done is not None:
                counts += job.done.counts
                if job.done.failure is not None:
                    return self._failed(
                        receipt[place + 1 :],
                        ShardResult(counts=tuple(counts), failure=job.done.failure),
                    )
                place += 1
            elif job.last:
                failure = twice(job.cause, self.brief, job.shard), job.detail
                return self._failed(
                    receipt[place + 1 :], ShardResult(counts=tuple(counts), failure=failure)
                )
            else:
                pieces = [self._job((piece,), last=True) for piece in job.shard]
                receipt[place : place + 1] = pieces
                for piece in pieces:
                    self._pool.enqueue(piece)
        return ShardResult(counts=tuple(counts))

    @property
    def under_way(self) -> int:
        """Return how many shards are waited for."""
        return self._pool.under_way

    def look(self) -> None:
        """Wait a moment for any shard."""
        self._pool.look()

    def ended(self, receipt: list[Job]) -> bool:
        """Return whether an answer of a shard, or the news that there is none, has come."""
        return all(job.ended for job in receipt)

    def abandon(self, receipt: list[Job]) -> None:
        """Stop working on a shard."""
        self._pool.abandon(receipt)

    def afresh(self, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        """Yield what comes of each shard, each in an unused process, `jobs` at a time."""
        at_work: deque[tuple[Local, list[Job]]] = deque()
        try:
            for shard in shards:
                if len(at_work) >= self.jobs:
                    yield self._ended(*at_work.popleft())
                other = Local(
                    brief=self.brief,
                    part=self.part,
                    keep=forget,
                    jobs=1,
                    hosts=self.hosts.afresh(),
                )
                at_work.append((other, other.start(shard)))
            while at_work:
                yield self._ended(*at_work.popleft())
        finally:
            for other, _ in at_work:
                self.hosts.absorb(other.hosts)

    def _ended(self, other: Local, receipt: list[Job]) -> ShardResult:
        """Return what came of a shard elsewhere, and end the process."""
        try:
            return other.finish(receipt)
        finally:
            self.hosts.absorb(other.hosts)

    def close(self) -> None:
        """End the processes; those that stay open for others only while they are at work."""
        self._pool.dismiss()
        if not self.theirs:
            self.hosts.close()

    def _failed(self, rest: list[Job], done: ShardResult) -> ShardResult:
        self.abandon(rest)
        return done

    def _job(self, shard: Shard, *, last: bool) -> Job:
        known = (self.brief, *(group.pairs.base for group in self.brief.groups))
        return Job(
            operation="run",
            arguments=(self.part, self.brief, shard),
            known=known,
            shard=shard,
            last=last,
        )

    def _take(self, question: Question) -> None:
        """Read what came of a shard."""
        assert isinstance(question, Job)
        try:
            done = question.answer.result()
            question.done = shard_result_from(done, self.brief, question.shard)
        except (Garbled, InvalidInput):
            question.cause = "the worker sent counts that are none"
        except TargetError as error:
            question.cause, question.detail = error.cause, error.detail
        else:
            self.keep(question.shard, question.done)


def local(runner: TrialRunner, keep: Keep, jobs: int, limits: Limits) -> Local:
    """Return what runs shards in processes of the mechanism if it is isolated, else in new ones."""
    target = runner.target
    theirs = isinstance(target, Isolated)
    hosts = (
        target.hosts
        if isinstance(target, Isolated)
        else Hosts(
            target.name, Desk(lambda: target, limits.memory), limits, shared_by(runner.groups)
        )
    )
    part = target.part if isinstance(target, Isolated) else None
    return Local(brief=runner.brief, part=part, keep=keep, jobs=jobs, hosts=hosts, theirs=theirs)


def twice(cause: str, brief: Brief, shard: Shard) -> str:
    """Say why a shard of one piece has failed that was tried twice."""
    (piece,) = shard
    place = f"{where(brief.change(piece.task))} ({span(piece.task, piece.first, piece.stop)})"
    return f"{cause} on {place}, also when tried again; {EXPECTED}"


def forget(shard: Shard, done: ShardResult) -> None:
    """Keep nothing."""
