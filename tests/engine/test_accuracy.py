"""Claims about an error of one dataset: the first of the two counts, whatever the other is."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay import DP, Accuracy, Domain, PointLaw, audit, replace_one
from dpassay.claims import Claim, claim_from_json
from dpassay.data import Labelled
from dpassay.engine.kinds import leaks_of
from dpassay.errors import InvalidInput
from dpassay.record.replay import replay
from dpassay.record.witness import make_witness
from dpassay.reports.run.result import ResultView
from dpassay.reports.run.story import parts_of
from dpassay.reports.run.words import claim_short
from tests.core.toys import response
from tests.engine.recorded import LabelShare, recorded

ZERO_OR_ONE = replace_one([[0.0], [1.0]], [1, 0])
"""Base with half its labels 1; neighbours with none, and with both."""
QUERIES = [[0.0]]


@dataclass(frozen=True, kw_only=True)
class ShareOfOnes(LabelShare):
    """An error that is the share of labels 1."""

    bound: float = 0.75
    numbers: tuple[float, float] = (0.0, 1.0)
    known: bool = True

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (Accuracy(bound=self.bound, source="by hand"),)

    def distribution(self, state: float, queries: NDArray[np.float64]) -> PointLaw | None:
        return super().distribution(state, queries) if self.known else None


@pytest.mark.parametrize(("bound", "word"), [(0.75, "refuted"), (1.0, "not refuted")])
def test_the_worst_dataset_counts_and_not_the_difference(bound: float, word: str) -> None:
    """The base has .5 and one neighbour 1: a difference of .5 would hold."""
    result = audit(ShareOfOnes(bound=bound), pairs=ZERO_OR_ONE, queries=QUERIES, mode="exact")
    assert (result.verdict, result.exact) == (word, 1.0)


def told(made: dict[str, Any]) -> str:
    """What a report says of a result."""
    parts = parts_of(ResultView(made, "", 0), {"confidence": 0.999})
    return "\n".join(text for part in parts for text in part.texts)


@dataclass(frozen=True, kw_only=True)
class Excess(ShareOfOnes):
    """What the share of labels 1 is beyond .9: below 0 on most datasets."""

    numbers: tuple[float, float] = (-1.0, 1.0)

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (Accuracy(bound=self.bound, excess=True, unit="share beyond .9", source="by hand"),)

    def prepare(self, data: Labelled) -> float:
        return float(data.y.mean()) - 0.9


def test_an_excess_below_0_is_told_as_it_is() -> None:
    """It was cut off at 0. Shown as at most 1e-15, at the first pair instead of the worst, 'at
    least 0' for certain."""
    pairs = replace_one([[0.0], [1.0]], [1, 0], neighbours="flip")
    pairs = replace(pairs, changes=pairs.changes[:1])  # none left: -.9; the base is the worse
    result = audit(Excess(), pairs=pairs, queries=QUERIES, mode="exact")
    assert result.verdict == "not refuted"
    assert result.exact is not None
    assert result.exact == pytest.approx(-0.4)
    assert result.lower <= result.exact <= result.upper < -0.3
    assert (
        "the worst excess error at the audited cells is -0.400000; the claim allows 0.75"
        in result.outcome.reason
    )
    made = recorded([result])["results"][0]
    assert made["claim"]["excess"] is True
    assert claim_from_json(made["claim"]) == result.claim
    assert claim_short(made["claim"]) == "excess error ≤ 0.75"
    shown = told(made)
    assert "the excess error (see the unit) is -0.4 on S, -0.9 on S'" in shown
    assert not re.search("(?<!excess)(?<!numerical) error ", shown.lower())
    assert replay(make_witness(result) or {}, target=result.target).reproduced
    domain = audit(Excess(), domain=Domain(n=1, points=1), mode="exhaustive")
    assert domain.verdict == "verified"
    assert domain.exact == pytest.approx(0.1)


def test_every_dataset_of_a_domain() -> None:
    for bound, word in ((1.0, "verified"), (0.99, "refuted")):
        result = audit(ShareOfOnes(bound=bound), domain=Domain(n=3, points=1), mode="exhaustive")
        assert (result.verdict, result.exact) == (word, 1.0)


def test_record_witness_and_words() -> None:
    result = audit(ShareOfOnes(), pairs=ZERO_OR_ONE, queries=QUERIES, mode="exact")
    made = recorded([result])["results"][0]
    assert claim_from_json(made["claim"]) == result.claim
    assert claim_short(made["claim"]) == "error ≤ 0.75"
    assert "Error of at most 0.75, on every dataset" in told(made)
    assert "the error (see the unit) is 1 on S', 0.5 on S" in told(made)
    again = replay(make_witness(result) or {}, target=result.target)
    assert (again.loss, again.reproduced, again.refuted) == (1.0, True, True)


@pytest.mark.parametrize("bound", [0.0, -1.0, float("inf"), float("nan"), "a"])
def test_a_bound_is_a_finite_number_above_zero(bound: Any) -> None:
    with pytest.raises(InvalidInput, match="bound"):
        Accuracy(bound=bound)


def test_it_is_computed_and_not_sampled() -> None:
    with pytest.raises(InvalidInput, match="computed errors only"):
        audit(ShareOfOnes(), pairs=ZERO_OR_ONE, queries=QUERIES, mode="monte-carlo")
    unknown = audit(ShareOfOnes(known=False), pairs=ZERO_OR_ONE, queries=QUERIES)
    assert unknown.verdict == "error"
    assert "computed errors only" in unknown.outcome.reason


def test_an_error_is_a_number() -> None:
    with pytest.raises(InvalidInput, match="answers labels"):
        audit(response(1.0), claim=Accuracy(bound=1.0), pairs=ZERO_OR_ONE, queries=QUERIES)


def test_no_other_law_has_an_error() -> None:
    law = PointLaw(values=np.zeros(1), error=0.0)
    assert leaks_of(Accuracy(bound=1.0), law, ()) is not None
    assert leaks_of(DP(epsilon=1.0), law, ()) is None


def test_a_claim_without_its_number_is_refused() -> None:
    with pytest.raises(InvalidInput, match="bound is missing: a claim of Accuracy needs it"):
        claim_from_json({"kind": "Accuracy"})
