"""`--search-seconds`: a search ends in time, from every place that may say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.engine.searching import search as searched
from dpassay.record.schemas import fault
from tests.cli.conftest import line

CODE = """
def loud(data, rng):
    return "yes" if data.sum() + rng.laplace(scale=0.2) > 0.5 else "no"
"""
RUN = ["run", "mine:loud", "--claim", "epsilon=1", "--budget", "300", "-q"]
RUN += ["--no-stop-early"]
SEARCH = ["--search", "answers,size=2"]
SHORT = {
    "FIRST": 32,
    "SURVIVORS": (4,),
    "OFFSPRING": (0,),
    "SHARES": (4, 1),
    "STEPS": 1,
    "PORTIONS": 2,
}
NO_TIME = "1e-6"
"""Seconds that are over before the clock is looked at, on any machine."""


@pytest.fixture(autouse=True)
def code(folder: Path, monkeypatch: pytest.MonkeyPatch, undrawn: None) -> Path:
    for name, value in SHORT.items():
        monkeypatch.setattr(searched, name, value)
    (folder / "mine.py").write_text(CODE, encoding="utf-8")
    return folder


def searched_by(path: str) -> Any:
    found = json.loads(Path(path, "record.json").read_text(encoding="utf-8"))
    assert fault(found, "record") == ""
    return found["results"][0]["searched"]


def test_the_report_says_that_time_ended_it_and_its_witness_replays(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*RUN, *SEARCH, "--search-seconds", NO_TIME, "--out", "one"]) == 1
    assert searched_by("one")["limit"] == {"seconds": 1e-6, "ended": True, "round": 1}
    told = "search_seconds = 1e-06 ended the search in round 1 of 2: another run"
    for name in ("report.md", "index.html"):
        assert told in Path("one", name).read_text(encoding="utf-8").replace("\\_", "_")
    capsys.readouterr()
    (witness,) = Path("one", "witnesses").glob("*.json")
    assert main(["replay", str(witness), "--trust"]) == 1
    assert "reproduced" in capsys.readouterr().out


def test_a_file_or_a_variable_says_it(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f'budget = 300\nsearch = "answers,size=2"\nsearch_seconds = {NO_TIME}\n'
    (code / "dpassay.toml").write_text(text, encoding="utf-8")
    assert main([*RUN, "--out", "one"]) == 1
    assert searched_by("one")["limit"]["ended"]
    monkeypatch.setenv("DPASSAY_SEARCH_SECONDS", "1e9")
    assert main([*RUN, "--out", "two"]) == 1
    assert searched_by("two")["limit"] == {"seconds": 1e9, "ended": False}
    assert "ended the search" not in Path("two", "report.md").read_text(encoding="utf-8")


def test_the_dry_run_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, *SEARCH, "--search-seconds", "30", "--dry-run"]) == 0
    assert "the search ends after 30 s at the latest" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--search-seconds", "5"], "--search-seconds: requires --search"),
        ([*SEARCH, "--search-seconds", "0"], "--search-seconds = 0.0: must be a finite number > 0"),
        ([*SEARCH, "--search-seconds", "inf"], "--search-seconds = inf: must be a finite number"),
        ([*SEARCH, "--search-seconds", "1m"], "--search-seconds = '1m': must be a finite number"),
    ],
)
def test_what_is_wrong_is_one_line(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert line([*RUN, *words], capsys).startswith(told)


def test_it_has_no_effect_where_nothing_is_searched(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "soft-majority", "--mode", "exact", "--search-seconds", "5"]
    assert line(words, capsys) == "--search-seconds: has no effect with --mode exact"
