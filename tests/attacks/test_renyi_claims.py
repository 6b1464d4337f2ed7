"""Claims of RDP and zCDP are held against Rényi losses, from guesses that are counted anyway."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logit
from scipy.stats import binom

from dpassay.attacks.experiment.certified import Rule, certify
from dpassay.attacks.experiment.planning import ABOVE, MOST, enough
from dpassay.attacks.experiment.power import (
    GuessClaim,
    RenyiClaim,
    composed,
    guesses_to_see,
    reach,
    renyi_claim,
)
from dpassay.attacks.experiment.record import make_attack_record
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.observed import Observed
from dpassay.attacks.scores import ATTACKS
from dpassay.claims import DP, RDP, Profile, zCDP
from dpassay.cli.exit_codes import Exit
from dpassay.cli.main import main
from dpassay.record.attack_record import BROKEN, HELD, UNSEEN, broken, told_of_claims
from dpassay.record.schemas import fault
from dpassay.reports.attack.junit import to_junit
from dpassay.reports.attack.pages import to_html, to_markdown
from dpassay.stats.guesses import divergence
from tests.attacks.command import attack, record_of
from tests.attacks.toys import Toy, floor

LOSS = {"loss-threshold": ATTACKS["loss-threshold"]}

ALPHA = 1e-3
RULE = Rule(record=0, threshold=0.5, above=True, expected=1.0)
LOSSES = ("rho=0.5", "alpha=2,epsilon=1")


def told(subject: Toy, claim: DP, targets: int, confidence: float = 0.999) -> dict[str, Any]:
    """Return the record of an experiment on a toy."""
    target = Target(name="toy", subject=subject, claim=claim)
    design = Design(references=16, targets=targets, certified=2, confidence=confidence)
    found = list(experiment([target], floor(), LOSS, design))
    return make_attack_record({"complete": True}, floor().records, found)


def nearest(
    data: Any, queries: NDArray[Any], size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The label of the nearest record, wrong once in a hundred."""
    apart = ((queries[:, None, :] - data.X[None]) ** 2).sum(axis=2)
    labels = np.broadcast_to(data.y[apart.argmin(axis=1)], (size, len(queries)))
    return np.where(rng.random(labels.shape) < 0.01, 1 - labels, labels)


def test_what_several_answers_may_lose() -> None:
    assert renyi_claim(zCDP(0.25), 4) == RenyiClaim(order=None, allowed=1.0)
    assert renyi_claim(RDP(3.0, 0.5), None) == RenyiClaim(order=3.0, allowed=0.5)
    assert renyi_claim(RDP(3.0, 0.5), 8) == RenyiClaim(order=3.0, allowed=4.0)
    for other in (None, DP(epsilon=1.0), DP(epsilon=1.0, delta=0.1), Profile([(1.0, 0.2)])):
        assert renyi_claim(other, 2) is None


def test_of_several_orders_it_is_the_one_that_guesses_break_first() -> None:
    """Another one is broken only by more right guesses, at whatever number of answers."""
    claim = RDP({1.5: 0.9, 2.0: 0.4, 16.0: 5.0})
    for m in (1, 2, 8):
        found = renyi_claim(claim, m)
        assert found is not None
        hits = [
            RenyiClaim(order=order, allowed=m * loss).hit()
            for order, loss in ((1.5, 0.9), (2.0, 0.4), (16.0, 5.0))
        ]
        assert found.hit() == min(hits)
        assert found.loss(found.hit()) == pytest.approx(found.allowed, rel=1e-9)
    assert renyi_claim(claim, 1) == RenyiClaim(order=2.0, allowed=0.4)


@pytest.mark.parametrize("claim", [zCDP(1.0), RDP(2.0, 1.0), RDP(20.0, 3.0)])
def test_guesses_exceed_no_point_of_the_curve_before_they_exceed_the_renyi_loss(claim: DP) -> None:
    """The point that allows the fewest right guesses allows more of them: it is an implication."""
    found, (epsilon, delta) = renyi_claim(claim, 1), composed(claim, 1)
    assert found is not None
    assert found.hit() < (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))


@pytest.mark.parametrize(
    "claim", [RenyiClaim(order=None, allowed=0.5), RenyiClaim(order=2, allowed=1)]
)
def test_cap_and_detectable_by_enumeration(claim: RenyiClaim) -> None:
    trials = 80
    found = reach(claim, trials, alpha=ALPHA)
    assert found.cap == claim.certified(trials, trials, ALPHA)
    least = next(v for v in range(trials + 1) if claim.certified(v, trials, ALPHA) > claim.allowed)
    hits = np.linspace(0.5, 1, 20_001)[1:-1]
    hit = float(hits[np.argmax(binom.sf(least - 1, trials, hits) >= 0.9)])
    assert found.detectable == pytest.approx(claim.loss(hit), rel=1e-3)
    assert reach(claim, 5, alpha=ALPHA).detectable == math.inf


