"""The judge's end of the connection with a supervisor."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from contextlib import suppress
from typing import Any

from dpassay.workers import supervisor

END = 2 * supervisor.LAST
"""Seconds that a supervisor is given to end everything."""


class ProcessControl:
    """Tells how foreign code ended, and ends it; `there` is the supervisor's end."""

    def __init__(self) -> None:
        self._here, self.there = socket.socketpair()
        self._report = bytearray()
        self.pid = 0

    def begin(self, pid: int) -> None:
        """Go on in the judge's process, once the supervisor runs in this one."""
        self.pid = pid
        self.there.close()

    @property
    def file(self) -> int:
        """Return what has something to be read when the supervisor has said something."""
        return self._here.fileno()

    def facts(self, seconds: float) -> dict[str, Any]:
        """Return what the supervisor has said, all of it if it ends within some seconds."""
        self._here.settimeout(seconds)
        with suppress(OSError):
            while found := self._here.recv(1 << 16):
                self._report += found
            self._report += b'\n{"gone": true}\n'
        facts: dict[str, Any] = {}
        for line in self._report.splitlines():
            with suppress(ValueError):
                facts = json.loads(line) | facts  # nothing is taken back
        return facts

    def order_end(self) -> None:
        """Have everything ended, without waiting for it."""
        with suppress(OSError):
            self._here.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        """End everything, and wait for that."""
        self.order_end()
        facts = self.facts(END)
        until = time.monotonic() + (END if "end" in facts else 0)
        while not self._reaped(os.WNOHANG):
            if time.monotonic() > until:  # somebody has stopped or killed the supervisor
                with suppress(OSError):
                    os.killpg(facts.get("pid", self.pid), signal.SIGKILL)
                with suppress(OSError):
                    os.kill(self.pid, signal.SIGKILL)
                self._reaped(0)
                break
            time.sleep(0.001)
        self.close()

    def close(self) -> None:
        """Close this end."""
        self._here.close()

    def _reaped(self, how: int) -> bool:
        try:
            return os.waitpid(self.pid, how)[0] != 0
        except OSError:
            return True
