"""`dpassay compare-mechanisms` as a user calls it."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.frontier import run as running
from dpassay.frontier.accuracy import FrontierSplit, baselines, private_accuracy

WORDS = ["compare-mechanisms", "projected-walk", "private-knn", "--splits", "2", "-q"]


def test_table_page_and_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--epsilon", "0.5,1", "--no-membership", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].startswith("ε = 0.5: private-knn answers")
    document = json.loads((tmp_path / "frontier.json").read_text(encoding="utf-8"))
    assert len(document["rows"]) == 2 + 4
    assert document["command"].startswith("dpassay compare-mechanisms projected-walk")
    assert "costs" not in document
    assert document["complete"] is True
    assert document["missing"] == []
    assert set(json.loads((tmp_path / "costs.json").read_text(encoding="utf-8"))) == {
        *("non-private", "majority"),
        *("projected-walk 0.5", "projected-walk 1", "private-knn 0.5", "private-knn 1"),
    }
    assert "<svg" in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("at", "done", "headline"),
    [
        ("non-private", 0, "Nothing was compared: interrupted"),
        ("private-knn", 4, "; the comparison is incomplete"),
    ],
)
def test_an_interrupted_comparison_keeps_what_is_done_and_names_what_is_missing(
    at: str,
    done: int,
    headline: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def of_mechanism(entry: str, *rest: Any) -> float:
        if entry == at:
            signal.raise_signal(signal.SIGINT)
        return private_accuracy(entry, *rest)

    def of_baselines(split: FrontierSplit) -> dict[str, float]:
        if at == "non-private":
            signal.raise_signal(signal.SIGINT)
        return baselines(split)

    monkeypatch.setattr(running, "private_accuracy", of_mechanism)
    monkeypatch.setattr(running, "baselines", of_baselines)
    assert main([*WORDS, "--epsilon", "0.5,1", "--no-membership", "--out", str(tmp_path)]) == 130
    document = json.loads((tmp_path / "frontier.json").read_text(encoding="utf-8"))
    assert document["complete"] is False
    asked: list[tuple[str, float | None]] = [("non-private", None), ("majority", None)]
    asked += [(name, loss) for name in ("projected-walk", "private-knn") for loss in (0.5, 1.0)]
    assert [row["name"] for row in document["rows"]] == [name for name, _ in asked[:done]]
    missing = [(row["name"], row.get("epsilon")) for row in document["missing"]]
    assert missing == asked[done:]
    assert set(json.loads((tmp_path / "costs.json").read_text(encoding="utf-8"))) == {
        name if loss is None else f"{name} {loss:g}" for name, loss in asked[:done]
    }
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    for text in (" ".join(capsys.readouterr().out.split()), page):
        assert headline in text
        assert "The comparison was interrupted and is incomplete. Missing: " in text
        assert all(name in text for name, _ in missing)
        assert text.count("private-knn at ε = ") == 2
    assert ("<svg" in page) == (done > 2)


def test_wrong_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare-mechanisms", "walk"]) == 2
    assert "NAME = 'walk': must be one of" in capsys.readouterr().err
    assert main([*WORDS[:2], "--splits", "1"]) == 2
    assert "--splits = 1: must be an integer from 2 to 1,000" in capsys.readouterr().err


@pytest.mark.slow
def test_no_number_depends_on_the_jobs(tmp_path: Path) -> None:
    few = ["compare-mechanisms", "projected-walk", "--splits", "2", "-q"]
    for jobs in ("1", "2"):
        assert main([*few, "--jobs", jobs, "--out", str(tmp_path / jobs)]) == 0
    one, two = ((tmp_path / jobs / "frontier.json").read_bytes() for jobs in ("1", "2"))
    assert one == two
    assert b'"membership"' in one
