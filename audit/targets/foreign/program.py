"""A program that is asked over its stdin and stdout, see `supervisor` for how it is contained."""

from __future__ import annotations

import atexit
import json
import math
import os
import selectors
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NoReturn

from dpassay.errors import as_real, is_count, require
from dpassay.targets.foreign.protocol import Broken, Late
from dpassay.workers import supervisor
from dpassay.workers.control import ProcessControl
from dpassay.workers.namespaces import lineage

MIB = 1 << 20
CHUNK = 1 << 16
TAIL = 4096
"""Bytes of stderr that are kept, the last ones."""
SHOWN = 5
"""Lines of them in a message."""
MOST_READS = 16
"""So often what is left of it is read at the end."""
GRACE = 1.0
"""Seconds that a program which has closed its stdout is given to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """What a program and all that it starts may take; they are ended when they take more.

    `start` is the seconds for its first reply: an interpreter may have much to load. `memory` is
    the GiB of data of each process, kept to on Linux by RLIMIT_DATA: address space that is only
    reserved, as Node and Java do, does not count. `processes` at a time are counted ten times a
    second on Linux; RLIMIT_NPROC stops what outruns the count, unless the user is root. `cpu` is
    the seconds of processor time, >= 1, of each process, `file` the GiB of each file that it
    writes, `reply` the MiB of one reply.
    """

    start: float = 30.0
    memory: float = 4.0
    processes: int = 64
    cpu: float = 86_400.0
    file: float = 1.0
    reply: float = 64.0

    def __post_init__(self) -> None:
        require(is_count(self.processes), "processes", self.processes, "an integer >= 1")
        for name in ("start", "memory", "file", "reply"):
            value = getattr(self, name)
            require(0 < as_real(value) < math.inf, name, value, "a finite number > 0")
        require(1 <= as_real(self.cpu) < math.inf, "cpu", self.cpu, "a finite number >= 1")

    def as_dict(self) -> dict[str, float]:
        """Return the numbers by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


class Child:
    """A running program; a reply may take `seconds`. `Broken` says that it cannot be started."""

    def __init__(self, command: Sequence[str], seconds: float, limits: ProcessLimits) -> None:
        self._seconds, self._most = seconds, round(limits.reply * MIB)
        self._start: float | None = limits.start
        self._received, self._stderr = bytearray(), bytearray()
        self._control = ProcessControl()
        there = self._control.there.fileno()
        script = str(Path(supervisor.__file__).resolve())
        arguments = [str(there), json.dumps(limits.as_dict()), *command]
        try:
            self._process = subprocess.Popen(  # noqa: S603  (the user's own command)
                [sys.executable, "-I", "-S", script, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[there],
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            self._control.begin(0)
            self._control.close()
            raise Broken(f"no process could be started ({error.strerror})") from None
        self._control.begin(self._process.pid)
        self._process.returncode = 0  # the control waits for it
        self._open, self._owner = True, lineage()
        _children.add(self)
        self._in, self._out, self._err = (
            file.fileno()
            for file in (self._process.stdin, self._process.stdout, self._process.stderr)
            if file is not None
        )
        for file in (self._in, self._out, self._err):
            os.set_blocking(file, False)

    def ask(self, line: bytes, seconds: float | None = None) -> bytes:
        """Write a line, which ends in a line break, and return the next one without it.

        `Late` says that the reply does not come in time, `Broken` that none comes.
        """
        if not self._open:
            raise Broken("it has ended")
        self._take(self._out, self._received)
        if self._received:
            self._break("it wrote more than one line for a line")
        if seconds is None:
            seconds = self._seconds if self._start is None else max(self._start, self._seconds)
        reply = self._exchange(memoryview(line), seconds)
        self._start = None
        return reply

    def _exchange(self, left: memoryview, seconds: float) -> bytes:
        """Write and read as far as either is possible, until there is a line."""
        until, seen = time.monotonic() + seconds, 0
        with selectors.DefaultSelector() as watch:
            watch.register(self._in, selectors.EVENT_WRITE)
            watch.register(self._out, selectors.EVENT_READ)
            watch.register(self._err, selectors.EVENT_READ)
            while True:
                rest = until - time.monotonic()
                if rest <= 0:
                    self._break(f"it gave no whole reply within {seconds:g} s", Late)
                ready = {key.fd for key, _ in watch.select(rest)}
                if self._in in ready:
                    left = self._write(left)
                    if not left:
                        watch.unregister(self._in)
                if self._err in ready and not self._listen():
                    watch.unregister(self._err)
                if self._out not in ready:
                    continue
                more = self._take(self._out, self._received)
                end = self._received.find(b"\n", seen)
                seen = len(self._received)
                if end >= 0:
                    return self._line(end, left)
                if seen > self._most:
                    self._break(f"its reply is longer than {self._most / MIB:g} MiB")
                if not more:
                    self._break("")

    def _line(self, end: int, left: memoryview) -> bytes:
        """Return the first line of what was received."""
        if left:
            self._break("it answered before it had read what it was asked")
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _write(self, left: memoryview) -> memoryview:
        try:
            return left[os.write(self._in, left[:CHUNK]) :]
        except BlockingIOError:
            return left
        except OSError:  # it has closed its stdin: how it ended will be seen
            return left[len(left) :]

    def _listen(self) -> bool:
        """Take in some of stderr, and forget all but the end of it."""
        more = self._take(self._err, self._stderr)
        del self._stderr[:-TAIL]
        return more

    @staticmethod
    def _take(file: int, into: bytearray) -> bool:
        """Read once what there is; return whether there can be more."""
        try:
            found = os.read(file, CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        into += found
        return bool(found)

    def told(self) -> str:
        """Return the last lines of stderr for a message, in one line and below it."""
        text = self._stderr.decode(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return f"stderr ends: {' | '.join(lines[-SHOWN:])}\n{text.rstrip()}" if lines else ""

    def close(self) -> None:
        """End it, and all that it has started."""
        if not self._open:
            return
        self._open = False
        _children.discard(self)
        self._control.end()
        for _ in range(MOST_READS):
            if not self._listen():
                break
        self._let_go()

    def _break(self, cause: str, kind: type[Broken] = Broken) -> NoReturn:
        """End it and raise; without a cause it is how it ended by itself."""
        if not cause:
            cause = self._how_it_ended()
        self.close()
        raise kind(cause)

    def _how_it_ended(self) -> str:
        facts = self._control.facts(GRACE)
        if "failed" in facts:
            return f"it cannot be started ({facts['failed']})"
        if "processes" in facts:
            return f"it had {facts['processes']} processes at a time, more than its limit"
        code = facts.get("code")
        if code is None:
            return "it closed its stdout"
        return f"it ended with exit code {code}" if code >= 0 else f"it ended by signal {-code}"

    def leave(self) -> None:
        """End it if this process has opened it; else close the ends, as it was forked since."""
        if self._owner == lineage():
            self.close()
        elif self._open:
            self._open = False
            _children.discard(self)
            self._let_go()

    def _let_go(self) -> None:
        self._control.close()
        for file in (self._process.stdin, self._process.stdout, self._process.stderr):
            if file is not None:
                file.close()


_children: weakref.WeakSet[Child] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for child in list(_children):
        child.leave()
