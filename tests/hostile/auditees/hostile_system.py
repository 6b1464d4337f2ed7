"""Processes, signals, files and the environment."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import site
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

from hostile_table import (
    LIFE,
    MARKS,
    PARENT,
    alone_in_namespace,
    doing,
    hostile,
    linger,
    near,
    reached,
)

do = partial(doing, module=__name__)
LIBC = ctypes.CDLL(None, use_errno=True)
OUT = Path("made/out")
PRCTL_PDEATHSIG, CLONE_NEWNS, MS_REMOUNT_BIND, PTRACE_ATTACH = 1, 0x20000, 0x1020, 16
SUPPRESSION = """
[[suppressions]]
result = "*"
kind = "refuted"
reason = "ok"
expires = 2099-01-01
"""


def start(work=linger, *, session=True):
    """Start a process that outlives this one, if it can."""
    if os.fork() == 0:
        if session:
            os.setsid()
            if os.fork():
                os._exit(0)
        LIBC.prctl(PRCTL_PDEATHSIG, 0)
        try:
            work()
        finally:
            os._exit(0)


# ---- processes


def _hydra():
    """Fork, end, and go on in the child: whoever looks for it finds one that has gone."""
    until = time.monotonic() + LIFE
    while time.monotonic() < until:
        os.setsid()
        with suppress(OSError):
            if os.fork():
                os._exit(0)
        time.sleep(0.005)


def _closed():
    os.closerange(0, 256)
    linger()


def _nameless():
    """Wipe what this process could be known by: its environment and its name."""
    with suppress(OSError):
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        start_, end = int(fields[47]), int(fields[48])
        ctypes.memset(start_, 0, end - start_)
    LIBC.prctl(15, b"kworker/0:1", 0, 0, 0)
    os.chdir("/")
    _closed()


def _stopped():
    os.kill(os.getpid(), signal.SIGSTOP)


def _deaf():
    for number in range(1, 65):
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    linger()


def _rewrites():
    """Keep a forged record over the real one, from a process that lives on."""
    until = time.monotonic() + 15
    while time.monotonic() < until:
        if (OUT / "record.json").exists():
            with suppress(OSError):
                (OUT / "record.json").write_text('{"results": []}')
        time.sleep(0.01)


for _kind, _work in {
    "daemon": linger,
    "nameless_daemon": _nameless,
    "stopped_daemon": _stopped,
    "deaf_daemon": _deaf,
    "hydra": _hydra,
}.items():
    globals()[_kind] = do(lambda work=_work: start(work), _kind, "processes")
sixty_children = do(
    lambda: [start(session=k % 2 == 0) for k in range(60)], "sixty_children", "processes"
)


@hostile("processes")
def rewrites_the_record():
    start(_rewrites)


@hostile("processes")
def comes_back_twice():
    os.fork()


@hostile("processes")
def zombies():
    for _ in range(200):
        if os.fork() == 0:
            os._exit(0)


@hostile("processes", slow=True)
def busy_threads():
    def work():
        while True:
            sum(range(1000))

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()


survives_its_parent = do(lambda: LIBC.prctl(PRCTL_PDEATHSIG, 0), "survives_its_parent", "processes")


@hostile("processes")
def leaves_its_session():
    with suppress(OSError):
        os.setsid()
    os.setpgid(0, 0)


@hostile("processes")
def joins_the_parents_group():
    os.setpgid(0, os.getpgid(PARENT))


@hostile("processes")
def adopts_orphans():
    LIBC.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    start()


def _others():
    """Other processes that belong to the same run: those that our parent has started."""
    with suppress(OSError):
        text = Path(f"/proc/{PARENT}/task/{PARENT}/children").read_text()
        return [pid for pid in map(int, text.split()) if pid != os.getpid()]
    return []


@hostile("processes", "guarded")
def kills_its_siblings():
    for pid in _others():
        os.kill(pid, signal.SIGKILL)
        reached("sibling")


@hostile("processes", "guarded", limits=4)
def stops_its_siblings():
    for pid in _others():
        os.kill(pid, signal.SIGSTOP)
        reached("sibling")


def _trace(pid):
    if LIBC.ptrace(PTRACE_ATTACH, pid, 0, 0) == 0:
        reached("trace")
        LIBC.waitpid(pid, 0, 1)
        LIBC.ptrace(17, pid, 0, 0)  # PTRACE_DETACH: to have been able to is enough


def _memory_of(pid):
    with suppress(OSError, StopIteration):
        line = next(
            each for each in Path(f"/proc/{pid}/maps").read_text().splitlines() if " rw-p " in each
        )
        place = int(line.partition("-")[0], 16)
        file = os.open(f"/proc/{pid}/mem", os.O_RDWR)
        os.pwrite(file, os.pread(file, 1, place), place)
        reached("memory")


def _files_of(pid):
    with suppress(OSError, AttributeError):
        file = os.pidfd_open(pid)
        for number in range(64):
            if LIBC.syscall(438, file, number, 0) >= 0:  # pidfd_getfd
                reached("files")


for _kind, _reach in {
    "traces_its_parent": _trace,
    "writes_its_parents_memory": _memory_of,
    "takes_its_parents_files": _files_of,
}.items():
    globals()[_kind] = do(lambda reach=_reach: reach(PARENT), _kind, "processes", "guarded")


@hostile("processes", "free", reaches="limits")
def sets_its_parents_limits():
    """Limit its supervisor, which has the same user: that then ends, and the host with it."""
    for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU):
        if PARENT == os.getppid() and alone_in_namespace():
            resource.prlimit(PARENT, what, (1, 1))
            reached("limits")


@hostile("processes", "guarded")
def holds_its_supervisor():
    """Trace the process that watches over it, and keep that stopped."""
    if LIBC.ptrace(PTRACE_ATTACH, os.getppid(), 0, 0) == 0:
        reached("supervisor")


@hostile("processes", "guarded")
def leaves_its_mounts():
    """Make what is mounted read-only writable again, and go back to the namespaces of others."""
    for place in (Path(sys.modules["dpassay"].__file__).parent, Path.cwd(), "/"):
        LIBC.mount(None, str(place).encode(), None, MS_REMOUNT_BIND & ~1, None)
        LIBC.umount2(str(place).encode(), 2)
    for pid in (1, PARENT):
        for kind in ("mnt", "pid", "user"):
            with suppress(OSError, AttributeError):
                if (
                    os.stat(f"/proc/{pid}/ns/{kind}").st_ino
                    == os.stat(f"/proc/self/ns/{kind}").st_ino
                ):
                    continue
                with open(f"/proc/{pid}/ns/{kind}") as file:
                    if LIBC.setns(file.fileno(), 0) == 0:
                        reached("namespace")
    _write_beside(Path(sys.modules["dpassay"].__file__).parent)


@hostile("files", "guarded")
def renames_what_is_above():
    """A path is not read-only if a folder above it can be another one."""
    os.rename("made", "unmade")
    os.rename("unmade", "made")


def _opens(what, *paths):
    for path in paths:
        with suppress(OSError):
            os.close(os.open(path, os.O_WRONLY))
            reached(what)


@hostile("processes", "free", reaches="kernel")
def kernel_settings():
    _opens("kernel", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger")
    _opens("kernel", "/sys/kernel/uevent_helper")


@hostile("processes", "free", reaches="groups")
def control_groups():
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, kinds, place = line.split(":", 2)
        for kind in kinds.split(","):
            _opens("groups", f"/sys/fs/cgroup/{kind}{place}/cgroup.procs")


@hostile("processes", "free", reaches="disk")
def opens_the_disk():
    for each in os.scandir("/sys/block"):
        _opens("disk", f"/dev/{each.name}")


@hostile("files", "free", reaches="later")
def what_later_processes_read():
    """Files of the user's that other programs read when they start."""
    folder = Path(site.getusersitepackages())
    folder.mkdir(parents=True)
    (folder / "hostile.pth").write_text("# hostile\n")
    Path("~/.bashrc").expanduser().write_text("# hostile\n")
    reached("later")


