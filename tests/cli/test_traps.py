"""Traps that would turn a pipeline green, lose somebody's files, or publish somebody's data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpassay.cli.main import main

DPASSAY = [sys.executable, "-m", "dpassay"]
PEOPLE = "income,age\n" + "".join(f"{i % 2},{40 + i}.867642\n" for i in range(30))
TRAPS = """
import numpy as np
def tells(data, queries, size, rng): raise ValueError(f"cannot handle {data.X[0]}")
def honest(data, queries, size, rng): return rng.integers(0, 2, (size, len(queries)))
"""
ON_PEOPLE = [
    *("--claim", "epsilon=1", "--data", "people.csv", "--label", "income", "--profile", "quick"),
    *("--train", "6", "--queries", "1", "--neighbours", "flip", "-q"),
]

EXHAUSTIVE = ["run", "projected-walk", "--mode", "exhaustive", "--n", "2", "--domain", "1", "-q"]
EXHAUSTIVE += ["--out", "out"]
"""A run of a moment."""

HERE = ["--executor", "inline"]
"""Where no process is needed: no number depends on it."""


@pytest.fixture
def traps(folder: Path) -> Path:
    Path("traps.py").write_text(TRAPS)
    Path("people.csv").write_text(PEOPLE)
    return folder


def test_what_a_mechanism_says_and_where_is_shown_but_not_recorded(
    traps: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its message may quote data; the traceback comes with --debug only."""
    words = ["run", "traps:tells", *(word for word in ON_PEOPLE if word != "-q"), "--out", "out"]
    line = 1 + TRAPS.splitlines().index(
        next(each for each in TRAPS.splitlines() if "tells" in each)
    )
    records = []
    for given in (words, ["--debug", *words]):
        assert main(given) == 3
        shown = capsys.readouterr().err
        assert ".867642" in shown
        assert f"(ValueError at traps.py:{line} in tells)" in shown
        assert ("Traceback" in shown) == ("--debug" in given)
        assert_without_values()
        records.append(Path("out/record.json").read_bytes())
    assert records == records[:1] * 2
    assert b"ValueError at" not in records[0]
    assert main(["run", "nowhere"]) == main(["run", "nowhere", "--debug"]) == 2
    assert capsys.readouterr().err.count("Traceback") == 1


def assert_without_values() -> None:
    for path in Path("out").rglob("*.*"):
        assert b".867642" not in path.read_bytes(), path


