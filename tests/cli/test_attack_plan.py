"""`dpassay plan --attack`: how many models must be attacked to see a leak against a claim."""

from __future__ import annotations

import json

import pytest

from dpassay.attacks.experiment.planning import share_of
from dpassay.attacks.experiment.power import GuessClaim, RenyiClaim, guesses_to_certify, reach
from dpassay.cli.main import main


def test_it_says_how_many_targets_see_a_leak(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["plan", "--attack", "soft-majority", "--epsilon", "1", "--detect", "2", "--json"])
        == 0
    )
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
    assert [row[0] for row in rows if row[1:4] == ["all", "there", "is"]] == [
        "0.1",
        "0.5",
        "1",
        "2",
        "8",
    ]


def test_a_claim_with_delta(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "--attack", "soft-majority", "--claim", "epsilon=1,delta=0.01"]
    assert main([*words, "--detect", "2", "--json"]) == 0
    total, seen = json.loads(capsys.readouterr().out)
    held, n, alpha = GuessClaim(allowed=1.0, delta=0.01), total["models"], share_of(1, 1e-3)
    assert held.certified(n, n, alpha) > 1 >= held.certified(n - 1, n - 1, alpha)
    assert reach(held, seen["models"], alpha=alpha).detectable <= 2
    kept = seen["at_the_claim"]
    assert kept["models"] == guesses_to_certify(held, alpha=alpha)
    assert kept["guesses"] == kept["renyi_models"] == 0
    assert main(words) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["1,", "δ", "=", "0.01", f"{kept['models']:,}", "-"] in [row[:6] for row in rows]


@pytest.mark.parametrize(
    ("claim", "promised", "name"),
    [
        ("rho=0.5", RenyiClaim(order=None, allowed=0.5), "ρ = 0.5"),
        ("alpha=2,epsilon=1", RenyiClaim(order=2.0, allowed=1.0), "Rényi loss of order 2 = 1"),
    ],
)
def test_claims_of_zcdp_and_rdp(
    claim: str, promised: RenyiClaim, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["plan", "--attack", "soft-majority", "--claim", claim]
    assert main([*words, "--detect", "2", "--json"]) == 0
    total, seen = json.loads(capsys.readouterr().out)
    n, alpha = total["models"], share_of(1, 1e-3)
    assert promised.certified(n, n, alpha) > promised.allowed
    assert promised.certified(n - 1, n - 1, alpha) <= promised.allowed
    assert seen["detectable"] <= 2 < reach(promised, seen["models"] // 2, alpha=alpha).detectable
    assert seen["at_the_claim"]["renyi_models"] == guesses_to_certify(promised, alpha=alpha)
    assert main(words) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.startswith(name) for row in rows].count(True) == 6


def test_no_ten_million_guesses_certify_a_tiny_claim(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--attack", "soft-majority", "--claim", "rho=1e-4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["at_the_claim"]["models"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plan", "TARGET is missing: must be exactly one mechanism"),
        ("plan pate soft-majority", "TARGET = 'pate soft-majority': must be exactly one mechanism"),
        ("plan pate --epsilon 1", "--epsilon: requires --attack"),
        (
            "plan --attack --epsilon 1 --detect 0.5",
            "--detect = 0.5: must be a number above the claim of 1",
        ),
        (
            "plan --attack --epsilon x",
            "--epsilon = 'x': must be numbers in (0, 700], separated by commas",
        ),
        ("plan --attack --epsilon 1 --claim epsilon=1", "--epsilon: cannot be combined with"),
        (
            "plan --attack --claim mu=1",
            "--claim = 'mu=1': with --attack it must be 'epsilon=E', 'epsilon=E,delta=D', 'rho=R'",
        ),
        (
            "plan --attack --claim rho=1 --detect 1",
            "--detect = 1.0: must be a number above the claim of 1",
        ),
        ("plan --attack --epsilon 600", "--epsilon = 600: needs more than 10 million models"),
    ],
)
def test_refused_in_one_line(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
