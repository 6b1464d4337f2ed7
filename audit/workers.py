"""Worker processes of this machine: a shard that hangs or kills its worker is tried once more and then reported.

Workers are forked, so that mechanisms reach them as they are, whether or not they could be pickled.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, wait
from concurrent.futures import TimeoutError as FutureTimeout
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.context import ForkContext, ForkProcess

import numpy as np
from pebble import ProcessExpired, ProcessFuture, ProcessPool
from threadpoolctl import threadpool_limits

from dpassay.errors import AuditeeError
from dpassay.shards import Bench, Done, Shard, span
from dpassay.trials import Counts, where

TICK = 0.5
"""Seconds between two looks at workers that have nothing to say."""
PATIENCE = 5.0
"""Seconds after which a pool in which nothing happens is taken for broken (a worker killed at a bad moment can do that)."""
REBUILDS = 5
"""Times that a pool is made anew without a single shard having been finished in between."""
LEFT = 256
"""Stands for exit code 0, with which pebble would take a worker's leaving for nothing special and wait for its shard."""
EXPECTED = "expected sample(state, queries, size, rng) to return labels of shape (size, queries)"

GONE = (BrokenProcessPool, CancelledError)
"""What the future of a shard ends with that nobody works on any more, through no fault of its own."""


class Worker(ForkProcess):
    """A process in a group of its own: whatever it started ends with it; and that it left is news whatever its exit code."""

    def run(self) -> None:
        """Do in the new process what it was made for."""
        os.setpgid(0, 0)
        super().run()

    def is_alive(self) -> bool:
        """Whether it runs; if it does not, nothing that it started does either."""
        alive = super().is_alive()
        if not alive:
            self.terminate()
        return alive

    def terminate(self) -> None:
        """End it and what it started, without asking them."""
        if self.pid is not None:
            self.kill()
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)

    @property
    def exitcode(self) -> int | None:
        """The exit code, as far as pebble shall know it."""
        code = super().exitcode
        return LEFT if code == 0 else code


class Workers(ForkContext):
    """What pebble makes its processes with."""

    Process = Worker


class Stray(Exception):
    """Something was raised in a worker that no mechanism may raise, `KeyboardInterrupt` say; its text names it."""


@dataclass(slots=True, kw_only=True, eq=False)
class Job:
    """A shard that has been given to the pool; `last` if it is not tried again, `done` when it has come back."""

    shard: Shard
    last: bool
    future: ProcessFuture[Done]
    since: float | None = None
    done: Done | None = None
    overdue: bool = False


