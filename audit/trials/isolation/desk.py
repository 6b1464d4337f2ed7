"""A desk: answers in another process what is asked of the mechanism there; and how it is asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.errors import InvalidInput, TargetError, printable, told
from dpassay.pairs import Change
from dpassay.targets.coupled import coupled
from dpassay.targets.guard import AuditTarget
from dpassay.trials.isolation.answers import ANSWERS
from dpassay.trials.isolation.host import Host
from dpassay.trials.isolation.limits import Lost, Overtime, Unsent
from dpassay.trials.own_coins import seed_anew
from dpassay.trials.portable import portable
from dpassay.trials.tasks import Brief, Shard, TrialRunner
from dpassay.trials.wire import Garbled, read
from dpassay.trials.written import ANSWERS as ANSWERS_OF
from dpassay.trials.written import INLINE, Reply

REMEDY = "a mechanism must return, or raise an exception"
MORE_TIME = "make it faster, or allow more with --shard-timeout (shard_timeout)"
MORE_MEMORY = "make it smaller, or allow more with --memory (memory)"
GARBLED = "its process sent something that is no answer"
MAY_REFUSE = ("about", "check", "describe", "facts")
"""What may end as `InvalidInput`, before anything was run; nothing else that a process says may."""
RUNNERS = 4
"""So many are kept open in a process: one per way of counting."""


class LostProcess(TargetError):
    """The process of a mechanism is gone, through the mechanism's own fault."""


def asked(
    host: Host,
    what: str,
    operation: str,
    *arguments: Any,
    known: Iterable[Any] = (),
    kind: Any = None,
) -> Any:
    """Have something done in another process; errors that a desk raises there are raised here.

    The answer is of a kind, by default that of the operation in `ANSWERS`.
    """
    try:
        answer: Reply = read(Reply, host.call(operation, *arguments, known=known))
        return read(kind or ANSWERS_OF[operation], answer.outcome(f"{what}: ").result())
    except Overtime as error:
        raise LostProcess(f"{what} {error}; {MORE_TIME}") from None
    except Lost as error:
        raise LostProcess(f"{what}: {error}; {REMEDY}") from None
    except Garbled as error:
        raise LostProcess(f"{what}: {GARBLED} ({error})") from None
    except Unsent as error:
        raise TargetError(
            f"{what}: what it is given cannot be sent to its process ({error}); {INLINE}"
        ) from None
    except InvalidInput as error:
        if operation in MAY_REFUSE:
            raise
        raise TargetError(f"{what}: {error}") from None


class Desk:
    """Answers in the other process what an `Isolated` asks."""

    def __init__(self, build: Callable[[], AuditTarget], memory: float) -> None:
        self._build = build
        self._memory = memory
        self._target: AuditTarget | None = None
        self._objects: dict[int, Any] = {}
        self._runners: deque[tuple[Brief, TrialRunner]] = deque(maxlen=RUNNERS)
        self._answers = ANSWERS | {
            "neighbour": self._neighbour,
            "portable": lambda _: np.frombuffer(portable(self._target), dtype=np.uint8),
            "prepare": self._prepare,
            "run": self._run,
            "scratch": self._scratch,
        }

    def __call__(
        self, operation: str, arguments: tuple[Any, ...], objects: dict[int, Any]
    ) -> dict[str, Any]:
        """Do what is asked."""
        self._objects = objects
        try:
            if self._target is None:
                self._target = self._build()
                if not self._target.seeded:
                    seed_anew()
            part, *given = arguments
            subject = self._target if part is None else coupled(self._target, part)
            return {"done": self._answers[operation](subject, *given)}
        except InvalidInput as error:
            return {"invalid": printable(str(error)), "told": told(error)}
        except TargetError as error:
            return {"cause": self._hinted(error.cause), "detail": error.detail}

    def _hinted(self, cause: str) -> str:
        more = f"; it may take {self._memory:g} GiB, {MORE_MEMORY}"
        return printable(f"{cause}{more}" if "MemoryError" in cause else cause)

    def _prepare(self, subject: AuditTarget, key: int, data: Any) -> None:
        self._objects[key] = subject.prepare(data)

    def _neighbour(
        self, subject: AuditTarget, key: int, data: Any, state: Any, change: Change
    ) -> None:
        self._objects[key] = subject.neighbour(data, state, change)

    def _scratch(self, subject: AuditTarget, key: int, data: Any, change: Change) -> None:
        self._objects[key] = subject.scratch(data, change)

    def _run(self, subject: AuditTarget, brief: Brief, shard: Shard) -> Any:
        new = all(known is not brief for known, _ in self._runners)
        if new:
            runner = TrialRunner(subject, brief.groups, brief.codings, brief.seed)
            self._runners.append((brief, runner))
        runner = next(runner for known, runner in self._runners if known is brief)
        done = runner.run(shard, probe=new)
        failure = None if done.failure is None else (self._hinted(done.failure[0]), done.failure[1])
        return replace(done, failure=failure)
