"""Executors: the same numbers whoever runs the trials; a failing worker costs its own result."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.mechanism import FunctionMechanism
from dpassay.pairs import FlipLabel
from dpassay.record.run_record import result_json
from dpassay.targets.adapter import full
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.trials.blocks import BLOCK, blocks, draw
from dpassay.trials.encoders import Labels
from dpassay.trials.executors import LONGEST, MOMENT, ExecutorOptions, Pace, executor
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import introduced
from dpassay.trials.ledger import Ledger
from dpassay.trials.tasks import ANSWERS, SLOW_ANSWERS, Task, TrialRunner, answers_of, bundle, cut
from tests.core.toys import Function, Sampled, flip_group, response, target_of

GROUP = flip_group(records=6, queries=8, changes=tuple(FlipLabel(i) for i in range(6)))
WIDE = flip_group(records=12, queries=40)
CLAIMS = (DP(epsilon=1.5),)
DASK: dict[str, Any] = {"executor": "dask"}
WHO: list[dict[str, Any]] = [{"executor": "inline"}, {}, {"jobs": 2}]


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    yield
    assert multiprocessing.active_children() == []


def target(function: Function, name: str = "f") -> AuditTarget:
    return AuditTarget(
        name=name,
        address=None,
        parameters={},
        mechanism=FunctionMechanism(function=function, claims=CLAIMS),
        claims=CLAIMS,
    )


def run(
    *targets: AuditTarget, group: PairGroup = GROUP, ledger: Ledger | None = None, **settings: Any
) -> list[Result]:
    given = Settings(mode="monte-carlo", **{"budget": 3000} | settings)
    return list(assay(list(targets), group, given, ledger=ledger))


def entries(results: list[Result]) -> list[dict[str, Any]]:
    return [result_json(result, 0.999) for result in results]


def shaky(fault: Callable[[], Any], share: float) -> Function:
    """Randomised response; where a block's first coin is below the share, the fault comes first."""

    def answer(data: Labelled, queries: Any, size: int, rng: Any) -> Any:
        if rng.random() < share:
            found = fault()
            if found is not None:
                return np.asarray(found)
        return response(1.0)(data, queries, size, rng)

    return answer


def raises() -> None:
    raise OSError("one block of many")


def test_nobody_can_tell_from_the_numbers_who_ran_the_trials() -> None:
    first, *others = [entries(run(target(response(1.0)), budget=2000, **who)) for who in WHO]
    assert others == [first, first]
    assert first[0]["verdict"] != "error"


def test_the_counts_are_those_of_plain_draws() -> None:
    subject = target_of(Sampled(table=((0.2, 0.8), (0.7, 0.3))))
    tasks = [
        Task(group=0, pair=pair, phase="screen", size=size)
        for size in (700, 6500)
        for pair in (None, 3, 5)
    ]
    state = subject.prepare(GROUP.pairs.base)
    expected, labels = [], Labels((0, 1))
    for task in tasks:
        change = None if task.pair is None else GROUP.pairs.changes[task.pair]
        side = state if change is None else subject.neighbour(GROUP.pairs.base, state, change)
        drawn = draw(subject, side, GROUP, change, task.size, labels, phase="screen", seed=4)
        expected.append(drawn.tolist())
    for options in (ExecutorOptions(), ExecutorOptions(kind="local", jobs=2)):
        with executor(TrialRunner(subject, (GROUP,), (labels,), 4), options) as opened:
            assert [counts.tolist() for counts in opened.counts(tasks)] == expected


def test_what_makes_one_run_a_call_has_smaller_shards() -> None:
    """A minute for 5,000 runs: twelve milliseconds each, not a tenth of one."""

    def one(data: Any, rng: np.random.Generator) -> float:
        return float(rng.normal())

    task, seen = Task(group=0, pair=None, phase="screen", size=20 * BLOCK), []
    for takes in (("data", "rng"), ("data", "size", "rng")):
        subject = target_of(FunctionMechanism(function=one, claims=CLAIMS, takes=takes, free=True))
        most = SLOW_ANSWERS if subject.slow else ANSWERS
        seen.append([piece.stop - piece.first for piece in cut(task, 1, most)])
    assert seen == [[5] * 4, [20]]