@pytest.mark.parametrize("claim", [zCDP(1.0), RDP(2.0, 1.0)])
def test_a_mechanism_that_just_keeps_its_claim_is_not_broken(claim: DP) -> None:
    """All numbers of a bound rise with one limit: they are valid together, at no further cost."""
    known = renyi_claim(claim, 1)
    assert known is not None
    record = told(Toy(tells=2 * known.hit() - 1, budgets=(1,)), claim, 1000)
    (subject,) = record["subjects"]
    assert told_of_claims(record) == {"toy": HELD}
    for bound in subject["certified"]:
        right = bound["counts"]["x"] + bound["counts"]["n0"] - bound["counts"]["y"]
        renyi = bound["renyi"]
        assert 0.6 * renyi["allowed"] < renyi["lower"] <= renyi["allowed"] < renyi["detectable"]
        assert renyi["lower"] <= renyi["cap"]
        loss = known.certified(right, 1000, bound["alpha"])
        assert renyi["order"] == known.order
        assert renyi["lower"] == pytest.approx(loss, rel=1e-6)
    assert sum(each["alpha"] for each in subject["certified"]) == pytest.approx(1e-3 / 2)


def test_what_breaks_the_claim_and_none_of_its_points() -> None:
    """Guesses right 85.5 times in 100: zCDP(1) allows 82.4, its best point 88."""
    record = told(Toy(tells=0.71, budgets=(1,)), zCDP(1.0), 4000)
    (subject,) = record["subjects"]
    (allowed,) = {each["allowed"]["epsilon"] for each in subject["outcomes"]}
    assert all(each["lower"] < allowed for each in subject["certified"])
    assert any(broken(subject))
    assert told_of_claims(record) == {"toy": BROKEN}


def test_where_no_number_of_right_guesses_exceeds_it_nothing_could_be_seen() -> None:
    record = told(Toy(tells=1.0, budgets=(1,)), zCDP(20.0), 40)
    assert told_of_claims(record) == {"toy": UNSEEN}
    assert not any(broken(record["subjects"][0]))


@pytest.mark.parametrize("claim", [zCDP(0.5), RDP(2.0, 1.0)])
def test_the_default_number_of_models_sees_a_leak_of_everything(claim: DP) -> None:
    target = Target(name="toy", subject=Toy(tells=1.0, budgets=(1,)), claim=claim)
    models = enough([target], LOSS, floor(), Design(), ALPHA)
    known = renyi_claim(claim, 1)
    assert known is not None
    alpha = ALPHA / 2 / Design().certified
    assert models <= MOST
    no_guess_exceeds_it = replace(target, claim=RDP(2.0, 500.0))
    assert enough([no_guess_exceeds_it], {}, floor(), Design(), ALPHA) == 32
    epsilon = float(logit(known.hit()))
    seen = guesses_to_see(GuessClaim(allowed=epsilon), epsilon + ABOVE, alpha=alpha)
    assert models == max(32, seen)
    assert GuessClaim().certified(models, models, alpha) > epsilon
    assert known.certified(models, models, alpha) > known.allowed


def test_bounds_rise_together_with_the_limit() -> None:
    """A Rényi bound that is wrong means that the limit of right guesses is."""
    limits = np.linspace(0.5, 0.999, 200)
    for claim in (RenyiClaim(order=None, allowed=1.0), RenyiClaim(order=2.0, allowed=1.0)):
        losses = [claim.loss(float(hit)) for hit in limits]
        assert all(np.diff(losses) >= 0)
    assert RenyiClaim(order=2.0, allowed=1.0).loss(0.9) == divergence(0.9, 2.0)
    assert RenyiClaim(order=None, allowed=1.0).loss(1.0) == math.inf


def test_right_guesses_are_kept_with_the_bound() -> None:
    own = np.array([[0.9], [0.1], [0.9], [0.1]])
    seen = Observed(seen=np.stack([1 - own, own], axis=2), y=np.ones(1, dtype=np.int64))
    inside = np.array([[True], [False], [False], [False]])
    (found,) = certify([RULE], seen, inside, delta=0.0, alpha=0.1)
    assert (found.right, found.guesses) == (3, 4)


@pytest.fixture(scope="module", params=LOSSES)
def leaking(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an attack on `nearest`, at the default number of models."""
    folder = tmp_path_factory.mktemp("renyi")
    words = f"{__name__}:nearest --claim {request.param} --against mechanism --records 40 -q"
    words += " --references 8 --attacks gap --budgets 1 --transcripts 0 --copies 0"
    assert attack(f"{words} --out {folder}") == Exit.REFUTED
    return folder


def test_a_leak_of_everything_is_broken_and_told(
    leaking: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = record_of(leaking)
    bound = max(record["subjects"][0]["certified"], key=lambda each: each["renyi"]["lower"])
    renyi = bound["renyi"]
    assert renyi["lower"] > renyi["allowed"]
    name = "ρ" if renyi["order"] is None else "Rényi loss of order 2"
    words = f"{name} ≥ {renyi['lower']:.4g}"[:-1]  # rounded down
    for page in (to_html(record), to_markdown(record)):
        assert "Rényi losses" in page
        assert words in page
    story = "".join(ET.fromstring(to_junit(record)).itertext())
    assert words in story
    assert ": broken" in story
    capsys.readouterr()
    assert main(["report", str(leaking / "attack.json"), "-o", str(leaking), "--exit-code"]) == 1
    assert "Fix the mechanism" in (leaking / "attack.html").read_text(encoding="utf-8")


def test_records_without_renyi_losses_are_read_as_before(leaking: Path) -> None:
    record = json.loads((leaking / "attack.json").read_text(encoding="utf-8"))
    for bound in record["subjects"][0]["certified"]:
        del bound["renyi"]
    assert fault(record, "attack") == ""
    assert "Rényi losses" not in to_html(record)
    for bound in record["subjects"][0]["certified"]:
        bound["renyi"] = {"order": 1.0, "allowed": 1, "lower": 0, "cap": 1, "detectable": 2}
    assert "order" in fault(record, "attack")
