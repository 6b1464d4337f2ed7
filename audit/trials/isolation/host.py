"""Hosts: processes for a user's code. Whatever happens in one is a `Lost` here.

A host is forked, so that objects reach it as they are, whether or not they could be pickled. What
it is asked is pickled, what it answers is data (`dpassay.trials.wire`). A supervisor stands between
it and this process (`dpassay.workers.supervisor`).
"""

from __future__ import annotations

import faulthandler
import gc
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
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np

from dpassay.errors import InvalidInput, TargetError, printable, told
from dpassay.trials.isolation.limits import Limits, Lost, Overtime, Unsent, protected
from dpassay.trials.ledger import installed
from dpassay.trials.wire import HEAD, MARK, Garbled, length, pack, read, unpack
from dpassay.trials.written import INLINE, Array, Outcome, outcome_of
from dpassay.workers.control import ProcessControl
from dpassay.workers.namespaces import NETWORK, enter, forked, lineage, namespaces
from dpassay.workers.supervisor import supervise

TICK = 0.2
"""Seconds between two looks whether a host that says nothing is still there."""
GRACE = 1.0
"""Seconds that a host which has closed its connection is given to end by itself."""
FOREVER = 1e9
"""Seconds; a socket wants a number."""
ENDED = {"code", "processes", "failed", "gone"}
"""What a supervisor says when it is over."""
READS = 64
"""So many chunks of an answer are read between two looks at the clock."""
CHUNK = 1 << 20
SHOWN = 10
"""So many different lines of what a host has printed are told at most."""
LONGEST_LINE = 300
CHUNKS = 4
"""So many chunks are read at a time, lest a flood of them stop the clock."""
FLOOD = 64 << 20
"""Bytes after which nobody looks at lines any more."""
BROKEN = 70
"""Exit code of a host that could not go on, whatever its user's code has done to it."""
GIB = 1 << 30
INTERRUPTS = frozenset({signal.SIGINT, signal.SIGTERM})
"""What interrupts a command."""
Answering = Callable[[str, tuple[Any, ...], dict[int, Any]], Any]
"""Answers what a host is asked: the operation, its arguments, the objects that are kept."""
REMEDY = "a mechanism must return, or raise an exception"
MORE_TIME = "make it faster, or allow more with --shard-timeout (shard_timeout)"
GARBLED = "its process sent something that is no answer"
MAY_REFUSE = ("about", "check", "describe", "facts")
"""What may end as `InvalidInput`, before anything was run; nothing else that a process says may."""


