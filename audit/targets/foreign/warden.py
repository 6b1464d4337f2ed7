"""The warden: a small process between dpassay and a program, which leaves nothing running.

It runs as a script of its own and imports the standard library alone. The program's stdin, stdout
and stderr go past it. It ends the program and whatever that has started when the program ends, when
there are too many processes, or when the other end of its control connection closes, which the
death of dpassay does too, however that dies. On Linux it adopts orphans, so that a process does not
get away by leaving its session.

Arguments: the number of the control connection, the limits as JSON, the command.
"""

from __future__ import annotations

# pathlib is left out: it takes longer to import than a warden to start
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any

LINUX = sys.platform == "linux"
DEATH_SIGNAL, SUBREAPER = 1, 36
"""PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER of prctl."""
GIB = 1 << 30
TICK = 0.1
"""Seconds between two counts of processes; longer where counting takes long."""
THREADS = 16
"""RLIMIT_NPROC counts threads: so many are allowed for each process."""
LAST = 5.0
"""Seconds in which everything must have ended."""


def main(control: int, limits: dict[str, Any], command: list[str]) -> None:
    """Start a program, watch over it, end it."""
    os.set_inheritable(control, False)
    if LINUX:
        ctypes.CDLL(None).prctl(SUBREAPER, 1)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    child, failure = _started(command, limits)
    _tell(control, {"failed": failure} if failure else {"pid": child})
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in range(3):
        os.dup2(nothing, file)
    ending = {} if failure else _watched(child, control, woken, int(limits["processes"]))
    _end(child)
    _tell(control, ending | {"end": True})


def _started(command: list[str], limits: dict[str, Any]) -> tuple[int, str]:
    """Return the program's process, and why it could not be started, if it could not."""
    said, say = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            _limit(limits)
            for name in ("SIGPIPE", "SIGXFSZ", "SIGCHLD"):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
            os.execvp(command[0], command)  # noqa: S606  (the user's own command)
        except BaseException as error:  # noqa: BLE001  (nothing may come back from here)
            reason = getattr(error, "strerror", None) or str(error)
            os.write(say, reason.encode()[:500])
        finally:
            os._exit(127)
    os.close(say)
    failure = os.read(said, 500).decode(errors="replace")
    os.close(said)
    return child, failure


def _limit(limits: dict[str, Any]) -> None:
    """Set the limits of this process, and of all that it will start."""
    if LINUX:
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)
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


def _watched(child: int, control: int, woken: int, most: int) -> dict[str, Any]:
    """Wait for the end, and say what it was: empty where dpassay wanted it."""
    watch = select.poll()
    watch.register(control, select.POLLIN)
    watch.register(woken, select.POLLIN)
    tick = TICK
    while True:
        ready = [file for file, _ in watch.poll(1000 * tick)]
        if control in ready:
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
    """Collect what has ended; return the status of the program if it is among that."""
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
    """Kill the program's session, then whatever descends from it, until there is nothing left."""
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
