"""What a search spends, and what it prefers, where there are many trials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpassay import DP, Answers, audit
from dpassay.engine.searching import evidence
from dpassay.engine.searching import search as searched
from dpassay.engine.searching.evidence import SearchBudget
from dpassay.engine.searching.pair_candidates import rank_of
from dpassay.search.outlook import Outlook
from dpassay.search.outputs import Encoder, fit_encoder
from dpassay.search.worth import Goal
from dpassay.stats.scales import Ratio
from dpassay.targets import guard

GOAL = Goal(Ratio(), 1.0, 20_000, 1e-3)


def seen(assurance: float, expected: float) -> Outlook:
    return Outlook(p1=0.5, p0=0.1, expected=expected, assurance=assurance, promise=expected)


def test_of_leaks_that_will_surely_be_refuted_the_largest_comes_first() -> None:
    often, large = seen(40.0, 2.4), seen(8.0, 9.0)
    assert rank_of(GOAL, large) > rank_of(GOAL, often)


def test_else_the_one_that_is_refuted_more_surely_comes_first() -> None:
    surer, larger = seen(2.0, 1.2), seen(1.0, 9.0)
    assert rank_of(GOAL, surer) > rank_of(GOAL, larger)


def test_of_leaks_that_will_not_be_refuted_the_largest_comes_first() -> None:
    """Not the one that is known worst, which lies the fewest standard errors below the claim."""
    vague, large = seen(-0.1, 0.2), seen(-3.0, 0.9)
    assert rank_of(GOAL, large) > rank_of(GOAL, vague)


def test_points_of_a_curve_count_in_multiples_of_what_they_promise() -> None:
    small, rare = Goal(Ratio(0.3), 0.5, 20_000, 1e-3), Goal(Ratio(1e-4), 4.0, 20_000, 1e-3)
    assert rank_of(small, seen(8.0, 1.5)) > rank_of(rare, seen(8.0, 5.0))


def test_many_trials_are_not_screened_by_as_many() -> None:
    many = SearchBudget(draws=10_000_000, alpha=0.1)
    assert many.screening(()) == 100_000
    assert SearchBudget(draws=20_000, alpha=0.1).screening(()) == 2000


def noisy(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data[0] + rng.laplace(size=size)


def test_the_pilot_looks_at_each_dataset_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pilots: list[Any] = []

    def fit(drawn: list[Any], **how: Any) -> Encoder:
        pilots.extend(drawn)
        return fit_encoder(drawn, **how)

    monkeypatch.setattr(guard, "fit_encoder", fit)
    audit(noisy, claim=DP(epsilon=1.0), data=Answers(1), budget=200, executor="inline")
    values = np.concatenate(pilots)
    assert len(pilots) > 2
    assert len(np.unique(values)) == len(values)


def test_few_of_many_trials_do_not_certify(monkeypatch: pytest.MonkeyPatch) -> None:
    """With constants a hundredth as large, so that it takes a hundredth of the time."""
    for module, name, value in (
        (searched, "ENOUGH", 4_000),
        (searched, "MOST_SEARCH", 3_200),
        (searched, "LEAST", 4),
        (searched, "MOST_LAST", 400),
        (searched, "MOST_SETTLED", 10_000),
        (searched, "RARE", 100),
        (evidence, "LEAST", 4),
        (evidence, "MOST_CHECKED", 1_000),
    ):
        monkeypatch.setattr(module, name, value)
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
