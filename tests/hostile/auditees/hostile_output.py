"""Output floods, frames on the connection, objects, exits and time."""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import signal
import sys
import threading
import time
import warnings
from contextlib import suppress
from functools import partial

import numpy as np
from hostile_table import PARENT, doing, enter, hostile, linger, near
from msgspec.msgpack import Ext, encode

from dpassay.trials import wire

do = partial(doing, module=__name__)
MB = 1 << 20


def sockets():
    for file in range(3, 256):
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{file}").startswith("socket:"):
                yield file


def frame(number, value, arrays=b""):
    """Return a message as hosts write them, or bytes behind its head."""
    if not isinstance(value, bytes):
        return wire.pack(number, value)
    return wire.HEAD.pack(wire.MARK, number, len(value), len(arrays)) + value + arrays


def send(content):
    for file in sockets():
        with suppress(OSError):
            os.write(file, content)


# ---- output floods


def forever(content, file=1):
    while True:
        os.write(file, content)


@hostile("floods", limits=2)
def prints_for_ever():
    while True:
        print("waiting for the lock")


writes_for_ever = do(lambda: forever(b"x\n" * 32768), "writes_for_ever", "floods", limits=2)
no_newline = do(lambda: forever(b"x" * 65536, 2), "no_newline", "floods", limits=2)
many_lines = do(
    lambda: forever(b"\n".join(b"%d" % k for k in range(9999))), "many_lines", "floods", limits=2
)


@hostile("floods", limits=2)
def prints_slowly():
    while True:
        os.write(1, b".")
        time.sleep(0.05)


@hostile("floods")
def prints_in_a_thread():
    threading.Thread(target=forever, args=(b"y\n" * 32768,), daemon=True).start()


prints_256_mb = do(lambda: [os.write(1, b"z" * MB) for _ in range(256)], "prints_256_mb", "floods")


@hostile("floods")
def terminal():
    print(
        "\x1b[2J\x1b[H\x1b]0;pwn\x07\x1b[31m\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\x9b31m"
    )


@hostile("floods")
def workflow_commands():
    print("::error file=x.py::pwned\n::stop-commands::t\n::add-mask::refuted\r::warning::cr")
    print("##[error]old\n##vso[task.complete result=Succeeded;]\n\u202egnp\u2028x")
    print("\n0 refuted\ndpassay: nothing refuted\nNo leak above what it claims was found")


not_utf8 = do(lambda: os.write(1, bytes(range(256)) * 4 + b"\n"), "not_utf8", "floods")


@hostile("floods")
def warns():
    warnings.simplefilter("always")
    for k in range(2000):
        warnings.warn(f"careful {k}", stacklevel=1)


@hostile("floods", "guarded")
def into_the_judges_output():
    for file in (1, 2):
        with open(f"/proc/{PARENT}/fd/{file}", "wb", 0) as stream:
            stream.write(b"\nREACHED\n")


@hostile("floods")
def terminal_device():
    with open("/dev/tty", "wb", 0) as stream:
        stream.write(b"\nREACHED\n")


# ---- frames on the connection


def array(sent, read, shape, arrays=b"0" * 8):
    """Return what a message says of an array, which may not be so."""
    return encode(Ext(1, encode([sent, read, shape]))), arrays


PLAIN = {
    "empty": {},
    "another_message": {"answer": {"done": 1}},
    "done_none": {"done": None},
    "shape_infinite": array("<f8", "<f8", [float("inf")]),
    "shape_huge": array("<f8", "<f8", [1 << 53, 1 << 53]),
    "shape_empty": array("<f8", "<f8", [0, 1 << 50], b""),
    "shape_negative": array("<f8", "<f8", [-1, -1]),
    "shape_deep": array("|u1", "|u1", [1] * 100),
    "dtype_syntax": array("(2", "(2", [1]),
    "dtype_comma": array("f8,,(", "f8", [1]),
    "dtype_object": array("|O", "|O", [1]),
    "dtype_f16": array("<f16", "<f16", [1], b"0" * 16),
    "widened": array("|u1", "<i8", [8]),
    "truth": array("|b1", "|b1", [8], b"\x02" * 8),
    "bytes_of_nothing": (encode(1), b"0" * MB),
    "deep_list": b"\x91" * 100_000 + b"\x01",
    "deep_map": b"\x81\xa1a" * 100_000 + b"\x01",
    "long_list": b"\xdd\xff\xff\xff\xff",
    "long_map": b"\xdf\xff\xff\xff\xff",
    "many_lists": b"\xdc\xff\xff" + b"\x90" * 65535,
    "never_used": b"\xc1" * 100,
    "half": b"\x92\x01",
    "not_utf8": b"\xa4\xff\xfe\xed\xa0",
    "extension": encode(Ext(77, b"x")),
    "big_int": encode(Ext(2, b"\x7f" * 5000)),
    "not_a_number": {"done": float("nan")},
    "raised_int": {"raised": 5, "detail": [1]},
    "raised_long": {"raised": "x" * MB, "detail": "y" * MB},
    "invalid": {"invalid": "you did it wrong", "detail": "x"},
    "failure_text": {"done": {"counts": [], "failure": "xy"}},
    "failure_int": {"done": {"counts": [], "failure": 5}},
    "counts_int": {"done": {"counts": 5, "failure": None}},
    "calls_list": {"done": {"counts": [{"calls": [1], "marks": []}], "failure": None}},
}