class Local:
    """Runs shards in `jobs` processes.

    Parameters
    ----------
    bench : Bench
    keep : callable
        Called in this process with every shard that comes back, as soon as it does.
    jobs : int
    timeout : float
        Seconds that a shard may take.
    """

    def __init__(self, bench: Bench, keep: Callable[[Shard, Done], None], jobs: int, timeout: float) -> None:
        self.ahead = 4 * jobs
        self._bench = bench
        self._keep = keep
        self._jobs = jobs
        self._timeout = timeout
        self._open: list[Job] = []
        self._rebuilds = 0
        self._quiet_since: float | None = None
        self._pool = self._new_pool()

    def start(self, shard: Shard) -> list[Job]:
        """Give a shard to the pool."""
        return [self._job(shard, last=False)]

    def finish(self, receipt: list[Job]) -> Done:
        """Wait for a shard; pieces of one that failed are tried once more, one by one."""
        counts: list[Counts] = []
        place = 0
        while place < len(receipt):
            job = receipt[place]
            cause = self._outcome(job)
            if job.done is not None:
                counts += job.done.counts
                if job.done.failure is not None:
                    return self._failed(receipt[place + 1 :], Done(counts=tuple(counts), failure=job.done.failure))
                place += 1
            elif job.last:
                text = f"{cause} on {self._place(job.shard)}, also when tried again; {EXPECTED}"
                return self._failed(receipt[place + 1 :], Done(counts=tuple(counts), failure=(text, "")))
            else:
                receipt[place : place + 1] = [self._job((piece,), last=True) for piece in job.shard]
        return Done(counts=tuple(counts))

    def abandon(self, receipt: list[Job]) -> None:
        """Stop working on a shard."""
        for job in receipt:
            job.future.cancel()  # type: ignore[no-untyped-call]
            if job in self._open:
                self._open.remove(job)

    def close(self) -> None:
        """End all workers."""
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()

    def _failed(self, rest: list[Job], done: Done) -> Done:
        self.abandon(rest)
        return done

    def _place(self, shard: Shard) -> str:
        (piece,) = shard
        return f"{where(self._bench.change(piece.task))} ({span(piece.task, piece.first, piece.stop)})"

    def _job(self, shard: Shard, *, last: bool) -> Job:
        job = Job(shard=shard, last=last, future=self._schedule(shard))
        self._open.append(job)
        return job

    def _schedule(self, shard: Shard) -> ProcessFuture[Done]:
        while True:
            try:
                return self._pool.schedule(_work, args=(shard,), timeout=self._timeout)
            except (RuntimeError, OSError):  # the pool has broken, or could not be started
                self._rebuild()

    def _outcome(self, job: Job) -> str:
        """Wait until a job has come back, or return the cause why it never will."""
        while job.done is None:
            if job.overdue:
                return self._too_long()
            if not job.future.done():
                self._look()
                continue
            try:
                job.future.result()
            except ProcessExpired as error:
                self._open.remove(job)
                code = 0 if error.exitcode == LEFT else int(error.exitcode)
                return f"the worker died ({f'signal {-code}' if code < 0 else f'exit code {code}'})"
            except FutureTimeout:
                self._open.remove(job)
                return self._too_long()
            except Stray as error:
                self._open.remove(job)
                return f"{error} was raised"
            except GONE:
                self._rebuild()
            self._collect()
        return ""

    def _too_long(self) -> str:
        return f"a shard took longer than {self._timeout:g} s"

    def _look(self) -> None:
        """Wait a moment for any job to come back; see to a pool that has stopped answering."""
        came, _ = wait([job.future for job in self._open if not job.future.done()], timeout=TICK, return_when=FIRST_COMPLETED)
        if self._collect() or came:
            self._quiet_since = None
            return
        now = time.monotonic()
        for job in self._open:
            if job.since is None and job.future.running():
                job.since = now
        late = [job for job in self._open if job.since is not None and now - job.since > self._timeout + PATIENCE]
        idle = all(job.since is None for job in self._open)
        self._quiet_since = (self._quiet_since or now) if idle else None
        if late or (self._quiet_since is not None and now - self._quiet_since > PATIENCE):
            for job in late:
                job.overdue = True
                self._open.remove(job)
            self._rebuild()

    def _collect(self) -> bool:
        """Take in every job that has come back well, and hand it on to be kept."""
        came = [job for job in self._open if job.future.done() and not job.future.cancelled() and job.future.exception() is None]
        for job in came:
            job.done = job.future.result()
            self._open.remove(job)
            self._keep(job.shard, job.done)
            self._rebuilds = 0
        return bool(came)

    def _rebuild(self) -> None:
        """Make a new pool, and give it everything that the old one has not finished or failed over."""
        lost = [job for job in self._open if not job.future.done() or isinstance(_fault(job.future), GONE)]
        while True:
            self._rebuilds += 1
            if self._rebuilds > REBUILDS:
                raise AuditeeError(f"worker processes died again and again before they could do anything; {EXPECTED}")
            self.close()
            self._pool = self._new_pool()
            self._quiet_since = None
            try:
                for job in lost:
                    job.future = self._pool.schedule(_work, args=(job.shard,), timeout=self._timeout)
                    job.since = None
            except (RuntimeError, OSError):
                continue
            return

    def _new_pool(self) -> ProcessPool:
        return ProcessPool(max_workers=self._jobs, initializer=_begin, initargs=(self._bench, os.getpid()), context=Workers())


def _fault(future: ProcessFuture[Done]) -> BaseException | None:
    return CancelledError() if future.cancelled() else future.exception()


_bench: Bench | None = None
"""In a worker: what it works on, and whether it has done anything yet."""
_probe = True


def _begin(bench: Bench, parent: int) -> None:
    """Prepare a worker: it dies with its parent, uses one thread, and has a global NumPy generator of its own."""
    global _bench  # noqa: PLW0603
    _bench = bench
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
    threadpool_limits(limits=1)
    np.random.seed()  # noqa: NPY002  (forks must not share the coins of a mechanism that wrongly takes them from there)


def _work(shard: Shard) -> Done:
    """Run a shard in a worker; the first one with a probe, since coins kept in the mechanism would be the same in all workers."""
    global _probe  # noqa: PLW0603
    assert _bench is not None
    try:
        done = _bench.run(shard, probe=_probe)
    except BaseException as error:  # noqa: BLE001  (nobody presses Ctrl-C here; and not every exception can be pickled)
        raise Stray(type(error).__name__) from None
    _probe = False
    return done
