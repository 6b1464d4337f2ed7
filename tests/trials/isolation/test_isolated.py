"""An isolated mechanism has the numbers of the same one here, and what does not fit is an error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay import audit
from dpassay.claims import DP, Claim, PredictionStability
from dpassay.data import Labelled
from dpassay.engine.domains.domain import Domain
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput, TargetError
from dpassay.laws import FiniteLaw
from dpassay.mechanism import FunctionMechanism, WorstCase
from dpassay.pairs import FlipLabel, Pairs
from dpassay.record.run_record import result_json
from dpassay.targets.answer_set import AnswerSet
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import resolve
from dpassay.trials.backends import local
from dpassay.trials.blocks import BlockCounts, rows_of_calls
from dpassay.trials.encoders import Labels
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated, introduced, is_foreign, isolated
from dpassay.trials.tasks import Piece, ShardResult, Task, TrialRunner
from dpassay.trials.wire import Garbled, pack, unpack
from dpassay.trials.written import (
    shard_result_from,
    worst_case_json,
)
from tests.core.toys import Sampled, TableMechanism, flip_group, response, target_of

GROUP = flip_group(records=4, queries=3, changes=tuple(FlipLabel(i) for i in range(4)))
TABLE = ((0.5, 0.5), (0.25, 0.75))


def entries(
    target: AuditTarget, group: PairGroup | None = None, **settings: Any
) -> list[dict[str, Any]]:
    given = Settings(**{"budget": 500, "stop_early": False} | settings)
    return [result_json(result, 0.999) for result in assay([target], group, given)]


NAMES = ("averaged", "erm-laplace", "histogram", "stable-learner", "interface", "pate")
KINDS = ("noisy-average", "interface")
"""Numbers and labels; scores, which take long, are sampled by the slow test."""


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        *((name, "auto") for name in NAMES),
        *((name, "monte-carlo") for name in KINDS),
        pytest.param("pate", "monte-carlo", marks=pytest.mark.slow),
    ],
)
def test_the_numbers_are_those_of_the_same_mechanism_here(name: str, mode: str) -> None:
    """Laws of labels, points and numbers, reachable states, updates, own pairs, directions, scores.

    Also where nothing of it is known here.
    """
    target = resolve(name) if mode == "auto" else resolve(name).sampled
    here = entries(target, mode=mode)
    assert {each["verdict"] for each in here}.isdisjoint({"error"})
    built = introduced(target.name, lambda: target, Limits(), address=target.address)
    assert entries(built, mode=mode) == here
    if name in KINDS:
        assert entries(isolated(target, Limits(), []), mode=mode) == here


def test_a_domain_is_enumerated_elsewhere_too() -> None:
    target, domain = resolve("projected-walk"), Domain(n=2, points=2)
    here = entries(target, mode="exhaustive", domain=domain)
    assert entries(isolated(target, Limits(), []), mode="exhaustive", domain=domain) == here


@pytest.mark.parametrize(
    ("claim", "numbers"),
    [(DP(epsilon=1.0), (0.0, 1.0)), (PredictionStability(gamma=0.5), (0.0, 1.0))],
    ids=["half-lines", "means"],
)
def test_a_function_of_the_callers_is_called_elsewhere(claim: Claim, numbers: Any) -> None:
    calls: list[int] = []

    def counted(data: Labelled, queries: Any, size: int, rng: Any) -> Any:
        calls.append(size)
        return (rng.random((size, len(queries))) + data.y[0]) / 2

    def found(executor: str | None) -> Any:
        given: dict[str, Any] = {"claim": claim, "numbers": numbers, "executor": executor}
        return audit(counted, pairs=GROUP.pairs, queries=GROUP.queries, budget=1500, **given)

    elsewhere = found(None)
    assert calls == []
    assert result_json(elsewhere, 0.999) == result_json(found("inline"), 0.999)
    assert len(calls) > 0
    assert elsewhere.verdict != "error"


class Turned:
    """A change of the user's own, which cannot be pickled."""

    index = 0

    def __init__(self) -> None:
        self.cannot = lambda: 1

    def at(self, index: int) -> Turned:
        return self

    def apply(self, data: Labelled) -> Labelled:
        return Labelled(data.X, 1 - data.y)

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:
        return {"kind": "turned"}

    def __str__(self) -> str:
        return "turned"


