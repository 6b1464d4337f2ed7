"""Repeated queries: the certified loss grows with m, below the composed claim and the ceiling."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binom

from dpassay.attacks.experiment.power import composed
from dpassay.attacks.repeated.run import (
    LEAST_TRANSCRIPTS,
    Repeated,
    failed,
    is_sticky,
    ladder,
    repeated,
)
from dpassay.attacks.repeated.transcript_tests import run_tests
from dpassay.attacks.repeated.worst_cell import WorstCells, candidates, worst_cells
from dpassay.claims import DP, zCDP
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, TargetError
from dpassay.mechanism import FunctionMechanism
from dpassay.pairs import replace_one
from dpassay.record.files import dumps
from dpassay.targets.groups import PairGroup, groups_for
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import resolve
from tests.core.toys import module_response, target_of


def attack(name: str, loss: float, transcripts: int = 20_000, **parameters: object) -> Repeated:
    target = resolve(name, parameters)
    claim = next(each for each in target.claims if isinstance(each, DP))
    assert math.isclose(claim.epsilon, loss)
    return repeated(
        target, claim, groups_for(target, None), transcripts=transcripts, alpha=1e-4, seed=0
    )


@pytest.mark.parametrize(("name", "epsilon", "parameters"), [
    ("soft-majority", 0.5, {"epsilon": 0.5, "r": 11}),
    ("distance-to-instability", 1.0, {}),
])  # fmt: skip
def test_loss_grows_below_claim_and_ceiling(
    name: str, epsilon: float, parameters: dict[str, Any]
) -> None:
    found = attack(name, epsilon, **parameters)
    assert [test.m for test in found.tests] == list(ladder(epsilon))
    assert found.tests[-1].m * epsilon == 8
    lower = [test.lower.value for test in found.tests]
    assert lower == sorted(lower)
    assert lower[-1] > 2 * lower[0] > 0
    for test in found.tests:
        assert test.limits is not None
        assert test.limits.epsilon_prime is not None
        assert test.limits.adaptive is not None
        assert test.lower.value <= test.limits.epsilon <= test.basic * (1 + 1e-9)
        assert test.limits.epsilon_prime <= test.limits.epsilon
        assert test.limits.advantage <= test.limits.adaptive + 1e-10
        assert test.limits.adaptive <= test.allowed
        # the threshold on the count is the best attacker
        assert abs(test.advantage - test.limits.advantage) < 0.03
        assert test.lower.value < test.reach.cap
        assert test.lower.alpha * len(found.tests) == pytest.approx(1e-4)
        assert not test.broken
        if test.optimal is not None:
            assert test.limits.epsilon_prime <= test.optimal <= test.basic
    assert not found.sticky


def test_ladder() -> None:
    assert ladder(8.0) == ladder(100.0) == (1,)
    assert ladder(1.0) == (1, 2, 4, 8)
    assert ladder(0.1) == (1, 2, 4, 8, 16, 32, 64)
    assert ladder(1.0, 5) == (1, 2, 4)


def test_each_number_is_of_the_pair_that_is_worst_for_it() -> None:
    """At epsilon = 8 the worst pair is told apart by .018, 12 and 13 votes of 25 by .964."""
    (test,) = attack("soft-majority", 8.0, 4000, epsilon=8.0).tests
    best = math.tanh(2)  # answer 1 has log-odds -4 with 12 votes, and 4 with 13
    assert best == pytest.approx(0.964, abs=5e-4)
    assert test.limits is not None
    assert test.limits.everywhere
    assert (test.limits.advantage, test.limits.adaptive) == pytest.approx((best, best))
    assert test.advantage > 0.95
    assert "from 11 to 12 of 25, near half; 1 more label flipped; label of record" in test.telling
    assert test.limits.epsilon == pytest.approx(8)


def test_a_wrong_claim_is_broken() -> None:
    target = resolve("soft-majority", {"epsilon": 2.0})
    found = repeated(
        target, DP(epsilon=0.5), groups_for(target, None), transcripts=5000, alpha=1e-3, seed=1
    )
    assert all(test.broken for test in found.tests[:3])


def plain(name: str, sample: Any) -> AuditTarget:
    return target_of(FunctionMechanism(function=sample, claims=(DP(epsilon=1.0),)), name)


def flip() -> AuditTarget:
    """Randomised response on the first label, by a plain function without a law."""
    return plain("flip", module_response)


def own(records: int = 3) -> tuple[PairGroup, ...]:
    pairs = replace_one(np.arange(records, dtype=float)[:, None], np.zeros(records, dtype=int))
    return (PairGroup(pairs=pairs, queries=np.zeros((1, 1)), kind="data", reason="labels flipped"),)


def test_without_a_law_the_cell_is_found_by_screening() -> None:
    target = flip()
    (worst,) = worst_cells(target, candidates(target, own()), (8,), trials=1000, delta=0.0, seed=0)
    assert worst.losing.change.index == worst.telling.change.index == 0
    found = repeated(target, DP(epsilon=1.0), own(), transcripts=5000, alpha=1e-3, seed=0)
    lower = [test.lower.value for test in found.tests]
    assert lower == sorted(lower)
    assert lower[-1] > 3
    assert all(test.limits is None and test.lower.value < test.basic for test in found.tests)


def rare_or_frequent() -> AuditTarget:
    """At query 0 record 0 loses ln 10 by an answer that is rare; at query 1 record 1 loses 1."""

    def sample(
        data: Labelled, queries: NDArray[Any], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        chances = (0.06 if data.y[0] else 0.006, expit(1.0 if data.y[1] else -1.0))
        chance = np.array([chances[int(query)] for query in queries[:, 0]])
        return (rng.random((size, len(queries))) < chance).astype(np.int64)

    return plain("both", sample)


def test_without_a_law_the_pair_of_the_largest_advantage_is_certified_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eight answers lose more there than where a single one loses most; both share alpha."""
    (group,) = own(2)
    groups = (replace(group, queries=np.array([[0.0], [1.0]])),)
    target, known = rare_or_frequent(), {"transcripts": 20_000, "alpha": 1e-3, "seed": 0}
    found = repeated(target, DP(epsilon=1.0), groups, **known)  # type: ignore[arg-type]
    first, last = found.tests[0], found.tests[-1]
    assert "record 0" in first.losing
    assert all("record 1" in test.telling for test in found.tests)
    assert last.losing == last.telling
    assert {test.lower.alpha for test in found.tests} == {1e-3 / len(ladder(1.0)) / 2}
    monkeypatch.setattr(WorstCells, "certified", property(lambda worst: (worst.losing,)))
    alone = repeated(target, DP(epsilon=1.0), groups, **known)  # type: ignore[arg-type]
    assert "record 0" in alone.tests[-1].losing
    assert alone.tests[-1].lower.value + 0.3 < last.lower.value
    assert alone.tests[0].lower.value >= first.lower.value > 1  # the price of looking twice


