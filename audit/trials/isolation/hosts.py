"""Hosts of one user's code, opened when they are needed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self

from dpassay.trials.isolation.child import Answering
from dpassay.trials.isolation.host import Host
from dpassay.trials.isolation.limits import Limits, Lost
from dpassay.trials.isolation.printed import Said
from dpassay.workers.namespaces import lineage


class Hosts:
    """Hosts of one user's code, opened when they are needed; see `Host` for the arguments.

    What they print is told when they are closed.
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
        self.name = name
        self.limits = limits
        self._desk = desk
        self._shared = shared
        self._bare = bare
        self._open: list[Host] = []
        self._killed = False
        self._said = Said()
        self._owner = lineage()

    def first(self) -> Host:
        """Return the one that is asked for everything but trials."""
        return self.several(1)[0]

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
