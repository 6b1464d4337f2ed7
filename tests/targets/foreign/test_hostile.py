"""Programs that do wrong: each is an error that says what, and nothing of them is left running."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dpassay.errors import InvalidInput, TargetError
from dpassay.targets.foreign import Process, process
from tests.targets.foreign.servers import alive, left, server

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="/proc says what is running")
ASKED = np.zeros((1, 1))


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path) -> Iterator[None]:
    yield
    assert left(str(tmp_path)) == []


def fails(program: Process, size: int = 3) -> TargetError:
    """Return the error that some trials end with."""
    with pytest.raises(TargetError) as caught:
        program.sample(program.prepare([0.5]), ASKED, size, np.random.default_rng(0))
    assert "\n" not in str(caught.value)
    return caught.value


BODIES = {
    "hang": ("time.sleep(1000)", "no whole reply within 0.5 s"),
    "crash at once": ("raise KeyError('abc')", "exit code 1"),
    "leave at once": ("sys.exit(0)", "exit code 0"),
    "crash mid-reply": (
        "serve(lambda *_: [sys.stdout.write('{\"answ'), sys.stdout.flush(), os.abort()])",
        "ended by signal 6",
    ),
    "endless line": ("while True: os.write(1, b'x' * 65536)", "longer than 1 MiB"),
    "endless lines": ("while True: os.write(1, b'{}\\n' * 20000)", "more than one line"),
    "two lines": (
        'for asked in lines():\n    os.write(1, b\'{"ok": true}\\n{"ok": true}\\n\')',
        "more than one line",
    ),
    "slow drip": (
        "for asked in lines():\n    while True:\n        os.write(1, b' '); time.sleep(0.05)",
        "no whole reply within 0.5 s",
    ),
    "deaf": ("os.close(0); time.sleep(1000)", "no whole reply within 0.5 s"),
    "dumb": ("os.close(1); time.sleep(1000)", "it closed its stdout"),
    "killed": ("os.kill(os.getpid(), 9)", "ended by signal 9"),
    "no ok": ("for asked in lines(): say({})", 'must be {"ok": true}'),
    "warden killed": ("os.kill(os.getppid(), 9)\ntime.sleep(1000)", "it closed its stdout"),
}


@LINUX
@pytest.mark.parametrize("name", BODIES)
def test_a_program_that_does_wrong_is_an_error(name: str, tmp_path: Path) -> None:
    """What is wrong within a line is in `test_protocol`."""
    body, said = BODIES[name]
    program = server(tmp_path, body, **({"timeout": 0.5, "start": 0.5} if "0.5" in said else {}))
    assert said in fails(program).cause
    program.close()


def test_the_last_lines_of_stderr_come_with_an_error_and_no_more(tmp_path: Path) -> None:
    body = "for k in range(100000): print('line', k, file=sys.stderr)\nsys.exit(3)"
    error = fails(server(tmp_path, body))
    assert "exit code 3" in error.cause
    assert error.detail.startswith("stderr ends: line 99995 | line 99996 | ")
    assert "line 99999" in error.detail
    assert len(error.detail) < 5000


def test_what_a_server_refuses_does_not_end_it(tmp_path: Path) -> None:
    body = """
for asked in lines():
    if asked.get("data") == [0.5]:
        say({"error": {"type": "ValueError", "message": "no half"}})
    else:
        say({"ok": True, "answers": [7]})
"""
    program = server(tmp_path, body)
    with pytest.raises(TargetError, match="answered with an error: ValueError: no half"):
        program.prepare([0.5])
    before = alive(str(tmp_path))
    state = program.prepare([1.0])
    assert program.sample(state, ASKED, 1, np.random.default_rng(0)) == [7]
    assert alive(str(tmp_path)) == before
    program.close()


BOMB = """
for _ in range(50):
    if os.fork() == 0:
        {escape}
        time.sleep(1000)
serve(lambda data, asked: [0.0] * asked["size"])
"""


ESCAPE = "os.fork() and os._exit(0); os.setsid()"
"""Leaves the session and the parent."""


@LINUX
def test_a_fork_bomb_is_ended_with_all_its_children(tmp_path: Path) -> None:
    body = BOMB.format(escape=ESCAPE).replace("serve(", "time.sleep(3)\nserve(")
    program = server(tmp_path, body, processes=20)
    assert "processes at a time, more than its limit" in fails(program).cause


@LINUX
@pytest.mark.parametrize("escape", ["pass", ESCAPE])
def test_children_that_are_allowed_do_not_outlive_the_program(escape: str, tmp_path: Path) -> None:
    program = server(tmp_path, BOMB.format(escape=escape))
    assert len(program.sample(program.prepare([0.5]), ASKED, 3, np.random.default_rng(0))) == 3
    until = time.monotonic() + 20  # on a loaded machine the last of them comes late
    while len(alive(str(tmp_path))) <= 50 and time.monotonic() < until:
        time.sleep(0.05)
    assert len(alive(str(tmp_path))) > 50
    program.close()
    assert alive(str(tmp_path)) == []


@LINUX
def test_too_much_memory_is_an_error(tmp_path: Path) -> None:
    error = fails(server(tmp_path, "x = bytearray(1 << 30)\ntime.sleep(1000)", memory=0.2))
    assert "exit code 1" in error.cause
    assert "MemoryError" in error.detail


def test_too_large_a_file_is_an_error(tmp_path: Path) -> None:
    body = "open(__file__ + '.out', 'wb').write(bytes(1 << 21))"
    error = fails(server(tmp_path, body, file=1 / 1024))
    assert "ended" in error.cause
    assert (tmp_path / "server.py.out").stat().st_size <= 1 << 20


def test_too_much_processor_time_is_an_error(tmp_path: Path) -> None:
    error = fails(server(tmp_path, "while True: pass", cpu=1))
    assert f"ended by signal {signal.SIGXCPU}" in error.cause or "signal 9" in error.cause


@LINUX
@pytest.mark.parametrize("how", ["os.kill(os.getpid(), 9)", "1 / 0"])
def test_nothing_outlives_dpassay(how: str, tmp_path: Path) -> None:
    server(tmp_path, BOMB.format(escape="os.setsid()"))
    program = f"""
import os, sys
from dpassay.targets.foreign import process
started = process([sys.executable, {str(tmp_path / "server.py")!r}])
started.prepare([1.0])
{how}
"""
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", "a program and its arguments"),
        ("no-such-program --fast", "there is no program 'no-such-program'"),
        ("node 'server.js", "No closing quotation"),
    ],
)
def test_a_command_that_is_none_is_said_at_once(command: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        process(command)
