"""Servers for the tests: programs that behave, and programs that do not."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from dpassay.targets.foreign import Process, ProcessLimits, process

HEAD = """
import json, os, random, sys, time

def say(reply):
    print(json.dumps(reply), flush=True)

def lines():
    for line in sys.stdin:
        yield json.loads(line)

def serve(answer, **hello):
    prepared = {}
    for asked in lines():
        if asked["op"] == "hello":
            say({"seeded": True, "batch": 1000} | hello)
        elif asked["op"] == "prepare":
            prepared[asked["id"]] = asked["data"]
            say({"ok": True})
        elif asked["op"] == "sample":
            say({"answers": answer(prepared[asked["id"]], asked)})
        else:
            prepared.pop(asked.get("id"), None)
            say({"ok": True})
"""
LAPLACE = """
def answer(data, asked):
    rng = random.Random(asked["seed"])
    noise = lambda: rng.expovariate(1) - rng.expovariate(1)
    return [sum(data) + noise() for _ in range(asked["size"])]

serve(answer)
"""
PROMPT = ProcessLimits(start=20.0, reply=1.0)
"""Room to start in on a busy machine, and little room for replies."""


def server(folder: Path, body: str, *, timeout: float = 20.0, **limits: Any) -> Process:
    """Return a program made of `HEAD` and a body."""
    file = folder / "server.py"
    file.write_text(HEAD + body, encoding="utf-8")
    known = PROMPT.as_dict() | limits
    return process([sys.executable, str(file)], timeout=timeout, limits=ProcessLimits(**known))


def alive(word: str) -> list[int]:
    """Return the processes, but for this one, whose command line holds a word."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
            except OSError:
                continue
            if word.encode() in command and state != b"Z":
                found.append(int(entry.name))
    return found


def left(word: str) -> list[int]:
    """Return those that are still there: a warden that has lost its dpassay needs a moment."""
    until = time.monotonic() + 10
    while alive(word) and time.monotonic() < until:
        time.sleep(0.05)
    return alive(word)
