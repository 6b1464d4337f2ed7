"""A race: what it saves and costs, that its error is what it says, and what luck comes to."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.api import audit
from dpassay.claims import DP, GDP, PredictionStability, Stability
from dpassay.data import Labelled
from dpassay.engine.budget import SHARE, Budget
from dpassay.engine.guards import Guards
from dpassay.engine.result import Result
from dpassay.errors import TargetError
from dpassay.record.replay import replay
from dpassay.record.witness import make_witness
from dpassay.search.spaces import Scalars
from dpassay.stats.bounds import Counts
from dpassay.stats.lower_bounds import NAMES, Method, lower_bound
from dpassay.stats.scales import scale_of
from tests.engine.recorded import recorded
from tests.statistical import dependent
from tests.statistical.test_guards import PAIRS

Rng = np.random.Generator
Points = NDArray[np.float64]
Answer = Callable[[Labelled, NDArray[np.float64], int, np.random.Generator], Any]


def response(epsilon: float) -> Answer:
    """Randomised response on the label of record 0: its loss is epsilon exactly."""

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> Any:
        return dependent.rows(data, len(queries), size, rng, epsilon)

    return answer


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


def test_looks_grow_by_half_and_end_within_a_quarter_of_the_trials() -> None:
    assert tuple(itertools.accumulate(Budget(draws=1000, alpha=0.1).race.lots)) == (
        *(16, 24, 36, 54, 81, 121, 181),
    )
    for draws in (100, 20_000, 10**7):
        looks = tuple(itertools.accumulate(Budget(draws=draws, alpha=0.1).race.lots))
        assert looks[0] == 16
        assert draws < 100 or 1.5 * looks[-1] >= draws // 4 >= looks[-1]


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_error_of_all_looks_is_enumerated_at_the_worst_law(
    method: Method, epsilon: float
) -> None:
    """Every count on both sides at every look, for laws at the border of the claim."""
    scale, budget = scale_of(DP(epsilon=epsilon)), Budget(draws=220, alpha=0.5).race
    each = budget.alpha / len(budget.lots)
    largest = 0.0
    for p0 in (0.02, 1 / (1 + np.exp(epsilon)), 0.3 * np.exp(-epsilon)):
        p1, alive, refuted, n = min(1.0, p0 * np.exp(epsilon)), np.ones((1, 1)), 0.0, 0
        for size in budget.lots:
            steps = [binom.pmf(np.arange(size + 1), size, p) for p in (p1, p0)]
            for axis, step in enumerate(steps):
                alive = np.apply_along_axis(np.convolve, axis, alive, step)
            n += size
            for x, y in zip(*np.nonzero(alive > 1e-12), strict=True):
                if x / n > np.exp(epsilon) * y / n and _exceeds(
                    method, x, y, n, scale, each, epsilon
                ):
                    refuted += alive[x, y]
                    alive[x, y] = 0.0
        largest = max(largest, refuted)
    assert each / 1000 < largest <= budget.alpha


def _exceeds(
    method: Method, x: int, y: int, n: int, scale: Any, alpha: float, epsilon: float
) -> bool:
    counts = Counts(x=int(x), n1=n, y=int(y), n0=n)
    return lower_bound(method, counts, scale=scale, alpha=alpha).value > epsilon


@pytest.mark.parametrize(
    ("function", "claim", "most"),
    [
        (no_noise, DP(epsilon=1.0), 140),
        (response(2.0), DP(epsilon=1.0), 430),
        (response(2.0), DP(epsilon=1.0, delta=0.01), 430),
        (response(1.5), GDP(mu=0.7), 800),
        (response(1.0), Stability(gamma=0.1), 400),
        (response(1.0), PredictionStability(gamma=0.1), 400),
    ],
)
def test_a_broken_mechanism_is_red_within_few_runs(function: Answer, claim: Any, most: int) -> None:
    """The bound is of the trials that refuted, and above the claim."""
    numbers = (0.0, 1.0) if isinstance(claim, PredictionStability) else None
    seen = Counting(function)
    found = run(seen, claim=claim, numbers=numbers)
    assert found.verdict == "refuted"
    assert found.evidence is not None
    assert found.lower > claim.promised
    assert found.evidence.trials <= most
    assert seen.rows < 3000  # with the replay of the refutation in new processes
    slow = Counting(function)
    assert run(slow, claim=claim, numbers=numbers, stop_early=False).verdict == "refuted"
    assert slow.rows > 10 * seen.rows


def test_a_claim_that_holds_is_audited_as_ever_with_seven_eighths_of_alpha() -> None:
    whole, rest = run(response(1.0), stop_early=False), run(response(1.0))
    assert (whole.verdict, rest.verdict) == ("not refuted", "not refuted")
    assert whole.evidence is not None
    assert rest.evidence is not None
    assert rest.evidence.alpha == pytest.approx((1 - SHARE) * whole.evidence.alpha)
    assert rest.evidence.lower.counts == whole.evidence.lower.counts
    assert whole.lower - 0.02 < rest.lower < whole.lower


def test_the_record_says_how_often_it_was_looked_and_the_witness_replays() -> None:
    found = run(response(2.0))
    record = recorded([found])
    entry = record["results"][0]
    assert entry["spending"]["looks"] == len(Budget(draws=20_000, alpha=0.1).race.lots)
    assert entry["spending"]["each_lower"] < entry["spending"]["alpha"] / entry["spending"]["looks"]
    again = replay(json.loads(json.dumps(make_witness(found))), target=found.target)
    assert again.reproduced
    assert again.refuted


def test_what_the_replay_takes_back_is_audited_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    confirmed, asked = Guards.confirmed, list[int]()

    def luck_first(self: Guards, *given: Any) -> None:
        asked.append(self.draws)
        if len(asked) == 1:
            raise TargetError("the refutation did not come out again")
        confirmed(self, *given)

    monkeypatch.setattr(Guards, "confirmed", luck_first)
    assert run(response(2.0)).verdict == "refuted"
    assert asked[0] < 1000
    assert asked[1:] == [20_000]


def test_a_search_ends_with_its_first_proof_unless_it_is_told_to_go_on() -> None:
    def little_noise(data: Any, size: int, rng: Rng) -> Any:
        return sum(data) + rng.laplace(size=size) / 3

    usual: dict[str, Any] = {"claim": DP(epsilon=1.0), "data": Scalars(0, 1, size=5)}
    usual |= {"executor": "inline", "budget": 2000}
    short = audit(little_noise, **usual)
    long = audit(little_noise, stop_early=False, **usual)
    assert short.evidence is not None
    assert long.evidence is not None
    assert (short.verdict, long.verdict) == ("refuted", "refuted")
    assert 1 < short.lower < long.lower
    assert short.evidence.trials < 1500 < long.evidence.trials / 20
    assert "first proof" in " ".join(short.evidence.searched["notes"])


def test_a_search_that_finds_nothing_at_once_goes_on() -> None:
    def honest(data: Any, size: int, rng: Rng) -> Any:
        return sum(data) + rng.laplace(size=size)

    found = audit(
        honest, claim=DP(epsilon=1.0), data=Scalars(0, 1, size=5), budget=500, executor="inline"
    )
    assert found.verdict in ("not refuted", "inconclusive")
    assert found.evidence is not None
    assert len(found.evidence.searched["search"]) == 4


def test_every_run_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the race came to: the guards alone draw more, and are left out here."""
    for name in ("asked_again", "confirmed"):
        monkeypatch.setattr(Guards, name, lambda *_, **__: None)
    for epsilon in (1.0, 1.15, 2.0):
        seen = Counting(response(epsilon))
        found = run(seen)
        assert found.evidence is not None
        assert found.evidence.trials == seen.rows
    runs: list[int] = []

    def noisy(data: Any, size: int, rng: Rng) -> Any:
        runs.append(size)
        return sum(data) + rng.laplace(size=size) / 1.2

    more: dict[str, Any] = {"executor": "inline", "budget": 300}
    found = audit(noisy, claim=DP(epsilon=1.0), data=Scalars(0, 1), seed=0, **more)
    assert found.evidence is not None
    assert found.evidence.trials == sum(runs)


