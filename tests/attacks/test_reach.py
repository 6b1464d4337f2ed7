"""What guesses can show of a claim, of RDP and zCDP too; the default sees a total leak."""

from __future__ import annotations

import itertools
import json
import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logit
from scipy.stats import binom

from dpassay.attacks.experiment.one_run import largest_rejected
from dpassay.attacks.experiment.planning import ABOVE, FEWEST, MOST, enough
from dpassay.attacks.experiment.power import (
    GuessClaim,
    RenyiClaim,
    RunClaim,
    composed,
    guesses_to_see,
    reach,
    reach_of_counts,
    renyi_claim,
)
from dpassay.attacks.experiment.record import make_attack_record
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.scores import ATTACKS
from dpassay.claims import DP, RDP, Claim, Profile, zCDP
from dpassay.cli.exit_codes import Exit
from dpassay.cli.main import main
from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.record.attack_record import BROKEN, HELD, UNSEEN, told_of_claims
from dpassay.record.schemas import fault
from dpassay.reports.attack.junit import to_junit
from dpassay.reports.attack.pages import to_html, to_markdown
from dpassay.stats.bounds import Counts
from dpassay.stats.guesses import divergence
from dpassay.stats.lower_bounds import choose, lower_bound
from dpassay.stats.scales import Ratio
from tests.attacks.command import attack, record_of
from tests.attacks.toys import Toy, floor
from tests.record.made_attacks import FACTS

SMALL = (
    f"{__name__}:Nearest --epsilon 1 --budgets 1 --against mechanism --records 200 --references 16 "
    "--copies 0 --transcripts 0 -q"
)


@dataclass(frozen=True)
class Nearest:
    """A plain 1-nearest-neighbour, behind a claim."""

    epsilon: float = 1.0
    labels = (0, 1)

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (DP(epsilon=self.epsilon),)

    def prepare(self, data: Labelled) -> Labelled:
        return data

    def sample(self, state: Labelled, queries: Any, size: int, rng: np.random.Generator) -> Any:
        distances = ((queries[:, None] - state.X) ** 2).sum(axis=2)
        return np.tile(state.y[distances.argmin(axis=1)], (size, 1))


def leak(q: float, delta: float) -> float:
    return math.log((q - delta) / (1 - q))


@pytest.mark.parametrize(
    ("trials", "claimed", "delta", "alpha"),
    list(itertools.product((5, 53, 200), (0.0, 1.0, 2.0), (0.0, 0.01), (1e-2, 1e-7))),
)
def test_the_reach_of_guesses_by_enumeration(
    trials: int, claimed: float, delta: float, alpha: float
) -> None:
    found = reach(GuessClaim(allowed=claimed, delta=delta), trials, alpha=alpha)
    q = alpha ** (1 / trials)  # P[all right] = alpha: the Clopper-Pearson limit of T in T
    assert found.cap == pytest.approx(max(0.0, leak(q, delta)) if q > delta else 0.0, abs=1e-9)
    single = GuessClaim(delta=delta)
    breaking = [k for k in range(trials + 1) if single.certified(k, trials, alpha) > claimed]
    if not breaking:
        assert found.cap <= claimed
        assert found.detectable == math.inf
        return
    assert found.detectable > claimed
    chance = (math.exp(found.detectable) + delta) / (1 + math.exp(found.detectable))
    assert sum(binom.pmf(k, trials, chance) for k in breaking) == pytest.approx(0.9, abs=1e-9)


def test_the_reach_of_the_one_run_audit_by_enumeration() -> None:
    found = reach(RunClaim(coins=400), 40, alpha=1e-3)
    assert found.cap == largest_rejected(40, 40, m=400, alpha=1e-3)
    telling = [v for v in range(41) if largest_rejected(v, 40, m=400, alpha=1e-3) > 0]
    chance = 1 / (1 + math.exp(-found.detectable))
    assert sum(binom.pmf(v, 40, chance) for v in telling) == pytest.approx(0.9, abs=1e-9)
    assert reach(RunClaim(coins=50), 5, alpha=1e-3).detectable == math.inf  # 2^-5 is above alpha