def test_with_laws_one_pair_is_certified() -> None:
    """It is known where the largest bound is to be expected, so that nothing is paid."""
    tests = attack("pate", 1.0, 4000).tests
    assert tests[0].losing != tests[0].telling
    assert {test.lower.alpha for test in tests} == {1e-4 / len(tests)}


def test_sticky_transcripts() -> None:
    fresh = np.random.default_rng(0).integers(0, 2, (50, 4))
    constant = np.repeat(fresh[:, :1], 4, axis=1)
    assert is_sticky(constant, constant[::-1])
    assert not is_sticky(fresh, constant)
    assert not is_sticky(constant[:, :1], constant[:, :1])
    assert not is_sticky(np.zeros((50, 4), dtype=int), np.zeros((50, 4), dtype=int))


@pytest.mark.slow
def test_certified_bounds_hold_on_boundary_mechanisms() -> None:
    """200 ladders on randomised response, whose loss is the claim for every m; .15 would show."""
    rng, claim, alpha, wrong = np.random.default_rng(5), DP(epsilon=1.0), 0.05, 0
    for _ in range(200):
        ladders = [responses(rng, 1.0, 200, m) for m in (1, 2, 4)]
        wrong += any(run_tests(*both, claim, 2, alpha / 3).broken for both in ladders)
    assert wrong <= binom.isf(0.01, 200, 0.05)


def responses(
    rng: np.random.Generator, loss: float, n: int, m: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Transcripts of randomised response at a loss, from both sides."""
    one, other = ((rng.random((n, m)) < expit(each)).astype(np.int64) for each in (loss, -loss))
    return one, other


def test_the_record_is_json() -> None:
    found = attack("soft-majority", 4.0, 400, epsilon=4.0).as_json()
    assert dumps(found)
    assert found["error"] is None
    assert [test["m"] for test in found["rungs"]] == [1, 2]
    broken = failed("x", DP(epsilon=1.0), "it fails")
    assert broken["error"] == "it fails"
    assert broken["rungs"] == []
    assert dumps(broken)


def test_equal_seeds_give_equal_numbers() -> None:
    one, other = (attack("soft-majority", 1.0, 500, epsilon=1.0) for _ in range(2))
    assert one.as_json() == other.as_json()


def test_refused() -> None:
    known: dict[str, Any] = {"alpha": 0.1, "seed": 0}
    for transcripts in (0, LEAST_TRANSCRIPTS - 1, 100.5):
        with pytest.raises(InvalidInput, match="--transcripts"):
            repeated(flip(), DP(epsilon=1.0), own(), transcripts=transcripts, **known)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="no pair"):
        repeated(flip(), DP(epsilon=1.0), (), transcripts=100, **known)


def test_a_failing_mechanism() -> None:
    def sample(data: Labelled, queries: Any, size: int, rng: np.random.Generator) -> Any:
        raise ZeroDivisionError

    with pytest.raises(TargetError, match="ZeroDivisionError"):
        repeated(plain("fails", sample), DP(epsilon=1.0), own(), transcripts=100, alpha=0.1, seed=0)


def test_repeated_answers_are_held_against_the_curve_that_was_claimed() -> None:
    """Randomised response at 0.7 under zCDP(0.05), and under its point at delta = 0.01 alone."""
    curve, rng = zCDP(0.05), np.random.default_rng(1)
    one, other = responses(rng, 0.7, 4000)
    held, point = (
        run_tests(one, other, claim, 2, 1e-3) for claim in (curve, replace(curve, curve=None))
    )
    assert (held.basic, held.delta) == composed(curve, 1)
    assert (point.basic, point.delta) == (curve.epsilon, curve.delta)
    assert held.broken
    assert not point.broken
    # what keeps the claim: epsilon^2 / 2 = 0.05
    assert not run_tests(*responses(rng, math.sqrt(0.1), 4000), curve, 2, 1e-3).broken
