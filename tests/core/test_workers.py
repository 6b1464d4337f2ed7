"""The watchdog over a pool that goes silent, hangs, breaks or cannot be started: a pool of our own plays each of these."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np
import pytest
from pebble import ProcessExpired, ProcessFuture

from dpassay import workers
from dpassay.codings import Labels
from dpassay.errors import AuditeeError
from dpassay.shards import Bench, Done, Piece, Shard, Task
from dpassay.trials import Counts
from dpassay.workers import REBUILDS, Local, Worker
from tests.core.test_executors import GROUP, auditee
from tests.core.toys import response

TASK = Task(group=0, pair=None, phase="screen", size=9500)
ONE, OTHER, BOTH = (tuple(Piece(task=TASK, first=k, stop=k + 1) for k in ks) for ks in ([0], [9], [0, 9]))

Future = ProcessFuture[Done]
Answer = Callable[[Future, Shard], None]


def answers(future: Future, shard: Shard) -> None:
    future.set_running_or_notify_cancel()  # type: ignore[no-untyped-call]
    future.set_result(Done(counts=tuple(Counts(symbols=np.full((1, 2), piece.first), marks=()) for piece in shard)))


def answers_late(future: Future, shard: Shard) -> None:
    future.set_running_or_notify_cancel()  # type: ignore[no-untyped-call]
    done = Done(counts=tuple(Counts(symbols=np.full((1, 2), piece.first), marks=()) for piece in shard))
    threading.Timer(0.3, future.set_result, [done]).start()


def is_silent(future: Future, shard: Shard) -> None: ...


def hangs(future: Future, shard: Shard) -> None:
    future.set_running_or_notify_cancel()  # type: ignore[no-untyped-call]


def dies(future: Future, shard: Shard) -> None:
    future.set_exception(ProcessExpired("", code=5))  # type: ignore[no-untyped-call]


def breaks(future: Future, shard: Shard) -> None:
    future.set_exception(BrokenProcessPool())


def is_cancelled(future: Future, shard: Shard) -> None:
    future.cancel()  # type: ignore[no-untyped-call]


def refuses(future: Future, shard: Shard) -> None:
    raise RuntimeError


def cannot_fork(future: Future, shard: Shard) -> None:
    raise BlockingIOError


class Stage:
    """Makes pools; every shard that one of them is given meets the next answer of the script."""

    def __init__(self) -> None:
        self.script: Iterator[Answer] = iter(())
        self.pools: list[Pool] = []
        self.kept: list[Shard] = []
        self.local = Local(
            Bench(auditee(response(1.0)), (GROUP,), (Labels((0, 1)),), 0),
            lambda shard, _: self.kept.append(shard),
            jobs=2,
            timeout=0.05,
        )

    def plays(self, *script: Answer) -> Local:
        self.script = iter(script)
        return self.local

    @property
    def given(self) -> list[list[Shard]]:
        return [pool.given for pool in self.pools]


class Pool:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.given: list[Shard] = []
        self.stopped = self.joined = False
        stage.pools.append(self)

    def schedule(self, function: object, args: tuple[Shard], timeout: float) -> Future:
        assert not self.stopped
        future: Future = ProcessFuture()
        self.given.append(args[0])
        next(self.stage.script)(future, args[0])
        return future

    def stop(self) -> None:
        self.stopped = True

    def join(self) -> None:
        assert self.stopped
        self.joined = True


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(workers, "TICK", 0.01)
    monkeypatch.setattr(workers, "PATIENCE", 0.05)
    stage = Stage.__new__(Stage)
    monkeypatch.setattr(workers, "ProcessPool", lambda **_: Pool(stage))
    stage.__init__()  # type: ignore[misc]
    yield stage
    stage.local.close()
    assert all(pool.stopped and pool.joined for pool in stage.pools)


def firsts(done: Done) -> list[int]:
    assert done.failure is None
    return [int(counts.symbols[0, 0]) for counts in done.counts]


@pytest.mark.parametrize("trouble", [is_silent, breaks, is_cancelled, refuses, cannot_fork])
def test_a_pool_that_fails_is_replaced_and_its_shards_run_again(trouble: Answer, stage: Stage) -> None:
    local = stage.plays(trouble, answers)
    assert firsts(local.finish(local.start(BOTH))) == [0, 9]
    assert stage.given == [[BOTH], [BOTH]]
    assert stage.kept == [BOTH]


@pytest.mark.parametrize("trouble", [is_silent, breaks, is_cancelled, refuses, cannot_fork])
def test_pools_that_fail_one_after_another_are_an_error(trouble: Answer, stage: Stage) -> None:
    local = stage.plays(*[trouble] * (REBUILDS + 1))
    with pytest.raises(AuditeeError, match="again and again before they could do anything; expected sample"):
        local.finish(local.start(ONE))
    assert len(stage.pools) == REBUILDS + 1
    with pytest.raises(AuditeeError, match="again and again"):
        stage.plays(refuses).start(ONE)


def test_pools_that_fail_now_and_then_are_not(stage: Stage) -> None:
    times = 2 * REBUILDS
    local = stage.plays(*[breaks, answers] * times)
    for _ in range(times):
        assert firsts(local.finish(local.start(ONE))) == [0]
    assert len(stage.pools) == 1 + times


@pytest.mark.parametrize("trouble", [refuses, cannot_fork])
def test_a_new_pool_that_fails_at_once_is_replaced_too(trouble: Answer, stage: Stage) -> None:
    local = stage.plays(breaks, is_silent, answers, trouble, answers, answers)
    one, other = local.start(ONE), local.start(OTHER)
    assert firsts(local.finish(one)) == [0]
    assert firsts(local.finish(other)) == [9]
    assert stage.given == [[ONE, OTHER]] * 3
    assert stage.kept == [ONE, OTHER]


def test_only_what_is_lost_is_run_again(stage: Stage) -> None:
    """The first shard failed over its own fault, the second came back, the third was lost with the pool."""
    local = stage.plays(dies, answers, breaks, answers, answers)
    died, came, lost = local.start(ONE), local.start(OTHER), local.start(BOTH)
    assert firsts(local.finish(lost)) == [0, 9]
    assert firsts(local.finish(came)) == [9]
    assert firsts(local.finish(died)) == [0]
    assert stage.given == [[ONE, OTHER, BOTH], [BOTH, ONE]]
    assert sorted(map(len, stage.kept)) == [1, 1, 2]


def test_a_shard_over_its_time_that_the_pool_does_not_stop_is_tried_once_more(stage: Stage) -> None:
    local = stage.plays(hangs, is_silent, answers, answers, answers)
    hanging, waiting = local.start(BOTH), local.start(OTHER)
    assert firsts(local.finish(hanging)) == [0, 9]
    assert firsts(local.finish(waiting)) == [9]
    assert stage.given == [[BOTH, OTHER], [OTHER, ONE, OTHER]]


def test_a_shard_that_hangs_again_is_the_failure_and_what_follows_is_given_up(stage: Stage) -> None:
    local = stage.plays(hangs, answers, hangs)
    done = local.finish(local.start((*OTHER, *ONE)))
    assert [int(counts.symbols[0, 0]) for counts in done.counts] == [9]
    assert done.failure is not None
    place = "on the base dataset (screen trials 0 to 999), also when tried again; expected sample(state"
    assert done.failure[0].startswith(f"a shard took longer than 0.05 s {place}")
    assert local._open == []


def test_a_shard_that_dies_again_names_its_last_trials(stage: Stage) -> None:
    local = stage.plays(dies, answers, dies)
    done = local.finish(local.start(BOTH))
    assert done.failure is not None
    place = "on the base dataset (screen trials 9000 to 9499), also when tried again"
    assert done.failure[0].startswith(f"the worker died (exit code 5) {place}")


def test_a_shard_that_runs_is_waited_for(stage: Stage) -> None:
    """It takes longer than an idle pool is given; another one waits for its turn meanwhile."""
    stage.local._timeout = 60.0
    local = stage.plays(answers_late, is_silent)
    slow = local.start(ONE)
    waiting = local.start(OTHER)
    assert firsts(local.finish(slow)) == [0]
    local.abandon(waiting)
    assert len(stage.pools) == 1
    assert local._open == []


def test_what_is_abandoned_is_not_waited_for(stage: Stage) -> None:
    local = stage.plays(is_silent, breaks, answers)
    local.abandon(local.start(ONE))
    assert firsts(local.finish(local.start(OTHER))) == [9]
    assert stage.given == [[ONE, OTHER], [OTHER]]


@pytest.fixture
def worker() -> Iterator[Callable[..., Worker]]:
    started: list[Worker] = []

    def start(target: Callable[..., object], *args: Any) -> Worker:
        process = Worker(target=target, args=args)
        process.start()
        started.append(process)
        return process

    yield start
    for process in started:
        process.terminate()
        process.join()


def test_leaving_is_never_success(worker: Callable[..., Worker]) -> None:
    codes = []
    for code in (0, 3):
        process = worker(os._exit, code)
        process.join()
        codes.append(process.exitcode)
    assert codes == [workers.LEFT, 3]


def child_of(writer: int, wait: float) -> None:
    if os.fork() == 0:
        time.sleep(600)
    os.close(writer)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(wait)
    os._exit(0)


@pytest.mark.parametrize("wait", [0.0, 600.0], ids=["it left", "it hangs"])
def test_the_children_of_a_worker_end_with_it(wait: float, worker: Callable[..., Worker]) -> None:
    reader, writer = os.pipe()
    process = worker(child_of, writer, wait)
    os.close(writer)
    if wait:
        process.terminate()
    process.join()
    assert not process.is_alive()
    assert os.read(reader, 1) == b"", "nobody holds the other end any more"
    os.close(reader)


def test_a_worker_that_was_not_started_cannot_be_ended() -> None:
    Worker(target=print).terminate()
