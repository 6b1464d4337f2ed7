"""The new process of a host: how it is settled, and how it answers."""

from __future__ import annotations

import faulthandler
import gc
import io
import math
import os
import pickle
import random
import resource
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.errors import told
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.wire import HEAD, length, pack
from dpassay.trials.written import outcome_of

BROKEN = 70
"""Exit code of a host that could not go on, whatever its user's code has done to it."""
GIB = 1 << 30
INTERRUPTS = frozenset({signal.SIGINT, signal.SIGTERM})
"""What interrupts a command."""


Answering = Callable[[str, tuple[Any, ...], dict[int, Any]], Any]
"""Answers what a host is asked: the operation, its arguments, the objects that are kept."""


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
    gc.enable()
    gc.callbacks.clear()  # of libraries that watch the process it was forked from
    for file in drop:
        os.close(file)
    _print_into(pipe)
    if bare:
        os.closerange(3, connection.fileno())
        os.closerange(connection.fileno() + 1, 4096)
    faulthandler.disable()
    _limit(limits.memory)
    # forks must not share the coins of a mechanism that wrongly takes them from there
    np.random.seed()  # noqa: NPY002
    random.seed()
    _serve(desk, connection, objects)


def _print_into(pipe: int) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (pipe, 1), (pipe, 2)):
        os.dup2(source, target)
    os.close(pipe)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = sys.stderr = os.fdopen(1, "w", buffering=1, errors="replace", closefd=False)


def _limit(memory: float) -> None:
    """Allow so many GiB on top of what the process has; only Linux keeps to it."""
    if sys.platform == "linux" and memory < math.inf:
        taken = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = taken + round(memory * GIB)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


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
