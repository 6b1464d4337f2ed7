"""Exact mode: every cell's loss by hand, numerical doubt, and what ties the sampler to the law."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.engine import exact
from dpassay.engine.exact import (
    Laws,
    both_directions,
    goodness_of_fit,
    group_laws,
    readable,
    two_sided,
)
from dpassay.engine.readings import LabelLeaks
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.pairs import FlipLabel, replace_one
from dpassay.stats.divergence import privacy_loss
from dpassay.targets.groups import silent
from tests.core.toys import Sampled, TableMechanism, WithWorstCase, flip_group, target_of
from tests.engine.recorded import evidence_of

Table = tuple[tuple[float, ...], tuple[float, ...]]
LOPSIDED = ((0.9, 0.1), (0.5, 0.5))
"""ln(.9 / .5) = .588 from S for the label 0, ln(.5 / .1) = 1.609 from S' for the label 1."""


def one(mechanism: TableMechanism, claim: DP | None = None, **settings: object) -> Result:
    """The result on the first claim, with the data of `flip_group`."""
    target = target_of(mechanism)
    if claim is not None:
        target = replace(target, claims=(claim,))
    return next(
        assay([target], flip_group(queries=2), Settings(**settings))  # type: ignore[arg-type]
    )


def test_both_directions_by_hand() -> None:
    target = target_of(TableMechanism(table=LOPSIDED))
    laws = group_laws(target, flip_group(queries=2), silent)
    assert laws is not None
    loss = both_directions(laws, readable(target, DP(epsilon=1.0), laws.law)).value
    assert loss.shape == (2, 1, 2)
    np.testing.assert_allclose(loss[0], math.log(0.9 / 0.5), atol=1e-12)
    np.testing.assert_allclose(loss[1], math.log(0.5 / 0.1), atol=1e-12)


