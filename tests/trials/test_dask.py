"""Dask as an executor: everybody's numbers, errors that say what is wrong, and no pickles."""

from __future__ import annotations

import ctypes
import faulthandler
import logging
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.engine.domains.domain import Domain
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import ClusterError, InvalidInput, TargetError
from dpassay.trials import cluster as module
from dpassay.trials import portable
from dpassay.trials.backends import Question
from dpassay.trials.cluster import Cluster, difference
from dpassay.trials.ledger import Ledger, installed
from dpassay.trials.wire import pack
from tests.core.toys import Sampled, TableMechanism, response, target_of
from tests.trials.test_executors import DASK, GROUP, entries, raises, rows, run, shaky, target

TABLE = ((0.2, 0.8), (0.7, 0.3))


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    levels = [handler.level for handler in logging.getLogger("distributed").handlers]
    yield
    assert [handler.level for handler in logging.getLogger("distributed").handlers] == levels


def run_on(cluster: Cluster, *targets: Any, ledger: Ledger | None = None, **more: Any) -> Any:
    settings: dict[str, Any] = {"mode": "monte-carlo", "budget": 3000, "executor": "dask"} | more
    return list(assay(list(targets), GROUP, Settings(**settings), ledger=ledger, cluster=cluster))


def test_nobody_can_tell_from_the_numbers_who_ran_the_trials(cluster: Cluster) -> None:
    """Code of the user's, which is sent, and a mechanism that can be imported."""
    subjects = target(response(1.0)), target_of(Sampled(table=((0.1, 0.9), (0.9, 0.1))))
    expected = entries(run(*subjects, executor="inline"))
    assert entries(run_on(cluster, *subjects)) == expected
    assert [entry["verdict"] for entry in expected] == ["not refuted", "refuted"]


def segfault() -> None:
    faulthandler.disable()
    ctypes.string_at(0)


FAULTS: dict[str, Callable[[], Any]] = {
    "raised OSError": raises,
    "the worker died (signal 11) on ": segfault,
    "a shard took longer than 2 s (--shard-timeout) on ": lambda: time.sleep(600),
}


def test_what_user_code_does_to_its_process_is_told_as_by_the_pool(cluster: Cluster) -> None:
    broken = [target(shaky(fault, 0.1), reason) for reason, fault in FAULTS.items()]
    subjects = *broken, target(response(1.0), "fine")
    found = entries(run_on(cluster, *subjects, shard_timeout=2))
    for entry, reason in zip(found, FAULTS, strict=False):
        assert reason in entry["reason"]
    assert found == entries(run(*subjects, jobs=2, shard_timeout=2))
    assert len({*cluster._client.run(os.getpid).values()}) == 2, "the workers are still there"


def test_the_ledger_goes_from_one_executor_to_the_next(cluster: Cluster, tmp_path: Path) -> None:
    """Begun by the pool, continued on the cluster, ended inline."""
    path, subject = tmp_path / "ledger.sqlite", target(response(1.0))
    seen = [0]

    def interrupted(ledger: Ledger, **who: Any) -> None:
        def interrupt(what: str, done: int, total: int) -> None:
            if path.exists() and len(rows(path)) > seen[-1]:
                raise KeyboardInterrupt

        settings = Settings(mode="monte-carlo", budget=10_000, **who)
        where = cluster if settings.kind == "dask" else None
        with pytest.raises(KeyboardInterrupt):
            list(assay([subject], GROUP, settings, interrupt, ledger, cluster=where))
        seen.append(len(rows(path)))

    with Ledger(path, resume=False) as ledger:
        interrupted(ledger, jobs=2)
    with Ledger(path, resume=True) as ledger:
        interrupted(ledger, executor="dask")
    with closing(sqlite3.connect(path)) as connection, connection:  # a fast cluster leaves nothing
        connection.execute("DELETE FROM work WHERE dataset = (SELECT max(dataset) FROM work)")
    left = len(rows(path))
    with Ledger(path, resume=True) as ledger:
        last = entries(run(subject, budget=10_000, ledger=ledger, executor="inline"))
    assert sorted(set(seen)) == seen
    assert len(rows(path)) > left
    assert last == entries(run(subject, budget=10_000))


def test_an_item_that_fails_is_an_error_where_it_lies(cluster: Cluster) -> None:
    offset = np.array([0.5, np.nan])

    def work(k: int) -> Any:
        if k == 5:
            raise TargetError("it failed", "with a detail")
        return k + offset

    found = cluster.in_order("mine", work, range(9))
    assert [next(found).tobytes() for _ in range(5)] == [(k + offset).tobytes() for k in range(5)]
    with pytest.raises(TargetError) as caught:
        next(found)
    assert (caught.value.cause, caught.value.detail) == ("it failed", "with a detail")
    (pid,) = cluster.in_order("mine", lambda _: os.getpid(), [0])
    assert pid not in {os.getpid(), *cluster._client.run(os.getpid).values()}
    with pytest.raises(TargetError, match=r"the worker died \(exit code 7\)"):
        list(cluster.in_order("mine", lambda _: os._exit(7), [0]))


