"""Hosts of one user's code, opened when they are needed, and how they are asked."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Self

from dpassay.errors import InvalidInput, TargetError
from dpassay.trials.isolation.child import Answering
from dpassay.trials.isolation.host import Handle, Host, Said
from dpassay.trials.isolation.limits import Limits, Lost, Overtime, Unsent
from dpassay.trials.ledger import installed
from dpassay.trials.wire import Garbled, read
from dpassay.trials.written import INLINE, Array, Outcome
from dpassay.workers.namespaces import lineage

REMEDY = "a mechanism must return, or raise an exception"
MORE_TIME = "make it faster, or allow more with --shard-timeout (shard_timeout)"
GARBLED = "its process sent something that is no answer"
MAY_REFUSE = ("about", "check", "describe", "facts")
"""What may end as `InvalidInput`, before anything was run; nothing else that a process says may."""


class LostProcess(TargetError):
    """The process of a mechanism is gone, through the mechanism's own fault."""


def asked(
    host: Host, kind: Any, what: str, operation: str, *arguments: Any, known: Iterable[Any] = ()
) -> Any:
    """Have something done in another process; errors that are raised there are raised here.

    The answer is of a kind, see `dpassay.trials.wire.read`; messages call it `what`.
    """
    try:
        outcome: Outcome = read(Outcome, host.call(operation, *arguments, known=known))
        return read(kind, outcome.result(f"{what}: "))
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


class Hosts:
    """Hosts of one user's code, opened when they are needed; see `Host` for the arguments.

    When the one that is asked for everything but trials is lost, nothing more is asked: another one
    might make something else. What they print is told when they are closed.
    """

    def __init__(
        self,
        name: str,
        desk: Answering,
        limits: Limits,
        shared: Sequence[Any] = (),
        *,
        bare: bool = False,
    ) -> None:
        if bare:
            installed()  # once here, and not in every process
        self.name = name
        self.limits = limits
        self.lost = ""
        self._desk = desk
        self._shared = shared
        self._bare = bare
        self._open: list[Host] = []
        self._killed = False
        self._said = Said()
        self._owner = lineage()

    def ask(
        self, kind: Any, what: str, operation: str, *arguments: Any, known: Iterable[Any] = ()
    ) -> Any:
        """Have something done in the first process; see `asked`."""
        host = self.first(what)
        try:
            return asked(host, kind, what, operation, *arguments, known=known)
        except LostProcess as error:
            self.lost = error.cause
            raise

    def handle(self) -> Handle:
        """Return what will stand here for something that is left in the first process."""
        return self.first().keep()

    def portable(self) -> bytes:
        """Return the code for other machines; see `dpassay.trials.portable`."""
        what = "sending it to a cluster"
        written: bytes = self.ask(Array, what, "portable", None).tobytes()
        return written

    def check_not_lost(self) -> None:
        """Raise `LostProcess` if the first process was lost."""
        if self.lost:
            raise LostProcess(self.lost)

    def first(self, what: str = "") -> Host:
        """Return the one that is asked for everything but trials."""
        self.check_not_lost()
        try:
            return self.several(1)[0]
        except Lost as error:
            raise TargetError(f"{what}: {error}" if what else str(error)) from None

    def several(self, number: int) -> list[Host]:
        """Return so many of them, new ones in the place of those that are lost.

        `Lost` says that the system lets none be opened, or that they were killed.
        """
        if self._owner != lineage():  # two processes never share a host
            for host in self._open:
                host.close()
            self._open, self._said, self._owner = [], Said(), lineage()
        for host in self._open:
            if host.closed:
                self._said.take(host.said)
        self._open = [host for host in self._open if not host.closed]
        if self._killed:
            raise Lost("nobody waits for it any more")
        try:
            while len(self._open) < number:
                self._open.append(Host(self._desk, self.limits, self._shared, bare=self._bare))
        except OSError as error:
            raise Lost(f"no process could be started ({error.strerror})") from None
        return self._open[:number]

    def kill(self) -> None:
        """End them, and open no more, while another thread waits for their answers."""
        self._killed = True
        for host in self._open:
            host.kill()

    def afresh(self) -> Self:
        """Return others of the same code, which share only what was there before."""
        return type(self)(self.name, self._desk, self.limits, self._shared, bare=self._bare)

    def absorb(self, others: Hosts) -> None:
        """End others of the same code; what they have printed is told with what these have."""
        for host in others._open:
            host.close()
            self._said.take(host.said)
        others._open = []
        self._said.take(others._said)

    def close(self) -> None:
        """End all of them, and tell on stderr what they have printed."""
        for host in self._open:
            host.close()
            self._said.take(host.said)
        self._open, lines, self._said = [], self._said.lines(), Said()
        for line in lines:
            with suppress(OSError):
                sys.stderr.write(f"dpassay: {self.name} printed: {line}\n")
