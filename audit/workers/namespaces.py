"""Namespaces of Linux: foreign code sees no process but its own, and writes to nobody's files.

It can neither signal nor trace the process that judges it, its end is the end of all that it has
started, protected paths are read-only, and its working directory is a copy that goes with it.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import os
import signal
import socket
import stat
import struct
from collections.abc import Sequence
from pathlib import Path

from dpassay.workers.supervisor import DUMPABLE, IGNORED, LINUX

DEATH_SIGNAL, CAPABILITY_DROP = 1, 24
"""PR_SET_PDEATHSIG and PR_CAPBSET_DROP of prctl."""
MOUNT, USER, PID, NETWORK = 0x20000, 0x10000000, 0x20000000, 0x40000000
"""CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID and CLONE_NEWNET of unshare."""
BIND, RECURSIVE, PRIVATE = 4096, 1 << 14, 1 << 18
"""MS_BIND, MS_REC and MS_PRIVATE of mount."""
NO_SUID, NO_DEVICES, NO_EXEC = 2, 4, 8
SET_ATTRIBUTES = 442
"""The system call mount_setattr, of Linux since 5.12."""
OF_ROOT = ("/proc/sys", "/proc/sysrq-trigger", "/sys")
"""What only root could write to, and change the machine by."""
SCRATCH = "size=1g"
"""Room for what foreign code writes into the working directory."""
KEPT = (0, 1, 3, 4, 5, 6, 7, 10, 13, 23)
"""Capabilities that foreign code of root keeps: about files, users and sockets, as in a container.
Without the others it cannot undo a mount, trace, load a module or lift a limit."""
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


def namespaces() -> int | None:
    """Return the namespaces for foreign code here, None if none; it is tried once in a process."""
    if not _namespaces:
        kinds = (PID | MOUNT, USER | PID | MOUNT) if os.geteuid() == 0 else (USER | PID | MOUNT,)
        allowed = (kind for kind in kinds if LINUX and protects(kind, ()))
        _namespaces.append(next(allowed, None))
    return _namespaces[0]


def protects(kind: int, paths: Sequence[str]) -> bool:
    """Return whether namespaces can be entered, and paths are read-only in them."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, IGNORED)
    try:
        child = os.fork()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    if child == 0:  # if something goes wrong, it does so in a child
        try:
            gc.disable()
            first = forked(kind)
            if first == 0:
                os._exit(7 if enter(kind, paths) else 1)
            os._exit(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]))
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def forked(kind: int | None) -> int:
    """Fork a process that will `enter` namespaces of this kind, and return what os.fork does.

    Root's child is process 1 of a new namespace at once. A user needs a namespace of users before
    one of processes, so the child enters both and forks process 1 itself.
    """
    if kind is None or kind & USER:
        return os.fork()
    library = ctypes.CDLL(None, use_errno=True)
    ours = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _done(library.unshare(PID))
        child = -1
        try:
            child = os.fork()
        finally:
            if child != 0:
                _done(library.setns(ours, PID))
    finally:
        os.close(ours)
    return child


def enter(kind: int, protected: Sequence[str]) -> bool:
    """Be process 1 of new namespaces, with its own /proc; return whether files are protected.

    The process was `forked`. If it is not the first yet, it waits for the one that is, keeps no
    file, and ends as that does. Raise OSError if the machine does not allow it.
    """
    library = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    library.prctl(DEATH_SIGNAL, signal.SIGKILL)
    library.prctl(DUMPABLE, 1)  # else /proc/self belongs to root
    _done(library.unshare(kind if kind & USER else kind & ~PID))
    if kind & USER:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            Path(f"/proc/self/{name}").write_text(text)
        first = os.fork()
        if first:
            os.closerange(0, 1 << 16)
            os._exit(max(0, os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])))
        library.prctl(DEATH_SIGNAL, signal.SIGKILL)
    _done(_mount("", "/", flags=RECURSIVE | PRIVATE))
    _done(_mount("proc", "/proc", "proc", NO_SUID | NO_DEVICES | NO_EXEC))
    # terminals of its own: what it wrote to the user's would look like what the judge says
    _mount("devpts", "/dev/pts", "devpts", NO_SUID | NO_EXEC, "newinstance,ptmxmode=0666")
    if kind & NETWORK:
        with socket.socket() as end:  # SIOCSIFFLAGS and IFF_UP: its own loopback works
            fcntl.ioctl(end, 0x8914, struct.pack("16sh22x", b"lo", 1))
    if user == 0:
        for each in os.scandir("/dev"):
            if stat.S_ISBLK(each.stat(follow_symlinks=False).st_mode):
                _mount("/dev/null", each.path, flags=BIND)
    here = str(Path.cwd())
    kept = _apart(here, kind)
    paths = [path for path in protected if not (kept and path.startswith(f"{here}/"))]
    kept &= _read_only([*paths, *(OF_ROOT if user == 0 else ())])
    os.chdir(here)  # what is open still leads below the mounts
    _drop_capabilities()
    return kept


