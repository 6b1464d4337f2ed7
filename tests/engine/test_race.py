"""A race: what it saves and costs, that its error is what it says, and what luck comes to."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import DP, GDP, PredictionStability, ScoreStability, Stability
from dpassay.config.profiles import CONFIDENCE
from dpassay.data import Labelled
from dpassay.engine.budget import PART, SHARE, Budget
from dpassay.engine.certification import Screened, certified_afresh
from dpassay.engine.guards import PROCESSES, Guards
from dpassay.engine.result import Result
from dpassay.engine.run import is_raced
from dpassay.engine.settings import Settings
from dpassay.engine.testers.tester import Finalist
from dpassay.errors import TargetError
from dpassay.mechanism.function import FunctionMechanism
from dpassay.pairs import FlipLabel
from dpassay.record.rebound import at_alpha, upper_at_alpha
from dpassay.record.replay import replay
from dpassay.record.witness import make_witness
from dpassay.search.spaces import Scalars
from dpassay.targets.coupled import Coupled
from dpassay.targets.resolve import resolve
from dpassay.trials.encoders import Labels
from dpassay.trials.executors import ExecutorOptions, executor
from dpassay.trials.tasks import TrialRunner
from tests.core.toys import flip_group, response, target_of
from tests.engine.recorded import evidence_of, recorded

PAIRS = flip_group(records=3).pairs
SEARCH: dict[str, Any] = {"claim": DP(epsilon=1.0), "executor": "inline"}
Rng = np.random.Generator
Points = NDArray[np.float64]
Answer = Callable[[Labelled, NDArray[np.float64], int, np.random.Generator], Any]


def no_noise(data: Labelled, queries: Points, size: int, rng: Rng) -> Any:
    return np.full((size, len(queries)), data.y[0])


class Counting:
    """Counts the runs that a function is asked for."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.rows = function, 0

    def __call__(self, data: Any, queries: Points, size: int, rng: Rng) -> Any:
        self.rows += size
        return self.function(data, queries, size, rng)


def run(function: Any, *, claim: Any = None, **settings: Any) -> Result:
    usual: dict[str, Any] = {"executor": "inline", "mode": "monte-carlo", "stop_early": True}
    given = usual | settings
    return audit(function, claim=claim or DP(epsilon=1.0), pairs=PAIRS, queries=[[0.0]], **given)


