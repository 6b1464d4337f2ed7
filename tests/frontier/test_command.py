"""`dpassay compare-mechanisms` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpassay.cli.main import main

WORDS = ["compare-mechanisms", "projected-walk", "private-knn", "--splits", "2", "-q"]


def test_table_page_and_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--epsilon", "0.5,1", "--no-membership", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].startswith("ε = 0.5: private-knn answers")
    document = json.loads((tmp_path / "frontier.json").read_text(encoding="utf-8"))
    assert len(document["rows"]) == 2 + 4
    assert document["command"].startswith("dpassay compare-mechanisms projected-walk")
    assert "costs" not in document
    assert set(json.loads((tmp_path / "costs.json").read_text(encoding="utf-8"))) == {
        *("non-private", "majority"),
        *("projected-walk 0.5", "projected-walk 1", "private-knn 0.5", "private-knn 1"),
    }
    assert "<svg" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_wrong_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare-mechanisms", "walk"]) == 2
    assert "NAME = 'walk': must be one of" in capsys.readouterr().err
    assert main([*WORDS[:2], "--splits", "1"]) == 2
    assert "--splits = 1: must be an integer from 2 to 1,000" in capsys.readouterr().err


@pytest.mark.slow
def test_no_number_depends_on_the_jobs(tmp_path: Path) -> None:
    for jobs in ("1", "2"):
        assert main([*WORDS, "--jobs", jobs, "--out", str(tmp_path / jobs)]) == 0
    one, two = ((tmp_path / jobs / "frontier.json").read_bytes() for jobs in ("1", "2"))
    assert one == two
    assert b'"membership"' in one
