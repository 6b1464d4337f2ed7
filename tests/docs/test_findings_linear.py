"""docs/findings.md on linear classifiers is held to what the code computes.

Those of Chaudhuri and Vinterbo (2013).
"""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from dpassay.api import audit
from dpassay.claims import DP, ScoreStability
from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import LogisticMargin
from dpassay.mechanisms.chaudhuri_vinterbo_2013.objective_perturbation import ObjectivePerturbation
from dpassay.mechanisms.chaudhuri_vinterbo_2013.output_perturbation import OutputPerturbation
from dpassay.targets.resolve import resolve
from tests.docs.findings_pages import FINDINGS as PAGE
from tests.mechanisms.chaudhuri_vinterbo_2013 import twin_perturbation as twin

N = r"([\d.e-]+)"
SECTIONS = {
    name: PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]
    for name in ("Algorithm 3", "Algorithm 4", "Theorem 4")
}
PRIVACY = [
    (algorithm, *row)
    for algorithm in ("Algorithm 3", "Algorithm 4")
    for row in re.findall(
        rf"^\| (logistic|huber) \| {N} \| {N} \| {N} \| {N} \| {N} \| {N} \|$",
        SECTIONS[algorithm],
        re.MULTILINE,
    )
]
PLANE = re.findall(rf"^\| {N} \| {N} \| {N} \| {N} \|$", SECTIONS["Algorithm 3"], re.MULTILINE)
HINGE_LOSS = PAGE.split("\n## Algorithm 3 with the hinge loss\n")[1].split("\n## ")[0]
HINGE = re.findall(rf"^\| {N} \| {N} \| {N} \|$", HINGE_LOSS, re.MULTILINE)
SHARES = re.findall(
    r"^\| ([a-z-]+) \| (logistic|huber) \| ([a-z]+)" + rf" \| {N}" * 6 + r" \|$",
    SECTIONS["Theorem 4"],
    re.MULTILINE,
)


def test_the_page_has_its_rows() -> None:
    assert (len(PRIVACY), len(PLANE), len(SHARES), len(HINGE)) == (12, 5, 10, 4)


@pytest.mark.parametrize("row", PRIVACY, ids="-".join)
def test_privacy(row: Any) -> None:
    algorithm, loss, lambda_, n, printed, corrected, true, factor = row
    made = ObjectivePerturbation if algorithm == "Algorithm 3" else OutputPerturbation
    mechanism = made(loss=loss, lambda_=float(lambda_), n=int(n), m=0)
    claims = [claim for claim in mechanism.claims if isinstance(claim, DP)]
    result = audit(mechanism, claim=claims[0], mode="exact")
    assert result.exact is not None
    assert [f"{value:.6f}" for value in (claims[0].epsilon, claims[-1].epsilon, result.exact)] == [
        printed,
        corrected,
        true,
    ]
    assert f"{claims[0].epsilon / result.exact:.3f}" == factor
    assert audit(mechanism, claim=claims[-1], mode="exact").verdict == "not refuted"


@pytest.mark.parametrize(("lambda_", "W", "angle", "loss"), PLANE)
def test_two_dimensions(lambda_: str, W: str, angle: str, loss: str) -> None:
    w, D, E = twin.two_dimensions(float(lambda_), math.radians(float(angle)), float(W), 10**6)
    assert f"{twin.loss_at(w, D, E, twin.logistic(), float(lambda_), 1.0):.6f}" == loss


@pytest.mark.parametrize("row", SHARES, ids="-".join)
def test_score_stability(row: Any) -> None:
    name, loss, g, lambda_, n, printed, corrected, bad, bad_then = row
    mechanism: Any = resolve(name, {"loss": loss, "g": g, "lambdas": lambda_, "n": n}).mechanism
    claims = [claim for claim in mechanism.claims if isinstance(claim, ScoreStability)]
    assert [f"{claim.beta2:.6f}" for claim in claims] == [printed, corrected]
    results = [audit(mechanism, claim=claim, mode="exact") for claim in claims]
    assert [f"{result.exact:.6f}" for result in results] == [bad, bad_then]
    assert [result.verdict for result in results] == [
        "refuted" if float(bad) > 0.01 else "not refuted",
        "not refuted",
    ]


def test_the_numbers_in_the_text() -> None:
    """t*, M, 1.0516 at 4.032; alpha lambda n on Magic; the hand-sized pairs and strings."""
    at, most = LogisticMargin().turn
    peak = LogisticMargin.peak
    assert [f"{peak:.4f}", f"{peak * twin.sigma(-peak):.4f}", f"{most:.4f}", f"{at:.3f}"] == [
        "1.2785",
        "0.2785",
        "1.0516",
        "4.032",
    ]
    assert f"{0.15 * 0.001 * 0.8 * 19020:.2f}" == "2.28"
    D, E = [((1.0,), 1), ((-1.0,), 1)], [((-1.0,), 2)]
    assert (
        f"{twin.loss_at((0.5 + 1e-12,), D, E, twin.huber(0.5), 0.5, 1.0):.3f}"
        == f"{1 + math.log(2):.3f}"
        == "1.693"
    )
    assert f"{1 + 2 * math.log(2):.3f}" == "2.386"
    beta2 = (1 + math.log(100) / 100) / 2
    assert [
        f"{beta2:.3f}",
        f"{100 * (-beta2 / 2 - 0.5):.1f}",
        f"{100 * (beta2 / 2 - 0.5):.1f}",
    ] == ["0.523", "-76.2", "-23.8"]
    assert [
        f"{math.log(100):.3f}",
        f"{math.log(100) / 2:.3f}",
        f"{math.exp(-math.log(100) / 2) / 2:.2f}",
    ] == ["4.605", "2.303", "0.05"]


def test_no_extra_term_for_the_logistic_loss_where_alpha_lambda_n_is_two() -> None:
    for alpha, lambda_, n in ((0.15, 0.001, 15216), (1.0, 0.1, 20), (0.5, 1.0, 4)):
        claims = [
            claim
            for claim in ObjectivePerturbation(alpha=alpha, lambda_=lambda_, n=n, m=0, d=2).claims
            if isinstance(claim, DP)
        ]
        assert claims[1].epsilon == pytest.approx(alpha, rel=1e-11)


@pytest.mark.parametrize(("length", "claimed", "loss"), HINGE)
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
    assert (
        f"{(math.exp(-0.1) - math.exp(-0.6)) / 2:.3f}, {0.1 * math.exp(-1.1) / 2:.4f}"
        == "0.178, 0.0166"
    )
