"""Whole audits of every kind of claim: exact, exhaustive and sampled; their witnesses replay."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay import DP, Domain, PointLaw, PredictionStability, Stability, audit, replace_one
from dpassay.claims import Claim, claim_from_json
from dpassay.data import Labelled
from dpassay.engine.budget import Budget
from dpassay.engine.evidence import HalfLine
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.mechanism import FunctionMechanism
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.pairs import FlipLabel
from dpassay.record.files import dumps
from dpassay.record.rebound import at_alpha
from dpassay.record.replay import replay
from dpassay.record.witness import make_witness
from tests.core.toys import Function, Sampled, flip_group, response, target_of
from tests.engine.recorded import LabelShare, evidence_of, recorded

Rng = np.random.Generator
Points = NDArray[np.float64]

PAIRS = replace_one([[0.0]], [0])
QUERIES = [[0.0], [1.0]]
TWO_WORKERS: dict[str, Any] = {"executor": "local", "jobs": 2}
ANY = (-math.inf, math.inf)
GAMMA = 2 / (1 + math.exp(-1)) - 1
"""Change of a label's probability under randomised response with loss 1."""


def noisy(scale: float) -> Function:
    """The label of record 0 plus Laplace noise: loss 1 / scale."""

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> NDArray[Any]:
        return np.asarray(data.y[0] + rng.laplace(0, scale, size=(size, len(queries))))

    return answer


def score(data: Labelled, queries: Points, size: int, rng: Rng) -> NDArray[Any]:
    """A prediction around .2 or .5, by the label of record 0."""
    return np.asarray(
        np.clip(0.2 + 0.3 * data.y[0] + 0.05 * rng.normal(size=(size, len(queries))), 0, 1)
    )


@dataclass(frozen=True, kw_only=True)
class Share(LabelShare):
    """Predicts the share of labels 1: no coins, and stable at rate 1/n."""

    gamma: float = 0.25
    numbers: tuple[float, float] = (0.0, 1.0)

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (PredictionStability(gamma=self.gamma, source="by hand"),)


def audited(function: Function, claim: Claim, **more: Any) -> Result:
    usual = {"pairs": PAIRS, "queries": QUERIES, "budget": 20_000, "executor": "inline"}
    settings: dict[str, Any] = usual | {"stop_early": False} | more
    return audit(function, claim=claim, **settings)


def valid(result: Result, confidence: float = 0.999) -> dict[str, Any]:
    """The record of one result, as it is read back."""
    entry: dict[str, Any] = recorded([result], confidence)["results"][0]
    for cell in entry["per_query"] if entry["mode"] == "monte-carlo" else ():
        assert at_alpha(cell, result.claim, cell["alpha"]) == pytest.approx(cell["lower"], abs=1e-9)
    return entry


def replayed(result: Result) -> None:
    """The witness, as a file would hold it, gives the same number from the same target."""
    witness, evidence = json.loads(dumps(make_witness(result) or {})), evidence_of(result)
    group = evidence.groups[evidence.worst.group]
    found = replay(witness, target=result.target, group=group)
    assert found.reproduced
    assert found.refuted == (result.verdict == "refuted")


def test_a_stability_that_holds_and_one_that_does_not_by_sampling() -> None:
    for gamma, verdict in ((GAMMA, "not refuted"), (GAMMA / 2, "refuted")):
        result = audited(response(1.0), Stability(gamma=gamma), budget=10_000)
        assert result.verdict == verdict
        assert GAMMA - 0.05 < result.lower <= GAMMA <= result.upper < GAMMA + 0.05
        assert gamma < result.detectable < gamma + 0.05
        replayed(result)
        entry = valid(result)
        assert entry["claim"]["gamma"] == pytest.approx(gamma)
        assert entry["claim"]["epsilon"] is None
        assert claim_from_json(entry["claim"]) == result.claim
        assert all(cell["profile"] is None for cell in entry["per_query"])


def test_a_stability_by_the_law() -> None:
    """Theorem 4.1 with epsilon = 1 and three teachers. sigma(1.5) - sigma(.5) is .195 and sigma(.5)
    - sigma(-.5) .245."""
    true = 1 / (1 + math.exp(-0.5)) - 1 / (1 + math.exp(0.5))
    for gamma, verdict in ((0.25, "not refuted"), (0.24, "refuted")):
        mechanism = SoftMajority(epsilon=1.0, r=5)
        pairs = replace_one([[0.0]] * 5, [0, 0, 1, 1, 1])
        result = audit(mechanism, claim=Stability(gamma=gamma), pairs=pairs, queries=[[0.0]])
        assert (result.mode, result.verdict) == ("exact", verdict)
        assert result.exact == pytest.approx(true, abs=1e-12)
        replayed(result)
        assert valid(result)["any_size"]["exact"] == pytest.approx(true, abs=1e-9)
    three, small = SoftMajority(epsilon=1.0, r=3), Domain(n=3, points=1)
    domain = audit(three, claim=Stability(gamma=0.3), mode="exhaustive", domain=small)
    assert domain.verdict == "verified"
    assert domain.exact == pytest.approx(true, abs=1e-12)
    replayed(domain)


