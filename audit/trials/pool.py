"""A pool of processes for the user's code and ours; work is sent as processes become free."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpassay.errors import DpassayError, TargetError, told
from dpassay.trials.isolation.host import Host, wait
from dpassay.trials.isolation.hosts import Hosts
from dpassay.trials.isolation.limits import UNLIMITED, Lost, Overtime, Unsent
from dpassay.trials.threads import one_thread
from dpassay.trials.wire import Garbled, read
from dpassay.trials.written import INLINE, Reply


@dataclass(slots=True, kw_only=True, eq=False)
class Question:
    """What a process is asked. It ends with an answer, or with the cause why there is none."""

    operation: str
    arguments: tuple[Any, ...]
    known: tuple[Any, ...] = ()  # see `dpassay.trials.isolation.host.Host.ask`
    answer: Any = None
    came: bool = False
    cause: str = ""
    detail: str = ""
    lost: bool = False

    @property
    def ended(self) -> bool:
        """Return whether nothing more is to be waited for."""
        return self.came or self.cause != ""


@dataclass(slots=True, eq=False)
class Pool:
    """Asks `jobs` processes, which are opened when they are needed.

    `arrived` is called in this process with every question that has an answer, as soon as it
    has; it may say that the answer is none, by a cause. `overtime` says why a question has no
    answer that took longer than a number of seconds, which stands at {}.
    """

    hosts: Hosts
    jobs: int
    arrived: Callable[[Question], None]
    overtime: str = "took longer than {:g} s"
    _waiting: deque[Question] = field(default_factory=deque, init=False)
    _busy: dict[Host, Question] = field(default_factory=dict, init=False)

    def submit(self, question: Question) -> Question:
        """Take a question; it is asked at once if a process is free."""
        self.enqueue(question)
        self._feed()
        return question

    def enqueue(self, question: Question) -> Question:
        """Take a question that is asked when next something is waited for.

        A `TargetError` follows if it cannot be sent to a process, or none can be started.
        """
        self._waiting.append(question)
        return question

    def wait(self, question: Question) -> None:
        """Wait until a question has ended."""
        while not question.ended:
            self.look()

    @property
    def under_way(self) -> int:
        """Return how many questions have not ended."""
        return len(self._waiting) + len(self._busy)

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
        del self._busy[host]
        host.close()

    def _feed(self) -> None:
        """Ask processes that have nothing to do."""
        while self._waiting and len(self._busy) < self.jobs:
            host = next(
                host for host in self._opened(len(self._busy) + 1) if host not in self._busy
            )
            question = self._waiting.popleft()
            try:
                host.ask(question.operation, *question.arguments, known=question.known)
            except Lost as error:
                question.cause = str(error)
            except Unsent as error:
                raise TargetError(
                    f"its data cannot be sent to a worker ({error}); {INLINE}"
                ) from None
            else:
                self._busy[host] = question

    def _opened(self, number: int) -> list[Host]:
        try:
            return self.hosts.several(number)
        except Lost as error:
            raise TargetError(str(error)) from None

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
                _take(question, told)
                if question.came:
                    self.arrived(question)
            del self._busy[host]
        self._feed()


def _take(question: Question, told: Any) -> None:
    try:
        question.answer, question.came = read(Reply, told).outcome(), True
    except Garbled as error:
        question.cause = f"its process sent something that is no answer ({error})"
    except TargetError as error:
        question.cause, question.detail = error.cause, error.detail


def in_order(
    name: str, work: Callable[[Any], Any], items: Sequence[Any], jobs: int
) -> Iterator[Any]:
    """Run a function on each item, in other processes; yield the results in order.

    `work` has everything that it needs besides its item, as the processes are forked; items are
    pickled, and it returns data that `dpassay.trials.wire` can write. If it raises or its
    process ends, that is a `TargetError`, and nothing is left behind either.
    """
    hosts = Hosts(name, desk_of(work), UNLIMITED)
    pool = Pool(hosts, jobs, _nothing)
    try:
        asked = [pool.enqueue(Question(operation="work", arguments=(item,))) for item in items]
        for question, item in zip(asked, items, strict=True):
            pool.wait(question)
            if question.lost:  # its process may have been killed by the system
                question = pool.enqueue(Question(operation="work", arguments=(item,)))  # noqa: PLW2901
                pool.wait(question)
            if not question.came:
                raise TargetError(question.cause, question.detail)
            yield question.answer.result()
    finally:
        pool.dismiss()
        hosts.close()


def desk_of(
    work: Callable[[Any], Any],
) -> Callable[[str, tuple[Any, ...], dict[int, Any]], dict[str, Any]]:
    """Return what answers in another process; each of them uses one thread."""
    limited: list[Any] = []

    def answer(
        operation: str, arguments: tuple[Any, ...], objects: dict[int, Any]
    ) -> dict[str, Any]:
        del operation, objects
        if not limited:
            limited.append(one_thread())
        try:
            return {"done": work(*arguments)}
        except TargetError as error:
            return {"cause": error.cause, "detail": error.detail}
        except DpassayError as error:
            return {"cause": str(error), "detail": told(error)}

    return answer


def _nothing(question: Question) -> None:
    """Leave an answer as it is."""
