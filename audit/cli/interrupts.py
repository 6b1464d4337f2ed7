"""Ctrl-C and SIGTERM: they interrupt a command, and wait while what it has found is written."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

AGAIN = 0.05
"""Seconds after which an interrupt comes again that was swallowed."""
MOST = 3
"""The interrupt that does not wait for a record either."""
WAITS = b"dpassay: what was found is written first; another interrupt or two leave without it\n"


class Interrupts:
    """Handles signals: the first raises KeyboardInterrupt, further ones wait until `settle`."""

    def __init__(self) -> None:
        self._number, self._waiting, self._late = 0, False, False

    def __call__(self, *_: object) -> None:
        """Handle a signal."""
        self._number += 1
        if self._waiting and self._number < MOST:
            self._late = True
            os.write(2, WAITS)  # no stream: the one that is interrupted may hold its lock
            return
        self._waiting = True
        raise KeyboardInterrupt

    def wait(self) -> None:
        """Let the first one wait too: what was asked for is done, but not written."""
        self._waiting = True

    def settle(self, words: str) -> None:
        """Raise what has waited, now that the record is written; the words say what is not."""
        self._waiting = False
        if self._late:
            raise KeyboardInterrupt(words)

    def swallowed(self, otherwise: Callable[[Any], Any], what: Any) -> None:
        """Interrupt once more, after this, where an interrupt came where exceptions are dropped."""
        if isinstance(what.exc_value, KeyboardInterrupt):
            self._waiting = False
            threading.Timer(AGAIN, self._again).start()
        else:
            otherwise(what)

    def _again(self) -> None:
        """Interrupt the main thread from another one, if the command is not over."""
        if signal.getsignal(signal.SIGTERM) is self:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


interrupts = Interrupts()
"""Those of the command that runs."""


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM interrupt as Ctrl-C does: what is finished is written, no process stays behind.

    A batch system, a container or a CI job that runs out of time sends it. Whoever has handlers of
    their own keeps them.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    interrupts.__init__()  # type: ignore[misc]  # commands of one process count for themselves
    known = (signal.SIG_DFL, signal.default_int_handler)
    before = {
        number: handler
        for number in (signal.SIGTERM, signal.SIGINT)
        if (handler := signal.getsignal(number)) in known
    }
    for number in before:
        signal.signal(number, interrupts)
    hook = sys.unraisablehook
    sys.unraisablehook = partial(interrupts.swallowed, hook)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)