def test_changes_that_cannot_be_pickled_are_lent_as_they_are() -> None:
    group = replace(GROUP, pairs=Pairs(base=GROUP.pairs.base, changes=(Turned(),), how="turned"))
    subject = target_of(FunctionMechanism(function=response(1.0), claims=(DP(epsilon=1.0),)))
    found = entries(isolated(subject, Limits(), [group]), group, mode="monte-carlo")
    assert found == entries(subject, group, mode="monte-carlo", executor="inline")
    assert found[0]["verdict"] != "error"


def test_what_comes_with_the_package_is_not_foreign() -> None:
    assert not is_foreign(resolve("soft-majority"))
    assert not is_foreign(resolve("validate"))
    assert is_foreign(target_of(Sampled(table=TABLE)))
    assert is_foreign(
        target_of(FunctionMechanism(function=lambda *_: 0, claims=(DP(epsilon=1.0),)))
    )
    assert is_foreign(replace(resolve("soft-majority"), parameters={"learner": "mine:Learner"}))


@pytest.fixture
def elsewhere() -> Iterator[Callable[..., Isolated]]:
    opened: list[Isolated] = []

    def start(mechanism: Any) -> Isolated:
        opened.append(isolated(target_of(mechanism), Limits(seconds=30), [GROUP]))
        return opened[-1]

    yield start
    for each in opened:
        each.hosts.close()


class Liar(TableMechanism):
    """Its process has been made to believe that anything goes."""

    def prepare(self, data: Labelled) -> int:
        AnswerSet.check = lambda self, *_: None  # type: ignore[method-assign]
        AnswerSet.check_law = lambda self, *_: None  # type: ignore[method-assign]
        return super().prepare(data)

    def sample(self, state: int, queries: Any, size: int, rng: Any) -> Any:
        return np.full((size, 1), 7)

    def distribution(self, state: int, queries: np.ndarray) -> FiniteLaw:
        return super().distribution(state, queries[:1])


def test_answers_are_checked_here_whatever_has_become_of_the_checks_there(
    elsewhere: Callable[..., Isolated],
) -> None:
    subject = elsewhere(Liar(table=TABLE))
    state = subject.prepare(GROUP.pairs.base)
    with pytest.raises(TargetError, match=r"returned shape \(5, 1\)"):
        subject.sample(state, GROUP.queries, 5, np.random.default_rng(0), "here")
    with pytest.raises(TargetError, match=r"distribution on here has shape \(1, 2\)"):
        subject.law(state, GROUP.queries, "here")


class Miscounts(Sampled):
    """Counts of its trials come out wrong, as NumPy has been patched in its process."""

    def sample(self, state: int, queries: Any, size: int, rng: Any) -> Any:
        Labels.count = lambda self, draws: (  # type: ignore[method-assign]
            np.ones((3, 2), dtype=np.int64),
            b"x" * 16,
        )
        return super().sample(state, queries, size, rng)


def test_counts_that_do_not_add_up_are_no_counts(elsewhere: Callable[..., Isolated]) -> None:
    (entry,) = entries(elsewhere(Miscounts(table=TABLE)), GROUP, mode="monte-carlo")
    assert entry["verdict"] == "error"
    assert entry["reason"].startswith("the worker sent counts that are none on the base dataset")


def test_a_process_that_is_lost_is_not_asked_again(elsewhere: Callable[..., Isolated]) -> None:
    class Leaves(TableMechanism):
        def distribution(self, state: int, queries: np.ndarray) -> FiniteLaw:
            os._exit(5)

    subject = elsewhere(Leaves(table=TABLE))
    state = subject.prepare(GROUP.pairs.base)
    for call in (
        lambda: subject.law(state, GROUP.queries, "here"),
        lambda: subject.prepare(GROUP.pairs.base),
    ):
        with pytest.raises(
            TargetError, match=r"^distribution on here: the worker died \(exit code 5\)"
        ):
            call()