@hostile("processes")
def hides_the_folder():
    """Mount something over what the judge reads later; it must be mounted here only."""
    if alone_in_namespace():
        for place in (OUT, Path.cwd()):
            LIBC.mount(b"tmpfs", str(place).encode(), b"tmpfs", 0, None)


# ---- signals

AT_PARENT = ["TERM", "INT", "USR1", "HUP", "PIPE", "ALRM", "KILL", "STOP", "TSTP", "QUIT", "CHLD"]


def _signalling(name):
    def trick():
        if PARENT > 1 or alone_in_namespace():
            os.kill(PARENT, getattr(signal, f"SIG{name}"))
            time.sleep(0.3)

    trick.__name__ = f"sends_{name.lower()}"
    trick.__module__ = __name__
    return hostile("signals", "guarded", commands=("run", "audit"))(trick)


for _kind in AT_PARENT:
    globals()[f"sends_{_kind.lower()}"] = _signalling(_kind)


@hostile("signals", "guarded", commands=("run", "audit"))
def kills_all_above():
    """Kill whoever stands above this process, as far as that is not the tests."""
    stop = os.environ.get("HOSTILE_LAUNCHER", "")
    pid, chain = os.getppid(), []
    while pid > 1 and str(pid) != stop and len(chain) < 2:
        chain.append(pid)
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
    for each in chain:
        with suppress(OSError):
            os.kill(each, signal.SIGKILL)


