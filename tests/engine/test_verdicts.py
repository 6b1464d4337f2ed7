"""The verdict follows from certified bounds alone."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any

import numpy as np
import pytest

from dpassay.claims import DP, Claim, PredictionStability, Stability
from dpassay.engine.evidence import Cell, DetectionCurve, Evidence, GoodnessOfFit, Mode
from dpassay.engine.settings import Settings
from dpassay.engine.verdicts import FIT_ALARM, decide
from dpassay.mechanism import FunctionMechanism
from dpassay.stats.bounds import Bound, Computed, Counts, Estimate
from tests.core.toys import flip_group, target_of

CLAIM = DP(epsilon=1.0)


def evidence(
    mode: Mode,
    lower: float,
    upper: float,
    detectable: float = 1.2,
    error: float = 0.0,
    *,
    assumed: bool = False,
    **more: Any,
) -> Evidence:
    """Evidence with these bounds."""
    counts = Counts(x=30, n1=40, y=10, n0=40) if mode == "monte-carlo" else None
    low = Bound(value=lower, alpha=0.01, method="test", counts=counts)
    high = Bound(value=upper, alpha=0.01, method="test")
    exact = None if mode == "monte-carlo" else Computed(value=lower + error, error=error)
    cell = Cell(
        group=0, pair=0, query=0, direction="S to S'", event=(1,), p1=0.75, p0=0.25, lower=low,
        upper=high, exact=exact
    )  # fmt: skip
    sight = DetectionCurve(
        detectable=detectable, frequency=0.1 if mode == "monte-carlo" else None, assumed=assumed
    )
    return Evidence(
        mode=mode, lower=low, upper=high, cells=(cell,), worst=cell, groups=(flip_group(),),
        sight=sight, trials=0, alpha=0.01,
        searched={}, table={"lower": np.array([lower]), "upper": np.array([upper])}, **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "word", "said"),
    [
        (evidence("monte-carlo", 1.001, 2.0), "refuted", "30 of 40 against 10 of 40"),
        (evidence("monte-carlo", 1.0, 2.0), "not refuted", "the claim allows 1"),
        (evidence("monte-carlo", 0.2, 0.5), "not refuted", "the loss is at least 0.2"),
        (evidence("monte-carlo", 0.2, 9.0), "not refuted", "the loss is at least 0.2"),
        (evidence("monte-carlo", 0.2, 9.0, detectable=1.51), "inconclusive",
         "1.51 or more through an answer of probability 0.1"),
        (evidence("monte-carlo", 0.2, 9.0, detectable=math.inf), "inconclusive",
         "a loss of a size that is not promised through an answer of"),
        (evidence("monte-carlo", 0.0, 0.3), "inconclusive", "saw nothing move"),
        (evidence("monte-carlo", 0.2, 1.4, assumed=True), "not refuted",
         "the loss is at least 0.2"),
        (evidence("monte-carlo", 0.2, 1.6, assumed=True), "inconclusive",
         "did, the loss may be above 1.5"),
        (evidence("monte-carlo", 1.1, 9.0, detectable=math.inf), "refuted", "at least 1.1"),
        (evidence("exact", 1.1, 1.1), "refuted", "the worst loss at the audited cells is 1.1"),
        (evidence("exact", 1.692061, 1.693729, error=0.000834), "refuted",
         "at the audited cells is at least 1.692061;"),
        (evidence("exact", 0.2, 0.202, error=0.001), "not refuted",
         "audited cells is between 0.200000 and 0.202000;"),
        (evidence("exact", math.inf, math.inf), "refuted",
         "the worst loss at the audited cells is ∞"),
        (evidence("exact", 0.9, 0.9, detectable=9.0), "not refuted", "audited cells is 0.9"),
        (evidence("exact", 1 - 1e-15, 1 + 1e-15, error=1e-15), "not refuted",
         "equal to the claim within numerical"),
        (evidence("exhaustive", 0.9, 0.9, domain="all of it"), "verified",
         "worst loss over all of it is 0.9"),
        (evidence("exhaustive", 1 - 1e-15, 1 + 1e-15, error=1e-15, domain="all"), "verified",
         "within numerical error"),
        (evidence("exhaustive", 1.1, 1.1, domain="all"), "refuted",
         "the worst loss over all is 1.1"),
    ],
)  # fmt: skip
def test_word_and_reason(found: Evidence, word: str, said: str) -> None:
    verdict = decide(CLAIM, found, detect=1.5)
    assert verdict.word == word
    assert said in verdict.reason


def test_equal_to_a_claim_is_what_its_bounds_carry() -> None:
    """A leak known to lie in [.9, 1 + 1e-10] was called equal to a claim of 1, and .333333 equal to
    .333334."""
    wide = decide(CLAIM, evidence("exact", 0.9, 1 + 1e-10, error=0.05), detect=1.5).reason
    assert "equal" not in wide
    assert "above the claim by rounding at most; the claim allows 1" in wide
    third = evidence("exact", 1 / 3 - 1e-15, 1 / 3 + 1e-15, error=1e-15)
    said = decide(Stability(gamma=1 / 3), third, detect=0.5).reason
    assert said.endswith(
        "is 0.333333, equal to the claim within numerical error; the claim allows 0.333334 "
        "(rounded up)"
    )


@pytest.mark.parametrize(
    ("claimed", "value", "error", "word"),
    [
        (1e-10, 1e-10, 4e-10, "inconclusive"),  # the truth may be five times the claim
        (1e-10, 1e-10, 0.9e-19, "not refuted"),
        (1e-10, 0.0, 0.0, "not refuted"),
        (1e-100, 0.0, 0.0, "not refuted"),
        (1e6, 1e6, 0.9e-3, "not refuted"),
        (1e6, 1e6, 1.1e-3, "inconclusive"),
    ],
)
def test_rounding_is_a_part_of_the_claim(
    claimed: float, value: float, error: float, word: str
) -> None:
    found = evidence("exact", max(0.0, value - error), value + error, error=error)
    assert decide(PredictionStability(gamma=claimed), found, detect=2 * claimed).word == word


@pytest.mark.parametrize("mode", ["exact", "monte-carlo"])
@pytest.mark.parametrize("above", [1e-2, 1e-9, 2.5e-16])
def test_a_refutation_shows_the_digits_that_tell(mode: Mode, above: float) -> None:
    claim = Stability(gamma=0.46211715)
    reason = decide(claim, evidence(mode, claim.gamma + above, 0.5), detect=0.5).reason
    found, allowed = (float(number) for number in re.findall(r"0\.\d+", reason))
    assert found > allowed
    assert len(reason) < 140


@pytest.mark.parametrize(
    ("claim", "numbers", "most"),
    [
        (Stability(gamma=1.0), None, 1.0),
        (PredictionStability(gamma=3.0), (-1.0, 2.0), 3.0),
        (PredictionStability(gamma=9), (0, 1), 1.0),
    ],
    ids=str,
)
def test_a_claim_that_cannot_be_exceeded_is_not_refuted_by_a_blind_audit(
    claim: Claim, numbers: Any, most: float
) -> None:
    mechanism = FunctionMechanism(function=lambda *_: None, claims=(claim,), numbers=numbers)
    assert target_of(mechanism).most(claim) == most
    blind = evidence("monte-carlo", 0.2, 0.9, detectable=math.inf)
    verdict = decide(claim, blind, Settings().wanted(claim, most), most)
    assert verdict.word == "not refuted"
    assert verdict.reason.endswith("which cannot be exceeded")


def test_what_is_asked_for_is_above_the_claim_and_can_be() -> None:
    wanted = Settings().wanted
    assert wanted(DP(epsilon=1.0), math.inf) == 1.5
    assert wanted(Stability(gamma=0.5), 1.0) == 0.75
    assert wanted(Stability(gamma=0.8), 1.0) == pytest.approx(0.9)
    assert wanted(PredictionStability(gamma=6.0), 8.0) == 7.0
    assert Settings(detect=0.7).wanted(Stability(gamma=0.5), 1.0) == 0.7


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("mode", ["monte-carlo", "exact", "exhaustive"])
def test_an_estimate_decides_nothing(side: str, mode: Mode) -> None:
    guess: Any = {side: Estimate(value=3.0, method="plug-in")}
    guessed = dataclasses.replace(evidence(mode, 1.5, 2.0), **guess)
    with pytest.raises(TypeError, match="a verdict needs certified bounds, not Estimate"):
        decide(CLAIM, guessed, detect=1.5)


@pytest.mark.parametrize(
    ("p_value", "word"), [(FIT_ALARM / 2, "error"), (FIT_ALARM, "refuted"), (1.0, "refuted")]
)
def test_a_sampler_that_belies_its_law_ends_as_error(p_value: float, word: str) -> None:
    found = evidence("exact", 1.5, 1.5, fit=GoodnessOfFit(draws=10, tests=4, p_value=p_value))
    assert decide(CLAIM, found, detect=1.5).word == word


@pytest.mark.parametrize("mode", ["monte-carlo", "exact", "exhaustive"])
def test_words_that_no_verdict_uses(mode: Mode) -> None:
    said = decide(CLAIM, evidence(mode, 0.1, 0.5, domain="d"), 1.5)
    assert not re.search("private|safe|passed", f"{said.word} {said.reason}")