@pytest.mark.parametrize("places", [1, 7, 100])
def test_pairs_taken_together_or_apart_leak_the_same(
    places: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    base, neighbours = (rng.dirichlet(np.ones(3), size) for size in (4, (5, 4)))
    law = FiniteLaw(log_p=np.log(base), error=1e-9)
    laws = Laws(base=law.log_p, neighbours=np.log(neighbours), error=1e-9, law=law)
    leaks = LabelLeaks(claim=DP(epsilon=1.0), labels=(0, 1, 2))
    monkeypatch.setattr(exact, "PLACES_AT_ONCE", places)
    found = both_directions(laws, leaks)
    for pair, query in np.ndindex(5, 4):
        sides = laws.base[query], laws.neighbours[pair, query]
        for direction in (0, 1):
            alone = leaks.loss(sides[direction], sides[1 - direction], 1e-9)
            assert found.value[direction, pair, query] == alone.value
            assert found.error[direction, pair, query] == alone.error


@pytest.mark.parametrize("table", [LOPSIDED, LOPSIDED[::-1]])
def test_the_worst_cell_is_found_in_either_direction(table: Table) -> None:
    result = one(TableMechanism(table=table))
    worst = evidence_of(result).worst
    assert result.exact == pytest.approx(math.log(5), abs=1e-12)
    assert result.lower <= math.log(5) <= result.upper
    assert worst.event == (1,)
    assert (worst.p1, worst.p0) == pytest.approx((0.5, 0.1))
    assert worst.direction == ("S' to S" if table == LOPSIDED else "S to S'")
    assert len(evidence_of(result).cells) == 2
    frame = result.to_frame()
    assert len(frame) == 2 * 1 * 2
    assert frame["loss"].max() == pytest.approx(math.log(5))


@pytest.mark.parametrize(
    ("epsilon", "delta", "verdict"),
    [
        (1.6, 0.0, "refuted"),
        (math.log(5), 0.0, "not refuted"),
        (1.61, 0.0, "not refuted"),
        (1.0, 0.23, "not refuted"),
        (1.0, 0.22, "refuted"),
    ],
)
def test_verdicts(epsilon: float, delta: float, verdict: str) -> None:
    """.5 - .23 < .1 e; the claim that equals the loss is not refuted by rounding."""
    assert one(TableMechanism(table=LOPSIDED), DP(epsilon=epsilon, delta=delta)).verdict == verdict


@pytest.mark.parametrize(
    ("table", "verdict", "loss"),
    [
        (((1.0, 0.0), (0.5, 0.5)), "refuted", math.inf),
        (((0.3, 0.7), (0.3, 0.7)), "not refuted", 0.0),
        # a label that neither dataset ever produces says nothing
        (((0.5, 0.5, 0.0), (0.4, 0.6, 0.0)), "not refuted", math.log(0.5 / 0.4)),
    ],
)
def test_impossible_answers_and_equal_laws(table: Table, verdict: str, loss: float) -> None:
    result = one(TableMechanism(table=table))
    assert result.verdict == verdict
    assert result.exact == pytest.approx(loss, abs=1e-12)


def test_without_a_law_exact_mode_is_refused_and_auto_samples() -> None:
    with pytest.raises(InvalidInput, match=r"exact.*: toy has no exact law"):
        one(Sampled(table=LOPSIDED), mode="exact")
    assert one(Sampled(table=LOPSIDED), mode="auto", budget=200).mode == "monte-carlo"
    assert one(TableMechanism(table=LOPSIDED), mode="auto").mode == "exact"
    assert one(TableMechanism(table=LOPSIDED), mode="monte-carlo", budget=200).mode == "monte-carlo"


def test_own_worst_cases_are_audited_beside_the_data_and_alone() -> None:
    target = target_of(WithWorstCase(table=LOPSIDED))
    (beside,) = assay([target], flip_group(), Settings())
    (alone,) = assay([target], None, Settings())
    assert [group.kind for group in evidence_of(beside).groups] == ["data", "own"]
    assert [group.kind for group in evidence_of(alone).groups] == ["own"]
    with pytest.raises(InvalidInput, match="no pairs to audit"):
        next(assay([target_of(TableMechanism(table=LOPSIDED))], None, Settings()))


def test_two_sided_is_twice_the_smaller_tail() -> None:
    law = FiniteLaw(log_p=np.log([[0.3, 0.7], [0.5, 0.5]]), error=0.0)
    p_values = two_sided(np.array([[1, 9], [5, 5]]), 10, law)
    tail = float(2 * (0.7**10 + 10 * 0.3 * 0.7**9))
    np.testing.assert_allclose(p_values, np.array([[tail, tail], [1.0, 1.0]]), rtol=1e-12)


@pytest.mark.parametrize("n", [20, 100])
def test_two_sided_is_a_valid_test(n: int) -> None:
    """P[p-value <= a] <= a for every a, by enumeration."""
    law = FiniteLaw(log_p=np.log([[0.37, 0.63]]), error=0.0)
    k = np.arange(n + 1)
    p_values = np.array([two_sided(np.array([[n - each, each]]), n, law)[0, 1] for each in k])
    mass = binom.pmf(k, n, 0.63)
    for level in np.unique(p_values):
        assert mass[p_values <= level].sum() <= level + 1e-12


def test_impossible_labels_have_p_value_one_or_zero() -> None:
    """Also where a probability is one rounding above 1, which a law admits: NaN is no alarm."""
    for one in (0.0, 2.0**-52):
        law = FiniteLaw(log_p=np.array([[-np.inf, one]]), error=1e-15)
        assert law.p.max() <= 1
        assert two_sided(np.array([[0, 10]]), 10, law).tolist() == [[1, 1]]
        assert two_sided(np.array([[1, 9]]), 10, law).tolist() == [[0, 0]]


def test_a_sampler_that_follows_its_law_raises_no_alarm() -> None:
    fit = goodness_of_fit(target_of(TableMechanism(table=LOPSIDED)), flip_group(queries=2), seed=0)
    assert fit is not None
    assert fit.tests == 2 * 2 * 2
    assert fit.p_value > 1e-3


@pytest.mark.parametrize(
    "declared", [((0.8, 0.2), (0.5, 0.5)), ((0.9, 0.1), (0.6, 0.4))], ids=["base", "neighbour"]
)
def test_a_sampler_that_does_not_follow_its_law_is_an_error(declared: Table) -> None:
    result = one(TableMechanism(table=LOPSIDED, declared=declared, epsilon=5.0))
    assert result.verdict == "error"
    assert "sample and distribution disagree" in result.outcome.reason


def test_only_the_changed_record_matters() -> None:
    group = flip_group(records=3, changes=(FlipLabel(1), FlipLabel(0), FlipLabel(2)))
    (result,) = assay([target_of(TableMechanism(table=LOPSIDED))], group, Settings())
    assert evidence_of(result).worst.pair == 1
    assert evidence_of(result).searched["pairs"] == 3
    assert evidence_of(result).searched["cells"] == 6


def test_an_update_that_is_not_the_neighbour_is_an_error() -> None:
    class Careless(SoftMajority):
        def update(self, state: Any, change: Any) -> Any:
            return state

    pairs = replace_one(np.zeros((5, 1)), [0, 1, 0, 1, 0])
    result = audit(Careless(r=5, learner="majority"), pairs=pairs, queries=[[0.0]], mode="exact")
    assert result.verdict == "error"
    assert "update and prepare disagree" in result.outcome.reason


@dataclass(frozen=True, kw_only=True)
class Unsure(TableMechanism):
    """Declares an error of its law."""

    error: float

    def distribution(self, state: int, queries: NDArray[np.float64]) -> FiniteLaw:
        return replace(super().distribution(state, queries), error=self.error)


@pytest.mark.parametrize(
    ("loss", "error", "verdict"),
    [
        (1.6, 1.0, "inconclusive"),
        (0.5, 1.0, "inconclusive"),
        (1.6, 1e-12, "refuted"),
        (0.5, 1e-12, "not refuted"),
    ],
)
def test_a_law_that_is_not_sure_of_itself_decides_nothing(
    loss: float, error: float, verdict: str
) -> None:
    p = 1 / (1 + math.exp(-loss))
    assert one(Unsure(table=((p, 1 - p), (1 - p, p)), error=error), mode="exact").verdict == verdict


def test_cells_are_ranked_by_what_is_certain() -> None:
    delta = 0.1
    doubtful, clear = np.log([np.nextafter(delta, 1), 0.45, 0.45]), np.log([1e-300, 0.9, 0.1])
    with np.errstate(divide="ignore"):
        base = np.log([1e-300, 0.5, 0.5])
    loss = privacy_loss(np.stack([doubtful, clear]), base, delta, 1e-15)
    assert loss.value[0] > loss.value[1]
    assert loss.certain[1] == pytest.approx(np.log(1.6), abs=1e-9)
    assert loss.certain[1] > loss.certain[0]


def test_probabilities_too_small_for_a_float_are_not_lost() -> None:
    for epsilon in (700.0, 742.0, 744.0, 800.0):
        result = audit(
            SoftMajority(epsilon=epsilon, r=2), claim=DP(epsilon=min(epsilon, 700), delta=0.1)
        )
        assert result.exact == pytest.approx(epsilon + np.log(0.4), abs=1e-6)
        assert result.verdict == ("not refuted" if epsilon == 700 else "refuted")