@hostile("signals", "guarded", commands=("run", "audit"))
def kills_the_parents_group():
    if os.getpgid(PARENT) != int(os.environ.get("HOSTILE_GROUP", "0")):
        os.killpg(os.getpgid(PARENT), signal.SIGKILL)


@hostile("signals")
def kills_everything():
    if alone_in_namespace():
        os.kill(-1, signal.SIGKILL)


@hostile("signals", limits=2)
def stops_everything():
    if alone_in_namespace():
        os.kill(-1, signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)


@hostile("signals")
def alarms_itself():
    signal.setitimer(signal.ITIMER_REAL, 0.01)


@hostile("signals", limits=2)
def blocks_every_signal():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        time.sleep(1)


# ---- files


def _write_beside(folder, kind="py"):
    """Make a file there; the tests remove it."""
    name = f"hostile_{os.environ.get('HOSTILE_RUN', 'x')}.{kind}"
    (Path(folder) / name).write_text("# hostile\n")
    reached("code")


def _replace(name, old, new, *, anew=False):
    path = Path(name)
    text = path.read_text().replace(old, new)
    if anew:
        path.unlink()
    path.write_text(text)


def _append(name, text):
    with open(name, "a") as file:
        file.write(text)


_FAIR = ("0.02", "0.50")
"""Makes another auditee fair: by its source, or by bytecode of the same age and size."""
for _kind, _work in {
    "suppresses_itself": lambda: _append("dpassay.toml", SUPPRESSION),
    "raises_its_claim": lambda: _replace("dpassay.toml", "epsilon = 1.0", "epsilon = 9.0"),
    "replaces_the_configuration": lambda: _replace("dpassay.toml", "= 1.0", "= 9.0", anew=True),
    "writes_a_baseline": lambda: _append("dpassay-baseline.json", "{}"),
    "rewrites_its_own_file": lambda: _append(__file__, "\n# changed\n"),
    "rewrites_a_neighbour": lambda: _replace("innocent.py", *_FAIR),
    "rewrites_what_a_neighbour_imports": lambda: _replace("innocent_part.py", *_FAIR),
    "rewrites_a_neighbours_bytecode": lambda: _bytecode("innocent"),
}.items():
    globals()[_kind] = do(_work, _kind, "files", "guarded")


def _in_out(make):
    def trick():
        if OUT.is_dir():
            make()

    return trick


def _links(to):
    for name in ("record.json", "junit.xml", "index.html"):
        (OUT / name).symlink_to(to)


def _ledger(sql):
    with sqlite3.connect(OUT / "ledger.sqlite", timeout=1) as connection:
        connection.execute(sql)


def _lock_ledger():
    globals()["_held"] = held = sqlite3.connect(OUT / "ledger.sqlite", timeout=1)
    held.execute("BEGIN EXCLUSIVE")


for _kind, _make in {
    "record_is_a_folder": lambda: (OUT / "record.json").mkdir(),
    "record_is_a_pipe": lambda: [os.mkfifo(OUT / name) for name in ("record.json", "junit.xml")],
    "record_is_a_link": lambda: _links("../../innocent.py"),
    "record_is_a_device": lambda: _links("/dev/full"),
    "writes_a_green_record": lambda: (OUT / "record.json").write_text('{"results": []}'),
    "witnesses_are_elsewhere": lambda: (OUT / "witnesses").symlink_to("/nowhere"),
    "removes_the_folder": lambda: subprocess.run(["rm", "-rf", OUT], check=False),
    "empties_the_ledger": lambda: _ledger("DELETE FROM work"),
    "forges_the_ledger": lambda: _ledger(  # all lots get the counts of another
        "UPDATE work SET value = (SELECT value FROM work LIMIT 1)"
    ),
    "locks_the_ledger": _lock_ledger,
    "triggers_in_the_ledger": lambda: _ledger(
        "CREATE TRIGGER t AFTER INSERT ON work BEGIN DELETE FROM work; END"
    ),
    "ledger_is_a_pipe": lambda: (
        (OUT / "ledger.sqlite").unlink(),
        os.mkfifo(OUT / "ledger.sqlite"),
    ),
    "temporary_names": lambda: [
        (OUT / f"{name}{end}").mkdir()
        for name in ("record.json", ".record.json", "index.html")
        for end in (".tmp", "~", ".part", ".new")
    ],
}.items():
    globals()[_kind] = do(
        _in_out(_make),
        _kind,
        "files",
        "guarded",
        commands=("run", "dask"),
        limits=4 if _kind == "locks_the_ledger" else 0,
    )


def _dpassay():
    return Path(sys.modules["dpassay"].__file__).resolve().parent


