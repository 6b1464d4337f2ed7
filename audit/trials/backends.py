"""Backends: what runs shards, in this process or in others.

A shard that hangs or kills its process is tried again piece by piece, then reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dpassay.claims import Claim
from dpassay.trials.blocks import BlockCounts, where
from dpassay.trials.isolation.hosts import Hosts
from dpassay.trials.isolation.introduce import isolated
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated
from dpassay.trials.pool import Pool, Question, wait_for
from dpassay.trials.tasks import Shard, ShardBrief, ShardResult, TrialRunner, span
from dpassay.trials.wire import Garbled
from dpassay.trials.written import shard_result_from

EXPECTED = "expected sample(state, queries, size, rng) to return labels of shape (size, queries)"
OVERTIME = "a shard took longer than {:g} s (--shard-timeout)"

Keep = Callable[[Shard, ShardResult], None]
"""Called with every shard that comes back, as soon as it does."""


def forget(shard: Shard, done: ShardResult) -> None:
    """Keep nothing."""


@dataclass(slots=True, kw_only=True, eq=False)
class Job:
    """A shard that is run, and what came of it; `question` if another process is asked."""

    shard: Shard
    keep: Keep
    fresh: bool = False  # in a process that has done nothing else
    question: Question | None = None
    done: ShardResult | None = None


class Inline:
    """Runs shards here and now; others have them run, `ahead` of them at a time, in any order."""

    def __init__(self, runner: TrialRunner, keep: Keep) -> None:
        self._runner, self._keep = runner, keep

    @property
    def ahead(self) -> int:
        """Return how many shards may be under way."""
        return 1

    @property
    def under_way(self) -> int:
        """Return how many have been taken and have not ended."""
        return 0

    def look(self) -> None:
        """Wait a moment until one of them ends, whichever it is."""

    def start(self, shard: Shard, keep: Keep | None = None, *, fresh: bool = False) -> Job:
        """Take a shard."""
        job = Job(shard=shard, keep=keep or self._keep, fresh=fresh)
        job.done = self._runner.run(shard)
        job.keep(shard, job.done)
        return job

    def ended(self, job: Job) -> bool:
        """Return whether `finish` has nothing to wait for, unless it is to try again."""
        return job.question is None or job.question.ended

    def finish(self, job: Job) -> ShardResult:
        """Return what came of a shard, once it is done."""
        assert job.done is not None
        return job.done

    def abandon(self, job: Job) -> None:
        """Stop working on a shard."""

    def afresh(self, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        """Yield what comes of each shard in an unused process, or here if there is none."""
        at_work: deque[Job] = deque()
        try:
            for shard in shards:
                at_work.append(self.start(shard, forget, fresh=True))
                if len(at_work) >= self.ahead:
                    yield self.finish(at_work.popleft())
            while at_work:
                yield self.finish(at_work.popleft())
        finally:
            for job in at_work:
                self.abandon(job)

    def close(self) -> None:
        """Leave nothing behind."""


class Delegated(Inline):
    """Has shards run by the processes of a `Pool` or the workers of a `Cluster`."""

    final = False
    """Whether what is said instead of counts is not asked again: whoever says it has tried."""

    def __init__(self, asks: Any, brief: ShardBrief, keep: Keep) -> None:
        self._asks, self._brief, self._keep = asks, brief, keep
        self._closed = False

    def _question(self, job: Job) -> Question:
        """Return what is asked for a shard."""
        raise NotImplementedError

    @property
    def ahead(self) -> int:
        """As who is asked says."""
        return int(self._asks.ahead)

    @property
    def under_way(self) -> int:
        """Return how many answers are waited for."""
        return int(self._asks.under_way)

    def look(self) -> None:
        """Wait a moment for any answer."""
        self._asks.look()

    def start(self, shard: Shard, keep: Keep | None = None, *, fresh: bool = False) -> Job:
        """Take a shard."""
        job = Job(shard=shard, keep=keep or self._keep, fresh=fresh)
        job.question = self._question(job)
        job.question.arrived = partial(self._take, job)
        self._asks.ask(job.question)
        return job

    def finish(self, job: Job) -> ShardResult:
        """Wait for a shard; pieces of one that failed are tried once more, one by one."""
        if self._wait(job):
            return super().finish(job)
        counts: list[BlockCounts] = []
        for piece in job.shard:
            one = self.start((piece,), job.keep, fresh=job.fresh)
            if not self._wait(one):
                failure = self._twice(one)
                return ShardResult(counts=tuple(counts), failure=failure)
            done = super().finish(one)
            counts += done.counts
            if done.failure is not None:
                return replace(done, counts=tuple(counts))
        return ShardResult(counts=tuple(counts))

    def abandon(self, job: Job) -> None:
        """Stop working on a shard."""
        if job.question is not None and not job.question.ended:
            self._asks.abandon([job.question])

    def _wait(self, job: Job) -> bool:
        """Wait for a shard; return whether anything is known of it."""
        question = job.question
        assert question is not None
        wait_for(self._asks, question)
        if job.done is None and self.final and not question.lost:
            job.done = ShardResult(counts=(), failure=(question.cause, question.detail))
        return job.done is not None

    def _take(self, job: Job) -> None:
        """Read what came of a shard; of one that was left when this ended, nothing."""
        assert job.question is not None
        if self._closed:
            return
        try:
            job.done = shard_result_from(job.question.answer, self._brief, job.shard)
        except Garbled:
            job.question.cause = "the worker sent counts that are none"
        else:
            job.keep(job.shard, job.done)

    def _twice(self, job: Job) -> tuple[str, str]:
        """Say why a shard of one piece has failed that was tried twice."""
        assert job.question is not None
        (piece,) = job.shard
        dataset = where(self._brief.change(piece.task))
        place = f"{dataset} ({span(piece.task, piece.first, piece.stop)})"
        cause = f"{job.question.cause} on {place}, also when tried again; {EXPECTED}"
        return cause, job.question.detail


class Local(Delegated):
    """Has shards run by `jobs` processes, which are ended with it unless they are `theirs`."""

    def __init__(
        self,
        brief: ShardBrief,
        keep: Keep,
        hosts: Hosts,
        part: Claim | None,
        *,
        jobs: int = 1,
        theirs: bool = True,
    ) -> None:
        super().__init__(Pool(hosts, jobs, OVERTIME), brief, keep)
        self._part, self._theirs = part, theirs

    def _question(self, job: Job) -> Question:
        return Question(
            operation="run",
            arguments=(self._part, self._brief, job.shard),
            known=(self._brief, *(group.pairs.base for group in self._brief.groups)),
            fresh=job.fresh,
        )

    def close(self) -> None:
        """End its processes; those of the mechanism only while they are at work."""
        self._closed = True
        self._asks.dismiss()
        if not self._theirs:
            self._asks.hosts.close()


def local(runner: TrialRunner, keep: Keep, jobs: int, limits: Limits) -> Local:
    """Return what runs shards in processes of the mechanism if it is isolated, else in new ones."""
    target = runner.target
    theirs = isinstance(target, Isolated)
    there = (
        target if isinstance(target, Isolated) else isolated(target, limits, runner.brief.groups)
    )
    return Local(runner.brief, keep, there.hosts, there.part, jobs=jobs, theirs=theirs)
