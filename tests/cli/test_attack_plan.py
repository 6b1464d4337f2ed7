"""`dpassay plan --attack`: how many models must be attacked to see a leak against a claim."""

from __future__ import annotations

import json

import pytest

from dpassay.attacks.experiment.planning import share_of
from dpassay.attacks.experiment.power import GuessClaim, RenyiClaim, guesses_to_certify, reach
from dpassay.cli.main import main


def test_it_says_how_many_targets_see_a_leak(capsys: pytest.CaptureFixture[str]) -> None:
    words = "plan --attack soft-majority --epsilon 1 --detect 2 --json"
    assert main(words.split()) == 0
    total, seen = json.loads(capsys.readouterr().out)
    alpha = share_of(1, 1e-3)
    # two subjects and a ladder, one half, three views, five records
    assert alpha == pytest.approx(1e-3 / 3 / 2 / 3 / 5)
    assert total["alpha"] == pytest.approx(alpha)
    held, n = GuessClaim(allowed=1.0), total["models"]
    assert held.certified(n, n, alpha) > 1 >= held.certified(n - 1, n - 1, alpha)
    assert seen["detect"] == 2
    assert reach(held, seen["models"], alpha=total["alpha"]).detectable <= 2
    assert seen["models"] > total["models"]


def test_the_table_and_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--attack"]) == 0
    told = capsys.readouterr().out
    assert "mechanisms: 6, losses: 5" in " ".join(told.split())
    rows = [line.split() for line in told.splitlines()]
    losses = [row[0] for row in rows if row[1:4] == ["all", "there", "is"]]
    assert losses == ["0.1", "0.5", "1", "2", "8"]
    # no ten million guesses certify a tiny claim
    assert main(["plan", "--attack", "soft-majority", "--claim", "rho=1e-4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["at_the_claim"]["models"] == 0


@pytest.mark.parametrize(
    ("claim", "promised", "name"),
    [
        ("epsilon=1,delta=0.01", GuessClaim(allowed=1.0, delta=0.01), "1, δ = 0.01"),
        ("rho=0.5", RenyiClaim(order=None, allowed=0.5), "ρ = 0.5"),
        ("alpha=2,epsilon=1", RenyiClaim(order=2.0, allowed=1.0), "Rényi loss of order 2 = 1"),
    ],
)
def test_other_claims(
    claim: str,
    promised: GuessClaim | RenyiClaim,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["plan", "--attack", "soft-majority", "--claim", claim]
    assert main([*words, "--detect", "2", "--json"]) == 0
    total, seen = json.loads(capsys.readouterr().out)
    n, alpha = total["models"], share_of(1, 1e-3)
    assert promised.certified(n, n, alpha) > promised.allowed
    assert promised.certified(n - 1, n - 1, alpha) <= promised.allowed
    assert reach(promised, seen["models"], alpha=alpha).detectable <= 2
    assert seen["detectable"] <= 2 < reach(promised, seen["models"] // 2, alpha=alpha).detectable
    kept = seen["at_the_claim"]
    assert kept["models"] == guesses_to_certify(promised, alpha=alpha)
    assert kept["guesses"] == 0
    assert kept["renyi_models"] == kept["models"] * isinstance(promised, RenyiClaim)
    assert main(words) == 0
    rows = [" ".join(row.split()) for row in capsys.readouterr().out.splitlines()]
    assert [row.startswith(name) for row in rows].count(True) == 6
    assert any(row.startswith(f"{name} {kept['models']:,} - ") for row in rows)
