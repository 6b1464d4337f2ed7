"""`dpassay attack`: what is refused or announced before anything is trained."""

from __future__ import annotations

import pytest

from dpassay.cli.main import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("soft-majority -p r=500", "r = 500: must be at most the number of records, 200"),
        ("private-knn --records 6", "k = "),
        ("soft-majority pate -p rr=5", "-p rr: no such parameter in any of soft-majority, pate"),
        ("soft-majority -p epsilom=5", "-p epsilom: 'soft-majority' has no such parameter"),
        (
            "soft-majority --cache pyproject.toml",
            "--cache = 'pyproject.toml': cannot be made (File exists)",
        ),
    ],
)
def test_refused_before_anything_is_trained(
    words: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "dpassay.cli.attack.experiment", lambda *_, **__: pytest.fail("models were trained first")
    )
    assert main(["attack", "-q", "--epsilon", "1", *words.split()]) == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"dpassay: error: {said}")
    assert told.err.count("\n") == 1


def test_a_long_attack_is_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dpassay.cli.attack.experiment", lambda *_, **__: iter(()))
    monkeypatch.setattr(
        "dpassay.cli.attack.attack_repeatedly", lambda *_, **__: pytest.fail("not so soon")
    )
    monkeypatch.setattr("dpassay.cli.attack.deliver_attacks", lambda *_, **__: None)
    words = "attack soft-majority --epsilon 1 --models 100000000 --transcripts 0"
    assert main(words.split()) == 5
    told = capsys.readouterr().err
    assert "at the very least; fewer with --models, --references" in told
    # 100,000,000 targets and 64 references, each asked one label, 8 labels and labels of 8 copies
    # at all 569 records of the data: 100,000,064 * (1 + 8 + 8) * 569
    assert "soft-majority, epsilon = 1: 967,300,619,072 answers take" in told


def test_parameters_are_values() -> None:
    """Parameters in any spelling are the same mechanism.

    -p learner=... was overruled by the default learner.
    """
    from dpassay.attacks.experiment.mechanisms import at_loss, claim_of

    said = at_loss("soft-majority", 0.5, {"r": "5", "learner": "stump"}, records=40)
    assert said.parameters["learner"] == "stump"
    assert said.parameters["r"] == 5
    assert claim_of(said).epsilon == 0.5
    assert at_loss("soft-majority", 0.5, {}, records=40).parameters["learner"] == "tree"