def laws_of(cluster: Cluster | None, mechanism: Any) -> list[Result]:
    who: Any = None if cluster is None else "dask"
    settings = Settings(mode="exhaustive", domain=Domain(n=3, points=2), executor=who)
    return list(assay([target_of(mechanism)], None, settings, cluster=cluster))


class Lawless(TableMechanism):
    """Has a law of some datasets, and none of these."""

    def distribution(self, state: int, queries: Any) -> Any:
        return None


def test_laws_of_a_whole_domain_are_those_that_are_computed_here(cluster: Cluster) -> None:
    mechanism = TableMechanism(table=TABLE)
    found = laws_of(cluster, mechanism)
    assert found[0].exact is not None
    assert entries(found) == entries(laws_of(None, mechanism))
    (none,) = laws_of(cluster, Lawless(table=TABLE))
    assert "it has no exact law" in none.outcome.reason


class Evil:
    """Writes a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (Path(self.path),)


def test_nothing_that_a_worker_returns_is_unpickled(cluster: Cluster, tmp_path: Path) -> None:
    """The worker makes it from data that are none by themselves."""
    mark = tmp_path / "mark"
    source = f"__import__('tests.trials.test_dask', fromlist=['Evil']).Evil({str(mark)!r})"
    wrong = b"\0" * 40, pack(0, [1]), pack(0, {"done": 1})[:-1]
    for function, value in [(eval, source), *((bytes, each) for each in wrong)]:
        asked = cluster.ask(Question(operation=function, arguments=(value,)))
        while not asked.ended:
            cluster.look()
        assert "a worker sent something that is no answer" in asked.cause
    assert not mark.exists()


def test_counts_that_are_none_end_their_own_result(cluster: Cluster, monkeypatch: Any) -> None:
    def lie(question: Question) -> Any:
        question.operation = bytes
        question.arguments = (pack(0, {"done": {"counts": [], "failure": None}}),)
        return ask(question)

    ask = cluster.ask
    monkeypatch.setattr(cluster, "ask", lie)
    (found,) = run_on(cluster, target(response(1.0)))
    assert found.verdict == "error"
    assert "the worker sent counts that are none" in found.outcome.reason


def test_what_cannot_be_sent_is_an_error_of_its_result(cluster: Cluster) -> None:
    lock = threading.Lock()
    subject = target(shaky(lambda: lock.locked() and None, 1.0), "holds a lock")
    bad, fine = run_on(cluster, subject, target(response(1.0), "fine"))
    assert bad.outcome.reason == (
        "it cannot be sent to the workers of a cluster (TypeError); make what it refers to "
        "importable or picklable, or use --executor local"
    )
    assert "_thread.lock" in bad.outcome.detail
    assert fine.verdict == "not refuted"


def test_a_module_that_a_worker_lacks_is_named(
    cluster: Cluster, tmp_path: Path, monkeypatch: Any
) -> None:
    """As one that is installed here and not there: it is not sent along."""
    (tmp_path / "only_here.py").write_text("def loss():\n    return 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here  # type: ignore[import-not-found]

    def answer(data: Labelled, queries: Any, size: int, rng: np.random.Generator) -> Any:
        return response(only_here.loss())(data, queries, size, rng)

    assert run_on(cluster, target(answer))[0].verdict == "not refuted", "it is sent along"
    monkeypatch.setattr(portable, "_is_users", lambda name, _: name == __name__)
    (result,) = run_on(cluster, target(answer))
    assert result.outcome.reason.startswith("worker tcp://127.0.0.1:")
    assert result.outcome.reason.endswith(
        "cannot import 'only_here'; install it on every worker, or use --executor local"
    )


def test_workers_with_other_versions_are_refused(cluster: Cluster, monkeypatch: Any) -> None:
    other = (*installed()[:2], "1.0.0", *installed()[3:])
    monkeypatch.setattr(module, "installed", lambda: other)
    with pytest.raises(ClusterError) as caught:
        run_on(cluster, target(response(1.0)))
    said = str(caught.value)
    assert said.startswith("Dask cluster 'tcp://127.0.0.1:")
    assert f"has numpy {np.__version__}, not 1.0.0; install the same on every worker" in said
    assert difference(installed(), installed()) == ""
    ours = ("3.11.1 (main) [GCC]", "ab" * 32, "2.4", "1.17", "1.9", "3.1")
    others = {
        "3.12.0 (main) [GCC]": "Python 3.12.0, not 3.11.1",
        "cd" * 32: "dpassay's source cdcdcdcdcdcd, not abababababab",
        "2.5": "numpy 2.5, not 2.4",
        "1.18": "scipy 1.18, not 1.17",
    }
    for k, (there, text) in enumerate(others.items()):
        assert difference(ours, (*ours[:k], there, *ours[k + 1 :])) == text
    assert difference(ours, ("3.11.1 (main) [Clang]", *ours[1:])) == (
        "Python 3.11.1 (main) [Clang], not 3.11.1 (main) [GCC]"
    )


def test_without_the_extra_its_name_is_told(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidInput, match=r"requires the extra 'dask' .*'dpassay\[dask\]'"):
        run(target(response(1.0)), **DASK)