@pytest.mark.parametrize("scale", [0.25, 1.0])
def test_a_limit_of_time_that_is_not_reached_ends_nothing(scale: float) -> None:
    def noisy(data: Any, size: int, rng: Rng) -> Any:
        return sum(data) + rng.laplace(size=size) * scale

    found = audit(
        noisy,
        claim=DP(epsilon=1.0),
        data=Scalars(0, 1),
        budget=300,
        search_seconds=1e6,
        executor="inline",
    )
    assert found.evidence is not None
    assert found.evidence.searched["limit"] == {"seconds": 1e6, "ended": False}
    assert (found.verdict == "refuted") is (scale < 1)
    assert (found.evidence.trials < 2000) is (scale < 1)


def test_an_exception_that_a_race_did_not_foresee_ends_the_race_alone() -> None:
    def now_and_then(data: Any, rng: Rng) -> Any:
        if rng.random() < 0.003:
            raise RuntimeError("no luck")
        return sum(data) + rng.laplace() / 3

    for seed in (0, 2):
        found = audit(
            now_and_then,
            claim=DP(epsilon=1.0),
            data=Scalars(0, 1),
            budget=200,
            seed=seed,
            executor="inline",
        )
        assert found.verdict == "refuted", found
        assert found.evidence is not None
        assert "first_proof" not in found.evidence.searched


def test_few_pairs_race_too_and_pairs_of_which_none_may_race_are_searched() -> None:
    def told(data: Any, size: int, rng: Rng) -> Any:
        return np.full(size, data[0] > 0.5) ^ (rng.random(size) < 0.1)

    def missing(data: Any, size: int, rng: Rng) -> Any:
        return np.full(size, np.nan if data[0] > 0.5 else 0.0)

    more: dict[str, Any] = {"claim": DP(epsilon=1.0), "budget": 300, "executor": "inline"}
    for function in (told, missing):
        found = audit(function, data=Scalars(0, 1, size=1, fixed=True), **more)
        assert found.verdict == "refuted", found