def test_stages_share_alpha_and_reach_ever_farther() -> None:
    for draws, known in ((100, [16]), (1000, [16, 64, 256]), (20_000, [16, 64, 256])):
        race = Budget(draws=draws, alpha=0.1).race
        stages = [*race.stages]
        assert [each.screened for each in stages] == known
        assert [each.alpha for each in stages] == [
            race.alpha / 2**k for k in range(1, len(known) + 1)
        ]
        assert all(each.screened <= each.draws <= max(16, draws // PART) for each in stages)
    for records, known in ((2, [16, 64, 256]), (60, [16, 64]), (600, [16])):
        group = flip_group(records=records, changes=tuple(map(FlipLabel, range(records))))
        races = Budget(draws=20_000, alpha=0.1).races((group,))
        assert [each.screened for each in races] == known, "a small part of the audit"


def test_own_code_is_raced_unless_its_bound_is_asked_for() -> None:
    listed = resolve("soft-majority")
    own = target_of(FunctionMechanism(function=response(1.0), claims=(DP(epsilon=1.0),)))
    score = ScoreStability(beta1=0.1, beta2=0.1, delta=0.01)
    two = replace(own, mechanism=Coupled(trainer=own.mechanism, claim=score))
    for target, usual in ((own, True), (two, False), (listed, False)):
        assert is_raced(target, Settings()) is usual
        for said in (True, False):
            assert is_raced(target, Settings(stop_early=said)) is said


def test_few_runs_show_no_certainty() -> None:
    first, whole = run(no_noise), run(no_noise, stop_early=False)
    assert first.verdict == whole.verdict == "refuted"
    assert first.certain == ""
    assert "in every run before the change, in none after it" in whole.certain


@pytest.mark.parametrize(
    ("function", "claim", "most"),
    [
        (no_noise, DP(epsilon=1.0), 120),
        (response(2.0), DP(epsilon=1.0), 450),
        (response(2.0), DP(epsilon=1.0, delta=0.01), 450),
        (response(1.5), GDP(mu=0.7), 600),
        (response(1.0), Stability(gamma=0.1), 300),
        (response(1.0), PredictionStability(gamma=0.1), 300),
    ],
)
def test_a_broken_mechanism_is_red_within_few_runs(function: Answer, claim: Any, most: int) -> None:
    """With pilot and guards, half of the time; the bound is of the trials that refuted."""
    numbers = (0.0, 1.0) if isinstance(claim, PredictionStability) else None
    runs = []
    for seed in range(3):
        seen = Counting(function)
        found = run(seen, claim=claim, numbers=numbers, seed=seed)
        assert found.verdict == "refuted"
        assert found.lower > claim.promised
        assert len(evidence_of(found).parts) >= PROCESSES
        runs.append(seen.rows)
    assert sorted(runs)[1] <= most


def test_claims_whose_worst_pairs_differ_share_what_is_screened() -> None:
    def told(data: Labelled, queries: Points, size: int, rng: Rng) -> Any:
        return np.full((size, 1), data.y[0] + 2 * data.y[1])

    target = target_of(
        FunctionMechanism(function=told, labels=(0, 1, 2), claims=(DP(epsilon=1.0),))
    )
    group = flip_group(records=2, queries=1, changes=(FlipLabel(0), FlipLabel(1)))
    runner = TrialRunner(target, (group,), (Labels((0, 1, 2)),), 0)
    shared, lots = Screened(sizes=(), counts=()), [("certify", 2, number) for number in range(16)]
    with executor(runner, ExecutorOptions()) as opened:
        for pair in (0, 1):
            trials = certified_afresh(opened, finalist(pair), shared, lots)
            assert trials.counts[0, pair][0].tolist() == [0, 32 * (pair == 0), 32 * (pair == 1)]


def finalist(pair: int = 0) -> Finalist:
    """Return a cell of which nothing was screened."""
    known: dict[str, Any] = {"group": 0, "query": 0, "direction": 0, "event": 1, "method": None}
    return Finalist(pair=pair, leads=0.0, apparent=0.0, frequency=0.0, **known)


def test_a_claim_that_holds_is_audited_as_ever_with_seven_eighths_of_alpha() -> None:
    whole, rest = run(response(1.0), stop_early=False), run(response(1.0))
    assert (whole.verdict, rest.verdict) == ("not refuted", "not refuted")
    assert evidence_of(rest).alpha == pytest.approx((1 - SHARE) * evidence_of(whole).alpha)
    assert evidence_of(rest).lower.counts == evidence_of(whole).lower.counts
    assert whole.lower - 0.02 < rest.lower < whole.lower


def test_the_record_says_in_what_lots_it_was_drawn_and_the_witness_replays() -> None:
    found = run(response(2.0))
    (entry,) = recorded([found])["results"]
    parts, (cell,) = evidence_of(found).parts, entry["per_query"]
    assert {size for _, size in parts[:PROCESSES]} == {1}
    assert sum(size for _, size in parts) == cell["counts"]["n1"]
    stage = Budget(draws=20_000, alpha=1 - CONFIDENCE).race
    assert evidence_of(found).alpha == pytest.approx(stage.alpha)
    assert entry["spending"]["each_lower"] == pytest.approx(stage.alpha)
    assert at_alpha(cell, DP(epsilon=1.0), stage.alpha) == pytest.approx(cell["lower"], abs=1e-6)
    assert at_alpha(cell, DP(epsilon=1.0), stage.alpha / 1e9) == 0.0
    assert upper_at_alpha(cell, DP(epsilon=1.0), stage.alpha) == np.inf
    again = replay(json.loads(json.dumps(make_witness(found))), target=found.target)
    assert again.reproduced
    assert again.refuted


@pytest.mark.parametrize("limits", [(0.0, 1.0), (0.0, 10.0), (-0.05, 0.05)])
def test_means_of_any_range_are_bounded_again_and_replayed(limits: tuple[float, float]) -> None:
    low, high = limits

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> Any:
        return low + (high - low) * response(2.0)(data, queries, size, rng)

    claim = PredictionStability(gamma=0.1 * (high - low))
    found = run(answer, claim=claim, numbers=limits)
    (entry,) = recorded([found])["results"]
    (cell,) = entry["per_query"]
    assert (found.verdict, cell["method"]) == ("refuted", "paired")
    assert at_alpha(cell, claim, cell["alpha"]) == pytest.approx(cell["lower"], rel=1e-6)
    assert cell["lower"] < 0.8 * (high - low)
    again = replay(json.loads(json.dumps(make_witness(found))), target=found.target)
    assert (again.reproduced, again.refuted) == (True, True)


def test_what_a_guard_says_of_a_race_is_asked_of_the_whole_audit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, refuse = list[int](), Guards.asked_again

    def luck_first(self: Guards, *given: Any, **more: Any) -> None:
        asked.append(self.draws)
        if self.draws < 20_000:
            raise TargetError("rows that are asked for one by one come out otherwise")
        refuse(self, *given, **more)

    monkeypatch.setattr(Guards, "asked_again", luck_first)
    assert run(response(2.0)).verdict == "refuted"
    assert max(asked[:-1]) < 10_000
    assert asked[-1] == 20_000


def test_a_search_ends_with_its_first_proof_unless_it_is_told_to_go_on() -> None:
    def little_noise(data: Any, size: int, rng: Rng) -> Any:
        return sum(data) + rng.laplace(size=size) / 3

    usual: dict[str, Any] = {"data": Scalars(0, 1, size=5), "budget": 2000} | SEARCH
    short = audit(little_noise, **usual)
    long = audit(little_noise, stop_early=False, **usual)
    assert (short.verdict, long.verdict) == ("refuted", "refuted")
    assert 1 < short.lower < long.lower
    assert evidence_of(short).trials < 1500 < evidence_of(long).trials / 20
    assert "first proof" in " ".join(evidence_of(short).searched["notes"])


@pytest.mark.usefixtures("few_pairs")
def test_every_run_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the race came to: the guards alone draw more, and are left out here."""
    for name in ("asked_again", "confirmed"):
        monkeypatch.setattr(Guards, name, lambda *_, **__: None)
    for epsilon in (1.0, 1.15, 2.0):
        seen = Counting(response(epsilon))
        found = run(seen)
        assert evidence_of(found).trials == seen.rows
    runs: list[int] = []

    def noisy(data: Any, size: int, rng: Rng) -> Any:
        runs.append(size)
        return sum(data) + rng.laplace(size=size) / 1.2

    found = audit(noisy, data=Scalars(0, 1), budget=300, **SEARCH)
    assert evidence_of(found).trials == sum(runs)


@pytest.mark.parametrize("slow", [0.0, 1.0])
def test_what_it_takes_at_most_is_told_once(slow: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first stage of the race where a run is slow, else as the whole audit begins."""
    for guard in ("asked_again", "confirmed"):
        monkeypatch.setattr(Guards, guard, lambda *_, **__: None)
    monkeypatch.setattr("dpassay.engine.monte_carlo.SLOW", slow)
    seen, told = Counting(response(1.0)), list[tuple[str, int]]()

    def progress(what: str, done: int, total: int) -> None:
        if not total:
            told.append((what, seen.rows))

    monkeypatch.setattr("dpassay.api.bars", lambda **_: nullcontext(progress))
    run(seen, budget=20_000)
    ((what, before),) = told
    most = int(what.split(": ")[1].split(" runs of ")[0].replace(",", ""))
    assert (before == 8 * (1 + len(PAIRS))) is (slow == 0.0)
    assert 8 * (1 + len(PAIRS)) <= before < seen.rows <= most < 1.5 * seen.rows


@pytest.mark.usefixtures("few_pairs")
@pytest.mark.parametrize("scale", [0.25, 1.0])
def test_a_limit_of_time_that_is_not_reached_ends_nothing(scale: float) -> None:
    def noisy(data: Any, size: int, rng: Rng) -> Any:
        return sum(data) + rng.laplace(size=size) * scale

    found = audit(noisy, data=Scalars(0, 1), budget=300, search_seconds=1e6, **SEARCH)
    assert evidence_of(found).searched["limit"] == {"seconds": 1e6, "ended": False}
    assert (found.verdict == "refuted") is (scale < 1)
    assert (len(evidence_of(found).searched["search"]) == 3) is (scale == 1)


@pytest.mark.usefixtures("few_pairs")
def test_an_exception_that_a_race_did_not_foresee_ends_the_race_alone() -> None:
    def now_and_then(data: Any, rng: Rng) -> Any:
        if rng.random() < 0.005:
            raise RuntimeError("no luck")
        return sum(data) + rng.laplace() / 1.6

    found = audit(now_and_then, data=Scalars(0, 1), budget=200, **SEARCH)
    assert found.verdict == "refuted", found
    assert "first_proof" not in evidence_of(found).searched


@pytest.mark.usefixtures("few_pairs")
def test_few_pairs_race_too_and_pairs_of_which_none_may_race_are_searched() -> None:
    def told(data: Any, size: int, rng: Rng) -> Any:
        return np.full(size, data[0] > 0.5) ^ (rng.random(size) < 0.1)

    def missing(data: Any, size: int, rng: Rng) -> Any:
        return np.full(size, np.nan if data[0] > 0.5 else 0.0)

    for function in (told, missing):
        found = audit(function, data=Scalars(0, 1, size=1, fixed=True), budget=300, **SEARCH)
        assert found.verdict == "refuted", found
