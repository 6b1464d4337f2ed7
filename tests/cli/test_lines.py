"""What is shown of a run on a file names its lines: where the user finds the records."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpassay.cli.main import main
from dpassay.data import load, split
from dpassay.record.kinds import RUNS

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


def trained_line() -> int:
    """The line, in the text of the file, of the largest number among those trained on."""
    parts = split(load("people.csv", "ill"), train=9, queries=2, seed=4)
    largest = int(parts.train.X[:, 0].max())
    (line,) = (k for k, text in enumerate(TEXT.split("\n"), 1) if text.startswith(f"{largest},"))
    return line


def test_terminal_record_reports_and_replay_name_the_line(
    folder: Path, undrawn: None, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("leaky.py").write_text(CODE)
    Path("people.csv").write_text(TEXT)
    assert main(RUN) == 1
    shown = capsys.readouterr().out
    (result,) = RUNS.read(Path("report/record.json"))["results"]
    (row,) = {int(cell["change"].split()[3]) for cell in result["per_query"]}
    (line,) = {cell["in_file"]["lines"][0] for cell in result["per_query"]}
    assert row != line == trained_line()
    told = f"abel of line {line} flipped"
    pages = [Path("report", name).read_text("utf-8") for name in ("report.md", "index.html")]
    assert all(f"L{told}: at query" in text for text in (shown, *pages))
    assert main(["explain", NAME]) == 0
    explained = capsys.readouterr().out
    assert f"S': l{told}" in explained
    assert not any(re.search(r"label of record \d", text) for text in (shown, explained, pages[1]))
    (path,) = map(str, Path("report/witnesses").iterdir())
    assert main(["replay", path, "--trust"]) == 1
    assert f"S': label of line {line} flipped. At query" in capsys.readouterr().out
    Path("moved.csv").write_text("\n\n\n" + TEXT)
    assert main(["replay", path, "--data", "moved.csv", "--trust"]) == 1
    said = capsys.readouterr().out
    assert f"S': label of line {line + 3} flipped. At query" in said
    assert "reproduced:" in said