def test_errors_are_those_of_the_guard_there(elsewhere: Callable[..., Isolated]) -> None:
    class Wrong(TableMechanism):
        def distribution(self, state: int, queries: np.ndarray) -> FiniteLaw:
            raise ValueError("no law")

        def check(self, data: Labelled) -> None:
            raise InvalidInput("data = 3: must be 4")

    subject = elsewhere(Wrong(table=TABLE))
    with pytest.raises(TargetError) as caught:
        subject.law(subject.prepare(GROUP.pairs.base), GROUP.queries, "here")
    assert caught.value.cause == "distribution on here raised ValueError"
    assert "no law (ValueError at " in caught.value.detail
    with pytest.raises(InvalidInput, match="data = 3: must be 4"):
        subject.check(GROUP.pairs.base)


def test_a_module_is_imported_elsewhere_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "imported_elsewhere.py").write_text(
        "def f(data, queries, size, rng): return rng.integers(0, 2, (size, len(queries)))\n"
    )
    build = lambda: resolve("imported_elsewhere:f", claims=(DP(epsilon=1.5),))  # noqa: E731
    found = introduced("mine", build, Limits())
    assert "imported_elsewhere" not in sys.modules
    claims = (DP(epsilon=1.5),)
    assert (found.address, found.claims) == ("imported_elsewhere:f", claims)
    assert found.labels == (0, 1)
    (entry,) = entries(found, GROUP)
    assert entry["verdict"] != "error"
    with pytest.raises(InvalidInput, match="cannot import 'not_there_at_all'"):
        introduced("mine", lambda: resolve("not_there_at_all:f", claims=claims), Limits())


def test_worst_cases_of_kinds_that_are_not_known_are_refused() -> None:
    mine = Pairs(base=GROUP.pairs.base, changes=(Turned(),), how="")
    said = (
        "pairs returned a change of type Turned; expected Replace, FlipLabel, ReplaceValue, Shift "
        "or Edit, or use executor"
    )
    with pytest.raises(TargetError, match=said):
        worst_case_json(WorstCase(pairs=mine, queries=np.zeros((1, 1)), reason=""))


TASK = Task(group=0, pair=None, phase="screen", size=1500)
SHARD = (Piece(task=TASK, first=0, stop=1), Piece(task=TASK, first=1, stop=2))
BENCH = TrialRunner(target_of(Sampled(table=TABLE)), (GROUP,), (Labels((0, 1)),), 0)


def counts(piece: int, more: int = 0, queries: int = 3, marks: int = 1) -> BlockCounts:
    """What a piece of the shard may come back with, if nothing more is asked for."""
    rows = rows_of_calls(TASK.size, range(piece, piece + 1), TASK.rows)
    calls = np.zeros((len(rows), queries, 2), dtype=np.int64)
    calls[:, :, 0] = np.array(rows)[:, None]
    calls[0, 0, 0] += more
    return BlockCounts(calls=calls, marks=(b"m" * 16,) * marks)


def test_counts_are_read_back_if_they_are_those_of_the_trials() -> None:
    def read_back(*counted: BlockCounts, failure: Any = None) -> ShardResult:
        sent = unpack(pack(1, ShardResult(counts=counted, failure=failure)))[1]
        return shard_result_from(sent, BENCH.brief, SHARD)

    right = counts(0), counts(1)
    for found, sent in zip(read_back(*right).counts, right, strict=True):
        assert found.calls.tolist() == sent.calls.tolist()
        assert found.marks == sent.marks
    assert read_back(counts(0), failure=("cause", "detail")).failure == ("cause", "detail")
    for wrong in (
        (counts(0),),
        (counts(0), counts(1, more=1)),
        (counts(0), counts(1, queries=2)),
        (counts(0), counts(1, marks=2)),
        (counts(0), counts(1), counts(1)),
    ):
        with pytest.raises(Garbled):
            read_back(*wrong)


def test_shards_that_are_given_up_do_not_delay_the_next_ones() -> None:
    """The first is under way and the second waits when both are given up; the third is run."""
    kept: list[Any] = []
    opened = local(BENCH, lambda shard, _: kept.append(shard), jobs=1, limits=Limits())
    try:
        first, second = opened.start(SHARD), opened.start(SHARD)
        opened.abandon(second)
        opened.abandon(first)
        third = opened.start(SHARD[:1])
        assert [int(each.calls[:, 0].sum()) for each in opened.finish(third).counts] == [1000]
        assert kept == [SHARD[:1]]
    finally:
        opened.close()