def _frames(kind):
    value = PLAIN[kind]

    def trick():
        value_, arrays = value if isinstance(value, tuple) else (value, b"")
        for number in range(1, 60):
            send(frame(number, value_, arrays))

    trick.__name__ = f"frame_{kind}"
    return hostile("frames")(trick)


for _kind in PLAIN:
    globals()[f"frame_{_kind}"] = _frames(_kind)


@hostile("frames", limits=2)
def announces_64_gib():
    for file in sockets():
        os.set_blocking(file, True)
        os.write(file, wire.HEAD.pack(wire.MARK, 5, 0, 1 << 36))
        for _ in range(600):
            os.write(file, bytes(MB))


@hostile("frames", limits=2)
def drips_a_frame():
    for file in sockets():
        os.write(file, wire.HEAD.pack(wire.MARK, 5, 0, 1 << 30))
        while True:
            os.write(file, b"\0")
            time.sleep(0.01)


half_a_head = do(lambda: send(wire.HEAD.pack(wire.MARK, 5, 9, 9)[:11]), "half_a_head", "frames")
noise_on_the_wire = do(lambda: send(os.urandom(4096)), "noise_on_the_wire", "frames")
closes_files = do(lambda: os.closerange(0, 256), "closes_files", "frames")


@hostile("frames")
def redirects_files():
    for file in list(sockets()):
        os.dup2(os.open("/dev/null", os.O_RDWR), file)


@hostile("frames", limits=2)
def steals_requests():
    """Read what the parent asks next, in a thread, so that the host never sees it."""

    def read():
        while True:
            for file in sockets():
                try:
                    os.read(file, MB)
                except OSError:
                    time.sleep(0.01)

    threading.Thread(target=read, daemon=True).start()


# ---- objects


class Equal:
    """Equal to everything, as long as the world, and ends a process that unpickles it."""

    __hash__ = None

    def __eq__(self, other):
        return True

    def __len__(self):
        return 10**18

    def __reduce__(self):
        return os._exit, (0,)

    def __iter__(self):
        return iter(int, 1)


class Array:
    def __array__(self, dtype=None, copy=None):
        os.chdir("/")
        return np.zeros((1000, 1), int)


class Interface:
    __array_interface__ = {
        "shape": (10**6, 10**6),
        "typestr": "<i8",
        "data": (0xDEAD0000, False),
        "version": 3,
    }


class Lying(np.ndarray):
    def astype(self, *given, **named):
        return np.zeros((1, 1), int)

    def __array_function__(self, *given, **named):
        return np.ones(3)

    def __array_ufunc__(self, *given, **named):
        return np.ones(3, bool)

    def __getitem__(self, place):
        return np.ndarray.__getitem__(self, place) * 0


class Whole(int):
    def __index__(self):
        os._exit(0)

    __int__ = __index__


def _deep(levels=5000):
    found = []
    for _ in range(levels):
        found = [found]
    return found


ANSWERS = {
    "equal": lambda d, q, n, r: Equal(),
    "list_of_equals": lambda d, q, n, r: [[Equal()] * len(q)] * n,
    "array_method": lambda d, q, n, r: Array(),
    "array_interface": lambda d, q, n, r: Interface(),
    "lying_array": lambda d, q, n, r: near(d, q, n, r).view(Lying),
    "functions": lambda d, q, n, r: np.full((n, len(q)), lambda: 1, object),
    "huge_view": lambda d, q, n, r: np.broadcast_to(np.int64(1), (n, len(q), 10**9)),
    "wide_view": lambda d, q, n, r: np.broadcast_to(np.int64(1), (n, 10**12)),
    "big_endian": lambda d, q, n, r: near(d, q, n, r).astype(">i8"),
    "endless": lambda d, q, n, r: iter(int, 1),
    "deep_list": lambda d, q, n, r: _deep(),
    "ragged": lambda d, q, n, r: [[1], [1, 2]],
    "texts": lambda d, q, n, r: np.full((n, len(q)), "0"),
    "wrong_labels": lambda d, q, n, r: near(d, q, n, r) + 2**40,
    "not_a_number": lambda d, q, n, r: np.full((n, len(q)), np.nan),
    "complex_numbers": lambda d, q, n, r: near(d, q, n, r) + 0j,
    "masked": lambda d, q, n, r: np.ma.masked_all((n, len(q)), int),
    "whole_numbers": lambda d, q, n, r: [[Whole(1)] * len(q)] * n,
    "no_answer": lambda d, q, n, r: np.zeros((0, len(q)), int),
    "records": lambda d, q, n, r: np.zeros((n, len(q)), [("a", "i8"), ("b", "O")]),
}


