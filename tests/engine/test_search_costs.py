"""What a search prefers and spends, and that it costs what was foretold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpassay import DP, Answers, Scalars, audit
from dpassay.engine.budget import Budget
from dpassay.engine.planning import search_cost
from dpassay.engine.run import assay
from dpassay.engine.searching import evidence
from dpassay.engine.searching import search as searched
from dpassay.engine.searching.evidence import SearchBudget
from dpassay.engine.searching.outlay import outlay
from dpassay.engine.searching.pair_candidates import Candidate, rank_of
from dpassay.engine.searching.search import FIRST
from dpassay.engine.settings import Settings
from dpassay.mechanism import FunctionMechanism
from dpassay.search.outlook import Outlook
from dpassay.search.outputs import Encoder, fit_encoder
from dpassay.search.worth import Goal
from dpassay.stats.scales import Ratio
from dpassay.targets import guard
from dpassay.targets.guard import AuditTarget
from tests.engine.recorded import evidence_of, hunted

GOAL = Goal(Ratio(), 1.0, 20_000, 1e-3)


def seen(assurance: float, expected: float, p1: float = 0.5, p0: float = 0.1) -> Outlook:
    return Outlook(p1=p1, p0=p0, expected=expected, assurance=assurance, promise=expected)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((8.0, 9.0), (40.0, 2.4)),  # of leaks that will surely be refuted the largest
        ((2.0, 1.2), (1.0, 9.0)),  # else the one that is refuted more surely
        # of others the largest, not that which is known worst and so the fewest errors below
        ((-3.0, 0.9), (-0.1, 0.2)),
    ],
)
def test_which_leak_comes_first(first: tuple[float, float], second: tuple[float, float]) -> None:
    assert rank_of(GOAL, seen(*first)) > rank_of(GOAL, seen(*second))


def test_points_of_a_curve_count_in_multiples_of_what_they_promise() -> None:
    small, rare = Goal(Ratio(0.3), 0.5, 20_000, 1e-3), Goal(Ratio(1e-4), 4.0, 20_000, 1e-3)
    assert rank_of(small, seen(8.0, 1.5)) > rank_of(rare, seen(8.0, 5.0))


def drawn_pair(p1: float, p0: float, expected: float, assurance: float) -> Candidate:
    """Return a pair of which 10,000 runs were drawn on each side."""
    proposal = Scalars(0, 1, size=1).first(np.random.default_rng(0), 1)[0]
    drawn, outlook = [np.zeros((1, 10_000, 1))], seen(assurance, expected, p1, p0)
    return Candidate(proposal=proposal, one=drawn, other=drawn, outlook=outlook, goal=GOAL)


def test_chance_is_taken_off_where_refutation_is_unlikely_and_nowhere_else() -> None:
    rare, usual = drawn_pair(0.026, 0.009, 0.81, -1.1), drawn_pair(0.31, 0.14, 0.70, -7.4)
    assert rare.rank > usual.rank
    assert usual.cautious_rank > rare.cautious_rank
    likely = drawn_pair(0.026, 0.009, 1.05, 0.2)
    assert likely.cautious_rank == likely.rank > usual.cautious_rank


def test_many_trials_are_not_screened_by_as_many() -> None:
    many = SearchBudget(draws=10_000_000, alpha=0.1)
    assert many.screening(()) == 100_000
    assert SearchBudget(draws=20_000, alpha=0.1).screening(()) == 2000


def quiet(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data[0] + rng.laplace(scale=4.0, size=size)


@pytest.mark.usefixtures("few_pairs")
def test_the_pilot_looks_at_each_dataset_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pilots: list[Any] = []

    def fit(drawn: list[Any], **how: Any) -> Encoder:
        pilots.extend(drawn)
        return fit_encoder(drawn, **how)

    monkeypatch.setattr(guard, "fit_encoder", fit)
    audit(quiet, claim=DP(epsilon=1.0), data=Answers(1), budget=200, executor="inline")
    values = np.concatenate(pilots)
    assert len(pilots) > 2
    assert len(np.unique(values)) == len(values)


def test_few_of_many_trials_do_not_certify(monkeypatch: pytest.MonkeyPatch) -> None:
    """With constants a hundredth as large, so that it takes a hundredth of the time."""
    less = {"ENOUGH": 4_000, "MOST_SEARCH": 3_200, "LEAST": 4, "MOST_LAST": 400, "RARE": 100}
    for name, value in (less | {"MOST_SETTLED": 10_000}).items():
        monkeypatch.setattr(searched, name, value)
    for name, value in {"LEAST": 4, "MOST_CHECKED": 1_000}.items():
        monkeypatch.setattr(evidence, name, value)
    runs = 0

    def counted(data: Any, size: int, rng: np.random.Generator) -> Any:
        nonlocal runs
        runs += size
        return data[0] + rng.laplace(scale=0.5, size=size)

    budget = 70_000
    how: dict[str, Any] = {"budget": budget, "confidence": 0.9, "executor": "inline"}
    result = audit(counted, claim=DP(epsilon=1.0), data=Answers(1), **how)
    assert result.verdict == "refuted"
    assert 2 * budget >= 0.7 * runs


def test_rounds_and_runs_are_those_of_the_search() -> None:
    claim, space, budget = DP(epsilon=1.0, relation="answers-1"), Answers(1), 600
    mechanism = FunctionMechanism(
        function=quiet, claims=(claim,), takes=("data", "size", "rng"), free=True
    )
    name = f"{__name__}:quiet"
    target = AuditTarget(
        name=name, address=name, parameters={}, mechanism=mechanism, claims=(claim,)
    )
    foretold = search_cost(target, space, Budget(draws=budget, alpha=1e-3), 0)
    told: list[tuple[str, int]] = []

    def progress(what: str, done: int, total: int) -> None:
        told.extend([] if total else [(what, done)])

    (result,) = assay([target], space, Settings(budget=budget, executor="inline"), progress)
    ((what, seconds),) = told
    runs = foretold.outlay.search + foretold.outlay.certification
    most = outlay(space, FIRST, budget)
    assert what.startswith(f"{name}: {most.search + most.certification:,} runs of ")
    assert what.endswith(" ms at most, guards aside")
    assert 0 <= seconds < 600
    planned = foretold.outlay.rounds
    rounds = [(each["pairs"], each["draws"]) for each in evidence_of(result).searched["search"]]
    # how many new pairs are found from the second round on is not known before
    assert rounds[0] == planned[0]
    assert len(rounds) == len(planned)
    assert all(pairs <= most for (pairs, _), (most, _) in zip(rounds, planned, strict=True))
    assert rounds[-1] == planned[-1]
    assert len(evidence_of(result).searched["search"][0]["families"]) == foretold.families
    assert evidence_of(result).trials <= runs
    assert foretold.seconds >= 0


def test_the_sizes_that_were_looked_at_are_recorded() -> None:
    def counts(data: Any, size: int, rng: np.random.Generator) -> Any:
        return len(data) + rng.laplace(scale=4.0, size=size)

    table = pd.DataFrame({"x": np.linspace(0.0, 1.0, 60)})
    result = hunted(counts, table, relation="add-remove", budget=200)
    assert evidence_of(result).searched["search"][0]["sizes"] == [1, 120]
