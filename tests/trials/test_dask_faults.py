"""Faults of a Dask cluster: the same numbers, or one line and a ledger to go on from."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import ClusterError, LedgerError
from dpassay.trials.cluster import Cluster, Remote
from dpassay.trials.cluster_local import own_workers
from dpassay.trials.encoders import Labels
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.ledger import Ledger
from dpassay.trials.tasks import Piece, Shard, ShardResult, Task, TrialRunner
from tests.cli.test_resume import alive
from tests.core.toys import response
from tests.trials.test_executors import GROUP, entries, rows, run, shaky, target

pytestmark = pytest.mark.slow
BUDGET = 6_000


def on(
    cluster: Cluster,
    *targets: Any,
    meanwhile: Callable[[int], Any] = lambda _: None,
    ledger: Ledger | None = None,
) -> Any:
    """Run on a cluster; `meanwhile` is called with the number of every step that is done."""
    settings, steps = Settings(mode="monte-carlo", budget=BUDGET, executor="dask"), iter(range(999))

    def progress(*_: Any) -> None:
        meanwhile(next(steps))

    return entries(list(assay(list(targets), GROUP, settings, progress, ledger, cluster=cluster)))


def pids(cluster: Cluster) -> list[int]:
    """Return the processes of the workers; wait for one if all have just been killed."""
    while not (found := cluster._client.run(os.getpid, on_error="ignore")):
        time.sleep(0.05)
    return list(found.values())


def kill(*victims: int) -> None:
    for pid in victims:
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def expected() -> list[dict[str, Any]]:
    return entries(run(target(response(1.0)), budget=BUDGET))


@pytest.fixture(scope="module")
def expected_of_shaky() -> list[dict[str, Any]]:
    """It draws one number more."""
    return entries(run(target(shaky(lambda: None, 0.0)), budget=BUDGET))


def test_a_worker_killed_while_a_shard_is_run(
    cluster: Cluster, expected_of_shaky: Any, tmp_path: Path
) -> None:
    """It is the parent of the process that runs the user's code; that goes down with it."""
    flag = tmp_path / "killed"

    def once() -> None:
        if not flag.exists():
            flag.touch()
            kill(os.getppid())
            time.sleep(600)

    assert on(cluster, target(shaky(once, 0.1))) == expected_of_shaky
    assert flag.exists()


def test_workers_killed_when_their_answers_are_asked_for(
    cluster: Cluster, expected: Any, monkeypatch: Any
) -> None:
    """What was computed is lost with them, and computed again."""
    answers, killed = cluster._answers, list[int]()

    def lose(done: Any) -> Any:
        if done and not killed:
            killed.extend(pids(cluster))
            kill(*killed)
        return answers(done)

    monkeypatch.setattr(cluster, "_answers", lose)
    assert on(cluster, target(response(1.0))) == expected
    assert len(killed) == 2


@contextmanager
def scheduler(port: int = 0) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A scheduler in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "address"
        options = {"host": "127.0.0.1", "port": port, "dashboard": False}
        options |= {"dashboard_address": "127.0.0.1:0", "scheduler_file": str(file)}
        spec = json.dumps({"cls": "distributed.Scheduler", "opts": options})
        process = started("--spec", spec)
        while not file.exists() or not file.read_text():
            assert process.poll() is None
            time.sleep(0.05)
        try:
            yield str(json.loads(file.read_text())["address"]), process
        finally:
            process.kill()
            process.wait()


def started(*words: str, late: float = 0) -> subprocess.Popen[bytes]:
    """Start a part of a cluster, after some seconds."""
    command = ["sh", "-c", f'sleep {late}; exec "$@"', "sh", sys.executable, "-m", "dask", "spec"]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen([*command, *words], stdout=nowhere, stderr=nowhere)


@contextmanager
def worker(address: str, folder: Path, late: float = 0) -> Iterator[subprocess.Popen[bytes]]:
    options = {"host": "127.0.0.1", "dashboard": False, "dashboard_address": "127.0.0.1:0"}
    options |= {"local_directory": str(folder), "nthreads": 2}
    spec = json.dumps({"cls": "distributed.Worker", "opts": options})
    process = started(address, "--spec", spec, late=late)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("again", [False, True], ids=["lost", "restarted"])
def test_without_its_scheduler_the_run_ends_and_the_ledger_goes_on(
    again: bool, expected_of_shaky: Any, tmp_path: Path
) -> None:
    """One that is started again at the same address knows of no work."""
    path = tmp_path / "ledger.sqlite"
    subject = target(shaky(lambda: time.sleep(0.02), 0.5))
    with ExitStack() as stack:
        address, process = stack.enter_context(scheduler())
        port = int(address.rpartition(":")[2])
        stack.enter_context(worker(address, tmp_path))
        cluster = stack.enter_context(Cluster(address))

        def meanwhile(step: int) -> None:
            if step == 4:
                process.kill()
                process.wait()
                if again:
                    stack.enter_context(scheduler(port))

        with Ledger(path, resume=False) as ledger, pytest.raises(ClusterError) as caught:
            on(cluster, subject, meanwhile=meanwhile, ledger=ledger)
    assert str(caught.value) == (
        f"Dask cluster '{address}': the connection to its scheduler was lost; with --out, finished "
        "trials and models are in its ledger: go on from there on any executor (dpassay run with "
        "--resume)"
    )
    finished = len(rows(path))
    assert finished > 0
    with (
        scheduler(port) as (address, _),
        worker(address, tmp_path),
        Cluster(address) as cluster,
        Ledger(path, resume=True) as ledger,
    ):
        assert on(cluster, subject, ledger=ledger) == expected_of_shaky
    assert len(rows(path)) > finished


