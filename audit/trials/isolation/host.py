"""A host: a process of its own for a user's code. Whatever happens in it is a `Lost` here.

A host is forked, so that objects reach it as they are, whether or not they could be pickled. What
it is asked is pickled, what it answers is data (`dpassay.trials.wire`). A supervisor stands between
it and this process (`dpassay.workers.supervisor`).
"""

from __future__ import annotations

import io
import os
import pickle
import select
import signal
import socket
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NoReturn

from dpassay.errors import printable
from dpassay.trials.isolation.child import BROKEN, GIB, INTERRUPTS, Answering, live
from dpassay.trials.isolation.limits import Limits, Lost, Overtime, Unsent, protected
from dpassay.trials.wire import HEAD, MARK, Garbled, length, unpack
from dpassay.workers.control import ProcessControl
from dpassay.workers.namespaces import NETWORK, enter, lineage, namespaces
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
            pid = self._fork(there, pipe)
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

    def _fork(self, there: socket.socket, pipe: int) -> int:
        # what a fork calls back would swallow a Ctrl-C, and a child that gets one before it has a
        # group of its own would leave this function by it and do what only its parent should
        held = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
        child = -1
        try:
            child = os.fork()
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
        for message in self._message():
            self.deadline = None
            return True, message
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

    def _message(self) -> Iterator[Any]:
        """Yield the answer if it has come whole."""
        if len(self._received) < HEAD.size:
            return
        try:
            head = bytes(self._received[: HEAD.size])
            size = HEAD.size + length(head, self._number)
            if size > self.limits.reply * GIB:
                self._lose(f"its answer is longer than {self.limits.reply:g} GiB")
            if len(self._received) < size:
                return
            message = bytes(self._received[:size])
            del self._received[:size]
            yield unpack(message)[1]
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


class _Pickler(pickle.Pickler):
    """Names what a host has already."""

    def __init__(self, file: io.BytesIO, name: Callable[[Any], int | None]) -> None:
        super().__init__(file, protocol=5)
        self.persistent_id = name  # type: ignore[method-assign]


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
        try:
            _Pickler(content, self._key).dump(new)
            _Pickler(content, name).dump((operation, arguments, list(self._forgotten)))
        except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
            raise Unsent(" ".join(str(error).split())) from None
        self._keys += len(new)
        self._forgotten.clear()
        for key, each in new.items():
            self._remember(each, key)
        return content.getbuffer()

    def _key(self, thing: Any) -> int | None:
        return self._known.get(id(thing), (None,))[0]

    def _remember(self, thing: Any, key: int) -> None:
        try:
            weakref.finalize(thing, self._forget, id(thing)).atexit = False
        except TypeError:  # kept as long as the host is
            self._known[id(thing)] = (key, thing)
        else:
            self._known[id(thing)] = (key, None)

    def _forget(self, place: int) -> None:
        self._forgotten.append(self._known.pop(place)[0])


class Said:
    """What hosts have printed: the first different lines, each with its number."""

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
