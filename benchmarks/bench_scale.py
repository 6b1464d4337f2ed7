"""A run of a million cells: memory, processor time, and whose it is; `dpassay run` does it all.

A cell is a pair, a query, a direction and an event. With 1,000 pairs and 1,000 queries there are a
million places to look at, with two directions and two events each, and every one is looked at
through 1,000 trials a side or more.

    python -m benchmarks.bench_scale [--pairs P] [--queries Q] [--auditee Vote] [--mode exact]
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.scale_auditees import CLOCK, clock
from dpassay.cli.main import main

ROOT = Path(__file__).parents[1]
LOOK = 0.25
"""Seconds between two looks at the memory."""
PHASES = (
    ("screening trials", "dpassay.engine.monte_carlo", "screen"),
    ("choice of the finalists", "dpassay.engine.monte_carlo", "_finalists"),
    ("certification trials", "dpassay.engine.monte_carlo", "Certifier.certify"),
    ("guards over the calls", "dpassay.engine.guards", "Guards.varied"),
    ("guards in new processes", "dpassay.engine.guards", "Guards.asked_again"),
    ("what would be seen", "dpassay.engine.testers.events", "Events.sight"),
    ("bounds of the finalists", "dpassay.engine.testers.tester", "Tester.certified"),
    ("largest upper bound", "dpassay.engine.monte_carlo", "_largest"),
    ("profiles", "dpassay.engine.monte_carlo", "_with_profile"),
    ("laws", "dpassay.engine.run", "Measurement._all_laws"),
    ("exact leaks", "dpassay.engine.run", "exact_evidence"),
    ("record", "dpassay.cli.run", "make_record"),
    ("pages", "dpassay.reports", "write"),
    ("cells and witnesses", "dpassay.cli.run", "write_sidecars"),
    ("table on the terminal", "dpassay.reports.run.terminal", "print_summary"),
)
"""What is timed, and where it is called by its name."""


def cpu() -> float:
    """Processor seconds of this process."""
    return time.process_time()


def write_people(path: Path, pairs: int, queries: int) -> None:
    """Write records of one number and a label, as many as `dpassay run` cuts this out of."""
    rng = np.random.default_rng(0)
    rows = 1 + max(10 * queries, 10 * pairs // 7, pairs + queries)
    x, y = rng.random(rows), rng.integers(0, 2, rows)
    lines = [f"{a:.6f},{b}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    path.write_text("\n".join(("x,label", *lines)) + "\n")


@contextmanager
def timed(took: dict[str, float]) -> Iterator[None]:
    """Add up the processor time of every phase."""

    def wrapped(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            start = cpu()
            try:
                return function(*arguments, **named)
            finally:
                took[name] = took.get(name, 0.0) + cpu() - start

        return call

    with ExitStack() as stack:
        for name, module, function in PHASES:
            found = pkgutil.resolve_name(f"{module}:{function}")
            stack.enter_context(mock.patch(f"{module}.{function}", wrapped(name, found)))
        yield


def memory(process: int) -> float:
    """Return MiB that a process and those that it has started hold, shared pages counted once."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
    held, ours = 0, [process]
    for pid in ours:
        ours += [child for child, parent in parents.items() if parent == pid]
        with suppress(OSError):
            found = re.search(r"Pss: +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text())
            held += 0 if found is None else int(found[1])
    return held / 1024


def inside(command: list[str], report: Path) -> None:
    """Run the command in this process and write down what it took."""
    took: dict[str, float] = {}
    with timed(took):
        code = main(command)
    here, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    found = {
        "exit": code,
        "seconds": sum(each.ru_utime + each.ru_stime for each in (here, others)),
        "seconds_of_host": others.ru_utime + others.ru_stime,
        "sampler": float(clock()[0]),
        "phases": took,
    }
    report.write_text(json.dumps(found))


def measure(
    folder: Path,
    pairs: int,
    queries: int,
    trials: int,
    auditee: str = "RandomisedResponse",
    mode: str = "monte-carlo",
) -> dict[str, Any]:
    """Run an audit in a process of its own and return what it took."""
    write_people(folder / "people.csv", pairs, queries)
    np.memmap(folder / "clock", float, "w+", shape=(1,)).flush()
    command = [
        *("run", f"benchmarks.scale_auditees:{auditee}", "-q", "--mode", mode),
        *("--data", str(folder / "people.csv"), "--label", "label", "--neighbours", "flip"),
        *("--train", str(pairs), "--queries", str(queries)),
        *(("--budget", str(trials)) if mode == "monte-carlo" else ()),
        *("--out", str(folder / "out")),
    ]
    shutil.rmtree(folder / "out", ignore_errors=True)
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    inner = [sys.executable, "-m", "benchmarks.bench_scale", "--inside", str(folder / "took")]
    run = subprocess.Popen(  # noqa: S603
        [*inner, *command],
        env=os.environ | threads | {CLOCK: str(folder / "clock")},
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
    )
    peak = 0.0
    while run.poll() is None:
        peak = max(peak, memory(run.pid))
        time.sleep(LOOK)
    if run.returncode:
        raise RuntimeError(f"the run ended with {run.returncode}")
    found: dict[str, Any] = json.loads((folder / "took").read_text()) | {"peak": peak}
    if found["exit"] not in (0, 1, 4):
        raise RuntimeError(f"nothing was audited: exit code {found['exit']}")
    found["files"] = {
        str(path.relative_to(folder / "out")): path.stat().st_size / 1e6
        for path in sorted((folder / "out").rglob("*"))
        if path.is_file()
    }
    return found


def show(found: dict[str, Any]) -> None:
    """Print what it took."""
    seconds, sampler, apart = found["seconds"], found["sampler"], found["seconds_of_host"]
    print(f"exit code {found['exit']}")
    print(f"processor time: {seconds:.1f} s, {apart:.1f} s of it in the processes that sample")
    print(f"in the sampler: {sampler:.1f} s, {sampler / seconds:.0%}")
    print(f"peak memory of all processes together: {found['peak']:.0f} MiB")
    for name, taken in found["phases"].items():
        print(f"  {taken:8.2f} s  {name}")
    for name, size in found["files"].items():
        print(f"  {size:8.2f} MB {name}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=1700, help="budget of a finalist")
    parser.add_argument("--auditee", default="RandomisedResponse", help="of scale_auditees")
    parser.add_argument("--mode", default="monte-carlo")
    parser.add_argument("--keep", type=Path, help="a folder that is written into and left")
    return parser.parse_args()


def _main() -> None:
    told = _arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = told.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        sizes = told.pairs, told.queries, told.trials
        show(measure(folder, *sizes, auditee=told.auditee, mode=told.mode))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[3:], Path(sys.argv[2]))
    else:
        _main()