def test_shards_hold_every_block_once() -> None:
    sizes = [1, BLOCK, BLOCK + 1, 30 * BLOCK, 99 * BLOCK + 7, 1000 * BLOCK + 7]
    tasks = [Task(group=0, pair=pair, phase="screen", size=size) for pair, size in enumerate(sizes)]
    shards = list(bundle(tasks, (WIDE,)))
    assert len(shards) > 5
    held: dict[Task, list[int]] = defaultdict(list)
    for piece in (piece for shard in shards for piece in shard):
        held[piece.task] += list(range(piece.first, piece.stop))
    assert held == {task: list(blocks(task.size)) for task in tasks}
    for shard in bundle([*tasks] * 9, (WIDE,)):
        assert len({piece.task for piece in shard}) <= 8
    pieces = [piece for task in tasks for piece in cut(task, 40)]
    assert [piece for shard in shards for piece in shard] == pieces


def test_shards_of_quick_answers_are_larger_and_their_pieces_the_same() -> None:
    tasks = [Task(group=0, pair=pair, phase="screen", size=30 * BLOCK) for pair in range(12)]
    shards = list(bundle(tasks, (WIDE,), worth=lambda: 4 * ANSWERS))
    asked = [sum(answers_of(piece, (WIDE,)) for piece in shard) for shard in shards]
    assert sum(asked) == 12 * 30 * BLOCK * 40
    assert all(4 * ANSWERS <= answers < 5 * ANSWERS for answers in asked[:-1])
    assert [piece for shard in shards for piece in shard] == [
        piece for shard in bundle(tasks, (WIDE,)) for piece in shard
    ]


def test_a_shard_asks_for_what_comes_in_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("dpassay.trials.executors.monotonic", lambda: now[0])
    pace = Pace(least=1000, ahead=4, _began=0.0)
    assert pace.answers == 1000, "nothing is known"
    now[0] = 2.0
    pace.take(20_000)
    assert pace.answers == 1000, "they come slowly"
    pace.take(100_000)
    assert pace.answers == 120_000 / 2.0 * MOMENT / 4 == 3000
    pace.take(10**9)
    assert pace.answers == LONGEST * 1000


def test_a_fault_in_one_block_of_many_is_the_same_error_everywhere() -> None:
    """The first in order is reported, whoever meets another one earlier."""
    every = []
    for who in WHO[::2]:
        subjects = target(shaky(raises, 0.05), "broken"), target(response(1.0), "fine")
        found = run(*subjects, budget=6000, seed=1, stop_early=False, **who)
        every.append(entries(found))
    assert every[0] == every[1]
    assert [entry["verdict"] for entry in every[0]] == ["error", "not refuted"]
    assert "raised OSError" in every[0][0]["reason"]


def test_a_death_that_is_not_the_mechanisms_fault_changes_nothing(tmp_path: Path) -> None:
    """The first worker to get there is killed, as a system does that runs out of memory."""
    flag = tmp_path / "killed"

    def once() -> None:
        if not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    expected = run(target(shaky(lambda: None, 0.1)))
    assert entries(run(target(shaky(once, 0.1)), jobs=2)) == entries(expected)
    assert flag.exists()


def test_objects_that_cannot_be_pickled_reach_the_workers() -> None:
    with Path(os.devnull).open() as handle:
        (result,) = run(target(shaky(lambda: handle.fileno() and None, 1.0)), jobs=2)
    assert result.verdict == "not refuted"


def test_coins_kept_in_the_mechanism_are_refused_whoever_runs_the_trials() -> None:
    own = np.random.default_rng(0)

    def keeps_coins(data: Labelled, queries: Any, size: int, rng: Any) -> Any:
        return response(1.0)(data, queries, size, own)

    found = [result.outcome for who in WHO for result in run(target(keeps_coins), **who)]
    assert {outcome.word for outcome in found} == {"error"}
    assert len({outcome.reason for outcome in found}) == 1, "the number of workers decides nothing"
    assert "sample on the base dataset answers the same rng differently" in found[0].reason


class Scribbler(Sampled):
    """Writes into the dataset that it is lent, in whichever process."""

    def sample(self, state: int, queries: Any, size: int, rng: Any) -> Any:
        y = GROUP.pairs.base.y
        y.flags.writeable = True
        y[5] ^= 1
        return super().sample(state, queries, size, rng)


