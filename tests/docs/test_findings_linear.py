"""docs/findings.md on linear classifiers of Chaudhuri and Vinterbo (2013) is what is computed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpassay.api import audit
from dpassay.claims import DP, ScoreStability
from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import LogisticMargin
from dpassay.mechanisms.chaudhuri_vinterbo_2013.objective_perturbation import ObjectivePerturbation
from dpassay.mechanisms.chaudhuri_vinterbo_2013.output_perturbation import OutputPerturbation
from dpassay.targets.resolve import resolve
from tests.docs.findings_pages import printed, section, table
from tests.mechanisms.chaudhuri_vinterbo_2013 import twin_perturbation as twin

LOSS = "(logistic|huber)"
PRIVACY = [
    *((ObjectivePerturbation, row) for row in table(LOSS, 6, 7, section("Algorithm 3"))),
    *((OutputPerturbation, row) for row in table(LOSS, 6, 5, section("Algorithm 4"))),
]


@pytest.mark.parametrize(("made", "row"), PRIVACY, ids=str)
def test_privacy(made: Any, row: Any) -> None:
    loss, lambda_, n, *said = row
    mechanism = made(loss=loss, lambda_=float(lambda_), n=int(n), m=0)
    claims = [claim for claim in mechanism.claims if isinstance(claim, DP)]
    most, true = claims[0].epsilon, audit(mechanism, claim=claims[0], mode="exact").exact
    assert true is not None
    numbers = most, claims[-1].epsilon, true, most / true
    assert tuple(said) == printed("{:.6f} {:.6f} {:.6f} {:.3f}", *numbers)
    assert audit(mechanism, claim=claims[-1], mode="exact").verdict == "not refuted"


@pytest.mark.parametrize(
    ("lambda_", "W", "angle", "loss"), table(r"([\d.e-]+)", 3, 5, section("Algorithm 3"))
)
def test_two_dimensions(lambda_: str, W: str, angle: str, loss: str) -> None:
    w, D, E = twin.two_dimensions(float(lambda_), math.radians(float(angle)), float(W), 10**6)
    assert f"{twin.loss_at(w, D, E, twin.logistic(), float(lambda_), 1.0):.6f}" == loss


@pytest.mark.parametrize(
    "row", table(rf"([a-z-]+) \| {LOSS} \| ([a-z]+)", 6, 10, section("Theorem 4")), ids=" ".join
)
def test_score_stability(row: Any) -> None:
    name, loss, g, lambda_, n, *said = row
    mechanism: Any = resolve(name, {"loss": loss, "g": g, "lambdas": lambda_, "n": n}).mechanism
    claims = [claim for claim in mechanism.claims if isinstance(claim, ScoreStability)]
    results = [audit(mechanism, claim=claim, mode="exact") for claim in claims]
    numbers = *(claim.beta2 for claim in claims), *(result.exact for result in results)
    assert tuple(said) == printed("{:.6f} {:.6f} {:.6f} {:.6f}", *numbers)
    first = "refuted" if float(said[2]) > 0.01 else "not refuted"
    assert [result.verdict for result in results] == [first, "not refuted"]


def test_the_numbers_in_the_text() -> None:
    """t*, M, 1.0516 at 4.032, and the hand-sized pair."""
    at, most = LogisticMargin().turn
    peak = LogisticMargin.peak
    numbers = printed("{:.4f} {:.4f} {:.4f} {:.3f}", peak, peak * twin.sigma(-peak), most, at)
    assert numbers == ("1.2785", "0.2785", "1.0516", "4.032")
    D, E = [((1.0,), 1), ((-1.0,), 1)], [((-1.0,), 2)]
    found = twin.loss_at((0.5 + 1e-12,), D, E, twin.huber(0.5), 0.5, 1.0)
    assert printed("{:.3f} {:.3f}", found, 1 + math.log(2)) == ("1.693", "1.693")


def test_no_extra_term_for_the_logistic_loss_where_alpha_lambda_n_is_two() -> None:
    for alpha, lambda_, n in ((0.15, 0.001, 15216), (1.0, 0.1, 20), (0.5, 1.0, 4)):
        mechanism = ObjectivePerturbation(alpha=alpha, lambda_=lambda_, n=n, m=0, d=2)
        claims = [claim for claim in mechanism.claims if isinstance(claim, DP)]
        assert claims[1].epsilon == pytest.approx(alpha, rel=1e-11)


@pytest.mark.parametrize(
    ("length", "claimed", "loss"),
    table(r"([\d.e-]+)", 2, 4, section("Algorithm 3 with the hinge loss")),
)
def test_the_hinge_loss_loses_the_more_the_closer_one_looks(
    length: str, claimed: str, loss: str
) -> None:
    edges = f"1;{1 + float(length)!r}"
    mechanism: Any = resolve("algorithm-3-hinge-loss", {"edges": edges}).mechanism
    (claim, *_) = mechanism.claims
    result = audit(mechanism, claim=claim, mode="exact")
    assert result.exact is not None
    assert f"{result.exact:.{len(loss.split('.')[1])}f}" == loss
    assert (claim.promised, result.verdict) == (float(claimed), "refuted")
    t = float(length)
    by_hand = math.log(
        (math.exp(-0.1) - math.exp(-0.6 - 0.1 * t)) / (math.exp(-1.1) * -math.expm1(-0.1 * t))
    )
    assert result.exact == pytest.approx(by_hand, abs=1e-3 if t < 1e-6 else 1e-6)
