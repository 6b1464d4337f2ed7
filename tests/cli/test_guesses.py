"""Guesses at what was meant: right, never acted on, and none where nobody can tell."""

from __future__ import annotations

import functools
import gzip
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay import audit, replace_one
from dpassay.cli.main import main
from dpassay.data import load
from dpassay.errors import InvalidInput
from dpassay.targets.calls import taken
from dpassay.targets.importing import meant_module

WALK = ["run", "projected-walk", "--mode", "exhaustive", "--n", "2", "--domain", "1", "-q"]


def test_a_guess_runs_no_code_of_the_users(folder: Path) -> None:
    Path("mine.py").write_text(
        "open('ran', 'w')\ndef f(a, b): ...\ndef predict(data, queries, size, rng): ...\n"
    )
    assert meant_module("./mine.py", "predict") == "did you mean 'mine:predict'?"
    assert meant_module("mien", "predict") == "did you mean 'mine:predict'?"
    assert main(["run", "mine.py", "--claim", "epsilon=1"]) == 2
    assert main(["run", "mine.py:predict", "--claim", "epsilon=1"]) == 2
    assert not Path("ran").exists()


@pytest.mark.parametrize("target", ["a" * 3000, "\x00", "..", "/", "~/my.py"])
def test_a_guess_is_never_an_error(
    target: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([f"{target}:f", "--claim", "epsilon=1"], ["pate", "--data", target]):
        assert main(["run", *words]) == 2
        assert "did you mean" not in capsys.readouterr().err


def four(a: Any, b: Any, c: Any, d: Any) -> None:
    """What is audited."""


def test_functions_of_four_arguments_are_taken_in_every_form() -> None:
    class Called:
        def __call__(self, a: Any, b: Any, c: Any, d: Any) -> None: ...

    @functools.wraps(len)
    def wrapped(*given: Any) -> None: ...

    known = (four, Called(), wrapped, functools.partial(lambda a, b, c, d, e: None, 1), max)
    for function in (*known, lambda *_: None, lambda a, b, c, d=1: None, np.add.reduce):
        taken(function, "f")
    for refused in (lambda: None, lambda a, b, c, *, d: None):
        with pytest.raises(InvalidInput, match=r"f: takes .*; must take \(data, queries, size"):
            taken(refused, "f")


def test_python_is_told_what_a_claim_is() -> None:
    pairs = replace_one([[0], [1]], [0, 1])
    with pytest.raises(InvalidInput, match=r"claim = 1: must be .* did you mean DP"):
        audit(four, claim=1, pairs=pairs, queries=[[0]])  # type: ignore[arg-type]


def test_the_folder_of_a_run_stands_for_its_record_and_is_guessed(
    folder: Path, undrawn: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WALK, "--out", "mine"]) == 0
    capsys.readouterr()
    assert main(["baseline", "accept"]) == 2
    assert "did you mean 'mine/record.json'?" in capsys.readouterr().err
    assert main(["replay", "mine"]) == 2
    assert "one of the 2 files in 'mine/witnesses'" in capsys.readouterr().err
    assert main(["report", "mine", "-o", "again"]) == 0
    for name in ("index.html", "report.md", "record.json", "junit.xml"):
        assert Path("again", name).read_bytes() == Path("mine", name).read_bytes()
    assert main(["report", "mine", "-o", "md", "--format", "md"]) == 0
    assert [path.name for path in Path("md").iterdir()] == ["report.md"]
    capsys.readouterr()
    assert main(["explain", "projected-walk.printed.exhaustive", "--record", "mine"]) == 0
    text = capsys.readouterr().out
    assert "Lemma 5.1" in text
    assert max(map(len, text.splitlines())) <= 80
    assert main(["explain", "projected-walk.printed.exat", "--record", "mine"]) == 2
    assert "projected-walk.printed.exhaustive" in capsys.readouterr().err
    assert main(["report", "mine", "-o", "pdf", "--format", "pdf"]) == 2
    assert "must be a list of html, md, json, junit" in capsys.readouterr().err
    assert main(["compare", "mine", "again"]) == 0
    assert main(["baseline", "accept", "mine"]) == 0
    assert main(["baseline", "check", "again"]) == 0


ROWS = [f"{i},{'abc'[i % 3]},{i % 2}" for i in range(30)]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("bom.csv", "\ufeffage,sex,y\n" + "\n".join(ROWS)),
        ("lines.csv", "age,sex,y\r\n\r\n" + "\r\n".join(ROWS)),
        ("blanks.csv", "age, sex, y\n" + "\n".join(ROWS).replace(",", ", ")),
        ("long.csv", "a,b,y\n" + "\n".join(f"{10**30},{i},{i % 2}" for i in range(30))),
        ("quoted.csv", 'age,sex,y\n1,"a\nb, c",0\n' + "\n".join(ROWS)),
        ("codes.csv", "age,sex,y\n" + "\n".join(ROWS).replace(",a,", ",1,")),
        ("few.csv", "age,sex,y\n" + "\n".join(f"{i},name{i},{i % 2}" for i in range(19))),
    ],
)
def test_a_table_that_is_right_is_read(name: str, data: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data.encode())
    table = load(str(path), "y")
    assert len(table.data) in (19, 30, 31)
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(data.encode()))
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr(name, data.encode())
    for path in (packed, tmp_path / "t.zip"):
        assert load(str(path), "y").data.digest == table.data.digest


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('a,b,y\n1,"x\ny",0\n\n,x,1\n', "column 'a' in 1 of 2 records \\(first in line 5\\)"),
        ("a,y\n1,0\nNA,1\n", "first in line 3, written 'NA'"),
        ("a,y\n1,0,5\n2,1,5\n", "line 2 has 3 values; must have 2.* is a name missing there"),
        ("[1]\n", "is JSON; must be CSV"),
        ("a,y,y\n1,0,5\n", "two columns have the name 'y'"),
        ("a\tb\ty\n1\t2\t0\n", "is separated by tabs"),
        ("a;b;y\n1,5;2;0\n", "is separated by ';'"),
    ],
)
def test_a_table_that_is_wrong_is_refused_by_its_line(
    data: str, message: str, tmp_path: Path
) -> None:
    for name, text in (("t.csv", data.encode()), ("t.csv.gz", gzip.compress(data.encode()))):
        if name.endswith("gz") and "JSON" in message:
            continue  # what a file begins with is looked at as it lies there
        (tmp_path / name).write_bytes(text)
        with pytest.raises(InvalidInput, match=message):
            load(str(tmp_path / name), "y")
