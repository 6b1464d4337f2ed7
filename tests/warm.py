"""Programs `dpassay` and `python -m dpassay|pytest` that start in a moment.

To start Python and import NumPy, SciPy and Matplotlib takes a second or two of every process. Here
one process has imported them and does nothing else; for each call it forks, and the fork takes over
the caller's folder, environment, words and open files, runs the same `main`, and ends like any
other process. What a process that starts from nothing does is tested with real ones: what is
imported when, signals, broken streams, and the tutorial's path from the installation on.
"""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path

CLIENT = """#!{python} -IS
import json, os, socket, sys
here = socket.socket(socket.AF_UNIX)
here.connect({place!r})
told = json.dumps([{name!r}, sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(here, [b"."], [0, 1, 2])
here.sendall(told)
here.shutdown(socket.SHUT_WR)
code = int(here.recv(16))
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
MODULES = ("dpassay", "pytest")
REWRITTEN = (
    "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning"
)
"""Pytest would have liked to be first; there is no assertion in the plugin."""
FEW_PAIRS = "FEW_PAIRS"
"""The variable with which a program searches among a dozen pairs; see `shorten`."""


@contextmanager
def programs(folder: Path) -> Iterator[Path]:
    """Have the programs in a folder, as long as the context lasts."""
    place = folder / "socket"
    for name in ("dpassay", "python"):
        text = CLIENT.format(python=sys.executable, place=str(place), name=name)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, __file__, str(place)], stdout=subprocess.PIPE, cwd=folder
    )
    assert server.stdout is not None
    try:
        assert server.stdout.read(1) == b".", "the warm process did not start"
        yield folder
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


def shorten(put: Callable[[object, str, object], None]) -> None:
    """Have searches look at a dozen pairs, with few runs of each."""
    from dpassay.engine.searching import drawing, race, search

    numbers = {"FIRST": 12, "SURVIVORS": (6, 2), "OFFSPRING": (2, 0), "SEARCH": 4, "LEAST": 40}
    for name, value in (numbers | {"SHARES": (4, 2, 2)}).items():
        put(search, name, value)
    put(race, "FIRST", 12)
    put(race, "STAGES", race.STAGES[:2])
    put(drawing, "PILOTS", 4)
    put(drawing, "PILOT", 50)


def serve(place: str) -> None:
    """Fork for every call; runs in the warm process until it is told to end."""
    _import_all(Path(place).parent)
    sys.path.pop(0)  # the folder of this file
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(place)
    listening.listen()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    os.write(1, b".")
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            _answer(connection)
            return
        connection.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _import_all(folder: Path) -> None:
    """Import what a run with all its pages does, by one."""
    import pytest
    import scipy.stats

    import dpassay.testing
    from dpassay.cli.main import COMMANDS, main, parser

    parser(tuple(COMMANDS))
    words = ["run", "projected-walk", "--profile", "quick", "-q", "--out", str(folder / "first")]
    with redirect_stdout(io.StringIO()):
        assert main(["list"]) == main(words) == 0
    del pytest, scipy, dpassay
    gc.collect()
    gc.freeze()


def _answer(connection: socket.socket) -> None:
    """Run what is asked for in a process of its own, and tell the exit code."""
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    told = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    pid = os.fork()
    if pid == 0:
        connection.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        sys.exit(_program(*json.loads(told)))
    connection.sendall(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
    os._exit(0)


def _program(name: str, words: list[str], folder: str, environment: dict[str, str]) -> int:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    places = [place for place in environment.get("PYTHONPATH", "").split(os.pathsep) if place]
    if name == "python":
        if words[:1] != ["-m"] or words[1] not in MODULES:
            os.execv(sys.executable, [sys.executable, *words])  # noqa: S606
        _, name, *words = words
        places.insert(0, folder)
    sys.path[:0] = places
    sys.argv = [name, *words]
    if FEW_PAIRS in environment:
        shorten(setattr)
    if name == "pytest":
        import pytest

        return int(pytest.main([*words, "-W", REWRITTEN]))
    from dpassay.cli.main import main

    return main(words)


if __name__ == "__main__":
    serve(sys.argv[1])
