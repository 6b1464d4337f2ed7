"""A host: a process of its own for a user's code. Whatever happens in it is a `Lost` here.

A host is forked, so that objects reach it as they are, whether or not they could be pickled. What
it is asked is pickled, what it answers is data (`dpassay.trials.wire`).
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
import warnings
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from dpassay.trials.isolation.child import BROKEN, INTERRUPTS, Answering, live
from dpassay.trials.isolation.limits import Limits, Lost, Overtime
from dpassay.trials.isolation.objects import Handle, Objects
from dpassay.trials.isolation.printed import CHUNK, Said
from dpassay.trials.wire import HEAD, MARK, Garbled, length, unpack

TICK = 0.2
"""Seconds between two looks whether a host that says nothing is still there."""
GRACE = 1.0
"""Seconds that a host which has closed its connection is given to end by itself."""
FOREVER = 1e9
"""Seconds; a socket wants a number."""


class Host:
    """A process that answers what it is asked, one thing at a time.

    Parameters
    ----------
    desk : callable
        What answers in the new process.
    limits : Limits
    shared : iterable
        Objects that exist already, and that it has as they are when they are arguments.
    bare : bool
        Whether all other open files are closed there: where nothing that the parent has opened can
        be needed.
    """

    def __init__(
        self, desk: Answering, limits: Limits, shared: Iterable[Any] = (), *, bare: bool = False
    ) -> None:
        self.limits = limits
        self.deadline: float | None = None
        self.said = Said()
        self._objects = Objects(shared)
        self._number = 0
        self._code: int | None = None
        self.closed = False
        self._received = bytearray()
        self._socket, there = socket.socketpair()
        self._pipe, pipe = os.pipe()
        with warnings.catch_warnings():
            # Python >= 3.12 warns of threads; ours hold nothing needed there
            warnings.simplefilter("ignore", DeprecationWarning)
            parent, self.pid = os.getpid(), self._fork(there, pipe)
        if self.pid == 0:
            try:
                drop = [self._socket.fileno(), self._pipe, *_open_files()]
                OPEN.clear()  # they are the parent's, and closed here
                live(desk, there, pipe, self._objects.by_key(), drop, parent, limits, bare=bare)
            finally:
                os._exit(BROKEN)
        there.close()
        os.close(pipe)
        self._socket.settimeout(min(limits.seconds, FOREVER))
        os.set_blocking(self._pipe, False)
        OPEN.add(self)

    def _fork(self, there: socket.socket, pipe: int) -> int:
        # what a fork calls back would swallow a Ctrl-C, and a child that gets one before it has a
        # group of its own would leave this function by it and do what only its parent should
        held = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
        child = -1
        try:
            child = os.fork()
        except OSError:
            self.closed = True
            for file in (self._socket.detach(), there.detach(), self._pipe, pipe):
                os.close(file)
            raise
        finally:
            if child != 0:
                signal.pthread_sigmask(signal.SIG_SETMASK, held)
        return child

    def keep(self) -> Handle:
        """Return what will stand here for something that the host is to keep."""
        return self._objects.handle()

    def ask(self, operation: str, *arguments: Any, known: Iterable[Any] = ()) -> None:
        """Ask it something, and do not wait for the answer.

        Parameters
        ----------
        operation : str
        arguments : object
        known : iterable
            Objects that are sent once, and named from then on as long as they exist.

        Raises
        ------
        Lost
            If it cannot be asked any more.
        Unsent
            If an argument cannot be pickled.
        """
        content = self._objects.written(operation, arguments, known)
        self._number += 1
        try:
            self._socket.sendall(HEAD.pack(MARK, self._number, 0, content.nbytes))
            self._socket.sendall(content)
        except OSError:
            self._lose()
        self.deadline = time.monotonic() + self.limits.seconds

    def answer(self) -> tuple[bool, Any]:
        """Return whether it has answered what it was asked last, and what; look at `wait` first.

        Raises
        ------
        Lost
            If it never will.
        """
        dead = self._ended()
        self._listen()
        closed = self._read()
        message = self._message()
        if message is not None:
            number, value = message
            if number != self._number:
                self._lose("the worker wrote over its connection")
            self.deadline = None
            return True, value
        if dead or closed:
            self._lose()
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.close()
            raise Overtime(f"took longer than {self.limits.seconds:g} s")
        return False, None

    def call(self, operation: str, *arguments: Any, known: Iterable[Any] = ()) -> Any:
        """Ask it something and wait for the answer; see `ask` and `answer`."""
        self.ask(operation, *arguments, known=known)
        while True:
            wait([self])
            done, value = self.answer()
            if done:
                return value

    def close(self) -> None:
        """End it and what it started, without asking them."""
        if self.closed:
            return
        self.closed = True
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        if self._code is None:
            with suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(self.pid, 0)
        self._listen()
        self._socket.close()
        os.close(self._pipe)
        OPEN.discard(self)

    def kill(self) -> None:
        """End it while another thread waits for its answer, which learns that it is lost."""
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)

    @property
    def files(self) -> list[int]:
        """What has something to be read when it has said something."""
        return [] if self.closed else [self._socket.fileno(), self._pipe]

    def _message(self) -> tuple[int, Any] | None:
        if len(self._received) < HEAD.size:
            return None
        try:
            size = HEAD.size + length(bytes(self._received[: HEAD.size]))
            if len(self._received) < size:
                return None
            message = bytes(self._received[:size])
            del self._received[:size]
            return unpack(message)
        except Garbled:
            self._lose("the worker wrote over its connection")
            raise

    def _read(self) -> bool:
        """Take in what has come; return whether nothing can come any more."""
        while True:
            try:
                found = os.read(self._socket.fileno(), CHUNK)
            except BlockingIOError:
                return False
            except OSError:
                return True
            if not found:
                return True
            self._received += found
            if len(found) < CHUNK:
                return False

    def _listen(self) -> None:
        with suppress(OSError):
            while found := os.read(self._pipe, CHUNK):
                self.said.hear(found)

    def _ended(self) -> bool:
        """Whether the process has ended; its exit code is kept."""
        if self._code is None:
            try:
                ended, status = os.waitpid(self.pid, os.WNOHANG)
            except OSError:
                return True
            if ended:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code is not None

    def _lose(self, cause: str = "") -> NoReturn:
        """End the host and raise; without a cause it is how it ended by itself, if it did."""
        until = time.monotonic() + GRACE
        while not (cause or self._ended()) and time.monotonic() < until:
            time.sleep(0.002)
        code = BROKEN if self._code is None else self._code
        if code == BROKEN:
            how = "it closed its connection, or broke what its process needs"
        else:
            how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        self.close()
        raise Lost(cause or f"the worker died ({how})")


def wait(hosts: Sequence[Host]) -> None:
    """Wait until one of them has said something, is over its time, or a moment has passed."""
    now = time.monotonic()
    until = min(
        [TICK, *(max(0.0, host.deadline - now) for host in hosts if host.deadline is not None)]
    )
    watch = select.poll()
    for host in hosts:
        for file in host.files:
            watch.register(file, select.POLLIN)
    watch.poll(1000 * until + 1)


OPEN: weakref.WeakSet[Host] = weakref.WeakSet()
"""All that are open, so that a new one does not keep the others' connections open too."""


def _open_files() -> list[int]:
    return [file for host in OPEN for file in host.files]