def _object(kind):
    def trick(data, queries, size, rng):
        return ANSWERS[kind](data, queries, size, rng)

    trick.__name__ = f"answers_{kind}"
    return hostile("objects", always=True, limits=2 if kind == "endless" else 0)(trick)


for _kind in ANSWERS:
    globals()[f"answers_{_kind}"] = _object(_kind)


@hostile("objects", always=True)
def changes_what_it_gave(data, queries, size, rng):
    if (held := globals().get("_held")) is not None:
        held[:] = 0
    globals()["_held"] = found = near(data, queries, size, rng)
    return found


@hostile("objects")
def writes_into_data(data, queries, size, rng):
    data.y.flags.writeable = True
    data.y[:] = 0


class Odd(Exception):
    def __str__(self):
        os.write(1, b"told")
        raise SystemExit(0)

    __repr__ = __str__


class Tall(BaseException):
    pass


Markup = type("<script>alert(1)</script>", (Exception,), {})
RAISED = {
    "odd": lambda: Odd(),
    "long": lambda: ValueError("x" * (64 * MB)),
    "controls": lambda: ValueError("\0\x1b[2K\r1 not refuted\n::error::x\ud800\uffff]]>\u202e"),
    "markup": lambda: Markup("</title><img src=x onerror=alert(1)>"),
    "interrupt": lambda: KeyboardInterrupt(),
    "exit_0": lambda: SystemExit(0),
    "generator_exit": lambda: GeneratorExit(),
    "base": lambda: Tall(),
    "group": lambda: BaseExceptionGroup("many", [SystemExit(0), KeyboardInterrupt()]),
    "stop": lambda: StopIteration(0),
}


def _raising(kind):
    def trick():
        raise RAISED[kind]()

    trick.__name__ = f"raises_{kind}"
    return hostile("objects", always=True)(trick)


for _kind in RAISED:
    globals()[f"raises_{_kind}"] = _raising(_kind)


# ---- exits


def _segfault():
    import faulthandler

    faulthandler.disable()
    ctypes.string_at(0)


def _recursion():
    sys.setrecursionlimit(10**9)

    def deeper(k):
        return deeper(k + 1) + 1 if k else [deeper(j) for j in map(int, "1")]

    deeper(1)


def _memory():
    held = []
    while True:
        held.append(bytearray(256 * MB))


def _late():
    threading.Timer(0.05, os._exit, (0,)).start()


class Last:
    def __del__(self):
        os._exit(0)


EXITS = {
    "exit_0": lambda: os._exit(0),
    "library_exit": lambda: ctypes.CDLL(None).exit(0),
    "library_abort": lambda: ctypes.CDLL(None).abort(),
    "sys_exit": lambda: sys.exit(0),
    "kills_itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "kills_its_group": lambda: os.killpg(0, signal.SIGKILL),
    "segfault": _segfault,
    "stack_overflow": _recursion,
    "memory_bomb": _memory,
    "exits_soon": _late,
    "exits_when_collected": Last,
    "becomes_true": lambda: os.execv("/bin/true", ["true"]),
    "becomes_sleep": lambda: os.execv("/bin/sleep", ["sleep", "25"]),
}
for _kind in EXITS:
    globals()[_kind] = do(
        EXITS[_kind], _kind, "exits", limits=2 if _kind in ("becomes_sleep", "memory_bomb") else 0
    )


@hostile("exits")
def shared_memory():
    """Take memory that is not counted as a process's data: a limit on that does not see it."""
    held = mmap.mmap(-1, 512 * MB)
    held[:: mmap.PAGESIZE] = b"x" * (512 * MB // mmap.PAGESIZE)


# ---- time


def _busy():
    while True:
        pass


def _deaf():
    for number in range(1, 65):
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    _busy()


def _at_exit():
    import atexit

    atexit.register(time.sleep, 25)
    threading.Thread(target=time.sleep, args=(25,)).start()


TIMES = {
    "sleeps": lambda: time.sleep(1000),
    "loops": _busy,
    "ignores_signals": _deaf,
    "sleeps_in_c": lambda: ctypes.CDLL(None).sleep(1000),
    "holds_the_lock": lambda: re.match(r"(a+)+$", "a" * 60 + "b"),
    "stops_itself": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "stops_its_group": lambda: os.killpg(0, signal.SIGSTOP),
    "waits_for_a_signal": lambda: signal.sigwait({signal.SIGUSR1}),
}
for _kind in TIMES:
    globals()[_kind] = do(TIMES[_kind], _kind, "time", limits=2)
stays_at_exit = do(_at_exit, "stays_at_exit", "time")


class SlowPrepare:
    """Hangs where the state is made."""

    def prepare(self, data):
        time.sleep(1000)

    def sample(self, state, queries, size, rng):
        return near(state, queries, size, rng)


class SlowCheck(SlowPrepare):
    def check(self, data):
        linger(1000)

    def prepare(self, data):
        return data


for _made in ("SlowPrepare", "SlowCheck"):
    enter(_made, __name__, "time", limits=2)
