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
    assert (
        main(
            ["explain", "projected-walk.printed.exact", "--record", str(small_run / "record.json")]
        )
        == 0
    )
    text = capsys.readouterr().out
    assert "Lemma 5.1" in text
    assert "dpassay replay" in text
    assert max(map(len, text.splitlines())) <= 80


def test_explain_suggests_an_id(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["explain", "projected-walk.printed.exat", "--record", str(small_run / "record.json")])
        == 2
    )
    assert "projected-walk.printed.exact" in capsys.readouterr().err


def test_report_makes_the_same_report_again(small_run: Path, tmp_path: Path) -> None:
    assert main(["report", str(small_run / "record.json"), "-o", str(tmp_path / "again")]) == 0
    for name in ("index.html", "report.md", "record.json", "junit.xml"):
        assert (tmp_path / "again" / name).read_bytes() == (small_run / name).read_bytes()


def test_report_takes_the_formats_that_are_asked_for(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            ["report", str(small_run / "record.json"), "--format", "md", "-o", str(tmp_path / "md")]
        )
        == 0
    )
    assert [path.name for path in (tmp_path / "md").iterdir()] == ["report.md"]
    assert (
        main(
            [
                "report",
                str(small_run / "record.json"),
                "--format",
                "pdf",
                "-o",
                str(tmp_path / "pdf"),
            ]
        )
        == 2
    )
    assert "must be a list of html, md, json, junit" in capsys.readouterr().err


def test_version_and_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("dpassay 0.")
    assert main([]) == 2


def test_helps_have_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("run", "replay", "report"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "examples:\n  dpassay " in capsys.readouterr().out
