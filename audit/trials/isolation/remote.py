"""An object of the user's code that is made in a process of its own and asked there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.errors import InvalidInput, TargetError, printable, told
from dpassay.trials.isolation.desk import LostProcess, asked
from dpassay.trials.isolation.hosts import Hosts
from dpassay.trials.isolation.limits import Limits, Lost
from dpassay.trials.isolation.objects import Handle
from dpassay.trials.ledger import installed
from dpassay.trials.portable import portable
from dpassay.trials.threads import one_thread
from dpassay.trials.written import Array


@dataclass(frozen=True, slots=True)
class Kept:
    """Something that a method leaves in its process under the key of a handle, and its facts."""

    key: int
    thing: Any
    facts: Any


class Remote:
    """An object that `build` makes in a process of its own, where its methods are called.

    When the process is lost, nothing more is asked: another one might be made into something else.
    `bare` is as for `Host`.
    """

    def __init__(
        self, name: str, build: Callable[[], Any], limits: Limits, *, bare: bool = True
    ) -> None:
        installed()  # once here, and not in every process
        self.name = name
        self.hosts = Hosts(name, _Server(build), limits, bare=bare)
        self._lost: LostProcess | None = None

    def ask(
        self, kind: Any, what: str, method: str, *arguments: Any, known: Iterable[Any] = ()
    ) -> Any:
        """Return what a method returns there, which is of a kind; see `dpassay.trials.wire.read`.

        What it raises is raised here: `InvalidInput`, `TargetError`, `LostProcess`.
        """
        if self._lost is not None:
            raise LostProcess(self._lost.cause)
        try:
            host = self.hosts.first()
        except Lost as error:
            raise TargetError(f"{what}: {error}") from None
        try:
            return asked(host, what, method, *arguments, known=known, kind=kind)
        except LostProcess as error:
            self._lost = error
            raise

    def handle(self) -> Handle:
        """Return what will stand here for something that a method leaves there."""
        return self.hosts.first().keep()

    def portable(self) -> bytes:
        """Return the object for other machines; see `dpassay.trials.portable`."""
        written: bytes = self.ask(Array, "sending it to a cluster", "portable").tobytes()
        return written


class _Server:
    """Answers there: makes the object first."""

    def __init__(self, build: Callable[[], Any]) -> None:
        self._build = build
        self._made: list[Any] = []

    def __call__(
        self, operation: str, arguments: tuple[Any, ...], objects: dict[int, Any]
    ) -> dict[str, Any]:
        try:
            if not self._made:
                self._made.append(self._build())
                one_thread()  # of what has just been imported too
            if operation == "portable":
                written = portable(self._made[0].portable)
                return {"done": np.frombuffer(written, dtype=np.uint8)}
            done = getattr(self._made[0], operation)(*arguments)
            if isinstance(done, Kept):
                objects[done.key], done = done.thing, done.facts
        except InvalidInput as error:
            return {"invalid": printable(str(error)), "told": told(error)}
        except TargetError as error:
            return {"cause": printable(error.cause), "detail": error.detail}
        else:
            return {"done": done}
