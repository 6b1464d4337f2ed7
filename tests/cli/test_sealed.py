"""What a command was given is fixed before a user's code runs; a change is told, and is red."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpassay.cli.main import main
from dpassay.cli.sealed import sealed
from dpassay.config.load import load_config
from dpassay.trials.isolation.limits import PROTECTED, protected
from dpassay.trials.ledger import SEALED, code_of

EVIL = """
import os
from pathlib import Path
WHAT, WHERE = Path("what").read_text().split()
if WHERE == "import":
    Path(WHAT).write_text("seed = 2\\n")
def f(data, queries, size, rng):
    if WHERE == "trials":
        Path(WHAT).write_text("seed = 2\\n")
    return rng.integers(0, 2, (size, len(queries)))
def leak(data, queries, size, rng):
    f(data, queries, size, rng)
    return data.y[:1] * rng.integers(1, 2, (size, len(queries)))
"""
WORDS = [*("--claim", "epsilon=9", "--profile", "quick", "--budget", "300", "--train", "10")]
WORDS += [*("--queries", "1", "--data", "people.csv", "--label", "y", "-q", "--out", "out")]


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a configuration, data and a function that writes where it should not."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("dpassay.toml").write_text("seed = 1\n")
    Path("people.csv").write_text("x,y\n" + "1,0\n2,1\n3,1\n" * 20)
    Path("evil_writer.py").write_text(EVIL)
    return tmp_path


@pytest.mark.parametrize("where", ["import", "trials"])
@pytest.mark.parametrize(
    "what", ["dpassay.toml", "people.csv", "dpassay-baseline.json", "evil_writer.py", "other.csv"]
)
def test_a_change_is_red_and_says_of_what(
    evil: Path, what: str, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("what").write_text(f"{what} {where}")
    code = main(["run", "evil_writer:f", *WORDS, "--allow-inconclusive"])
    run, told = json.loads(Path("out/record.json").read_text())["run"], capsys.readouterr().err
    if what == "other.csv":
        assert (code, run["complete"], "changed" in run) == (0, True, False)
        return
    assert (code, run["complete"]) == (3, False)
    assert f"dpassay: error: '{what}' changed during the run" in told
    assert run["changed"].startswith(f"'{what}' changed during the run")
    assert "changed during the run" in (evil / "out/report.md").read_text()
    assert "changed during the run" in (evil / "out/junit.xml").read_text()
    assert main(["baseline", "accept", "out/record.json"]) == 2
    assert "changed during the run" in capsys.readouterr().err


def test_a_refutation_stays_one(evil: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("what").write_text("dpassay.toml trials")
    assert main(["run", "evil_writer:leak", *WORDS, "--claim", "epsilon=0.5"]) == 1
    assert main(["report", "out/record.json", "--exit-code"]) == 1
    suppression = '[[suppressions]]\nresult = "evil_writer:leak.own.monte-carlo"\n'
    suppression += 'kind = "refuted"\nreason = "ok"\nexpires = 2027-01-15\n'
    (evil / "dpassay.toml").write_text(suppression)
    (evil / "dpassay-baseline.json").write_text((evil / "out/record.json").read_text())
    assert main(["baseline", "check", "out/record.json"]) == 2
    assert "'dpassay.toml' changed during the run" in capsys.readouterr().err


def test_an_attack_tells_it_too(evil: Path) -> None:
    Path("what").write_text("people.csv trials")
    sizes = "--models 8 --references 8 --records 40 --transcripts 0 --budgets 1 --attacks gap"
    words = ["--claim", "epsilon=9", "--data", "people.csv", "--label", "y", "--out", "out", "-q"]
    assert main(["attack", "evil_writer:f", *sizes.split(), *words, "--allow-inconclusive"]) == 3
    assert "people.csv" in json.loads(Path("out/attack.json").read_text())["run"]["changed"]


def test_the_code_is_known_before_it_runs(evil: Path) -> None:
    from dpassay.claims import DP
    from dpassay.targets.resolve import resolve

    Path("what").write_text("evil_writer.py import")
    with sealed(load_config(), ["run", "evil_writer:f"]) as changed:
        assert str(evil / "dpassay.toml") in PROTECTED
        before = SEALED["evil_writer"]
        target = resolve("evil_writer:f", claims=(DP(epsilon=1.0),))
        assert before in code_of(target)
        assert "evil_writer.py" in changed()["changed"]
    assert (PROTECTED, SEALED) == ([], {})
    assert before not in code_of(target)


def test_the_working_directory_is_not_protected(evil: Path) -> None:
    import dpassay

    with sealed(load_config({"out": "."}), ["run"]):
        found = protected()
    assert not any(evil.is_relative_to(path) for path in found)
    assert any(Path(dpassay.__file__).resolve().is_relative_to(path) for path in found)