def test_the_reach_of_a_rung_is_that_of_its_test() -> None:
    found = reach_of_counts(500, claimed=1.0, delta=0.0, alpha=1e-4)
    most = lower_bound(
        "clopper-pearson", Counts(x=500, n1=500, y=0, n0=500), scale=Ratio(0.0), alpha=1e-4
    ).value
    assert found.cap >= most > 1
    assert 1.2 < found.detectable < 1.6
    assert reach_of_counts(500, claimed=8.0, delta=0.0, alpha=1e-4).detectable == math.inf


def test_what_is_detectable_is_seen_nine_times_in_ten() -> None:
    """200 counts of randomised response that loses just what is detectable; .8 would show."""
    found, rng = reach_of_counts(500, claimed=1.0, delta=0.0, alpha=1e-4), np.random.default_rng(0)
    p = 1 / (1 + math.exp(-found.detectable))
    test = choose(
        round(500 * p), round(500 * (1 - p)), 500, 500, labels=2, scale=Ratio(0.0), alpha=1e-4
    )
    right, wrong = (rng.binomial(500, q, 200).tolist() for q in (p, 1 - p))
    seen = sum(
        lower_bound(test, Counts(x=x, n1=500, y=y, n0=500), scale=Ratio(0.0), alpha=1e-4).value > 1
        for x, y in zip(right, wrong, strict=True)
    )
    assert binom.ppf(0.005, 200, 0.9) <= seen <= binom.isf(0.005, 200, 0.9)


def test_the_numbers_of_the_issue() -> None:
    """A subject of 61, three views, one bound beside 12 attacks, five records."""
    alpha = 1e-3 / 61 / (3 * 13) / 5
    assert reach(GuessClaim(allowed=1.0), 32, alpha=alpha).cap == pytest.approx(0.41, abs=0.005)
    for claimed, needed in ((1.0, 53), (2.0, 129)):
        assert guesses_to_see(GuessClaim(allowed=claimed), None, alpha=alpha) == needed


def test_targets_that_see_a_leak() -> None:
    needed = guesses_to_see(GuessClaim(allowed=1.0), 3.0, alpha=1e-6)
    assert reach(GuessClaim(allowed=1.0), needed, alpha=1e-6).detectable <= 3
    assert guesses_to_see(GuessClaim(allowed=1.0), 3.0, alpha=1e-6, most=20) == 0
    assert guesses_to_see(GuessClaim(), None, alpha=0.4) == 2
    for wrong in (1.0, 0.5, math.nan):
        with pytest.raises(InvalidInput, match="--detect"):
            guesses_to_see(GuessClaim(allowed=1.0), wrong, alpha=1e-6)


def test_a_plain_nearest_neighbour_behind_a_claim_is_broken(tmp_path: Path) -> None:
    """32 targets, all guessed, could say nothing; the default takes more, and fresh answers."""
    assert attack(f"{SMALL} --attacks gap --out {tmp_path}") == Exit.REFUTED
    record = record_of(tmp_path)
    assert record["repeated"] == []
    best = record["subjects"][0]["certified"][0]
    right = best["counts"]["x"] + best["counts"]["n0"] - best["counts"]["y"]
    fresh = best["fresh"]["n1"] + best["fresh"]["n0"]
    assert right == record["run"]["targets"] + fresh
    told = (tmp_path / "attack.md").read_text(encoding="utf-8")
    assert f"{right:,} of {right:,}, {fresh:,} fresh" in told
    assert f"it guessed {fresh:,} times more, from fresh answers" in told
    alone = best["counts"]["n1"] - best["fresh"]["n1"] + best["counts"]["n0"] - best["fresh"]["n0"]
    assert alone == record["run"]["targets"]
    assert best["lower"] == pytest.approx(best["cap"])
    assert FEWEST < record["run"]["targets"] <= MOST
    assert best["detectable"] <= 1 + ABOVE
    assert "1 claim, 1 BROKEN" in told