def test_three_labels_are_judged_one_by_one() -> None:
    """(.3, .3, .4) against (.15, .15, .7). .3 by the third label, though a union of two moves as
    much the other way."""
    three: Any = Sampled(table=((0.3, 0.3, 0.4), (0.15, 0.15, 0.7)))
    result = audited(three, Stability(gamma=0.25), queries=[[0.0]])
    assert result.verdict == "refuted"
    assert evidence_of(result).worst.event == (2,)
    assert 0.27 < result.lower < 0.3 < result.upper


def test_numbers_are_audited_by_half_lines() -> None:
    for scale, verdict in ((1.0, "not refuted"), (0.5, "refuted")):
        result = audited(noisy(scale), DP(epsilon=1.0), numbers=ANY)
        assert result.verdict == verdict
        assert 0.85 / scale < result.lower < 1 / scale
        assert result.upper == math.inf
        assert all(isinstance(cell.event, HalfLine) for cell in evidence_of(result).cells)
        replayed(result)
        entry = valid(result)
        assert set(entry["witness"]["event"]) <= {"at_least", "below"}
        assert entry["upper"] == "inf"
        assert "runs on" in entry["witness"]["words"]


def test_a_mean_prediction_is_bounded_on_both_sides() -> None:
    for gamma, verdict in ((0.3, "not refuted"), (0.25, "refuted")):
        result = audited(score, PredictionStability(gamma=gamma), numbers=(0, 1))
        assert result.verdict == verdict
        assert 0.27 < result.lower < 0.3 < result.upper < 0.33
        replayed(result)
        entry = valid(result)
        assert sum(entry["per_query"][0]["histograms"]["one"]) == 20_000
        assert "mean prediction" in entry["witness"]["words"]


def test_a_mean_prediction_in_other_units() -> None:
    def celsius(data: Labelled, queries: Points, size: int, rng: Rng) -> NDArray[Any]:
        return 100 * score(data, queries, size, rng) - 50

    result = audited(celsius, PredictionStability(gamma=25.0), numbers=(-50, 50))
    assert result.verdict == "refuted"
    assert 27 < result.lower < 30 < result.upper < 33
    assert 25 < result.detectable < 30


def test_predictions_without_coins_are_computed() -> None:
    pairs = replace_one([[0.0]] * 4, [0, 0, 1, 1])
    for gamma, verdict in ((0.25, "not refuted"), (0.2, "refuted")):
        result = audit(Share(gamma=gamma), pairs=pairs, queries=QUERIES)
        assert (result.mode, result.verdict) == ("exact", verdict)
        assert result.exact == pytest.approx(0.25, abs=1e-15)
        replayed(result)
        assert "prediction is" in valid(result)["witness"]["words"]
    domain = audit(Share(), mode="exhaustive", domain=Domain(n=4, points=1))
    assert domain.verdict == "verified"
    assert domain.exact == pytest.approx(0.25, abs=1e-15)
    how: dict[str, Any] = {"mode": "monte-carlo", "budget": 2000, "executor": "inline"}
    sampled = audit(Share(), pairs=pairs, queries=QUERIES, **how)
    assert sampled.lower <= 0.25 <= sampled.upper


def test_a_sampler_that_belies_its_point_law_is_an_error() -> None:
    class Lies(Share):
        def distribution(self, state: float, queries: NDArray[np.float64]) -> PointLaw:
            return PointLaw(values=np.full(len(queries), state + 0.001), error=1e-15)

    result = audit(Lies(), pairs=PAIRS, queries=QUERIES)
    assert result.verdict == "error"
    assert "disagree" in result.outcome.reason