@pytest.mark.parametrize("who", WHO[::2], ids=str)
def test_a_mechanism_that_changes_the_dataset_is_found_out(who: dict[str, Any]) -> None:
    (result,) = run(target_of(Scribbler(table=((0.5, 0.5), (0.5, 0.5)))), budget=100, **who)
    y = GROUP.pairs.base.y
    y.flags.writeable = True
    y[5] = 0
    assert result.verdict == "error"
    assert "changed the dataset" in result.outcome.reason


def rows(path: Path) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    found = connection.execute(
        "SELECT dataset, first, stop, trials FROM work ORDER BY dataset, first"
    ).fetchall()
    connection.close()
    return found


@pytest.mark.parametrize("who", WHO[::2], ids=str)
def test_the_ledger_holds_every_block_once(who: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path, resume=False) as ledger:
        how: dict[str, Any] = {"budget": 10_000, "ledger": ledger, "stop_early": False}
        (result,) = run(target(response(1.0)), **how, **who)
    assert result.evidence is not None
    found = rows(path)
    ends: dict[bytes, int] = defaultdict(int)
    for dataset, first, stop, _ in found:
        assert first == ends[dataset], "blocks follow one another without gap or overlap"
        ends[dataset] = stop
    assert sum(trials for *_, trials in found) == result.evidence.trials


def test_a_target_lost_while_it_was_described_is_an_error_and_draws_nothing(tmp_path: Path) -> None:
    """A second process might build it, but its code is not known: it has no key in the ledger."""
    built = tmp_path / "built"

    def once_lost() -> AuditTarget:
        if not built.exists():
            built.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return target(response(1.0))

    fallback = replace(target(response(1.0)), mechanism=full(SimpleNamespace(labels=(0, 1))))
    found = introduced("f", once_lost, Limits(), fallback)
    path = tmp_path / "ledger.sqlite"
    with Ledger(path, resume=False) as ledger:
        (result,) = run(found, ledger=ledger, jobs=2)
    assert entries([result])[0]["verdict"] == "error"
    assert not path.exists()


def test_what_the_ledger_holds_is_not_run_again(tmp_path: Path) -> None:
    calls = []

    def counted(data: Labelled, queries: Any, size: int, rng: Any) -> Any:
        calls.append(size)
        return response(1.0)(data, queries, size, rng)

    with Ledger(tmp_path / "ledger.sqlite", resume=False) as ledger:
        first = entries(run(target(counted), ledger=ledger, executor="inline", budget=6000))
    needed, calls = sum(calls), []
    with Ledger(tmp_path / "ledger.sqlite", resume=True) as ledger:
        assert entries(run(target(counted), ledger=ledger, executor="inline", budget=6000)) == first
    # one piece is run again, to see that it still comes out the same; and the guards' own trials
    assert sum(calls) < needed / 5


def test_a_mechanism_that_has_changed_is_not_mixed_with_what_it_was(tmp_path: Path) -> None:
    loss = [1.0]

    def changing(data: Labelled, queries: Any, size: int, rng: Any) -> Any:
        return response(loss[0])(data, queries, size, rng)

    with Ledger(tmp_path / "ledger.sqlite", resume=False) as ledger:
        run(target(changing), ledger=ledger)
    loss[0] = 0.5
    with Ledger(tmp_path / "ledger.sqlite", resume=True) as ledger:
        (result,) = run(target(changing), ledger=ledger)
    assert result.verdict == "error"
    assert "answers the same rng differently" in result.outcome.reason


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"jobs": 1.5}, "jobs = 1.5: must be an integer from 1 to 1,024"),
        ({"jobs": 2, "executor": "inline"}, "jobs = 2: must be 1 with executor 'inline'"),
        ({"executor": "ray"}, "executor = 'ray': must be one of inline, local, dask"),
        ({"scheduler": "tcp://h:1"}, "scheduler = 'tcp://h:1': requires executor 'dask'"),
        (DASK | {"scheduler": "h:1"}, "scheduler = 'h:1': must be an address like tcp://HOST:PORT"),
        (DASK | {"scheduler": "tcp://h:1", "jobs": 2}, "jobs = 2: has no effect with a scheduler"),
        ({"shard_timeout": float("inf")}, "shard_timeout = inf: must be a finite number > 0"),
    ],
)
def test_settings_that_make_no_sense(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Settings(**given)
    assert str(caught.value).startswith(message)
