"""The supervisor: a small process between dpassay and foreign code, which leaves nothing running.

It ends the code and whatever that has started when the code ends, when there are too many
processes, or when the other end of its control connection closes, which the death of dpassay does
too, however that dies. On Linux it adopts orphans, so that a process does not get away by leaving
its session.

Where the machine allows it, the code lives in namespaces: it sees no process but its own, so that
it can neither signal nor trace the one that judges it, its end is the end of all that it has
started, and protected paths are read-only.

As a script it supervises a program, and imports the standard library alone. Arguments: the number
of the control connection, the limits as JSON, the command.
"""

from __future__ import annotations

# pathlib is left out: it takes longer to import than a supervisor to start
import ctypes
import gc
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

LINUX = sys.platform == "linux"
DEATH_SIGNAL, DUMPABLE, SUBREAPER = 1, 4, 36
"""PR_SET_PDEATHSIG, PR_SET_DUMPABLE and PR_SET_CHILD_SUBREAPER of prctl."""
GIB = 1 << 30
TICK = 0.1
"""Seconds between two counts of processes; longer where counting takes long."""
THREADS = 16
"""RLIMIT_NPROC counts threads: so many are allowed for each process."""
LAST = 5.0
"""Seconds in which everything must have ended."""
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
"""Signals that foreign code may send to the process above it."""


def main(control: int, limits: dict[str, Any], command: list[str]) -> NoReturn:
    """Supervise a program."""
    os.set_inheritable(control, False)

    def start(say: int) -> None:
        for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGPIPE", "SIGXFSZ"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        _limit(limits)
        try:
            os.execvp(command[0], command)  # noqa: S606  (the user's own command)
        except OSError as error:
            os.write(say, str(error.strerror).encode())

    supervise(control, start, int(limits["processes"]))


def supervise(
    control: int,
    start: Callable[[int], object],
    processes: int,
    enter: Callable[[], object] | None = None,
) -> NoReturn:
    """Be the supervisor: start foreign code, watch over it, end it.

    What happens is told to dpassay on the connection `control`, a JSON object a line; its end is
    the order to end everything. `start` becomes the code in a process of its own; it is given a
    file that it must close, or write to why it cannot start. At most so many `processes` run at a
    time. `enter` makes this process the first of namespaces, where the machine allows it.
    """
    gc.disable()  # objects of the process that this was forked from are not ours to finalize
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    parent = os.getppid()
    with suppress(OSError):  # a script that was started in a session of its own has one
        os.setsid()
    try:
        if enter is not None:
            enter()
            parent = 0  # it is outside
        elif LINUX:
            ctypes.CDLL(None).prctl(SUBREAPER, 1)
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        untraceable()  # before the code runs, which could attach to this process at once
        child, failure = _started(start, (control, woken, wake))
    except OSError as error:
        _tell(control, {"failed": error.strerror})
        os._exit(1)
    # the number of a process in a namespace is another process's elsewhere
    _tell(control, {"failed": failure} if failure else {} if parent == 0 else {"pid": child})
    _keep(control, woken, wake)
    ending = {} if failure else _watched(child, control, woken, processes, parent)
    if enter is None:
        _end(child)
    _tell(control, ending | {"end": True})
    os._exit(0)  # of a namespace all other processes end with the first


def untraceable(*, yes: bool = True) -> None:
    """Keep processes of the same user from tracing this one, and from its memory and files."""
    if LINUX:
        ctypes.CDLL(None).prctl(DUMPABLE, int(not yes))


def _keep(*files: int) -> None:
    """Close all files but these, and let the standard ones lead nowhere."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in range(3):
        os.dup2(nothing, file)
    first = 3
    for file in sorted(files):
        os.closerange(first, file)
        first = file + 1
    os.closerange(first, 1 << 16)


def _started(start: Callable[[int], object], ours: Sequence[int]) -> tuple[int, str]:
    """Return the process of the code, and why it could not be started, if it could not."""
    said, say = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.set_wakeup_fd(-1)
            for file in (said, *ours):
                os.close(file)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            with suppress(OSError):
                os.setsid()
            if LINUX:
                ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)
            untraceable(yes=False)  # what the judge has set is not for the code
            start(say)
        finally:
            os._exit(127)
    os.close(say)
    failure = os.read(said, 500).decode(errors="replace")
    os.close(said)
    return child, failure


def _limit(limits: dict[str, Any]) -> None:
    """Set the limits of this process, and of all that it will start."""
    if LINUX:
        threads = _threads() + THREADS * int(limits["processes"])
        _set(resource.RLIMIT_DATA, limits["memory"] * GIB)
        _set(resource.RLIMIT_NPROC, threads)
    _set(resource.RLIMIT_CPU, limits["cpu"])
    _set(resource.RLIMIT_FSIZE, limits["file"] * GIB)
    _set(resource.RLIMIT_CORE, 0)


def _set(what: int, most: float) -> None:
    _, hard = resource.getrlimit(what)
    least = int(most) if hard == resource.RLIM_INFINITY else min(int(most), hard)
    resource.setrlimit(what, (least, least))


def _threads() -> int:
    """Return how many threads this user has already, in all processes."""
    found, user = 0, os.getuid()
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        with suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == user:  # noqa: PTH116
                found += len(os.listdir(f"/proc/{name}/task"))  # noqa: PTH208
    return found


def _watched(child: int, control: int, woken: int, most: int, parent: int) -> dict[str, Any]:
    """Wait for the end, and say what it was: empty where dpassay wanted it."""
    watch = select.poll()
    watch.register(control, select.POLLIN)
    watch.register(woken, select.POLLIN)
    tick = TICK
    while True:
        ready = [file for file, _ in watch.poll(1000 * tick)]
        if control in ready or os.getppid() != parent:
            return {}
        if woken in ready:
            os.read(woken, 4096)
            status = _reaped(child)
            if status is not None:
                return {"code": os.waitstatus_to_exitcode(status)}
        began = time.monotonic()
        number = len(_descendants())
        if number > most:
            return {"processes": number}
        tick = max(TICK, 20 * (time.monotonic() - began))


def _reaped(child: int) -> int | None:
    """Collect what has ended; return the status of the code's process if it is among that."""
    status = None
    with suppress(ChildProcessError):
        while True:
            ended, found = os.waitpid(-1, os.WNOHANG)
            if ended == 0:
                break
            if ended == child:
                status = found
    return status


def _end(child: int) -> None:
    """Kill the code's session, then whatever descends from it, until there is nothing left."""
    until = time.monotonic() + LAST
    while time.monotonic() < until:
        with suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        for process in _descendants():
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        _reaped(child)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        time.sleep(0.002)


def _descendants() -> list[int]:
    """Return all living processes that descend from this one; none where /proc does not tell."""
    if not LINUX:
        return []
    parents: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        with suppress(OSError):
            state, parent = _stat(name)
            if state != "Z":
                parents.setdefault(parent, []).append(int(name))
    found, left = [], [os.getpid()]
    while left:
        more = parents.get(left.pop(), [])
        found += more
        left += more
    return found


def _stat(process: str) -> tuple[str, int]:
    """Return the state of a process and its parent; its name may hold anything, brackets too."""
    with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123
        fields = file.read().rpartition(b")")[2].split()
    return fields[0].decode(), int(fields[1])


def _tell(control: int, facts: dict[str, Any]) -> None:
    with suppress(OSError):
        os.write(control, json.dumps(facts).encode() + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:])