@pytest.mark.usefixtures("undrawn")
def test_no_report_of_a_run_on_a_file_holds_its_values_and_its_witness_needs_the_file(
    traps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["run", "traps:honest", *ON_PEOPLE, *HERE, "--budget", "1000", "--out", "out"]
    assert main([*words, "--allow-inconclusive"]) == 0
    assert_without_values()
    monkeypatch.chdir("out")
    witness = str(next(Path("witnesses").iterdir()))
    assert main(["replay", witness, "--trust"]) == 2
    assert main(["replay", witness, "--data", "../people.csv", "--trust"]) == 0
    Path("other.csv").write_text(PEOPLE.replace("40.867642", "41.867642"))
    assert main(["replay", witness, "--data", "other.csv", "--trust"]) == 2
    for data in ("", "breast-cancer"):  # no name of a file is the built-in data
        words = ["--claim", "epsilon=1", "--data", data, "--label", "income"]
        assert main(["run", "traps:honest", *words]) == 2


@pytest.mark.usefixtures("undrawn")
def test_a_run_that_fails_removes_the_pages_of_the_one_before_and_nothing_else(
    folder: Path,
) -> None:
    Path("out/witnesses").mkdir(parents=True)
    Path("out/witnesses/mine.json").write_text("{}")
    assert main(EXHAUSTIVE) == 0
    assert Path("out/witnesses/mine.json").exists()
    Path("out/notes.txt").write_text("mine")
    kept = {"notes.txt", "witnesses"}
    assert main([*EXHAUSTIVE, "--dry-run"]) == 0
    assert {path.name for path in Path("out").iterdir()} > {*kept, "record.json"}
    assert main([*EXHAUSTIVE, "-p", "epsilon=many"]) == 2
    assert {path.name for path in Path("out").iterdir()} == kept
    theirs = {"record.json", "index.html", "junit.xml"}
    for name in theirs:
        Path("out", name).write_text("mine")
    assert main([*EXHAUSTIVE, "-p", "epsilon=many"]) == 2
    assert {path.name for path in Path("out").iterdir()} == kept | theirs


def test_the_catalogue_is_not_audited_in_place_of_what_is_configured(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--mode", "exhaustive", "--n", "2", "--domain", "1", "-q", "--configured"]
    assert main(["run", *words]) == 2
    assert "no mechanism is configured" in capsys.readouterr().err
    assert main(["run", "projected-walk", *words]) == 0
    capsys.readouterr()
    Path("dpassay.toml").write_text('[[mechanisms]]\ntarget = "projected-walk"\n')
    assert main(["run", *words, "--json"]) == 0
    assert "--configured" not in json.loads(capsys.readouterr().out)["run"]["command"]


@pytest.mark.usefixtures("undrawn")
def test_the_exit_code_of_a_record_and_of_a_tiny_refutation(folder: Path) -> None:
    words = ["run", "projected-walk", "--profile", "quick", "-q", "--out", "out"]
    report = ["report", "out/record.json", "-o", "pages", "--format", "json", "--exit-code"]
    assert main([*words, "-p", "epsilon=1e-9", "--claim", "epsilon=1e-10"]) == 1
    (claimed,) = (
        path for path in Path("out/witnesses").iterdir() if not path.name.endswith(".gamma.json")
    )
    assert main(["replay", str(claimed), "--trust"]) == 1
    assert main(report) == 1
    assert main(report[:-1]) == 0
    assert main([*words, "--mode", "monte-carlo", "--budget", "100"]) == 4
    assert main(report) == 4
    assert main([*report, "--allow-inconclusive"]) == 0
    record = json.loads(Path("out/record.json").read_text())
    record["run"]["complete"] = False
    Path("out/record.json").write_text(json.dumps(record))
    assert main(report) == 130
    record["run"]["complete"], record["results"] = True, []
    Path("out/record.json").write_text(json.dumps(record))
    assert main(report) == 5


@pytest.mark.parametrize("reader", ["true", "head -1"])
def test_a_reader_that_leaves_does_not_change_the_exit_code(
    reader: str, folder: Path, warm: Path
) -> None:
    program = warm / "dpassay" if reader == "true" else " ".join(DPASSAY)
    command = (
        f"{program} run projected-walk --claim epsilon=0.01 --profile quick --json -q | "
        f"{reader} > /dev/null"
    )
    found = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == ["1"]


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_refutation(folder: Path) -> None:
    words = "run projected-walk --mode exhaustive --n 2 --domain 1"
    for command in (f"{words} -q", f"{words} --out out 2>&1", "none 2>&1"):
        # `true` has gone when we print
        line = f"{{ sleep 1; {' '.join(DPASSAY)} {command}; echo $? > code; }} | true"
        subprocess.run(["bash", "-c", line], stderr=subprocess.DEVNULL, check=True)
        expected = "2" if command.startswith("none") else "0"
        assert Path("code").read_text().strip() == expected, command


def test_an_output_that_fails_is_no_refutation_and_an_ascii_terminal_loses_symbols_only(
    folder: Path,
) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    with Path("/dev/full").open("w") as full:
        for stdout, code in ((full, 3), (subprocess.DEVNULL, 0)):
            found = subprocess.run(
                [*DPASSAY, "list"],
                env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
            assert found.returncode == code
            assert "Traceback" not in found.stderr
