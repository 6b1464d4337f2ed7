"""A pool of processes for the user's code and ours; work is sent as processes become free."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpassay.errors import InvalidInput, TargetError
from dpassay.trials.isolation.host import Host, wait
from dpassay.trials.isolation.hosts import GARBLED, Hosts
from dpassay.trials.isolation.limits import UNLIMITED, Lost, Overtime, Unsent
from dpassay.trials.isolation.server import Server
from dpassay.trials.wire import Garbled, read
from dpassay.trials.written import INLINE, Outcome


@dataclass(slots=True, kw_only=True, eq=False)
class Question:
    """What another process is asked. It ends with an answer, or with the cause why there is none.

    `arrived` is called in the process that waits as soon as there is an answer; it may say that the
    answer is none, by a cause.
    """

    operation: Any  # its name in a process, the function itself on a cluster
    arguments: tuple[Any, ...]
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
                self._dismiss(host)

    def dismiss(self) -> None:
        """End the processes that are at work."""
        for host in list(self._busy):
            self._dismiss(host)

    def _dismiss(self, host: Host) -> None:
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
