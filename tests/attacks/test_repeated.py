"""Repeated queries: the certified loss grows with m, and stays below the composed claim and the ceiling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.attacks.repeated.run import LEAST_TRANSCRIPTS, Repeated, failed, is_sticky, ladder, repeated
from dpassay.attacks.repeated.transcript_tests import climb
from dpassay.attacks.repeated.worst_cell import candidates, worst_cells
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.errors import AuditeeError, InvalidInput
from dpassay.mechanism import FunctionMechanism
from dpassay.pairs import replace_one
from dpassay.record.files import dumps
from dpassay.targets.groups import Group, groups_for
from dpassay.targets.guard import Auditee
from dpassay.targets.resolve import resolve


def attack(name: str, loss: float, transcripts: int = 20_000, **parameters: object) -> Repeated:
    auditee = resolve(name, parameters)
    claim = next(each for each in auditee.claims if isinstance(each, DP))
    assert math.isclose(claim.epsilon, loss)
    return repeated(auditee, claim, groups_for(auditee, None), transcripts=transcripts, alpha=1e-4, seed=0)


@pytest.mark.parametrize(
    ("name", "epsilon", "parameters"),
    [
        ("soft-majority", 1.0, {"epsilon": 1.0}),
        ("soft-majority", 0.5, {"epsilon": 0.5, "r": 11}),
        ("private-knn", 1.0, {}),
        ("distance-to-instability", 1.0, {}),
    ],
)
def test_loss_grows_below_claim_and_ceiling(name: str, epsilon: float, parameters: dict[str, Any]) -> None:
    found = attack(name, epsilon, **parameters)
    assert [rung.m for rung in found.rungs] == list(ladder(epsilon))
    assert found.rungs[-1].m * epsilon == 8
    lower = [rung.lower.value for rung in found.rungs]
    assert lower == sorted(lower)
    assert lower[-1] > 2 * lower[0] > 0
    for rung in found.rungs:
        assert rung.limits is not None
        assert rung.limits.epsilon_prime is not None
        assert rung.limits.adaptive is not None
        assert rung.lower.value <= rung.limits.epsilon <= rung.basic * (1 + 1e-9)
        assert rung.limits.epsilon_prime <= rung.limits.epsilon
        assert rung.limits.advantage <= rung.limits.adaptive + 1e-10
        assert rung.limits.adaptive <= rung.allowed
        assert abs(rung.advantage - rung.limits.advantage) < 0.03  # the threshold on the count is the best attacker
        assert rung.lower.value < rung.reach.cap
        assert rung.lower.alpha * len(found.rungs) == pytest.approx(1e-4)
        assert not rung.broken
        if rung.optimal is not None:
            assert rung.limits.epsilon_prime <= rung.optimal <= rung.basic
    assert not found.sticky


def test_ladder() -> None:
    assert ladder(8.0) == ladder(100.0) == (1,)
    assert ladder(1.0) == (1, 2, 4, 8)
    assert ladder(0.1) == (1, 2, 4, 8, 16, 32, 64)
    assert ladder(1.0, 5) == (1, 2, 4)


def test_each_number_is_of_the_pair_that_is_worst_for_it() -> None:
    """At epsilon = 8 the pair that loses most is told apart by .018 of the coins, 12 and 13 votes of 25 by .964."""
    (rung,) = attack("soft-majority", 8.0, 4000, epsilon=8.0).rungs
    best = math.tanh(2)  # answer 1 has log-odds -4 with 12 votes, and 4 with 13
    assert best == pytest.approx(0.964, abs=5e-4)
    assert rung.limits is not None
    assert rung.limits.everywhere
    assert (rung.limits.advantage, rung.limits.adaptive) == pytest.approx((best, best))
    assert rung.advantage > 0.95
    assert "from 11 to 12 of 25, and both labels are frequent; 1 more label flipped; label of record" in rung.telling
    assert rung.limits.epsilon == pytest.approx(8)


def test_a_wrong_claim_is_broken() -> None:
    auditee = resolve("soft-majority", {"epsilon": 2.0})
    found = repeated(auditee, DP(epsilon=0.5), groups_for(auditee, None), transcripts=5000, alpha=1e-3, seed=1)
    assert all(rung.broken for rung in found.rungs[:3])


def flip(epsilon: float = 1.0) -> Auditee:
    """Randomised response on the first label, by a plain function without a law."""

    def sample(data: Labelled, queries: NDArray[Any], size: int, rng: np.random.Generator) -> NDArray[Any]:
        p = 1 / (1 + math.exp(-epsilon * (2 * int(data.y[0]) - 1)))
        draws = rng.random((size, len(queries)))
        return (draws < p).astype(np.int64)

    claim = DP(epsilon=epsilon)
    mechanism = FunctionMechanism(function=sample, claims=(claim,))
    return Auditee(name="flip", target=None, parameters={}, mechanism=mechanism, claims=(claim,))


def own(records: int = 3) -> tuple[Group, ...]:
    pairs = replace_one(np.arange(records, dtype=float)[:, None], np.zeros(records, dtype=int))
    return (Group(pairs=pairs, queries=np.zeros((1, 1)), kind="data", reason="labels flipped"),)


def test_without_a_law_the_cell_is_found_by_screening() -> None:
    auditee = flip()
    (worst,) = worst_cells(auditee, candidates(auditee, own()), (8,), trials=1000, delta=0.0, seed=0)
    assert worst.losing.change.index == worst.telling.change.index == 0
    found = repeated(auditee, DP(epsilon=1.0), own(), transcripts=5000, alpha=1e-3, seed=0)
    lower = [rung.lower.value for rung in found.rungs]
    assert lower == sorted(lower)
    assert lower[-1] > 3
    assert all(rung.limits is None and rung.lower.value < rung.basic for rung in found.rungs)


def test_sticky_transcripts() -> None:
    fresh = np.random.default_rng(0).integers(0, 2, (50, 4))
    constant = np.repeat(fresh[:, :1], 4, axis=1)
    assert is_sticky(constant, constant[::-1])
    assert not is_sticky(fresh, constant)
    assert not is_sticky(constant[:, :1], constant[:, :1])
    assert not is_sticky(np.zeros((50, 4), dtype=int), np.zeros((50, 4), dtype=int))


@pytest.mark.slow
def test_certified_bounds_hold_on_boundary_mechanisms() -> None:
    """1,000 ladders on randomised response, whose loss is the claim for every m."""
    rng, alpha, wrong = np.random.default_rng(5), 0.05, 0
    claim, p = DP(epsilon=1.0), 1 / (1 + math.exp(-1))
    for _ in range(1000):
        rungs = []
        for m in (1, 2, 4):
            one, other = ((rng.random((400, m)) < q).astype(np.int64) for q in (p, 1 - p))
            rungs.append(climb(one, other, claim, 2, alpha / 3))
        wrong += any(rung.broken for rung in rungs)
    assert wrong <= 66  # the upper 1 % point of Bin(1000, 0.05)


def test_the_record_is_json() -> None:
    found = attack("soft-majority", 4.0, 400, epsilon=4.0).as_json()
    assert dumps(found)
    assert found["error"] is None
    assert [rung["m"] for rung in found["rungs"]] == [1, 2]
    broken = failed("x", DP(epsilon=1.0), "it fails")
    assert broken["error"] == "it fails"
    assert broken["rungs"] == []
    assert dumps(broken)


def test_equal_seeds_give_equal_numbers() -> None:
    assert attack("pate", 1.0, 1000).as_json() == attack("pate", 1.0, 1000).as_json()


def test_refused() -> None:
    auditee = flip()
    for transcripts in (0, LEAST_TRANSCRIPTS - 1, 100.5):
        with pytest.raises(InvalidInput, match="--transcripts"):
            repeated(auditee, DP(epsilon=1.0), own(), transcripts=transcripts, alpha=0.1, seed=0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="no pair"):
        repeated(auditee, DP(epsilon=1.0), (), transcripts=100, alpha=0.1, seed=0)


def test_a_failing_mechanism() -> None:
    def sample(data: Labelled, queries: NDArray[Any], size: int, rng: np.random.Generator) -> NDArray[Any]:
        raise ZeroDivisionError

    claim = DP(epsilon=1.0)
    mechanism = FunctionMechanism(function=sample, claims=(claim,))
    auditee = Auditee(name="fails", target=None, parameters={}, mechanism=mechanism, claims=(claim,))
    with pytest.raises(AuditeeError, match="ZeroDivisionError"):
        repeated(auditee, claim, own(), transcripts=100, alpha=0.1, seed=0)
