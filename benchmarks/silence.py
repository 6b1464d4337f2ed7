"""The longest time that a command says nothing on a terminal; two seconds are allowed.

    python benchmarks/silence.py [NAME ...]

Every command runs in a folder of its own on a terminal of 80 columns. What counts is the longest
time between two writes, from its start to its end.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

from jupyter_client.manager import start_new_kernel

AUDITED = '''"""What is audited here."""
import time

import numpy as np


def near(data, queries, size, rng):
    return rng.integers(0, 2, (size, len(queries)))


def total(data, rng):
    time.sleep(0.002)
    return sum(data) + rng.laplace(scale=1.0)


class Session:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def ask(self, x):
        return int(self.rng.integers(0, 2))


def service(data, seed, user):
    return Session(seed)
'''
CELL = """
import dpassay, mine
dpassay.audit(mine.total, claim=dpassay.DP(epsilon=1), data=[1.0, 2.0, 0.5], budget=200)
"""
COMMANDS = {
    "run, given pairs": "dpassay run mine:near --claim epsilon=1",
    "run, searched": "dpassay run mine:total --claim epsilon=1 --search answers,size=3 "
    "--budget 500",
    "run, catalogue": "dpassay run --profile quick",
    "run, exhaustive": "dpassay run soft-majority-overview -p r=2 -p epsilon=1 --mode exhaustive "
    "--n 2 --domain 1 --out found",
    "run, zoo": "dpassay run --catalogue zoo noisy-max-3 --budget 500",
    "plan": "dpassay plan soft-majority",
    "attack": "dpassay attack --profile quick",
    "attack service": "dpassay attack service mine:service --epsilon 1",
    "compare-mechanisms": "dpassay compare-mechanisms --profile quick",
    "theorem run": "dpassay theorem run --paper dagan-feldman-2020",
    "selftest": "dpassay selftest",
    "audit() in a notebook": CELL,
}


def silence(command: str, folder: Path) -> tuple[float, float, int]:
    """Return the longest silence of a command, its seconds and its exit code."""
    process, terminal = pty.fork()
    if not process:
        os.chdir(folder)
        words = command.split()
        os.execvp(words[0], words)  # noqa: S606
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    started = last = time.monotonic()
    longest = 0.0
    while True:
        select.select([terminal], [], [])
        try:
            said = os.read(terminal, 2**16)
        except OSError:  # it has ended
            said = b""
        now = time.monotonic()
        longest, last = max(longest, now - last), now
        if not said:
            break
    _, status = os.waitpid(process, 0)
    return longest, last - started, os.waitstatus_to_exitcode(status)


def of_notebook(cell: str, folder: Path) -> tuple[float, float, int]:
    """Return the same of a cell, and whether it has failed."""
    manager, client = start_new_kernel(cwd=folder)
    client.execute(cell)
    started = last = time.monotonic()
    longest = 0.0
    while True:
        message = client.get_iopub_msg(timeout=600)
        now = time.monotonic()
        longest, last = max(longest, now - last), now
        if message["content"].get("execution_state") == "idle":
            break
    failed = client.get_shell_msg(timeout=60)["content"]["status"] != "ok"
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    return longest, last - started, int(failed)


def main() -> None:
    """Print a row a command."""
    names = sys.argv[1:] or list(COMMANDS)
    for name in names:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            (folder / "mine.py").write_text(AUDITED, encoding="utf-8")
            measure = of_notebook if "notebook" in name else silence
            longest, seconds, code = measure(COMMANDS[name], folder)
        print(f"{name:24} {longest:5.1f} s of {seconds:6.1f} s, exit {code}", flush=True)


if __name__ == "__main__":
    main()
