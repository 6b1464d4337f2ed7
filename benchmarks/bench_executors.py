"""What a shard costs besides its trials, in the pool and on Dask, and what two workers gain.

The cost is that of some thousand shards of almost no work, less what the same shards take in this
process: wall time, and processor time of all processes together, which other programs on the
machine lengthen less. The gain is measured on work of 20 seconds or more. Run with `make bench`, or
`python benchmarks/bench_executors.py`.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import psutil

from dpassay.claims import DP
from dpassay.data import Labelled, points
from dpassay.mechanism import Mechanism
from dpassay.pairs import FlipLabel, Pairs
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.trials.backends import Inline, forget, local
from dpassay.trials.cluster import Cluster, Remote
from dpassay.trials.encoders import Labels
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.tasks import Piece, Shard, Task, TrialRunner

EMPTY = 3000
"""Shards of almost no work."""
WORK = 240
"""Shards of a tenth of a second, about."""
READY = 5.0
"""Seconds of work before anything is measured: a worker that is new imports what it needs."""
ALLOWED = {"pool": 1.0, "Dask": 5.0}
"""Milliseconds of overhead for each shard."""
EFFICIENCY = 0.9


@dataclass(frozen=True)
class Busy(Mechanism):
    """Computes for a while and answers 0."""

    turns: int
    claims = (DP(epsilon=1.0),)
    labels = (0, 1)

    def prepare(self, data: Labelled) -> None:
        """Need nothing of the data."""

    def sample(
        self,
        state: Any,  # noqa: ARG002
        queries: Any,
        size: int,
        rng: np.random.Generator,
    ) -> Any:
        """Return zeros after some turns of arithmetic."""
        for _ in range(self.turns):
            rng.normal(size=10_000).cumsum()
        return np.zeros((size, len(queries)), dtype=np.int64)


@dataclass(frozen=True)
class Spent:
    """Seconds that something took: of the clock, and of all our processes."""

    wall: float
    processor: float


def runner(turns: int) -> TrialRunner:
    """Return what runs a shard of about that much work."""
    mechanism = Busy(turns)
    base = Labelled(np.zeros((4, 1)), np.zeros(4, dtype=np.int64))
    pairs = Pairs(base=base, changes=(FlipLabel(0),), how="one flip")
    group = PairGroup(
        pairs=pairs, queries=points([[0.0]], "queries"), kind="data", reason="one flip"
    )
    target = AuditTarget(
        name="busy", address=None, parameters={}, mechanism=mechanism, claims=mechanism.claims
    )
    return TrialRunner(target, (group,), (Labels((0, 1)),), 0)


def shards(number: int) -> Iterator[Shard]:
    """Yield shards of a block each."""
    for lot in range(number):
        task = Task(group=0, pair=None, phase="screen", size=1000, lot=lot)
        yield (Piece(task=task, first=0, stop=1),)


def run(backend: Inline, some: Iterator[Shard]) -> None:
    """Run shards as an `Executor` does."""
    under_way: deque[Any] = deque()
    for shard in some:
        under_way.append(backend.start(shard))
        if len(under_way) >= backend.ahead:
            backend.finish(under_way.popleft())
    while under_way:
        backend.finish(under_way.popleft())


def processor() -> float:
    """Return the processor time so far of this process and all that it has started."""
    every = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(sum(each.cpu_times()[:2]) for each in every)


def spent(backend: Inline, number: int) -> Spent:
    """Return what some shards take, after some that make every worker ready."""
    ready = time.perf_counter() + READY
    while time.perf_counter() < ready:
        run(backend, shards(16))
    began, before = time.perf_counter(), processor()
    run(backend, shards(number))
    return Spent(time.perf_counter() - began, processor() - before)


@contextmanager
def backends(turns: int) -> Iterator[dict[str, Inline]]:
    """Open what runs shards: in this process, in two others, and on two workers of Dask."""
    what, limits = runner(turns), Limits()
    with Cluster(None, 2) as cluster:
        opened: dict[str, Inline] = {
            "inline": Inline(what, forget),
            "pool": local(what, forget, 2, limits),
            "Dask": Remote(cluster, what, forget, limits),
        }
        try:
            yield opened
        finally:
            for backend in opened.values():
                backend.close()


def overheads() -> tuple[Spent, dict[str, Spent]]:
    """Return what a shard of almost no work takes here, and what it costs besides elsewhere."""
    with backends(0) as opened:
        found = {name: spent(backend, EMPTY) for name, backend in opened.items()}
    own = found.pop("inline")
    besides = {
        name: Spent((each.wall - own.wall) / EMPTY, (each.processor - own.processor) / EMPTY)
        for name, each in found.items()
    }
    return Spent(own.wall / EMPTY, own.processor / EMPTY), besides


def overhead(say: Callable[[str], None]) -> None:
    """Say what a shard costs besides its trials."""
    own, besides = overheads()
    say(f"{EMPTY:,} shards of almost no work, {1e3 * own.wall:.2f} ms each in this process")
    for name, each in besides.items():
        wall, processors = 1e3 * each.wall, 1e3 * each.processor
        line = f"{name:<6}{wall:6.2f} ms of the clock, {processors:.2f} ms of processors besides"
        most = ALLOWED[name]
        say(line if max(wall, processors) <= most else f"{line}: more than {most:g} ms")


def efficiency(say: Callable[[str], None]) -> None:
    """Say how much sooner two workers end, and how much of the processors' time is the work's."""
    with backends(turns_of(0.1)) as opened:
        found = {name: spent(backend, WORK) for name, backend in opened.items()}
    own = found.pop("inline")
    say(f"work of {own.wall:.1f} s in this process ({own.processor:.1f} s of a processor)")
    for name, each in found.items():
        gained, useful = own.wall / (2 * each.wall), own.processor / each.processor
        busy = each.processor / (2 * each.wall)
        line = (
            f"{name:<6}{each.wall:6.1f} s with two workers: efficiency {gained:.2f} by the clock, "
            f"{useful:.2f} by processor time; both processors {busy:.0%} ours"
        )
        say(line if max(gained, useful) >= EFFICIENCY else f"{line}: less than {EFFICIENCY:g}")


def turns_of(seconds: float) -> int:
    """Return how many turns of arithmetic take so long, as far as this process can tell."""
    some, rng = 200, np.random.default_rng(0)
    began = time.process_time()
    for _ in range(some):
        rng.normal(size=10_000).cumsum()
    return round(some * seconds / (time.process_time() - began))


def main(parts: Sequence[Callable[[Callable[[str], None]], None]] = (overhead, efficiency)) -> None:
    """Print what was measured, and how busy the machine was before."""
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} in the last minute")
    for part in parts:
        part(print)


if __name__ == "__main__":
    main()
