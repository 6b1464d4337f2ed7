"""Backends: what runs shards, in this process or in others, and the pool of processes they ask.

A shard that hangs or kills its process is tried again piece by piece, then reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpassay.claims import Claim
from dpassay.errors import InvalidInput, TargetError
from dpassay.trials.blocks import BlockCounts, where
from dpassay.trials.isolation.host import GARBLED, Host, Hosts, wait
from dpassay.trials.isolation.limits import UNLIMITED, Limits, Lost, Overtime, Unsent
from dpassay.trials.isolation.target import Isolated, Server, isolated
from dpassay.trials.tasks import Shard, ShardBrief, ShardResult, TrialRunner, span
from dpassay.trials.wire import Garbled, read
from dpassay.trials.written import INLINE, Outcome, shard_result_from

EXPECTED = "expected sample(state, queries, size, rng) to return labels of shape (size, queries)"
OVERTIME = "a shard took longer than {:g} s (--shard-timeout)"

Keep = Callable[[Shard, ShardResult], None]
"""Called with every shard that comes back, as soon as it does."""


def forget(shard: Shard, done: ShardResult) -> None:
    """Keep nothing."""


@dataclass(slots=True, kw_only=True, eq=False)
class Question:
    """What another process is asked. It ends with an answer, or with the cause why there is none.

    `arrived` is called in the process that waits as soon as there is an answer; it may say that the
    answer is none, by a cause.
    """

    operation: Any  # its name in a process, the function itself on a cluster
    arguments: tuple[Any, ...] = ()
    known: tuple[Any, ...] = ()  # see `dpassay.trials.isolation.host.Host.ask`
    fresh: bool = False  # in a process that has done nothing else
    arrived: Callable[[], None] | None = None
    held: Any = None  # what the pool or the cluster has of it
    answer: Any = None
    came: bool = False
    cause: str = ""
    detail: str = ""
    lost: bool = False  # its process is

    @property
    def ended(self) -> bool:
        """Return whether nothing more is to be waited for."""
        return self.came or self.cause != ""

    def take(self, outcome: Outcome) -> None:
        """Take in what came of it."""
        try:
            self.answer, self.came = outcome.result(), True
        except InvalidInput as error:
            self.cause = str(error)
        except TargetError as error:
            self.cause, self.detail = error.cause, error.detail
        else:
            if self.arrived is not None:
                self.arrived()

    def result(self) -> Any:
        """Return the answer; raise `TargetError` if there is none."""
        if not self.came:
            raise TargetError(self.cause, self.detail)
        return self.answer


@dataclass(slots=True, eq=False)
class Pool:
    """Asks `jobs` processes, which are opened when they are needed.

    `overtime` says why a question has no answer that took longer than a number of seconds, which
    stands at {}.
    """

    hosts: Hosts
    jobs: int
    overtime: str = "took longer than {:g} s"
    _waiting: deque[Question] = field(default_factory=deque, init=False)
    _busy: dict[Host, Question] = field(default_factory=dict, init=False)

    @property
    def ahead(self) -> int:
        """Return how many questions are worth asking before the first is answered."""
        return 4 * self.jobs

    @property
    def under_way(self) -> int:
        """Return how many questions have not ended."""
        return len(self._waiting) + len(self._busy)

    def ask(self, question: Question) -> Question:
        """Take a question; it is asked at once if a process is free.

        `TargetError` says that it cannot be sent to a process, or none can be started.
        """
        self._waiting.append(question)
        self._feed()
        return question

    def abandon(self, questions: Sequence[Question]) -> None:
        """Stop working on questions."""
        for question in questions:
            if question in self._waiting:
                self._waiting.remove(question)
        for host, question in list(self._busy.items()):
            if question in questions:
                host.close()
                self._let_go(host)

    def dismiss(self) -> None:
        """End the processes that are at work."""
        for host in list(self._busy):
            host.close()
            self._let_go(host)

    def _let_go(self, host: Host) -> Question:
        """Free a process; one of a question of its own is ended."""
        question = self._busy.pop(host)
        if question.held is not None:
            self.hosts.absorb(question.held)
        return question

    def _feed(self) -> None:
        """Ask processes that have nothing to do."""
        while self._waiting and len(self._busy) < self.jobs:
            host = self._free(self._waiting[0])
            question = self._busy[host] = self._waiting.popleft()
            try:
                host.ask(question.operation, *question.arguments, known=question.known)
            except Lost as error:
                question.cause = str(error)
                self._let_go(host)
            except Unsent as error:
                self._let_go(host)
                raise TargetError(
                    f"its data cannot be sent to a worker ({error}); {INLINE}"
                ) from None

    def _free(self, question: Question) -> Host:
        """Return a process that has nothing to do, or has never had, as a question wants it."""
        try:
            if question.fresh:
                others = question.held = self.hosts.afresh()
                return others.several(1)[0]
            opened = self.hosts.several(len(self._busy) + 1)
        except Lost as error:
            raise TargetError(str(error)) from None
        return next(host for host in opened if host not in self._busy)

    def look(self) -> None:
        """Wait a moment for any answer, and hand on what has come."""
        self._feed()
        wait(list(self._busy))
        for host, question in list(self._busy.items()):
            try:
                came, told = host.answer()
            except Overtime:
                question.cause = self.overtime.format(host.limits.seconds)
            except Lost as error:
                question.cause, question.lost = str(error), True
            else:
                if not came:
                    continue
                try:
                    outcome = read(Outcome, told)
                except Garbled as error:
                    outcome = Outcome(cause=f"{GARBLED} ({error})")
                self._let_go(host).take(outcome)
                continue
            self._let_go(host)
        self._feed()


def answers(asks: Any, questions: Iterable[Question]) -> Iterator[Any]:
    """Ask a pool or a cluster questions, some ahead, and yield the answers in order.

    One whose process a pool has lost is asked once more: the system may have killed it. A cluster
    tries again by itself.
    """
    under_way: deque[Question] = deque()

    def first() -> Any:
        question = under_way[0]
        wait_for(asks, question)
        if question.lost and isinstance(asks, Pool):
            question.cause, question.lost = "", False
            wait_for(asks, asks.ask(question))
        under_way.popleft()
        return question.result()

    try:
        for question in questions:
            under_way.append(asks.ask(question))
            if len(under_way) >= asks.ahead:
                yield first()
        while under_way:
            yield first()
    finally:
        asks.abandon(under_way)


def wait_for(asks: Any, question: Question) -> None:
    """Wait until a question of a pool or a cluster has ended."""
    while not question.ended:
        asks.look()


def in_order(
    name: str, work: Callable[[Any], Any], items: Sequence[Any], jobs: int
) -> Iterator[Any]:
    """Run a function on each item, in other processes; yield the results in order.

    `work` has everything that it needs besides its item, as the processes are forked; items are
    pickled, and it returns data that `dpassay.trials.wire` can write. If it raises or its
    process ends, that is a `TargetError`, and nothing is left behind either.
    """
    hosts = Hosts(name, Server(lambda: work), UNLIMITED)
    questions = (Question(operation="__call__", arguments=(item,)) for item in items)
    try:
        yield from answers(Pool(hosts, jobs), questions)
    finally:
        hosts.close()


@dataclass(slots=True, kw_only=True, eq=False)
class Job(Question):
    """A shard that is run, and what came of it."""

    shard: Shard
    keep: Keep
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
        """Return how many shards have been taken and have not ended."""
        return 0

    def look(self) -> None:
        """Wait a moment until one of them ends, whichever it is."""

    def start(self, shard: Shard, keep: Keep | None = None, *, fresh: bool = False) -> Job:
        """Take a shard."""
        job = Job(operation="", shard=shard, keep=keep or self._keep, fresh=fresh, came=True)
        job.done = self._runner.run(shard)
        job.keep(shard, job.done)
        return job

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
    """Return whether a failure is final, since the worker has tried again itself."""

    def __init__(self, asks: Any, brief: ShardBrief, keep: Keep) -> None:
        self._asks, self._brief, self._keep = asks, brief, keep
        self._closed = False

    @property
    def ahead(self) -> int:
        """Return how many shards may be under way, as who is asked says."""
        return int(self._asks.ahead)

    @property
    def under_way(self) -> int:
        """Return how many answers are waited for."""
        return int(self._asks.under_way)

    def look(self) -> None:
        """Wait a moment for any answer."""
        self._asks.look()

    def _job(self, shard: Shard, keep: Keep, fresh: bool) -> Job:
        """Return what is asked for a shard."""
        raise NotImplementedError

    def start(self, shard: Shard, keep: Keep | None = None, *, fresh: bool = False) -> Job:
        """Take a shard."""
        job = self._job(shard, keep or self._keep, fresh)
        job.arrived = lambda: self._take(job)
        self._asks.ask(job)
        return job

    def finish(self, job: Job) -> ShardResult:
        """Wait for a shard; pieces of one that failed are tried once more, one by one."""
        if self._wait(job):
            return super().finish(job)
        counts: list[BlockCounts] = []
        for piece in job.shard:
            one = self.start((piece,), job.keep, fresh=job.fresh)
            if not self._wait(one):
                dataset = where(self._brief.change(piece.task))
                place = f"{dataset} ({span(piece.task, piece.first, piece.stop)})"
                cause = f"{one.cause} on {place}, also when tried again; {EXPECTED}"
                return ShardResult(counts=tuple(counts), failure=(cause, one.detail))
            done = super().finish(one)
            counts += done.counts
            if done.failure is not None:
                return replace(done, counts=tuple(counts))
        return ShardResult(counts=tuple(counts))

    def abandon(self, job: Job) -> None:
        """Stop working on a shard."""
        if not job.ended:
            self._asks.abandon([job])

    def _wait(self, job: Job) -> bool:
        """Wait for a shard; return whether anything is known of it."""
        wait_for(self._asks, job)
        if job.done is None and self.final and not job.lost:
            job.done = ShardResult(counts=(), failure=(job.cause, job.detail))
        return job.done is not None

    def _take(self, job: Job) -> None:
        """Read what came of a shard; of one that was left when this ended, nothing."""
        if self._closed:
            return
        try:
            job.done = shard_result_from(job.answer, self._brief, job.shard)
        except Garbled:
            job.cause = "the worker sent counts that are none"
        else:
            job.keep(job.shard, job.done)


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

    def _job(self, shard: Shard, keep: Keep, fresh: bool) -> Job:
        return Job(
            operation="run",
            arguments=(self._part, self._brief, shard),
            known=(self._brief, *(group.pairs.base for group in self._brief.groups)),
            fresh=fresh,
            shard=shard,
            keep=keep,
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
