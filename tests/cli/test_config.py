"""A configuration on the command line: `run` without TARGET, `config --show`, `init`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.guard import AuditTarget

pytestmark = pytest.mark.usefixtures("undrawn")

MODULE = """
import numpy as np
def fair(data, queries, size, rng): return rng.integers(0, 2, (size, len(queries)))
def score(data, queries, size, rng): return rng.random((size, len(queries)))
"""
TWO = """
profile = "quick"
train = 30
queries = 2
budget = 1000
[[mechanisms]]
target = "mine_of_config:fair"
claim = { epsilon = 1.0, delta = 0.0 }
answers = "0,1"
name = "label api"
[[mechanisms]]
target = "mine_of_config:score"
claim = { gamma = 0.5 }
answers = "0..1"
"""
WALK = """
mode = "exact"
seed = 1
train = 30
queries = 2
out = "report"
[[mechanisms]]
target = "projected-walk"
parameters = { T = 3, epsilon = 2 }
"""


@pytest.fixture
def mine(folder: Path) -> Path:
    (folder / "mine_of_config.py").write_text(MODULE)
    return folder


def record_of(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["run", "--json", "-q", *words]) == code
    record: dict[str, Any] = json.loads(capsys.readouterr().out)
    return record


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line.removeprefix("dpassay: error: ")


def test_run_audits_what_is_configured_each_with_its_own_claim(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (mine / "dpassay.toml").write_text(TWO)
    words = ["--out", "report", "--allow-inconclusive", "--executor", "inline"]
    record = record_of(capsys, *words)
    claims = {each["mechanism"]: each["claim"] for each in record["results"]}
    assert {
        name: (claim["epsilon"], claim["gamma"], claim["source"]) for name, claim in claims.items()
    } == {
        "label api": (1.0, None, "dpassay.toml"),
        "mine_of_config:score": (None, 0.5, "dpassay.toml"),
    }
    run = record["run"]
    assert (run["catalogue"], run["profile"], run["budget"]) == (False, "quick", 1000)
    assert run["command"] == "dpassay run"
    assert run["data"]["kind"]
    for witness in (mine / "report" / "witnesses").iterdir():
        # a name of the user's is found again, and so are its random streams
        assert main(["replay", str(witness), "--trust"]) == 0


def test_a_record_can_be_made_again_from_its_command(
    mine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (mine / "dpassay.toml").write_text(WALK.replace('"exact"', '"auto"'))
    monkeypatch.setenv("DPASSAY_SEED", "5")
    monkeypatch.setenv("DPASSAY_JOBS", "1")
    first = record_of(capsys, "--queries", "1")
    assert (first["run"]["command"], first["run"]["seed"]) == (
        "dpassay run --seed=5 --queries 1",
        5,
    )
    monkeypatch.delenv("DPASSAY_SEED")
    assert record_of(capsys, *shlex.split(first["run"]["command"])[2:]) == first


def test_command_line_goes_before_what_is_configured(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "dpassay.toml").write_text(WALK)
    (plain,) = record_of(capsys)["results"]
    assert plain["parameters"] | {"T": 3, "epsilon": 2.0} == plain["parameters"]
    assert plain["mode"] == "exact"
    assert (folder / "report" / "index.html").exists()
    record = record_of(capsys, "-p", "T=4", "--claim", "epsilon=3", "--seed", "9", "--out", "other")
    (changed,) = record["results"]
    assert changed["parameters"] | {"T": 4, "epsilon": 2.0} == changed["parameters"]
    assert (changed["claim"]["epsilon"], changed["claim"]["source"]) == (3.0, "--claim")
    assert (record["run"]["seed"], record["run"]["catalogue"]) == (9, False)
    assert (folder / "other" / "index.html").exists()
    record = record_of(capsys, "soft-majority")  # a target takes the settings only
    assert [result["mechanism"] for result in record["results"]] == ["soft-majority"]
    assert (record["run"]["seed"], record["run"]["catalogue"]) == (1, False)


def test_without_mechanisms_it_is_the_catalogue(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is audited; to plan all of them, as a dry run does, takes a minute."""
    (folder / "dpassay.toml").write_text('profile = "quick"\ntrain = 30\nqueries = 1\n')
    met: list[AuditTarget] = []

    def planned(targets: list[AuditTarget], *_: object, **__: object) -> int:
        met.extend(targets)
        return 0

    monkeypatch.setattr("dpassay.cli.run.dry_run", planned)
    assert main(["run", "--dry-run", "-q"]) == 0
    assert {each.name for each in met} == set(ENTRIES)


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        (
            'target = "soft-majority"\nanswers = "0,1"',
            "answers: only for a plain function; 'soft-majority' names its own answers",
        ),
        (
            'target = "mine_of_config:fair"',
            "'mine_of_config:fair' is a plain function and has no claim of its own",
        ),
        (
            'target = "mine_of_config:fair"\nclaim = { gamma = 0.1 }\nanswers = "1..0"',
            "answers = '1..0': must be labels",
        ),
    ],
)
def test_a_mechanism_that_cannot_be_is_named_by_its_place(
    mechanism: str, message: str, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (mine / "dpassay.toml").write_text(
        f'out = "report"\n[[mechanisms]]\ntarget = "projected-walk"\n[[mechanisms]]\n{mechanism}\n'
    )
    assert refused(capsys, "run").startswith(f"dpassay.toml, mechanism 2: {message}")
    assert not (mine / "report").exists()


def test_every_command_reads_the_file_and_the_variables(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "dpassay.toml").write_text("train = 30\nqueries = 1\ndetect = 3.0\njobs = 2\n")
    assert main(["plan", "soft-majority", "--json"]) == 0
    assert [each["detect"] for each in json.loads(capsys.readouterr().out)] == [3.0]
    # what is configured may change nothing in a mode, but options may not
    assert main(["run", "projected-walk", "--mode", "exact", "-q"]) == 0
    words = ["run", "projected-walk", "--mode", "exact", "--jobs", "2"]
    assert refused(capsys, *words) == "--jobs: has no effect with --mode exact"
    (folder / "dpassay.toml").write_text("sede = 1\n")
    commands = (["run"], ["plan", "soft-majority"], ["config", "--show"])
    for command in commands:
        told = refused(capsys, *command)
        assert told == "dpassay.toml: sede: no such key; did you mean 'seed'?"
    (folder / "dpassay.toml").unlink()
    monkeypatch.setenv("DPASSAY_SEED", "x")
    for command in commands:
        assert refused(capsys, *command) == "DPASSAY_SEED = 'x': must be an integer >= 0"


def test_config_shows_what_is_in_force_and_from_where(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "dpassay.toml").write_text(TWO + f'[[mechanisms]]\ntarget = "{"long_" * 20}:f"\n')
    monkeypatch.setenv("DPASSAY_SEED", "3")
    monkeypatch.setenv("COLUMNS", "80")
    words = ["config", "--show", "--confidence", "0.9"]
    assert main(words) == 0
    table = capsys.readouterr().out
    assert max(map(len, table.splitlines())) <= 80
    rows = [line.split() for line in table.splitlines()]
    assert ["seed", "3", "environment"] in rows
    assert ["confidence", "0.9", "command", "line"] in rows
    assert ["budget", "1000", "dpassay.toml"] in rows
    assert ["neighbours", "one+flip", "profile", "quick"] in rows
    assert ["jobs", "1", "default"] in rows
    assert "label api" in table
    assert main([*words, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["seed"] == {"from": "environment", "value": 3}
    assert shown["out"] == {"from": "default", "value": None}
    assert shown["mechanisms"]["value"][0] == {
        "target": "mine_of_config:fair",
        "name": "label api",
        "claim": {"epsilon": 1.0, "delta": 0.0},
        "answers": "0,1",
    }


def test_init_writes_what_runs_and_overwrites_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("dpassay.toml", "dpassay_example.py"):
        (folder / name).write_text("mine")
        told = refused(capsys, "init")
        assert told == f"{name}: exists and is not overwritten; move it away first"
        assert [(path.name, path.read_text()) for path in folder.iterdir()] == [(name, "mine")]
        (folder / name).unlink()
    (folder / "pyproject.toml").write_text("[tool.dpassay]\nseed = 1\n")
    assert refused(capsys, "init").startswith("pyproject.toml: has a table [tool.dpassay]")
    (folder / "pyproject.toml").unlink()
    assert main(["config"]) == 0
    assert "the catalogue" in capsys.readouterr().out
    assert main(["init"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["dpassay.toml", "dpassay_example.py"]
    record = record_of(capsys, "--executor", "inline")
    assert [(result["mechanism"], result["verdict"]) for result in record["results"]] == [
        ("nearest-vote", "not refuted")
    ]
    assert (folder / "report" / "index.html").exists()
