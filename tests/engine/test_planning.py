"""How many trials a wanted leak takes, and what a run would do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpassay.claims import DP, Claim, PredictionStability, Stability
from dpassay.cli.main import main
from dpassay.engine.budget import Budget
from dpassay.engine.detection.audits import AuditDesign
from dpassay.engine.detection.families import answers_of
from dpassay.engine.planning import draws_needed, ladder
from dpassay.engine.preflight import check
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.mechanism import FunctionMechanism
from dpassay.stats.power import Screening
from dpassay.stats.scales import scale_of
from dpassay.targets.guard import AuditTarget
from tests.core.toys import flip_group, response, target_of

GROUPS = (flip_group(),)


def function(claim: Claim) -> AuditTarget:
    numbers = (0.0, 1.0) if isinstance(claim, PredictionStability) else None
    return target_of(FunctionMechanism(function=response(1.0), claims=(claim,), numbers=numbers))


def needed(claim: Claim, detect: float, alpha: float = 0.05) -> int:
    budget = Budget(draws=100, alpha=alpha)
    return draws_needed(function(claim), claim, GROUPS, detect, budget)


@pytest.mark.parametrize(
    ("claim", "detect"),
    [
        (DP(epsilon=1.0), 1.1),
        (DP(epsilon=0.1), 0.2),
        (DP(epsilon=1.0, delta=0.01), 1.3),
        (Stability(gamma=0.1), 0.15),
    ],
)
def test_enough_and_hardly_more(claim: Claim, detect: float) -> None:
    target, n, scale = function(claim), needed(claim, detect), scale_of(claim)
    for draws, enough in ((n, True), (int(0.97 * n), False)):
        few = Budget(draws=draws, alpha=0.05).of(target).screening(GROUPS)
        design = AuditDesign(
            scale=scale,
            promised=claim.promised,
            answers=answers_of(scale, 2),
            n=draws,
            alpha=0.025,
            screening=Screening(draws=few, pairs=1, finalists=4),
        )
        assert design.sees(detect) is enough
        found = design.smallest(design.usual_frequency)  # up to 1e-3 of the distance too far
        near = found - 1e-3 * (found - claim.promised)
        assert near <= detect if enough else found > detect


def test_a_mean_takes_as_many_as_its_bound_needs() -> None:
    few, many = (needed(PredictionStability(gamma=0.1), detect) for detect in (0.3, 0.15))
    assert 100 <= few < many < 100 * few


@pytest.mark.parametrize(
    ("detect", "said"),
    [
        (1.0, "above the claim, 1"),
        (0.5, "above the claim, 1"),
        pytest.param(1 + 1e-6, "trials show it", marks=pytest.mark.slow),
    ],
)
def test_losses_that_cannot_be_planned(detect: float, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        needed(DP(epsilon=1.0), detect)


@pytest.mark.parametrize(
    ("claim", "leaks"),
    [
        (DP(epsilon=2.0), [4.0, 3.0, 2.4, 2.2, 2.1]),
        (Stability(gamma=0.5), [0.75, 0.6, 0.55, 0.525]),
        (Stability(gamma=0.98), [0.99]),
        (PredictionStability(gamma=0.6), [0.9, 0.72, 0.66, 0.63]),
        (Stability(gamma=1.0), [1.0]),
    ],
    ids=str,
)
def test_the_ladder_holds_what_can_be(claim: Claim, leaks: list[float]) -> None:
    assert ladder(function(claim), claim) == pytest.approx(leaks)


@pytest.mark.parametrize("claim", [Stability(gamma=0.6), PredictionStability(gamma=0.9)], ids=str)
def test_every_leak_of_the_ladder_can_be_planned(claim: Claim) -> None:
    draws = [needed(claim, leak, alpha=1e-3) for leak in ladder(function(claim), claim)]
    assert draws == sorted(draws)
    assert draws[0] >= 100


@pytest.mark.parametrize("claim", [Stability(gamma=0.5), PredictionStability(gamma=0.5)], ids=str)
@pytest.mark.parametrize("detect", [1.0, 2.0, 0.5])
def test_leaks_that_cannot_be_or_are_allowed(claim: Claim, detect: float) -> None:
    said = (
        rf"^detect = {detect}: must be above the claim, 0.5, and below the largest "
        rf"{claim.quantity} there can be, 1 \(toy\)$"
    )
    with pytest.raises(InvalidInput, match=said):
        needed(claim, detect)
    with pytest.raises(InvalidInput, match=said):
        check([function(claim)], GROUPS[0], Settings(mode="monte-carlo", detect=detect))


def test_a_detectable_leak_is_held_against_every_claim_before_anything_runs() -> None:
    def never(*_: object) -> None:
        raise AssertionError("was run")

    claims = [(DP(epsilon=epsilon),) for epsilon in (0.5, 1.5)]
    targets = [target_of(FunctionMechanism(function=never, claims=each)) for each in claims]
    told = r"^detect = 1.0: must be above the claim, 1\.5 \(toy\)$"
    with pytest.raises(InvalidInput, match=told):
        next(assay(targets, GROUPS[0], Settings(detect=1)))


def test_where_nothing_can_be_seen_nothing_is_planned_and_the_run_is_not_inconclusive() -> None:
    claim = Stability(gamma=1)
    with pytest.raises(InvalidInput, match=r"^claim = Stability\(1\): cannot be exceeded"):
        needed(claim, 1.5)
    (result,) = assay([function(claim)], GROUPS[0], Settings(budget=100, detect=0.5))
    assert result.verdict == "not refuted"
    assert "which cannot be exceeded" in result.outcome.reason


@pytest.mark.slow
def test_plan_on_the_command_line_is_what_a_run_then_detects(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sizes = ["soft-majority", "-p", "r=5", "--train", "20", "--queries", "2"]
    assert main(["plan", *sizes, "--detect", "1.3", "--json"]) == 0
    (need,) = json.loads(capsys.readouterr().out)
    run = ["run", *sizes, "--mode", "monte-carlo", "--budget", str(need["draws"]), "--json", "-q"]
    assert main(run) in (0, 4)
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert need["detectable"] <= 1.3 + 1e-9
    assert need["sight"]["assumed"]
    more_frequent = result["sight"]["frequency"] >= need["sight"]["frequency"]
    assert (result["detectable"] <= need["detectable"] + 1e-9) == more_frequent
    assert need["screening"] == result["searched"]["screening_trials"]
    assert need["certified"] == result["searched"]["certified_cells"]
    assert result["trials"] <= need["trials"] < 3 * result["trials"]
    assert main(["plan", *sizes]) == 0
    assert capsys.readouterr().out.count(" s\n") == 5


def test_a_dry_run_says_what_a_run_does_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [
        "run", "soft-majority", "-p", "r=5", "--train", "20", "--queries", "2", "--mode",
        "monte-carlo", "--budget", "1000",
    ]  # fmt: skip
    assert main([*words, "--dry-run", "--json", "--out", "report"]) == 0
    (plan,) = json.loads(capsys.readouterr().out)
    assert list(tmp_path.iterdir()) == []
    assert main([*words, "--json", "-q"]) in (0, 4)
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert plan["cells"] == result["searched"]["cells"]
    assert plan["spending"] == pytest.approx(result["spending"])
    assert plan["trials"] >= result["trials"]
    assert main([*words, "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert "detectable: a loss of" in text
    assert "through an answer of probability 0.7" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    words = [
        "run", "soft-majority", "--mode", "exhaustive", "--n", "2", "--domain", "1", "--dry-run",
        "-p", "r=2",
    ]  # fmt: skip
    assert main(words) == 0
    assert "the laws of all 4 datasets of 2 records" in capsys.readouterr().out
