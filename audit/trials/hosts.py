"""Hosts: processes of their own for a user's code, with a limit on time and memory.

Whatever happens in one is a `Lost`.

A host is forked, so that objects reach it as they are, whether or not they could be pickled. What
it is asked is pickled, what it answers is data (`dpassay.trials.wire`). What it prints is collected
and told once, equal lines with their number.
"""

from __future__ import annotations

import ctypes
import faulthandler
import io
import math
import os
import pickle
import random
import resource
import select
import signal
import socket
import sys
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np

from dpassay.errors import told
from dpassay.trials.wire import HEAD, MARK, Garbled, length, pack, unpack

TICK = 0.2
"""Seconds between two looks whether a host that says nothing is still there."""
GRACE = 1.0
"""Seconds that a host which has closed its connection is given to end by itself."""
GIB = 1 << 30
CHUNK = 1 << 20
SHOWN = 10
"""So many different lines of what a host has printed are told at most."""
LONGEST_LINE = 300
INTERRUPTS = frozenset({signal.SIGINT, signal.SIGTERM})
"""What interrupts a command."""
BROKEN = 70
"""Exit code of a host that could not go on, whatever its user's code has done to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a user's code may take.

    Parameters
    ----------
    seconds : float
        Time for one thing that is asked of it: its import, one `prepare`, a portion of trials.
    memory : float
        GiB that its process may take besides what it begins with; kept to on Linux.
    """

    seconds: float = 60.0
    memory: float = 4.0


UNLIMITED = Limits(seconds=math.inf, memory=math.inf)
"""For what may take as long, and as much, as it does."""
FOREVER = 1e9
"""Seconds; a socket wants a number."""


class Lost(Exception):
    """A host has died or does not answer as it should; the text says what happened."""


class Overtime(Lost):
    """A host has taken too long."""


class Unsent(Exception):
    """Something cannot be given to a host, as it cannot be pickled; the text names it."""


Desk = Callable[[str, tuple[Any, ...], dict[int, Any]], Any]
"""Answers what a host is asked: the operation, its arguments, the objects that are kept."""


class Kept:
    """Something that only a host has.

    When nobody refers to it here any more, the host forgets it too.
    """

    __slots__ = ("__weakref__", "host", "key")

    def __init__(self, host: Host, key: int) -> None:
        self.host = host
        self.key = key


class _Pickler(pickle.Pickler):
    """Names what a host has already."""

    def __init__(self, file: io.BytesIO, name: Callable[[Any], int | None]) -> None:
        super().__init__(file, protocol=5)
        self.persistent_id = name  # type: ignore[method-assign]


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
        self, desk: Desk, limits: Limits, shared: Iterable[Any] = (), *, bare: bool = False
    ) -> None:
        self.limits = limits
        self.deadline: float | None = None
        self.said = Said()
        self._kept: dict[int, tuple[int, Any]] = {
            id(each): (key, each) for key, each in enumerate(shared)
        }
        self._keys = len(self._kept)
        self._forgotten: list[int] = []
        self._number = 0
        self._code: int | None = None
        self.closed = False
        self._received = bytearray()
        here, there = socket.socketpair()
        self._pipe, pipe = os.pipe()
        with warnings.catch_warnings():
            # Python >= 3.12 warns of threads; ours hold nothing needed there
            warnings.simplefilter("ignore", DeprecationWarning)
            parent, self.pid = os.getpid(), self._fork(here, there, pipe)
        if self.pid == 0:
            try:
                objects = dict(self._kept.values())
                keep = (there.fileno(), pipe)
                _settle(parent, keep, [here.fileno(), self._pipe, *_open_here()], limits, bare=bare)
                _serve(desk, there, objects)
            finally:
                os._exit(BROKEN)
        there.close()
        os.close(pipe)
        self._socket = here
        here.settimeout(min(limits.seconds, FOREVER))
        os.set_blocking(self._pipe, False)
        _hosts.add(self)

    def _fork(self, here: socket.socket, there: socket.socket, pipe: int) -> int:
        # what a fork calls back would swallow a Ctrl-C, and a child that gets one before it has a
        # group of its own would leave this function by it and do what only its parent should
        held = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
        child = -1
        try:
            child = os.fork()
        except OSError:
            self.closed = True
            for file in (here.detach(), there.detach(), self._pipe, pipe):
                os.close(file)
            raise
        finally:
            if child != 0:
                signal.pthread_sigmask(signal.SIG_SETMASK, held)
        return child

    def keep(self) -> Kept:
        """Return what will stand here for something that the host is to keep.

        Its key says where.
        """
        self._keys += 1
        found = Kept(self, self._keys)
        weakref.finalize(found, self._forgotten.append, found.key).atexit = False
        return found

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
        once = {id(each): each for each in known if id(each) not in self._kept}
        new = {self._keys + k: each for k, each in enumerate(once.values(), 1)}
        keys = {id(each): key for key, each in new.items()}

        def name(thing: Any) -> int | None:
            if isinstance(thing, Kept):
                if thing.host is not self:
                    raise TypeError("a state of a process that is gone")
                return thing.key
            return self._kept[id(thing)][0] if id(thing) in self._kept else keys.get(id(thing))

        content = io.BytesIO()
        try:
            _Pickler(content, lambda thing: self._kept.get(id(thing), (None,))[0]).dump(new)
            _Pickler(content, name).dump((operation, arguments, list(self._forgotten)))
        except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
            raise Unsent(" ".join(str(error).split())) from None
        self._keys += len(new)
        self._forgotten.clear()
        for key, each in new.items():
            self._remember(each, key)
        self._number += 1
        try:
            self._socket.sendall(HEAD.pack(MARK, self._number, 0, content.getbuffer().nbytes))
            self._socket.sendall(content.getbuffer())
        except OSError:
            self._lose()
        self.deadline = time.monotonic() + self.limits.seconds

    def _remember(self, thing: Any, key: int) -> None:
        try:
            weakref.finalize(thing, self._forget, id(thing)).atexit = False
        except TypeError:  # kept as long as the host is
            self._kept[id(thing)] = (key, thing)
        else:
            self._kept[id(thing)] = (key, None)

    def _forget(self, place: int) -> None:
        self._forgotten.append(self._kept.pop(place)[0])

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
        _hosts.discard(self)

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