def test_a_cluster_that_has_no_worker_yet_gets_one_on_the_way(
    expected: Any, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    """As an adaptive one. The worker has two threads, each with a process of its own."""
    monkeypatch.setattr("dpassay.trials.cluster.HINT", 0.5)
    monkeypatch.setattr("dpassay.trials.cluster.LOOK", 0.3)
    with (
        scheduler() as (address, _),
        Cluster(address) as cluster,
        worker(address, tmp_path, late=2),
    ):
        assert on(cluster, target(response(1.0))) == expected
    said = capsys.readouterr().err
    assert said == f"dpassay: Dask cluster '{address}': has no workers; waiting for one\n"


def test_a_worker_without_dpassay_is_told_of(cluster: Cluster, monkeypatch: Any) -> None:
    """Before it is sent anything, of which it would die again and again."""
    monkeypatch.setattr(
        "dpassay.trials.cluster.version", lambda name: metadata.version(f"no-{name}")
    )
    monkeypatch.setattr(cluster, "_greeted", set())

    def looked() -> None:
        while True:
            cluster._look()
            time.sleep(0.05)

    with pytest.raises(ClusterError, match=r"worker tcp://.* has no dpassay; install the same"):
        looked()


def test_what_comes_after_a_failure_is_not_kept_for_those_who_have_left(cluster: Cluster) -> None:
    """One shard cannot be written; those that come with it or later are dropped."""
    runner = TrialRunner(target(response(1.0)), (GROUP,), (Labels((0, 1)),), 4)
    kept: list[Shard] = []

    def keep(shard: Shard, done: ShardResult) -> None:
        kept.append(shard)
        raise LedgerError("full")

    first = Remote(cluster, runner, keep, Limits())
    task = Task(group=0, pair=None, phase="screen", size=1000, lot=0)
    receipts = [first.start((Piece(task=task, first=k, stop=k + 1),)) for k in range(4)]
    with pytest.raises(LedgerError, match="full"):
        first.finish(receipts[0])
    first.close()
    for receipt in receipts:
        while not receipt.ended:
            cluster.look()
    assert len(kept) == 1
    assert cluster.under_way == 0


def test_a_clock_that_jumps(expected: Any, monkeypatch: Any) -> None:
    """By a day, that of the scheduler and ours: it loses its workers, who come again."""
    with own_workers(2) as workers, Cluster(workers.scheduler_address) as cluster:

        def meanwhile(step: int) -> None:
            if step == 3:
                monkeypatch.setattr("distributed.scheduler.time", lambda: time.time() + 86_400)
                workers.loop.add_callback(workers.scheduler.check_worker_ttl)

        assert on(cluster, target(response(1.0)), meanwhile=meanwhile) == expected


def test_what_is_interrupted_leaves_no_process_at_work(cluster: Cluster, tmp_path: Path) -> None:
    """Also not one that hangs, and none begins after it: each leaves a mark and holds a lock."""
    begun = tmp_path / "begun"

    def hangs() -> None:
        with begun.open("a") as held:
            fcntl.flock(held, fcntl.LOCK_SH)
            held.write("begun\n")
            held.flush()
            time.sleep(600)

    def answer(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
        hangs()

    def interrupt(signum: int, frame: Any) -> None:
        if begun.exists() and begun.read_text():
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            on(cluster, target(answer))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    marks = begun.read_text()
    with begun.open() as freed:
        fcntl.flock(freed, fcntl.LOCK_EX)
    assert on(cluster, target(response(1.0)))[0]["verdict"] == "not refuted"
    assert begun.read_text() == marks


def test_our_own_workers_leave_nothing_behind() -> None:
    before = set(Path(tempfile.gettempdir()).glob("dpassay-dask-*"))
    with Cluster(None, 2) as cluster:
        assert list(cluster.in_order("work", abs, range(4))) == [0, 1, 2, 3]
        workers = pids(cluster)
        assert len(set(Path(tempfile.gettempdir()).glob("dpassay-dask-*")) - before) == 1
    assert not any(map(alive, workers))
    assert set(Path(tempfile.gettempdir()).glob("dpassay-dask-*")) == before


def test_workers_end_when_we_are_killed(tmp_path: Path) -> None:
    source = (
        "import os, time\n"
        "from dpassay.trials.cluster import Cluster\n"
        "cluster = Cluster(None, 2)\nlist(cluster.in_order('work', abs, range(8)))\n"
        "print(flush=True)\ntime.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", source],
        stdout=subprocess.PIPE,
        # nobody is left to remove the folder of the workers
        env=os.environ | {"TMPDIR": str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        workers = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    assert len(workers) >= 2
    assert psutil.wait_procs(workers, timeout=20)[1] == []