class Host:
    """A process that answers what it is asked, one thing at a time.

    `desk` answers in the new process, which has the `shared` objects from the start. If `bare`,
    it closes all other open files: nothing that the parent has opened can be needed.
    """

    def __init__(
        self, desk: Answering, limits: Limits, shared: Iterable[Any] = (), *, bare: bool = False
    ) -> None:
        self.limits = limits
        self.deadline: float | None = None
        self.said = Said()
        self._objects = HostObjects(shared)
        self._number = 0
        self._owner = lineage()
        self.closed = False
        self._received = bytearray()
        kind, paths = namespaces(), protected()
        kind = kind if kind is None or limits.network else kind | NETWORK
        self._control = ProcessControl()
        self._socket, there = socket.socketpair()
        self._pipe, pipe = os.pipe()
        with warnings.catch_warnings():
            # Python >= 3.12 warns of threads; ours hold nothing needed there
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = self._fork(kind, there, pipe)
        if pid == 0:
            try:

                def start(say: int) -> None:
                    try:
                        os.close(say)
                        for host in list(OPEN):
                            host.close()
                        known, drop = self._objects.by_key(), self.files
                        live(desk, there, pipe, known, drop, limits, bare=bare)
                    finally:
                        os._exit(BROKEN)

                control = self._control.there.fileno()
                entering = None if kind is None else partial(enter, kind, paths)
                supervise(control, start, limits.processes, entering)
            finally:
                os._exit(BROKEN)
        self._control.begin(pid)
        there.close()
        os.close(pipe)
        self._socket.settimeout(min(limits.seconds, FOREVER))
        os.set_blocking(self._pipe, False)
        OPEN.add(self)

    def _fork(self, kind: int | None, there: socket.socket, pipe: int) -> int:
        # what a fork calls back would swallow a Ctrl-C, and a child that gets one before it has a
        # group of its own would leave this function by it and do what only its parent should
        held = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
        child = -1
        try:
            child = forked(kind)
        except OSError:
            self.closed = True
            self._control.begin(0)
            self._control.close()
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

        Objects in `known` are sent once, and named from then on as long as they exist.
        `Lost` says that it cannot be asked any more, `Unsent` that an argument cannot be
        pickled.
        """
        content = self._objects.written(operation, arguments, known)
        self._number += 1
        self.deadline = time.monotonic() + self.limits.seconds
        try:
            self._socket.sendall(HEAD.pack(MARK, self._number, 0, content.nbytes))
            self._socket.sendall(content)
        except TimeoutError:
            self._late()
        except OSError:
            self._lose()

    def answer(self) -> tuple[bool, Any]:
        """Return whether it has answered what it was asked last, and what; look at `wait` first.

        `Lost` says that it never will.
        """
        dead = not self._control.facts(0).keys().isdisjoint(ENDED)
        self.said.read(self._pipe)
        closed = self._read()
        if (message := self._message()) is not None:
            self.deadline = None
            return True, message[0]
        if dead or closed:
            self._lose()
        if self.deadline is not None and time.monotonic() > self.deadline:
            self._late()
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
        """End it and what it started, without asking them; a process forked since lets go of it."""
        if self.closed:
            return
        self.closed = True
        OPEN.discard(self)
        if self._owner == lineage():
            self._control.end()
            self.said.read(self._pipe)
        self._control.close()
        self._socket.close()
        os.close(self._pipe)

    def kill(self) -> None:
        """End it while another thread waits for its answer, which learns that it is lost."""
        self._control.order_end()

    @property
    def files(self) -> list[int]:
        """Return what has something to be read when it has said something, or has ended."""
        return [] if self.closed else [self._socket.fileno(), self._pipe, self._control.file]

    def _message(self) -> tuple[Any] | None:
        """Return the answer if it has come whole."""
        if len(self._received) < HEAD.size:
            return None
        try:
            size = HEAD.size + length(bytes(self._received[: HEAD.size]), self._number)
            if size > self.limits.reply * GIB:
                self._lose(f"its answer is longer than {self.limits.reply:g} GiB")
            if len(self._received) < size:
                return None
            message = bytes(self._received[:size])
            del self._received[:size]
            return (unpack(message)[1],)
        except Garbled:
            self._lose("the worker wrote over its connection")

    def _read(self) -> bool:
        """Take in some of what has come; return whether nothing can come any more."""
        for _ in range(READS):
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
        return False

    def _late(self) -> NoReturn:
        self.close()
        raise Overtime(f"took longer than {self.limits.seconds:g} s")

    def _lose(self, cause: str = "") -> NoReturn:
        """End the host and raise; without a cause it is how it ended by itself, if it did."""
        facts = {} if cause else self._control.facts(0)
        until = time.monotonic() + GRACE
        while not cause and facts.keys().isdisjoint(ENDED) and time.monotonic() < until:
            facts = self._control.facts(until - time.monotonic())
        self.close()
        if "failed" in facts:
            raise Lost(f"no process could be started ({facts['failed']})")
        if "processes" in facts:
            raise Lost(f"it had {facts['processes']} processes at a time, more than its limit")
        code = facts.get("code", BROKEN)
        if code == BROKEN:
            how = "it closed its connection, or broke what its process needs"
        else:
            how = f"exit code {code}" if code >= 0 else f"signal {-code}"
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


class Handle:
    """Something that only a host has, and forgets when nobody refers to it here any more."""

    __slots__ = ("__weakref__", "key", "owner")

    def __init__(self, owner: HostObjects, key: int) -> None:
        self.owner = owner
        self.key = key


class HostObjects:
    """The objects that a host has, by the keys under which it has them."""

    def __init__(self, shared: Iterable[Any]) -> None:
        self._known: dict[int, tuple[int, Any]] = {
            id(each): (key, each) for key, each in enumerate(shared)
        }
        self._keys = len(self._known)
        self._forgotten: list[int] = []

    def by_key(self) -> dict[int, Any]:
        """Return those that it has from the start, by their keys."""
        return dict(self._known.values())

    def handle(self) -> Handle:
        """Return what will stand here for something that the host is to keep."""
        self._keys += 1
        found = Handle(self, self._keys)
        weakref.finalize(found, self._forgotten.append, found.key).atexit = False
        return found

    def written(self, operation: str, arguments: tuple[Any, ...], known: Iterable[Any]) -> Any:
        """Return the bytes that ask the host something; see `Host.ask`.

        `Unsent` says that an argument cannot be pickled.
        """
        once = {id(each): each for each in known if id(each) not in self._known}
        new = {self._keys + k: each for k, each in enumerate(once.values(), 1)}
        keys = {id(each): key for key, each in new.items()}

        def name(thing: Any) -> int | None:
            if isinstance(thing, Handle):
                if thing.owner is not self:
                    raise TypeError("a state of a process that is gone")
                return thing.key
            return self._key(thing) if id(thing) in self._known else keys.get(id(thing))

        content = io.BytesIO()
        told = (self._key, new), (name, (operation, arguments, list(self._forgotten)))
        try:
            for named, value in told:  # what a host has already is named
                pickler = pickle.Pickler(content, protocol=5)
                pickler.persistent_id = named  # type: ignore[method-assign]
                pickler.dump(value)
        except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
            raise Unsent(" ".join(str(error).split())) from None
        self._keys += len(new)
        self._forgotten.clear()
        for key, each in new.items():
            try:
                weakref.finalize(each, self._forget, id(each)).atexit = False
            except TypeError:  # kept as long as the host is
                self._known[id(each)] = (key, each)
            else:
                self._known[id(each)] = (key, None)
        return content.getbuffer()

    def _key(self, thing: Any) -> int | None:
        return self._known.get(id(thing), (None,))[0]

    def _forget(self, place: int) -> None:
        self._forgotten.append(self._known.pop(place)[0])


class Said:
    """The first different lines that hosts have printed, each with its number."""

    def __init__(self) -> None:
        self._lines: dict[bytes, int] = {}
        self._more = 0
        self._rest = b""
        self._heard = 0

    def read(self, file: int) -> None:
        """Take in some of what a file holds; of a flood the lines are only counted."""
        for _ in range(CHUNKS):
            try:
                found = os.read(file, CHUNK)
            except OSError:
                return
            if not found:
                return
            self._heard += len(found)
            if self._heard < FLOOD:
                self.hear(found)
            else:
                self._more += found.count(b"\n")

    def hear(self, text: bytes) -> None:
        """Take in some of it."""
        *lines, self._rest = (self._rest + text).split(b"\n")
        self._rest = self._rest[-CHUNK:]
        for line, number in Counter(lines).items():
            self._count(line, number)

    def _count(self, line: bytes, number: int = 1) -> None:
        line = line[:LONGEST_LINE].rstrip()
        if line in self._lines or (line and len(self._lines) < SHOWN):
            self._lines[line] = self._lines.get(line, 0) + number
        elif line:
            self._more += number

    def take(self, other: Said) -> None:
        """Add what another host has printed, and leave it nothing."""
        for line, number in other._lines.items():
            self._count(line, number)
        self._count(other._rest)
        self._more += other._more
        other._lines, other._more, other._rest = {}, 0, b""

    def lines(self) -> list[str]:
        """Return what is told of it."""
        told = []
        for raw, number in self._lines.items():
            line = printable(raw.decode(errors="replace"))
            told.append(line if number == 1 else f"{line} ({number:,} times)")
        return [*told, f"... and {self._more:,} more lines"] if self._more else told


def live(
    desk: Answering,
    connection: socket.socket,
    pipe: int,
    objects: dict[int, Any],
    drop: list[int],
    limits: Limits,
    *,
    bare: bool,
) -> None:
    """Be the new process of a host, until the connection ends; `drop` are files of its parent.

    Where it is `bare`, all other open files are closed too.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)
    gc.freeze()  # a collection would write to, and so copy, all that the judge has
    gc.enable()
    gc.callbacks.clear()  # of libraries that watch the process it was forked from
    for file in drop:
        os.close(file)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (pipe, 1), (pipe, 2)):
        os.dup2(source, target)
    os.close(pipe)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = sys.stderr = os.fdopen(1, "w", buffering=1, errors="replace", closefd=False)
    if bare:
        os.closerange(3, connection.fileno())
        os.closerange(connection.fileno() + 1, 4096)
    faulthandler.disable()
    if sys.platform == "linux" and limits.memory < math.inf:  # only Linux keeps to it
        taken = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = taken + round(limits.memory * GIB)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    # forks must not share the coins of a mechanism that wrongly takes them from there
    np.random.seed()  # noqa: NPY002
    random.seed()
    _serve(desk, connection, objects)