for _kind, _folder in {
    "writes_dpassays_code": _dpassay,
    "writes_dpassays_bytecode": lambda: _dpassay() / "__pycache__",
    "writes_site_packages": lambda: site.getsitepackages()[0],
    "writes_the_standard_library": lambda: Path(os.__file__).parent,
}.items():
    globals()[_kind] = do(lambda folder=_folder: _write_beside(folder()), _kind, "files", "guarded")


writes_a_path_file = do(
    lambda: _write_beside(site.getsitepackages()[0], "pth"),
    "writes_a_path_file",
    "files",
    "guarded",
)


@hostile("files", "guarded")
def opens_dpassays_code():
    """Open for writing the code that decides; that it can is enough."""
    for path in sorted(_dpassay().rglob("verdict*.py")):
        with suppress(OSError):
            os.close(os.open(path, os.O_RDWR))
            reached("code")


def _bytecode(name):
    import importlib.util
    import marshal

    path = Path(f"{name}.py").resolve()
    code = compile(path.read_text().replace(*_FAIR), str(path), "exec")
    facts = path.stat()
    told = (0, int(facts.st_mtime) & 0xFFFFFFFF, facts.st_size & 0xFFFFFFFF)
    place = Path(importlib.util.cache_from_source(str(path)))
    place.parent.mkdir(exist_ok=True)
    head = importlib.util.MAGIC_NUMBER + struct.pack("<III", *told)
    place.write_bytes(head + marshal.dumps(code))


@hostile("files")
def shadows_what_the_judge_imports():
    """Leave modules in the working directory that whoever imports them ends with 0."""
    for name in ("jinja2", "matplotlib", "pandas", "rich", "msgspec", "statsmodels", "git"):
        Path(f"{name}.py").write_text("import os\nos._exit(0)\n")


# ---- environment


@hostile("environment")
def environment():
    os.environ.clear()
    os.environ.update(
        LC_ALL="tr_TR", TZ="Mars", HOME="/nope", PYTHONPATH=".", LD_PRELOAD="/nope.so", PATH="."
    )
    os.umask(0o777)
    os.chdir("/")


@hostile("environment")
def interpreter():
    sys.setswitchinterval(1e-6)
    sys.setrecursionlimit(120)
    sys.settrace(lambda *_: None)
    sys.meta_path.clear()
    sys.path.clear()
    sys.modules["json"] = None


@hostile("environment")
def its_own_limits():
    for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
        resource.setrlimit(what, (0, 0))
    os.nice(19)


@hostile("environment")
def many_open_files():
    held = globals().setdefault("_files", [])
    while len(held) < 10_000:
        held.append(open("/dev/null"))


@hostile("environment")
def closes_every_socket():
    import gc

    for each in gc.get_objects():
        if isinstance(each, socket.socket):
            with suppress(OSError):
                each.close()


GIT = "#!/bin/sh\ntouch {marks}/reached-git\nexit 0\n"


@hostile("environment", "guarded", commands=("run",))
def configures_git():
    """What the judge runs in this folder must not run what its configuration names."""
    here = Path.cwd()
    script = here / "spy.sh"
    script.write_text(GIT.format(marks=MARKS))
    script.chmod(0o755)
    (here / ".git/hooks").mkdir(parents=True, exist_ok=True)
    for name, text in {
        "HEAD": "ref: refs/heads/main\n",
        "config": (
            f"[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {script}\n\tpager = {script}\n"
            f"\tsshCommand = {script}\n[alias]\n\trev-parse = !{script}\n"
        ),
    }.items():
        (here / ".git" / name).write_text(text)
    for name in ("objects", "refs/heads"):
        (here / ".git" / name).mkdir(parents=True, exist_ok=True)


@hostile("environment", "guarded", commands=("run",))
def is_git():
    """Be the program that the judge runs: a folder of its search path that can be written."""
    path = Path(os.environ.get("HOSTILE_BIN", "/nowhere")) / "git"
    path.write_text(GIT.format(marks=MARKS))
    path.chmod(0o755)


@hostile("environment", "free", commands=("run",))
def next_step_of_the_pipeline():
    """Files by which a step speaks to the next ones: whoever runs a step may write them."""
    for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT"):
        if place := os.environ.get(name):
            Path(place).write_text("PATH=/nowhere\n")


@hostile("environment")
def numbers():
    import numpy as np

    np.seterr(all="raise")
    for name in ("zeros", "asarray", "isin", "sum", "bincount", "stack", "array", "full"):
        setattr(np, name, None)


@hostile("environment")
def shared_folder():
    Path(f"/dev/shm/hostile-{os.environ.get('HOSTILE_RUN', 'x')}").write_bytes(b"0" * 1000)


@hostile("environment", always=True)
def answers_in_another_folder(data, queries, size, rng):
    os.chdir("/")
    return near(data, queries, size, rng)
