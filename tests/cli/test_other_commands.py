"""`list`, `explain`, `report`, and what is said without a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpassay.cli.main import main
from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.resolve import resolve


def test_list_names_every_entry_with_its_claims(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    table = capsys.readouterr().out
    assert all(name in table for name in ENTRIES)
    assert max(map(len, table.splitlines())) <= 80
    assert main(["list", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in entries] == list(ENTRIES)
    assert {entry["name"]: entry["source"] for entry in entries}[
        "stable-laplace-printed-scale"
    ] == "Dwork and Feldman 2018"
    assert [len(entry["claims"]) for entry in entries] == [
        len(resolve(name).claims) for name in ENTRIES
    ]
    assert [entry["name"] for entry in entries if "exact" not in entry["modes"]] == ["dp-sgd"]
    assert "…" not in table


def test_explain_tells_one_result(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explain", "--record", str(small_run / "record.json")]
    assert main([*words, "projected-walk.printed.exact"]) == 0
    text = capsys.readouterr().out
    assert "Lemma 5.1" in text
    assert "dpassay replay" in text
    assert max(map(len, text.splitlines())) <= 80
    assert main([*words, "projected-walk.printed.exat"]) == 2
    assert "projected-walk.printed.exact" in capsys.readouterr().err


def test_report_makes_the_reports_that_are_asked_for(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", str(small_run / "record.json"), "-o"]
    assert main([*words, str(tmp_path / "again")]) == 0
    for name in ("index.html", "report.md", "record.json", "junit.xml"):
        assert (tmp_path / "again" / name).read_bytes() == (small_run / name).read_bytes()
    assert main([*words, str(tmp_path / "md"), "--format", "md"]) == 0
    assert [path.name for path in (tmp_path / "md").iterdir()] == ["report.md"]
    assert main([*words, str(tmp_path / "pdf"), "--format", "pdf"]) == 2
    assert "must be a list of html, md, json, junit" in capsys.readouterr().err


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "COMMAND" in capsys.readouterr().out
