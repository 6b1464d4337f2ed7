"""`dpassay attack`: wrong or useless options are refused in one line.

Before anything is written.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dpassay.cli.main import main


def own(data: object, queries: object, size: object, rng: object) -> None:
    """A plain function."""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--models 1", "--models = 1: must be an integer from 2 to 1,000,000,000"),
        ("--models 99999999999999999999", "must be an integer from 2 to 1,000,000,000"),
        (
            "--references 10000000000",
            "--references = 10000000000: must be an integer from 4 to 1,000,000,000",
        ),
        ("--copies 99999999999999999999", "must be an integer from 0 to 1,000,000"),
        ("--budgets 99999999999999999999", "must be integers from 1 to 1,000,000"),
        ("--transcripts 99999999999999999999", "must be 0, or an integer from 20 to 1,000,000,000"),
        ("--jobs 0", "--jobs = 0: must be an integer from 1 to 1,024"),
        ("--seed -1", "--seed = -1: must be an integer >= 0"),
        ("--confidence 0.3", "--confidence = 0.3: must be a number in [0.5, 1)"),
        ("--confidence nan", "--confidence = nan: must be a number in [0.5, 1)"),
        ("--noise inf", "--noise = inf: must be a finite number >= 0"),
        ("--against base --epsilon 1", "--epsilon: has no effect with --against base"),
        ("--against base --budgets=4", "--budgets: has no effect with --against base"),
        ("--against base --transcripts 0", "--transcripts: has no effect with --against base"),
        ("--against base soft-majority", "TARGET soft-majority: has no effect with --against base"),
        ("--against base -p r=5", "-p r=5: has no effect with --against base"),
        ("--poisoned 3", "--poisoned: has no effect without --adversary pois"),
        ("--poison 3", "--poison: has no effect without --adversary pois"),
        ("--poison-labels balanced", "--poison-labels: has no effect without --adversary pois"),
        (
            "--adversary pois-minq --poison-labels balanced --poison 4",
            "--poison = 4: must be an odd number >= 1 with --poison-labels balanced",
        ),
        ("--planted labels", "--planted: has no effect without --canaries"),
        ("--copies 0 --noise 0.2", "--noise: has no effect without --copies"),
        ("--label y", "--label = 'y': requires --data FILE"),
        (
            "soft-majority -p epsilon=2",
            "-p epsilon=2: has no effect, as --epsilon sets epsilon of 'soft-majority'",
        ),
        (f"{__name__}:own", "must be a class that takes epsilon"),
    ],
)
def test_refused_in_one_line(
    words: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["attack", "-q", "--out", str(tmp_path / "out"), *words.split()]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
    assert not (tmp_path / "out").exists()


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
    """As before a run; all but the last two ended as errors of the subject, after the other models
    had been trained."""
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
    assert "soft-majority, epsilon = 1: 100,000,064 models asked at 569 points take" in told
    assert "at the very least; fewer with --models, --references" in told


def test_parameters_are_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Parameters in any spelling are the same mechanism.

    -p learner=... was overruled by the default learner.
    """
    from dpassay.attacks.experiment.mechanisms import at_loss, claim_of

    said = at_loss("soft-majority", 0.5, {"r": "5", "learner": "stump"}, records=40)
    assert said.parameters["learner"] == "stump"
    assert said.parameters["r"] == 5
    assert claim_of(said).epsilon == 0.5
    assert at_loss("soft-majority", 0.5, {}, records=40).parameters["learner"] == "tree"
