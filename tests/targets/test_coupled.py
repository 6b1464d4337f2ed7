"""Score stability: one random string for both sides, against shares worked out by hand."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import DP, Claim, ScoreStability, claim_from_json
from dpassay.data import Labelled
from dpassay.engine.domains.domain import Domain
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.pairs import AnyOf, Compared, FlipLabel, Pairs, Replace, change_from_json
from dpassay.record.replay import replay
from dpassay.record.witness import make_witness
from dpassay.reports.run.view import make_view
from tests.core.toys import flip_group, target_of
from tests.engine.recorded import recorded

Array = NDArray[np.float64]
TRAIN, VALIDATE = 4, 2
BASE = Labelled(np.zeros((TRAIN + VALIDATE, 1)), np.array([0, 0, 1, 1, 1, 1]))


@dataclass(frozen=True, kw_only=True)
class NoisyShare:
    """Releases the share of ones in T plus theta R, R uniform on [0, 1].

    Its score is the share of V that the rounded release predicts right: 0 or 1 for V all ones.
    """

    theta: float = 1.0
    second: float | None = None
    error: float = 0.0
    delta: float = 0.3

    @property
    def thetas(self) -> tuple[float, ...]:
        return (self.theta,) if self.second is None else (self.theta, self.second)

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (ScoreStability(beta1=1.0, beta2=1.0, delta=self.delta),)

    def sizes(self, data: Labelled) -> tuple[int, int]:
        return len(data) - VALIDATE, VALIDATE

    def noise(self, size: int, rng: np.random.Generator) -> Array:
        return rng.random(size)

    def apply(self, data: Labelled, theta: float, R: Array) -> Array:
        return float(data.y[:TRAIN].mean()) + theta * R

    def score(self, trained: Array, data: Labelled) -> tuple[Array, float]:
        return np.where(trained >= 1, data.y[TRAIN:].mean(), 1 - data.y[TRAIN:].mean()), self.error

    def bad_share(self, state: Compared, claim: ScoreStability) -> tuple[float, float]:
        return (0.25 if claim.beta1 < TRAIN else 0.0), 1e-15

    def pairs(self) -> tuple[Any, ...]:
        return ()


def run(
    trainer: NoisyShare, *changes: Any, claim: ScoreStability | None = None, **arguments: Any
) -> Any:
    pairs = Pairs(base=BASE, changes=changes or (FlipLabel(0),), how="by hand")
    given = {"executor": "inline"} | arguments
    return audit(trainer, claim=claim, pairs=pairs, queries=[[0.0]], mode="monte-carlo", **given)


def test_the_share_of_bad_strings_is_bounded_from_both_sides() -> None:
    """A flipped label moves the release by 1/4: the score jumps by 1 for R in [1/4, 1/2)."""
    result = run(NoisyShare(), confidence=0.99)
    assert result.lower <= 0.25 <= result.upper
    assert result.lower == pytest.approx(0.25, abs=0.02)
    assert result.verdict == "not refuted"
    claim = ScoreStability(beta1=1.0, beta2=1.0, delta=0.2)
    assert run(NoisyShare(), claim=claim).verdict == "refuted"


def test_a_neighbour_may_be_chosen_after_the_string() -> None:
    """Up is bad for R in [1/4, 1/2), down for R in [1/2, 3/4): together for half of them."""
    claim = ScoreStability(beta1=1.0, beta2=1.0, delta=0.4)
    assert run(NoisyShare(), FlipLabel(0), claim=claim).verdict == "not refuted"
    both = run(NoisyShare(), FlipLabel(0), FlipLabel(2), claim=claim)
    assert both.verdict == "refuted"
    assert both.lower == pytest.approx(0.5, abs=0.03)


def test_any_theta_makes_a_string_bad() -> None:
    """At theta = 1/2 the flip is bad for R in [1/2, 1)."""
    claim = ScoreStability(beta1=1.0, beta2=1.0, delta=0.6)
    assert run(NoisyShare(second=0.5), claim=claim).lower == pytest.approx(0.75, abs=0.03)


def test_validation_records_are_held_against_their_own_beta() -> None:
    """One of two labels of V moves the score by 1/2, beta2 / m with beta2 = 1, and never more."""
    for beta2, bad in ((1.0, 0.0), (0.9, 1.0)):
        claim = ScoreStability(beta1=9.0, beta2=beta2, delta=0.5)
        found = run(NoisyShare(), FlipLabel(TRAIN), claim=claim)
        assert found.lower == pytest.approx(bad, abs=0.01)


def test_the_numerical_error_of_a_score_is_taken_off() -> None:
    assert run(NoisyShare(error=0.4)).lower == 0
    assert run(NoisyShare(error=0.3)).lower > 0.2


def test_a_claim_that_no_string_is_bad_is_refuted_by_a_few_and_is_never_inconclusive() -> None:
    none = ScoreStability(beta1=4.0, beta2=1.0)
    assert run(NoisyShare(), claim=none).verdict == "not refuted"
    assert run(NoisyShare(), claim=ScoreStability(beta1=3.9, beta2=1.0)).verdict == "refuted"


def test_an_exact_share_decides_without_trials() -> None:
    pairs = Pairs(base=BASE, changes=(FlipLabel(0),), how="by hand")
    result = audit(NoisyShare(), pairs=pairs, queries=[[0.0]], mode="exact")
    assert result.exact == pytest.approx(0.25, abs=1e-12)
    assert result.evidence is not None
    assert result.evidence.trials == 0


def test_witnesses_replay_records_are_valid_and_reports_are_made() -> None:
    result = run(NoisyShare(), FlipLabel(0), FlipLabel(2), budget=2000)
    witness = make_witness(result)
    assert witness is not None
    assert claim_from_json(witness["claim"]) == result.claim
    again = replay(json.loads(json.dumps(witness)), trusted=True)
    assert again.reproduced
    record = recorded([result], 0.95)
    (shown,) = make_view(record).results
    assert shown.claim == "δ = 0.3 (β₁ = 1, β₂ = 1)"
    assert "same random string" in shown.parts[0].texts[0]


def test_answers_and_scores_of_one_mechanism_are_audited_side_by_side() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Both(NoisyShare):
        @property
        def claims(self) -> tuple[Claim, ...]:
            return (ScoreStability(beta1=4.0, beta2=1.0), DP(epsilon=1.0))

        def prepare(self, data: Labelled) -> Labelled:
            return data

        def sample(self, state: Labelled, queries: Array, size: int, rng: Any) -> Any:
            return rng.random((size, len(queries))) < 0.4 + 0.2 * (state.y[0] == 0)

    group = flip_group(TRAIN + VALIDATE, queries=3)
    group = replace(group, pairs=Pairs(base=BASE, changes=(FlipLabel(0),), how="x"))
    results = assay([target_of(Both())], group, Settings(budget=5000, executor="inline"))
    found = [(type(result.claim), result.verdict) for result in results]
    assert found == [(DP, "not refuted"), (ScoreStability, "not refuted")]


def test_there_is_no_exhaustive_mode() -> None:
    settings = Settings(mode="exhaustive", domain=Domain(n=6, points=1))
    (result,) = assay([target_of(NoisyShare())], None, settings)
    assert result.verdict == "error"
    assert "no exhaustive mode" in result.outcome.reason


@pytest.mark.parametrize(
    ("numbers", "name"),
    [({"beta1": -1.0, "beta2": 0.0}, "beta1"), ({"beta1": 0.0, "beta2": math.inf}, "beta2"),
     ({"beta1": 0.0, "beta2": 0.0, "delta": 1.0}, "delta")],
)  # fmt: skip
def test_claims_are_checked(numbers: dict[str, float], name: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        ScoreStability(**numbers)  # type: ignore[arg-type]


def test_a_claim_about_scores_needs_a_trainer() -> None:
    with pytest.raises(InvalidInput, match="noise, apply and score"):
        audit(
            lambda data, queries, size, rng: np.zeros((size, 1)),
            claim=ScoreStability(beta1=1.0, beta2=1.0),
            pairs=Pairs(base=BASE, changes=(FlipLabel(0),), how="x"),
            queries=[[0.0]],
        )


def test_a_choice_of_changes_is_written_down_and_read_back() -> None:
    change = AnyOf((FlipLabel(3), Replace(1, np.array([2.0]), 1)))
    back = change_from_json(json.loads(json.dumps(change.as_json(by_value=True))), None)
    assert isinstance(back, AnyOf)
    assert [str(each) for each in back.changes] == [str(each) for each in change.changes]
    assert (change.index, change.at(2).index) == (1, 2)
    assert str(AnyOf((FlipLabel(0),) * 7)).endswith("or one of 2 more")
    with pytest.raises(InvalidInput, match="at least one"):
        AnyOf(())
