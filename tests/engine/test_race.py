"""A race: what it saves and costs, that its error is what it says, and what luck comes to."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.api import audit
from dpassay.claims import DP, GDP, PredictionStability, ScoreStability, Stability
from dpassay.config.profiles import CONFIDENCE
from dpassay.data import Labelled
from dpassay.engine import certification
from dpassay.engine.budget import MOST_LOOKS, PART, SHARE, Budget
from dpassay.engine.certification import Screened, certified_afresh
from dpassay.engine.guards import PROCESSES, Guards
from dpassay.engine.monte_carlo import GROWTH, _planned
from dpassay.engine.result import Result
from dpassay.engine.run import is_raced
from dpassay.engine.settings import Settings
from dpassay.engine.testers.events import Events
from dpassay.engine.testers.tester import Finalist
from dpassay.errors import TargetError
from dpassay.mechanism.function import FunctionMechanism
from dpassay.pairs import FlipLabel
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
from tests.statistical.boundary import largest_rejected

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
    for draws, known in ((100, [32]), (1000, [32, 128]), (20_000, [32, 128, 512])):
        race = Budget(draws=draws, alpha=0.1).race
        stages = [*race.stages]
        assert [each.screened for each in stages] == known
        assert [each.alpha for each in stages] == [
            race.alpha / 2**k for k in range(1, len(known) + 1)
        ]
        assert all(each.screened <= each.draws <= max(32, draws // PART) for each in stages)
    for records, known in ((2, [32, 128, 512]), (60, [32, 128]), (600, [32])):
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


@pytest.mark.parametrize("screened", [(5, 1), (8, 0)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_error_of_all_looks_is_enumerated_at_the_worst_law(
    screened: tuple[int, int], epsilon: float
) -> None:
    """What 8 runs a side showed plans the looks; every count of these, at the border of a claim."""
    tester, alpha = Events(claim=DP(epsilon=epsilon), labels=(0, 1)), 0.3
    sides = tuple(np.array([8 - x, x]) for x in screened)
    rows, found = _planned(tester, finalist(), (sides[0], sides[1]), alpha / MOST_LOOKS, 150)
    looks = [n for n in looks_of(rows) if n <= 150]
    assert 1 <= len(looks) <= MOST_LOOKS

    def refutes(x: int, y: int, n: int) -> bool:
        one, other = (np.array([n - k, k]) for k in (x, y))
        return x > y and tester.lower(found, one, other, alpha / MOST_LOOKS).value > epsilon

    frontiers = {n: largest_rejected(partial(refutes, n=n), n, n) for n in looks}
    largest = 0.0
    for p0 in (0.05, 1 / (1 + np.exp(epsilon))):
        p1, alive, refuted = p0 * np.exp(epsilon), np.ones((1, 1)), 0.0
        for before, n in itertools.pairwise([0, *looks]):
            for axis, p in enumerate((p1, p0)):
                step = binom.pmf(np.arange(n - before + 1), n - before, p)
                alive = np.apply_along_axis(np.convolve, axis, alive, step)
            rejected = np.arange(n + 1) <= frontiers[n][:, None]
            refuted += alive[rejected].sum()
            alive[rejected] = 0.0
        largest = max(largest, refuted)
    assert alpha / 1000 < largest <= alpha


def looks_of(rows: int) -> list[int]:
    """Return the trials a side of all looks, the first with so many in each process."""
    sizes = [PROCESSES * rows]
    for _ in range(MOST_LOOKS - 1):
        more = PROCESSES // 2
        sizes.append(sizes[-1] + more * max(1, round(sizes[-1] * (GROWTH - 1) / more)))
    return sizes


@pytest.mark.parametrize(
    ("function", "claim", "most"),
    [
        (no_noise, DP(epsilon=1.0), 200),
        (response(2.0), DP(epsilon=1.0), 450),
        (response(2.0), DP(epsilon=1.0, delta=0.01), 450),
        (response(1.5), GDP(mu=0.7), 1000),
        (response(1.0), Stability(gamma=0.1), 450),
        (response(1.0), PredictionStability(gamma=0.1), 1000),
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
    known: dict[str, Any] = {"group": 0, "query": 0, "direction": 0, "event": 1}
    return Finalist(pair=pair, apparent=0.0, frequency=0.0, method=None, **known)


def test_a_claim_that_holds_is_audited_as_ever_with_seven_eighths_of_alpha() -> None:
    whole, rest = run(response(1.0), stop_early=False), run(response(1.0))
    assert (whole.verdict, rest.verdict) == ("not refuted", "not refuted")
    assert evidence_of(rest).alpha == pytest.approx((1 - SHARE) * evidence_of(whole).alpha)
    assert evidence_of(rest).lower.counts == evidence_of(whole).lower.counts
    assert whole.lower - 0.02 < rest.lower < whole.lower


def test_the_record_says_in_what_lots_it_was_drawn_and_the_witness_replays() -> None:
    found = run(response(2.0))
    (entry,) = recorded([found])["results"]
    assert entry["spending"]["looks"] == MOST_LOOKS
    sizes = [size for _, size in evidence_of(found).parts]
    ends = range(PROCESSES, len(sizes) + 1, PROCESSES // 2)
    assert [sum(sizes[:end]) for end in ends] == looks_of(sizes[0])[: len(ends)]
    stage = next(each for each in Budget(draws=20_000, alpha=1 - CONFIDENCE).race.stages)
    assert evidence_of(found).alpha == pytest.approx(stage.alpha)
    # a half is for lower bounds
    assert entry["spending"]["each_lower"] == pytest.approx(stage.alpha / 2 / MOST_LOOKS)
    again = replay(json.loads(json.dumps(make_witness(found))), target=found.target)
    assert again.reproduced
    assert again.refuted


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
    monkeypatch.setattr(certification, "singles", lambda *_, **__: ("single", 1, range(0)))
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


@pytest.mark.parametrize(("slow", "first"), [(0.0, 32), (1.0, 32 + 128 + 512)])
def test_what_it_takes_at_most_is_told_once(
    slow: float, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert (before == first * (1 + len(PAIRS))) is (slow == 0.0)
    assert first * (1 + len(PAIRS)) <= before < seen.rows <= most < 1.5 * seen.rows


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
        if rng.random() < 0.02:
            raise RuntimeError("no luck")
        return sum(data) + rng.laplace() / 3

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
