"""Guards, by whole audits: trials that are not independent end as `error`, those that are never do.

The functions are those of `dependent`; their loss is 1, which is also claimed, or looks like it.
Without the guards most of them are refuted, some at every seed (`test_without_guards`).
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.engine.guards import Guards
from dpassay.engine.result import Result
from tests.core.toys import flip_group
from tests.statistical import dependent

PAIRS = flip_group(records=3).pairs
MAKERS = {"cached_label", "cached_noise_with_jitter", "drifting", "warming_up", "stopping"}
NUMBERS = {"noisy", "one_noise_per_call", "cached_noise_with_jitter"}
DEPENDENT = (
    "one_coin_per_call", "one_noise_per_call", "one_model_per_call", "cached_label",
    "cached_noise_with_jitter", "drifting", "warming_up", "noise_for_many_rows_only",
    "global_coins", "own_seed",
)  # fmt: skip
HONEST = {
    "plain": "not refuted",
    "in_order": "not refuted",
    "noisy": "not refuted",
    "rare": "inconclusive",
    "never": "inconclusive",
    "weak": "refuted",
}


TOLD = {"own_seed", "noise_for_many_rows_only"}
"""A run alone has no noise."""


def audited(name: str, seed: int, **settings: Any) -> Result:
    found = getattr(dependent, name)
    function = found() if name in MAKERS else found
    given: dict[str, Any] = {"claim": DP(epsilon=dependent.EPSILON), "budget": 2000}
    given |= {"numbers": (-math.inf, math.inf) if name in NUMBERS else None}
    return audit(function, pairs=PAIRS, queries=[[0.0]], seed=seed, **given | settings)


ALONE = {"cached_label", "cached_noise_with_jitter", "global_coins"}
"""These need processes of their own; the others are seen inline, which is faster."""


def who(name: str) -> dict[str, str]:
    return {} if name in ALONE else {"executor": "inline"}


def verdicts(name: str, seeds: int, **settings: Any) -> Counter[str]:
    return Counter(audited(name, seed, **settings).verdict for seed in range(seeds))


@pytest.mark.parametrize("name", DEPENDENT)
def test_trials_that_are_not_independent_are_an_error(name: str) -> None:
    for seed, budget in ((0, 400), (1, 2000)):
        result = audited(name, seed, budget=budget, stop_early=False, **who(name))
        assert result.verdict == "error"
        assert "rng" in result.outcome.reason, "the cure"
        assert "\n" not in result.outcome.reason


@pytest.mark.parametrize("name", DEPENDENT)
def test_a_race_refutes_what_one_run_tells_and_nothing_else(name: str) -> None:
    for seed in (0, 1):
        result = audited(name, seed, budget=400, **who(name))
        assert (result.verdict == "refuted") is (name in TOLD), result.outcome.reason


@pytest.mark.parametrize(("name", "verdict"), HONEST.items())
def test_trials_that_are_independent_are_none(name: str, verdict: str) -> None:
    assert verdicts(name, 3, budget=400, executor="inline")["error"] == 0
    assert verdicts(name, 1, executor="inline")[verdict] == 1


def test_trials_in_new_processes_are_those_of_this_one() -> None:
    found = [audited("weak", 5, **who) for who in ({"executor": "inline"}, {}, {"jobs": 2})]
    assert len({(each.verdict, each.lower) for each in found}) == 1


@pytest.mark.parametrize("executor", ["inline", "local"])
def test_a_service_that_stops_answering_is_an_error(executor: str) -> None:
    assert audited("stopping", 0, budget=20_000, executor=executor).verdict == "error"


@pytest.mark.parametrize("name", ["global_coins", "drifting"])
def test_the_verdict_does_not_depend_on_the_number_of_workers(name: str) -> None:
    found = [audited(name, 3, **who).verdict for who in ({"executor": "inline"}, {"jobs": 2})]
    assert len(set(found)) == 1


def test_rows_that_balance_one_another_are_an_error_too() -> None:
    """Their counts are those of no independent rows. They never move a bound to the wrong side,
    though."""
    assert "balance" in audited("balanced", 0).outcome.reason


def test_a_slow_api_is_asked_row_by_row() -> None:
    assert audited("slow_api", 0, budget=500).verdict == "not refuted"


def test_a_refutation_that_does_not_come_out_again_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A cache that is made anew in every process, with the other guards switched off. Only the
    replay is left to see it."""
    monkeypatch.setattr(Guards, "varied", lambda *_, **__: None)
    monkeypatch.setattr(Guards, "asked_again", lambda *_, **__: None)
    found = [audited("cached_noise_with_jitter", seed) for seed in range(3)]
    errors = [each.outcome.reason for each in found if each.verdict == "error"]
    assert len(errors) >= 2
    assert all("the refutation did not come out again" in each for each in errors)


@pytest.mark.usefixtures("bounds_only")
def test_without_guards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guards are needed. Without them these are refuted at many seeds, though nothing that they
    show is true."""
    monkeypatch.setattr("dpassay.trials.tasks.same", lambda one, other: True)
    for name in ("one_coin_per_call", "one_noise_per_call", "cached_noise_with_jitter"):
        assert verdicts(name, 10, executor="inline")["refuted"] >= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", DEPENDENT)
def test_every_audit_of_trials_that_are_not_independent_is_an_error(name: str) -> None:
    assert verdicts(name, 10, stop_early=False, **who(name)) == {"error": 10}


@pytest.mark.slow
@pytest.mark.parametrize("name", HONEST)
def test_no_audit_of_independent_trials_is_an_error(name: str) -> None:
    assert verdicts(name, 10, executor="inline")["error"] == 0