def test_few_targets_could_not_have_seen_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"{SMALL} --records 60 --references 4 --attacks gap --models 10 --out {tmp_path}"
    assert attack(words) == Exit.INCONCLUSIVE
    told = " ".join(capsys.readouterr().out.split())
    seen = "1 claim, 0 broken, 0 not broken (could have seen it), 1 could not have been seen"
    assert seen in told
    for text in (told, *((tmp_path / f"attack.{kind}").read_text() for kind in ("html", "md"))):
        assert "could not have seen it" in text
    assert attack(f"{words} --allow-inconclusive") == Exit.NOTHING
    report = ["report", str(tmp_path / "attack.json"), "-o", str(tmp_path), "--exit-code"]
    assert main(report) == Exit.INCONCLUSIVE
    assert main([*report, "--allow-inconclusive"]) == Exit.NOTHING


LOSS = {"loss-threshold": ATTACKS["loss-threshold"]}

ALPHA = 1e-3


def told(subject: Toy, claim: DP, targets: int, confidence: float = 0.999) -> dict[str, Any]:
    """Return the record of an experiment on a toy."""
    target = Target(name="toy", subject=subject, claim=claim)
    design = Design(references=16, targets=targets, certified=2, confidence=confidence)
    found = list(experiment([target], floor(), LOSS, design))
    return make_attack_record(FACTS, floor().records, found)


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
    losses = {1.5: 0.9, 2.0: 0.4, 16.0: 5.0}
    for m in (1, 2, 8):
        found = renyi_claim(RDP(losses), m)
        assert found is not None
        each = [RenyiClaim(order=order, allowed=m * loss) for order, loss in losses.items()]
        assert found.hit() == min(claim.hit() for claim in each)
        assert found.loss(found.hit()) == pytest.approx(found.allowed, rel=1e-9)
    assert renyi_claim(RDP(losses), 1) == RenyiClaim(order=2.0, allowed=0.4)


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
    assert told_of_claims(record) == {"toy": BROKEN}


def test_where_no_number_of_right_guesses_exceeds_it_nothing_could_be_seen() -> None:
    record = told(Toy(tells=1.0, budgets=(1,)), zCDP(20.0), 40)
    assert told_of_claims(record) == {"toy": UNSEEN}


@pytest.mark.parametrize("claim", [zCDP(0.5), RDP(2.0, 1.0)])
def test_the_default_number_of_models_sees_a_leak_of_everything(claim: DP) -> None:
    target = Target(name="toy", subject=Toy(tells=1.0, budgets=(1,)), claim=claim)
    known, alpha = renyi_claim(claim, 1), ALPHA / 2 / Design().certified
    assert known is not None
    models = enough([target], LOSS, floor(), Design(), ALPHA)
    assert models <= MOST
    beyond_guesses = replace(target, claim=RDP(2.0, 500.0))
    assert enough([beyond_guesses], {}, floor(), Design(), ALPHA) == 32
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


@pytest.fixture(scope="module")
def leaking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an attack on `nearest`, at the default number of models."""
    folder = tmp_path_factory.mktemp("renyi")
    words = f"{__name__}:nearest --claim rho=0.5 --against mechanism --records 40 -q"
    words += " --references 8 --attacks gap --budgets 1 --transcripts 0 --copies 0"
    assert attack(f"{words} --out {folder}") == Exit.REFUTED
    return folder


@pytest.mark.parametrize("name", ["ρ", "Rényi loss of order 2"])
def test_a_leak_of_everything_is_broken_and_told(name: str, leaking: Path) -> None:
    record = record_of(leaking)
    if name != "ρ":
        record = told(Toy(tells=1.0, budgets=(1,)), RDP(2.0, 1.0), 200)
    (renyi, *_) = sorted(
        (each["renyi"] for each in record["subjects"][0]["certified"]),
        key=lambda each: -float(each["lower"]),
    )
    assert renyi["lower"] > renyi["allowed"]
    words = f"{name} ≥ {renyi['lower']:.4g}"[:-1]  # rounded down
    for page in (to_html(record), to_markdown(record)):
        assert "Rényi losses" in page
        assert words in page
    story = "".join(ET.fromstring(to_junit(record)).itertext())
    assert words in story
    assert ": broken" in story


def test_the_record_is_refuted_once_more(leaking: Path) -> None:
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
