"""The four adversaries in one table: `dpassay attack --adversary all`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpassay.cli.main import main
from dpassay.reports.attack.corners import CLAIM, REPEATED, WORDS, WORST, Corner, Corners


def test_one_table_on_one_scale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = "attack private-knn --against mechanism --epsilon 1 --adversary all --budgets 4"
    command += " --poison-labels balanced --poisoned 10 --models 60 --references 16 --copies 0"
    command += " --records 100 --attacks loss-threshold --transcripts 400 --out"
    assert main([*command.split(), str(tmp_path)]) in (0, 4)
    told = capsys.readouterr().out
    (found,) = json.loads((tmp_path / "corners.json").read_text())["corners"]
    rows = {each["name"]: each for each in found["corners"]}
    assert list(rows) == [*WORDS.values(), REPEATED, WORST, CLAIM]
    assert rows[CLAIM]["loss"] == 4
    assert rows[REPEATED]["loss"] <= rows[WORST]["loss"] <= 4
    assert rows[WORDS["pois-minq"]]["auc"] > rows[WORDS["nat-minq"]]["auc"] + 0.1
    for row in [*WORDS.values(), REPEATED]:
        assert rows[row]["loss"] <= rows[row]["cap"]
    assert {path.name for path in tmp_path.iterdir()} >= set(WORDS)
    assert all(len(line) <= 80 for line in told.splitlines())
    assert (tmp_path / "corners.md").read_text().count("|\n") == 9


def test_a_folder_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attack", "private-knn", "--adversary", "all"]) == 2
    assert "--out" in capsys.readouterr().err


def test_the_sentence_says_what_lies_between() -> None:
    bounds = dict(zip(WORDS.values(), (0.0, 0.1, 0.4, 0.3), strict=True))
    corners = [Corner(name=name, kind="certified", loss=loss) for name, loss in bounds.items()]
    corners.append(Corner(name=WORST, kind="exact", loss=1.5))
    corners.append(Corner(name=CLAIM, kind="claimed", loss=2.0))
    said = Corners(name="x", m=2, corners=tuple(corners)).sentence
    assert said.startswith("Poison and chosen queries raise what is certified from 0 to 0.4;")
    assert "the claim of 2 leaves 0.5" in said
