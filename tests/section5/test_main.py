"""The command, on two small tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.section5 import __main__ as command
from benchmarks.section5.results import FILE
from benchmarks.section5.settings import METHODS, PAPERS
from tests.section5.synthetic import TABLES


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command with a round of each run, its pages in a folder of their own."""
    docs = tmp_path / "docs"
    (docs / "figures").mkdir(parents=True)
    monkeypatch.setattr(command, "DOCS", docs)
    monkeypatch.setattr(command, "load", lambda folder: TABLES)
    monkeypatch.setattr(command, "FIGURES", {"section5_figure2": (PAPERS, ("index",))})

    def run(*more: str) -> int:
        few = ("--out", str(tmp_path / "out"), "--repetitions", "1", "--folds", "1")
        monkeypatch.setattr("sys.argv", ["section5", *few, *more])
        return command.main()

    return run


def test_it_keeps_the_rounds_and_makes_the_page_again(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "docs"
    assert run("--data", "somewhere") == 0
    printed = capsys.readouterr().out
    assert all(f"| Adult | AUC | {method} |" in printed for method in METHODS)
    kept = (tmp_path / "out" / FILE).read_bytes()
    assert kept.count(b"\n") == 7
    assert run("--data", "somewhere", "--write") == 0
    assert (tmp_path / "out" / FILE).read_bytes() == kept
    files = [docs / "section5.json", docs / "section5.md", docs / "figures/section5_figure2.svg"]
    first = [file.read_bytes() for file in files]
    assert first[1].decode() + "\n" == printed
    assert run("--page") == 0
    assert [file.read_bytes() for file in files] == first


def test_interrupted(run: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def interrupted(*given: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "results", interrupted)
    assert run("--data", "somewhere") == 130
    assert "the same command goes on in" in capsys.readouterr().err


def test_bad_arguments(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--data", "somewhere", "--repetitions", "0") == 2
    said = "section5: repetitions = 0: must be an integer >= 1\n"
    assert capsys.readouterr().err == said
    with pytest.raises(SystemExit) as error:
        run()
    assert error.value.code == 2
    assert "--data is needed" in capsys.readouterr().err
