"""Run a command, say how it ended and what it left behind. Words: seconds, then the command.

It adopts whatever the command's processes leave behind, so that nothing of theirs is missed however
it has disguised itself, waits ten seconds for it to end, and ends it then.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

OUTLIVES = 10.0
"""Seconds; what is there longer than that has outlived the run."""


def children() -> list[int]:
    """Return our children that are alive; those that have ended are taken away."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return list(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))


def name(pid: int) -> str:
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
        return f"{pid} {words[-80:].decode(errors='replace')}"
    return str(pid)


def main(seconds: float, words: list[str]) -> None:
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    more = {"HOSTILE_LAUNCHER": str(os.getpid()), "HOSTILE_GROUP": str(os.getpgid(0))}
    more["HOSTILE_OUTER"] = str(Path("/proc/self/ns/pid").readlink())
    began = time.monotonic()
    with open("stdout", "wb") as out, open("stderr", "wb") as error:  # noqa: PTH123
        command = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=error,
            env=os.environ | more,
            start_new_session=True,
        )
        try:
            code: int | str = command.wait(seconds)
        except subprocess.TimeoutExpired:
            code = "hung"
            command.kill()
            command.wait()
    took = time.monotonic() - began
    until = time.monotonic() + OUTLIVES
    while children() and time.monotonic() < until:
        time.sleep(0.05)
    left = [name(pid) for pid in children()]
    # each that is ended may leave us others of its own
    while left and (found := children()):
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    sys.stdout.write(json.dumps({"code": code, "seconds": took, "left": left}))


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