def test_claims_of_several_kinds_share_what_they_can() -> None:
    calls: list[int] = []

    def counted(data: Labelled, queries: Points, size: int, rng: Rng) -> NDArray[Any]:
        calls.append(size)
        return score(data, queries, size, rng)

    claims: tuple[Claim, ...] = (DP(epsilon=1.0), DP(epsilon=2.0), PredictionStability(gamma=0.25))
    mechanism = FunctionMechanism(function=counted, claims=claims, numbers=(0.0, 1.0))
    group = replace(flip_group(queries=1), pairs=PAIRS)
    # so that calls are counted here
    settings = Settings(mode="monte-carlo", budget=1000, executor="inline", stop_early=False)
    results = list(assay([target_of(mechanism)], group, settings))
    assert [result.verdict for result in results] == ["refuted", "refuted", "refuted"]
    # one block of both sides again, single rows, and the refutation in 16 processes
    guards = 2 * 1000 + 2 * 8 * (1000 // (8 * 8)) + 2 * 16 * (1000 // 16)
    few = Budget(draws=1000, alpha=1e-3 / 3).of(target_of(mechanism)).screening((group,))
    assert few == 211
    # pilot, half-lines and means; both phases and sides
    assert sum(calls) == 1000 + 2 * (2 * (few + 1000) + guards)
    calls.clear()

    def label(data: Labelled, queries: Points, size: int, rng: Rng) -> NDArray[Any]:
        calls.append(size)
        return response(1.0)(data, queries, size, rng)

    labels = FunctionMechanism(function=label, claims=(DP(epsilon=1.0), Stability(gamma=0.5)))
    for result in assay([target_of(labels)], group, settings):
        assert result.verdict == "not refuted"
    few = Budget(draws=1000, alpha=1e-3 / 2).of(target_of(labels)).screening((group,))
    assert few == 111
    assert sum(calls) == 2 * (few + 1000) + 2 * 1000 + 2 * 200


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"claim": Stability(gamma=0.1), "numbers": (0, 1)}, "is about labels"),
        ({"claim": PredictionStability(gamma=0.1)}, "is about real predictions"),
        ({"claim": PredictionStability(gamma=0.1), "numbers": ANY}, "no certified mean"),
        ({"claim": PredictionStability(gamma=1e300), "numbers": (-1e308, 1e308)}, "too wide"),
        ({"claim": DP(epsilon=1.0), "numbers": (1, 0)}, "the least below the greatest"),
        ({"claim": DP(epsilon=1.0), "numbers": (0, 1), "labels": (0, 1)}, "not both"),
    ],
)
def test_what_does_not_go_together(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        audit(score, pairs=PAIRS, queries=QUERIES, **arguments)


def test_events_of_numbers_without_coins_have_no_exact_form() -> None:
    result = audit(Share(), claim=DP(epsilon=1.0), pairs=PAIRS, queries=QUERIES, mode="exact")
    assert result.verdict == "error"
    assert "no exact law for these data and claims" in result.outcome.reason


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1.5, -0.1])
def test_a_number_outside_its_range_is_an_error(bad: float) -> None:
    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> NDArray[Any]:
        return np.full((size, len(queries)), bad)

    result = audited(answer, DP(epsilon=1.0), numbers=(0, 1))
    assert result.verdict == "error"
    assert "expected a finite number in [0, 1]" in result.outcome.reason


@pytest.mark.parametrize("gamma", [0.0, -0.1, 1.1, math.nan])
def test_stability_of_impossible_rates(gamma: float) -> None:
    with pytest.raises(InvalidInput, match="gamma"):
        Stability(gamma=gamma)


def test_more_than_one_finalist_where_there_are_few_queries() -> None:
    """Two leaking pairs of twenty, one query: both are certified, with two that do not leak."""

    def answer(data: Labelled, queries: Points, size: int, rng: Rng) -> NDArray[Any]:
        p = 0.5 + 0.3 * data.y[3] - 0.2 * data.y[5]
        return np.asarray(rng.random((size, len(queries))) < p, dtype=int)

    pairs = flip_group(records=20, changes=tuple(map(FlipLabel, range(20)))).pairs
    result = audited(answer, DP(epsilon=1.0), pairs=pairs, queries=[[0.0]], budget=5000)
    assert len(evidence_of(result).cells) == 1
    assert evidence_of(result).worst.pair == 3
    assert evidence_of(result).searched["certified_cells"] == 4
    assert {3, 5} < set(result.to_frame()["pair"])
    assert evidence_of(result).worst.lower.alpha == pytest.approx(0.001 / 2 / 4)


@pytest.mark.parametrize(
    ("claim", "numbers"), [(DP(epsilon=1.0), ANY), (PredictionStability(gamma=0.25), (-3.0, 4.0))]
)
def test_no_number_depends_on_who_runs_the_trials(
    claim: Claim, numbers: tuple[float, float]
) -> None:
    def clipped(data: Labelled, queries: Points, size: int, rng: Rng) -> NDArray[Any]:
        return np.clip(noisy(1.0)(data, queries, size, rng), -3, 4)

    pairs = replace_one(np.zeros((6, 1)), np.zeros(6, dtype=int))
    how: dict[str, Any] = {"pairs": pairs, "numbers": numbers, "budget": 1000}
    here, apart = audited(clipped, claim, **how), audited(clipped, claim, **how, **TWO_WORKERS)
    assert valid(here) == valid(apart)
