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
DEATH_SIGNAL, CAPABILITY_DROP, SUBREAPER = 1, 24, 36
"""PR_SET_PDEATHSIG, PR_CAPBSET_DROP and PR_SET_CHILD_SUBREAPER of prctl."""
MOUNT, USER, PID = 0x20000, 0x10000000, 0x20000000
"""CLONE_NEWNS, CLONE_NEWUSER and CLONE_NEWPID of unshare."""
READ_ONLY, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 32, 4096, 1 << 14, 1 << 18
"""Flags of mount."""
NO_SUID, NO_DEVICES, NO_EXEC = 2, 4, 8
LOCKED = ((2, 2), (4, 4), (8, 8), (0x400, 0x400), (0x800, 0x800), (0x1000, 1 << 21))
"""Flags of statvfs that a mount may not lose here, and the same of mount."""
KEPT = (0, 1, 3, 4, 5, 6, 7, 10, 13, 23)
"""Capabilities that foreign code of root keeps: about files, users and sockets, as in a container.
Without the others it cannot undo a mount, trace, load a module or lift a limit."""
GIB = 1 << 30
TICK = 0.1
"""Seconds between two counts of processes; longer where counting takes long."""
THREADS = 16
"""RLIMIT_NPROC counts threads: so many are allowed for each process."""
LAST = 5.0
"""Seconds in which everything must have ended."""
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
"""Signals that foreign code may send to the process above it."""

_namespaces: list[int | None] = []
"""Which namespaces this machine gives to this process, once that was tried."""
_forks = [0]


def lineage() -> int:
    """Return a number that tells this process from those that it was forked from.

    Process ids do not: they repeat in another namespace.
    """
    return _forks[0]


def _forked() -> None:
    _forks[0] += 1
    _namespaces.clear()


os.register_at_fork(after_in_child=_forked)


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
    namespaces: int | None = None,
    protected: Sequence[str] = (),
) -> NoReturn:
    """Be the supervisor: start foreign code, watch over it, end it.

    Parameters
    ----------
    control : int
        Connection to dpassay. What happens is told there, a JSON object a line; its end is the
        order to end everything.
    start : callable
        Becomes the code in a process of its own. It is given a file that it must close, or write
        to why it cannot start.
    processes : int
        So many there may be at a time.
    namespaces : int, optional
        What `namespaces` found.
    protected : sequence of str
        Paths that the code may not write to, where there are namespaces.
    """
    gc.disable()  # objects of the process that this was forked from are not ours to finalize
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    parent = os.getppid()
    with suppress(OSError):  # a script that was started in a session of its own has one
        os.setsid()
    try:
        if namespaces is not None:
            _enter(namespaces, protected)
            parent = 0  # it is outside
        elif LINUX:
            ctypes.CDLL(None).prctl(SUBREAPER, 1)
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        child, failure = _started(start, (control, woken, wake))
    except OSError as error:
        _tell(control, {"failed": error.strerror})
        os._exit(1)
    # the number of a process in a namespace is another process's elsewhere
    _tell(control, {"failed": failure} if failure else {} if parent == 0 else {"pid": child})
    _keep(control, woken, wake)
    ending = {} if failure else _watched(child, control, woken, processes, parent)
    if namespaces is None:
        _end(child)
    _tell(control, ending | {"end": True})
    os._exit(0)  # of a namespace all other processes end with the first


def namespaces() -> int | None:
    """Return the namespaces that foreign code can live in here; None if there are none.

    It is tried once in a process, with all that belongs to it.
    """
    if not _namespaces:
        kinds = (PID | MOUNT, USER | PID | MOUNT) if os.geteuid() == 0 else (USER | PID | MOUNT,)
        allowed = (kind for kind in kinds if LINUX and protects(kind, ()))
        _namespaces.append(next(allowed, None))
    return _namespaces[0]


def protects(kind: int, paths: Sequence[str]) -> bool:
    """Whether namespaces can be entered, and paths are read-only in them."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, IGNORED)
    try:
        child = os.fork()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    if child == 0:
        try:
            gc.disable()
            os._exit(7 if _enter(kind, paths) else 1)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def _enter(kind: int, protected: Sequence[str]) -> bool:
    """Become process 1 of new namespaces, with its own /proc; return whether paths are read-only.

    The process that was before waits for this one, keeps no file, and ends as it does.

    Raises
    ------
    OSError
        If the machine does not allow it.
    """
    library = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    library.prctl(DEATH_SIGNAL, signal.SIGKILL)
    _done(library.unshare(kind))
    if kind & USER:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
                file.write(text)
    first = os.fork()
    if first:
        _keep()
        os._exit(max(0, os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])))
    library.prctl(DEATH_SIGNAL, signal.SIGKILL)
    mount = library.mount
    mount.argtypes = (*(ctypes.c_char_p,) * 3, ctypes.c_ulong, ctypes.c_char_p)
    _done(mount(None, b"/", None, RECURSIVE | PRIVATE, None))
    _done(mount(b"proc", b"/proc", b"proc", NO_SUID | NO_DEVICES | NO_EXEC, None))
    kept = True
    for place in map(os.fsencode, protected):
        with suppress(FileNotFoundError):  # what is not there cannot be mounted
            had = os.statvfs(place).f_flag
            again = sum(flag for found, flag in LOCKED if had & found)
            kept &= mount(place, place, None, BIND, None) == 0
            kept &= mount(None, place, None, REMOUNT | BIND | READ_ONLY | again, None) == 0
    held = (ctypes.c_uint32 * 6)()
    version = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _done(library.capget(version, held))
    for number in range(64):
        if number not in KEPT:
            library.prctl(CAPABILITY_DROP, number)  # fails of those that the kernel does not know
            for part in range(3):
                held[number // 32 * 3 + part] &= ~(1 << number % 32)
    _done(library.capset(version, held))
    return kept


def _done(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


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
