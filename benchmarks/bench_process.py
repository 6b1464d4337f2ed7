"""Mean cost of a trial over the process protocol, beside the same function in Python.

Both draw a noisy sum in batches of 1,000 with the code of `examples/process/release_server.py`: the
process runs that file, Python calls its function. Run with `make bench`, or
`python benchmarks/bench_process.py`.
"""

from __future__ import annotations

import random
import runpy
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dpassay.targets.foreign import process

CLIENTS = Path(__file__).parents[1] / "examples" / "process"
DATA = [0.0, 0.25, 0.5, 0.75, 1.0]
BATCH, BATCHES, ROUNDS = 1000, 50, 7
ALLOWED = 3.0
"""Times what Python takes that the same function may take in a process."""


def per_trial(batch: Callable[[int], object]) -> float:
    """Return seconds per trial: the median of some rounds, after one that is not counted."""
    rounds = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        for seed in range(BATCHES):
            batch(seed)
        rounds.append((time.perf_counter() - began) / (BATCHES * BATCH))
    return statistics.median(rounds[1:])


def in_python() -> float:
    """Return seconds per trial of the function itself."""
    release = runpy.run_path(str(CLIENTS / "release_server.py"))["release"]

    def batch(seed: int) -> list[float]:
        rng = random.Random(seed)  # noqa: S311  (the example's own)
        return [release(DATA, rng) for _ in range(BATCH)]

    return per_trial(batch)


def in_process(command: list[str]) -> float:
    """Return seconds per trial of a program."""
    mechanism, rng = process(command), np.random.default_rng(0)
    state = mechanism.prepare(DATA)
    try:
        return per_trial(lambda _: mechanism.sample(state, np.zeros((1, 1)), BATCH, rng))
    finally:
        mechanism.close()


def main() -> None:
    """Print a line for each program."""
    own = in_python()
    print(f"function in Python      {1e6 * own:6.2f} µs a trial")
    with tempfile.TemporaryDirectory() as folder:
        commands = {"Python": [sys.executable, str(CLIENTS / "release_server.py")]}
        if shutil.which("node"):
            commands["Node"] = ["node", str(CLIENTS / "release_server.js")]
        if shutil.which("cc"):
            built = f"{folder}/release_server"
            source = str(CLIENTS / "release_server.c")
            subprocess.run(["cc", "-O2", "-o", built, source, "-lm"], check=True)  # noqa: S603, S607
            commands["C"] = [built]
        for name, command in commands.items():
            found = in_process(command)
            print(f"process, {name:<14} {1e6 * found:6.2f} µs a trial, {found / own:.2f} times")
            if name == "Python" and found > ALLOWED * own:
                print(f"more than {ALLOWED:g} times what the function takes by itself")


if __name__ == "__main__":
    main()