def _drop_capabilities() -> None:
    library = ctypes.CDLL(None, use_errno=True)
    held = (ctypes.c_uint32 * 6)()
    version = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _done(library.capget(version, held))
    for number in range(64):
        if number not in KEPT:
            library.prctl(CAPABILITY_DROP, number)  # fails of those that the kernel does not know
            for part in range(3):
                held[number // 32 * 3 + part] &= ~(1 << number % 32)
    _done(library.capset(version, held))


def _mount(source: str, place: str, kind: str = "", flags: int = 0, options: str = "") -> int:
    mount = ctypes.CDLL(None, use_errno=True).mount
    mount.argtypes = (*(ctypes.c_char_p,) * 3, ctypes.c_ulong, ctypes.c_char_p)
    return int(mount(*map(os.fsencode, (source, place, kind)), flags, os.fsencode(options) or None))


def _read_only(paths: Sequence[str]) -> bool:
    """Make paths read-only, and keep the folders above them in place; return whether all are."""
    there = [path for path in paths if Path(path).exists()]
    above = {"/".join(path.split("/")[:k]) for path in there for k in range(2, path.count("/") + 1)}
    for path in sorted(above):  # a mount cannot be renamed
        _mount(path, path, flags=BIND | RECURSIVE)
    attributes = struct.pack("QQQQ", 1, 0, 0, 0)  # MOUNT_ATTR_RDONLY; -100 is AT_FDCWD
    call = ctypes.CDLL(None, use_errno=True).syscall
    return all(
        _mount(path, path, flags=BIND | RECURSIVE) == 0
        and call(SET_ATTRIBUTES, -100, os.fsencode(path), 1 << 15, attributes, 32) == 0
        for path in there
    )


def _apart(here: str, kind: int) -> bool:
    """Give foreign code a working directory of its own, as it is now; return whether it has one.

    What it writes there is seen by nobody else, and is gone with it.
    """
    table = Path("/proc/self/mountinfo").read_bytes().splitlines()
    mounts = [os.fsdecode(line.split()[4]) for line in table]
    inside = f"{here.rstrip('/')}/"
    if any(each.startswith(inside) for each in mounts):
        return False  # another file system in it would be missing
    lower = os.open(here, os.O_RDONLY)
    facts = os.fstat(lower)
    try:
        _done(_mount("tmpfs", here, "tmpfs", options=f"{SCRATCH},mode=700"))
        for name in ("upper", "work"):
            Path(here, name).mkdir()
        upper, work = (os.open(f"{here}/{name}", os.O_RDONLY) for name in ("upper", "work"))
        os.fchown(upper, facts.st_uid, facts.st_gid)
        os.fchmod(upper, stat.S_IMODE(facts.st_mode))
        folder = "/proc/self/fd/"
        options = f"lowerdir={folder}{lower},upperdir={folder}{upper},workdir={folder}{work}"
        options += ",userxattr" if kind & USER else ""
        made = _mount("overlay", here, "overlay", options=options) == 0
        os.close(upper)
        os.close(work)
        if not made:  # of more than two layers there are none
            _done(ctypes.CDLL(None, use_errno=True).umount2(os.fsencode(here), 2))
        return made
    finally:
        os.close(lower)


def _done(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