def _serve(desk: Answering, connection: socket.socket, objects: dict[int, Any]) -> None:
    """Answer until the parent is gone."""
    stream, own = connection.makefile("rb"), os.getpid()
    while head := stream.read(HEAD.size):
        content = io.BytesIO(stream.read(length(head)))
        objects |= _unpickled(content, objects)
        operation, arguments, forget = _unpickled(content, objects)
        for key in forget:
            objects.pop(key, None)
        number, work = HEAD.unpack(head)[1], partial(desk, operation, arguments, objects)
        try:
            answer = pack(number, outcome_of(work))
        except BaseException as error:  # noqa: BLE001  (nobody presses Ctrl-C here)
            answer = pack(number, {"raised": type(error).__name__, "detail": _told(error)})
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
        self._ending: list[Host] = []
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
            for host in (*self._open, *self._ending):
                host.close()
            self._open, self._ending, self._said, self._owner = [], [], Said(), lineage()
        self._end(host for host in self._open if host.closed)
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
        """End others of the same code; what they have printed is told with what these have.

        It is ordered now, and waited for with the next, or at the end.
        """
        self._end(self._ending)
        for host in others._open:
            host.kill()
        self._ending, others._open = others._open, []
        self._said.take(others._said)

    def _end(self, hosts: Iterable[Host]) -> None:
        for host in hosts:
            host.close()
            self._said.take(host.said)

    def close(self) -> None:
        """End all of them, and tell on stderr what they have printed."""
        self._end([*self._ending, *self._open])
        self._ending, self._open, lines, self._said = [], [], self._said.lines(), Said()
        for line in lines:
            with suppress(OSError):
                sys.stderr.write(f"dpassay: {self.name} printed: {line}\n")
