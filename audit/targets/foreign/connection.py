"""What a conversation goes over: a pipe to a process, or requests to a service."""

from __future__ import annotations

from typing import Protocol


class Broken(Exception):
    """Nothing more can be had over a connection; the text says why."""


class Late(Broken):
    """No whole reply came in time."""


class Dropped(Broken):
    """A connection that failed before a whole reply came: what was sent may have been read."""


class Connection(Protocol):
    """Takes a line and gives a line."""

    def ask(self, line: bytes, seconds: float | None = None) -> bytes:
        """Send a line, which ends in a line break, and return the reply without one.

        The time for it is by default that of the connection. `Late` says that the reply
        does not come in time, `Broken` that none comes.
        """
        ...

    def told(self) -> str:
        """Return what else the other side said, for a message: its last lines, in one and below."""
        ...

    def close(self) -> None:
        """Leave nothing behind."""
        ...

    def disown(self) -> None:
        """Leave it to the process that has opened it: this one was forked since."""
        ...
