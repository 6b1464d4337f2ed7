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


@pytest.mark.slow
def test_run_audits_what_is_configured_each_with_its_own_claim(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (mine / "dpassay.toml").write_text(TWO)
    record = record_of(capsys, "--out", "report", "--allow-inconclusive")
    results = {result["mechanism"]: result for result in record["results"]}
    assert set(results) == {"label api", "mine_of_config:score"}
    claims = [result["claim"] for result in results.values()]
    assert [(claim["epsilon"], claim["gamma"], claim["source"]) for claim in claims] == [
        (1.0, None, "dpassay.toml"),
        (None, 0.5, "dpassay.toml"),
    ]
    run = record["run"]
    assert (run["catalogue"], run["profile"], run["budget"], run["command"]) == (
        False,
        "quick",
        1000,
        "dpassay run",
    )
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
    assert (plain["parameters"]["T"], plain["parameters"]["epsilon"], plain["mode"]) == (
        3,
        2.0,
        "exact",
    )
    assert (folder / "report" / "index.html").exists()
    record = record_of(capsys, "-p", "T=4", "--claim", "epsilon=3", "--seed", "9", "--out", "other")
    (changed,) = record["results"]
    assert (changed["parameters"]["T"], changed["parameters"]["epsilon"]) == (4, 2.0)
    assert (changed["claim"]["epsilon"], changed["claim"]["source"]) == (3.0, "--claim")
    assert (record["run"]["seed"], record["run"]["catalogue"]) == (9, False)
    assert (folder / "other" / "index.html").exists()


def test_a_target_on_the_command_line_takes_the_settings_only(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "dpassay.toml").write_text(WALK)
    record = record_of(capsys, "soft-majority")
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


def test_what_is_configured_may_change_nothing_in_a_mode_but_options_may_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "dpassay.toml").write_text('jobs = 2\nmode = "exact"\ntrain = 30\nqueries = 1\n')
    record_of(capsys, "projected-walk")
    assert (
        refused(capsys, "run", "projected-walk", "--jobs", "2")
        == "--jobs: has no effect with --mode exact"
    )


def test_plan_takes_what_is_configured(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "dpassay.toml").write_text("train = 30\nqueries = 1\ndetect = 3.0\n")
    assert main(["plan", "soft-majority", "--json"]) == 0
    assert [each["detect"] for each in json.loads(capsys.readouterr().out)] == [3.0]


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        (
            'target = "soft-majorty"',
            "target = 'soft-majorty': no such mechanism; did you mean 'soft-majority'?",
        ),
        (
            'target = "soft-majority"\nanswers = "0,1"',
            "answers: only for a plain function; 'soft-majority' names its own answers",
        ),
        (
            'target = "soft-majority"\nparameters = { rr = 1 }',
            "-p rr: 'soft-majority' has no such parameter",
        ),
        ('target = "soft-majority"\nparameters = { r = 0 }', "r = 0: must be an integer >= 1"),
        (
            'target = "soft-majority"\nclaim = { epsilon = -1 }',
            "epsilon = -1.0: must be 0 or a number in [1e-100, 700]",
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


@pytest.mark.parametrize("command", ["run", "plan soft-majority", "config --show"])
def test_a_bad_file_and_a_bad_variable_are_one_line(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "dpassay.toml").write_text("sede = 1\n")
    assert (
        refused(capsys, *command.split()) == "dpassay.toml: sede: no such key; did you mean 'seed'?"
    )
    (folder / "dpassay.toml").unlink()
    monkeypatch.setenv("DPASSAY_SEED", "x")
    assert refused(capsys, *command.split()) == "DPASSAY_SEED = 'x': must be an integer >= 0"


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


def test_config_without_a_configuration_says_that_the_catalogue_is_audited(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config"]) == 0
    assert "the catalogue" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seed", "-4"], "--seed = -4: must be an integer >= 0"),
        (["--profile", "fast"], "--profile = 'fast': must be one of quick, default, deep"),
        (["--budget", "3"], "--budget: no such option or argument (see dpassay config --help)"),
    ],
)
def test_config_shows_nothing_that_a_run_would_refuse(
    words: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, "config", *words) == message


def test_init_writes_what_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["dpassay.toml", "dpassay_example.py"]
    record = record_of(capsys, "--executor", "inline")
    assert [(result["mechanism"], result["verdict"]) for result in record["results"]] == [
        ("nearest-vote", "not refuted")
    ]
    assert (folder / "report" / "index.html").exists()


@pytest.mark.parametrize("name", ["dpassay.toml", "dpassay_example.py"])
def test_init_overwrites_nothing(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).write_text("mine")
    assert refused(capsys, "init") == f"{name}: exists and is not overwritten; move it away first"
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [(name, "mine")]


def test_init_makes_no_second_configuration(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pyproject.toml").write_text("[tool.dpassay]\nseed = 1\n")
    assert refused(capsys, "init").startswith("pyproject.toml: has a table [tool.dpassay]")
    assert [path.name for path in folder.iterdir()] == ["pyproject.toml"]
