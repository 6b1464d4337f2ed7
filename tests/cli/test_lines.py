"""What is shown of a run on a file names its lines: where the user finds the records."""

from __future__ import annotations

import re
import shutil
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from dpassay.cli.main import main
from dpassay.record.kinds import RUNS
from tests.cli.rewritten import inside, main_anew

CODE = '''
import numpy as np

def last(data, queries, size, rng):
    """The label of the record with the largest number, nine times in ten."""
    label = int(data.y[data.X[:, 0].argmax()])
    return np.where(rng.random((size, len(queries))) < 0.9, label, 1 - label)
'''
TEXT = "\nnumber,note,ill\n" + "".join(
    f'{100 + k},"{"two" * (k % 3)}\n",{"yes" if k % 2 else "no"}\n' + "\n" * (k % 5 == 0)
    for k in range(24)
)
RUN = ["run", "leaky:last", "--claim", "epsilon=1", "--data", "people.csv", "--label", "ill"]
RUN += ["--train", "9", "--queries", "2", "--train-queries", "0", "--neighbours", "flip"]
RUN += ["--budget", "1500", "--seed", "4", "--executor", "inline", "--out", "report"]
NAME = "leaky:last.own.monte-carlo"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that was audited once, to be copied, with what the terminal showed."""
    project = tmp_path_factory.mktemp("made")
    (project / "leaky.py").write_text(CODE)
    (project / "people.csv").write_text(TEXT)
    with inside(project), redirect_stdout(StringIO()) as shown:
        assert main_anew("leaky", RUN) == 1
    (project / "shown.txt").write_text(shown.getvalue(), encoding="utf-8")
    return project


@pytest.fixture
def audited(folder: Path, made: Path) -> tuple[str, int]:
    """What the terminal showed, and the line that was named."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    shown = Path("shown.txt").read_text("utf-8")
    record = RUNS.read(Path("report/record.json"))
    (result,) = record["results"]
    (row,) = {int(cell["change"].split()[3]) for cell in result["per_query"]}
    (line,) = {cell["in_file"]["lines"][0] for cell in result["per_query"]}
    assert row != line
    return shown, line


def trained_line() -> int:
    """The line of the record with the largest number among those that were trained on.

    Its number is taken from the records that were drawn, its line from the text of the file.
    """
    from dpassay.data import load, split

    parts = split(load("people.csv", "ill"), train=9, queries=2, seed=4)
    largest = int(parts.train.X[:, 0].max())
    (line,) = (k for k, text in enumerate(TEXT.split("\n"), 1) if text.startswith(f"{largest},"))
    return line


def test_terminal_record_and_reports_name_the_line(
    audited: tuple[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    shown, line = audited
    assert line == trained_line()
    told = f"abel of line {line} flipped"
    assert f"L{told}: at query" in shown
    assert f"L{told}: at query" in Path("report/report.md").read_text("utf-8")
    assert f"L{told}: at query" in Path("report/index.html").read_text("utf-8")
    assert main(["explain", NAME]) == 0
    explained = capsys.readouterr().out
    assert f"S': l{told}" in explained
    for text in (shown, explained, Path("report/index.html").read_text("utf-8")):
        assert not re.search(r"label of record \d", text)


def test_replay_names_the_line_that_the_file_has_now(
    audited: tuple[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    _, line = audited
    (path,) = map(str, Path("report/witnesses").iterdir())
    assert main(["replay", path, "--trust"]) == 1
    assert f"S': label of line {line} flipped. At query" in capsys.readouterr().out
    Path("moved.csv").write_text("\n\n\n" + TEXT)
    assert main(["replay", path, "--data", "moved.csv", "--trust"]) == 1
    said = capsys.readouterr().out
    assert f"S': label of line {line + 3} flipped. At query" in said
    assert "reproduced:" in said


def test_the_same_seed_gives_the_same_record(audited: tuple[str, int]) -> None:
    first = Path("report/record.json").read_bytes()
    assert main(RUN) == 1
    assert Path("report/record.json").read_bytes() == first