class Said:
    """What hosts have printed: the first different lines, each with its number."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._more = 0
        self._rest = b""

    def hear(self, text: bytes) -> None:
        """Take in some of it."""
        *lines, self._rest = (self._rest + text).split(b"\n")
        self._rest = self._rest[-CHUNK:]
        for line in lines:
            self._count(line)

    def _count(self, raw: bytes, number: int = 1) -> None:
        line = raw[:LONGEST_LINE].decode(errors="replace").rstrip()
        if not line:
            return
        if line in self._lines or len(self._lines) < SHOWN:
            self._lines[line] = self._lines.get(line, 0) + number
        else:
            self._more += number

    def take(self, other: Said) -> None:
        """Add what another host has printed, and leave it nothing."""
        for line, number in other._lines.items():
            self._count(line.encode(), number)
        self._count(other._rest)
        self._more += other._more
        other._lines, other._more, other._rest = {}, 0, b""

    def lines(self) -> list[str]:
        """Return what is told of it."""
        told = [
            line if number == 1 else f"{line} ({number:,} times)"
            for line, number in self._lines.items()
        ]
        return [*told, f"... and {self._more:,} more lines"] if self._more else told


_hosts: weakref.WeakSet[Host] = weakref.WeakSet()
"""All that are open, so that a new one does not keep the others' connections open too."""


def _open_here() -> list[int]:
    return [file for host in _hosts for file in host.files]


def _settle(
    parent: int, keep: tuple[int, int], drop: list[int], limits: Limits, *, bare: bool
) -> None:
    """Prepare a new process.

    It dies with its parent, in a group of its own, and prints into a pipe.
    """
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(BROKEN)
    for file in drop:
        os.close(file)
    nothing, pipe = os.open(os.devnull, os.O_RDONLY), keep[1]
    for source, target in ((nothing, 0), (pipe, 1), (pipe, 2)):
        os.dup2(source, target)
    os.close(pipe)
    if bare:
        os.closerange(3, keep[0])
        os.closerange(keep[0] + 1, 4096)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = sys.stderr = os.fdopen(1, "w", buffering=1, errors="replace", closefd=False)
    faulthandler.disable()
    if sys.platform == "linux" and limits.memory < math.inf:
        taken = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = taken + round(limits.memory * GIB)
        resource.setrlimit(
            resource.RLIMIT_DATA,
            (most if hard == resource.RLIM_INFINITY else min(most, hard), hard),
        )
    # forks must not share the coins of a mechanism that wrongly takes them from there
    np.random.seed()  # noqa: NPY002
    random.seed()


def _serve(desk: Desk, connection: socket.socket, objects: dict[int, Any]) -> None:
    """Answer until the parent is gone; runs in the new process."""
    stream, own = connection.makefile("rb"), os.getpid()
    while head := stream.read(HEAD.size):
        content = io.BytesIO(stream.read(length(head)))
        objects |= _unpickled(content, objects)
        operation, arguments, forget = _unpickled(content, objects)
        for key in forget:
            objects.pop(key, None)
        try:
            answer = pack(HEAD.unpack(head)[1], {"answer": desk(operation, arguments, objects)})
        except BaseException as error:  # noqa: BLE001  (nobody presses Ctrl-C here)
            answer = pack(
                HEAD.unpack(head)[1], {"raised": type(error).__name__, "told": _told(error)}
            )
        if os.getpid() != own:
            os._exit(0)  # a mechanism has forked and come back twice
        connection.sendall(answer)


def _told(error: BaseException) -> str:
    try:
        return told(error)
    except BaseException:  # noqa: BLE001  (what it is asked may be to say what it is)
        return type(error).__name__


def _unpickled(content: io.BytesIO, objects: dict[int, Any]) -> Any:
    """Read what the parent has sent, and nobody else can have."""
    unpickler = pickle.Unpickler(content)  # noqa: S301
    unpickler.persistent_load = objects.__getitem__  # type: ignore[method-assign]
    return unpickler.load()


class Hosts:
    """Hosts of one user's code, opened when they are needed.

    What they print is told when they are closed.

    Parameters
    ----------
    desk, limits, shared, bare
        See `Host`.
    name : str
        What the user calls the code.
    """

    def __init__(
        self,
        name: str,
        desk: Desk,
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

    def first(self) -> Host:
        """Return the one that is asked for everything but trials."""
        return self.several(1)[0]

    def several(self, number: int) -> list[Host]:
        """Return so many of them, new ones in the place of those that are lost.

        Raises
        ------
        Lost
            If the system lets none be opened, or they were killed.
        """
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
