"""Every row of docs/mistakes.md: the message, one line on stderr, and the exit code."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from dpassay.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "mistakes.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| `([^`]+)` \| `(.+)` \| (\d) \|$", PAGE, re.MULTILINE)

PREDICT = """import numpy as np


def predict(data, queries, size, rng):
    return rng.integers(0, 2, (size, len(queries)))
"""
WRONG = """import numpy as np


def few():
    return np.zeros((size, len(queries)))


def swapped(data, queries, rng, size):
    return rng.integers(0, 2, (size, len(queries)))


def probability(data, queries, size, rng):
    return np.full((size, len(queries)), 0.78)


def texts(data, queries, size, rng):
    return np.full((size, len(queries)), "yes")


def signs(data, queries, size, rng):
    return np.full((size, len(queries)), -1)


def nothing(data, queries, size, rng):
    np.zeros((size, len(queries)))


def transposed(data, queries, size, rng):
    return rng.integers(0, 2, (len(queries), size))


def single(data, queries, size, rng):
    return rng.integers(0, 2, len(queries))


def columns(data, queries, size, rng):
    return data["income"]


class Model:
    def predict(self, X):
        return X
"""
PEOPLE = [f"{20 + i},{7 * i % 50},{'yes' if i % 3 else 'no'}" for i in range(40)]
LINE = 6
"""Of the list above; line 8 of a file that has a header."""


def table(*lines: str, head: str = "age,hours,income", at: int = LINE) -> str:
    """A file in which some lines are others."""
    rows = [*PEOPLE[:at], *lines, *PEOPLE[at + len(lines) :]]
    return "\n".join([head, *rows, ""])


TEXTS = {
    "my_api.py": PREDICT,
    "src/inner.py": PREDICT.replace("predict", "score"),
    "wrong.py": WRONG,
    "package/part.py": "from .other import thing\n",
    "script.py": "import sys\n\nsys.exit(2)\n",
    "random.py": PREDICT.replace("predict", "draw"),
    "broken.py": "def predict(data, queries, size, rng)\n    return 1\n",
    "needs.py": "import torchy\n",
    "people.csv": table(),
    "semicolon.csv": table().replace(",", ";"),
    "tabs.csv": table().replace(",", "\t"),
    "short.csv": table("26,42"),
    "long.csv": table("26,42,yes,3"),
    "quote.csv": table('26,"42,yes'),
    "gaps.csv": table("26,,yes", "27,NA,no", "28,6,"),
    "words.csv": table("26,about 40,yes"),
    "comma.csv": table(*(f'{20 + i},"{i},5",{i % 2}' for i in range(40)), at=0),
    "names.csv": "\n".join(
        ["name,age,hours,income", *(f"p{i},{row}" for i, row in enumerate(PEOPLE)), ""]
    ),
    "case.csv": table("26,42,Yes"),
    "oneclass.csv": table().replace("no", "yes"),
    "few.csv": "age,hours,income\n20,30,yes\n21,31,no\n",
    "bare.csv": "\n".join([*PEOPLE, ""]),
    "head.csv": "age,hours,income\n",
    "empty.csv": "",
    "index.csv": "\n".join(
        [",age,hours,income", *(f"{i},{row}" for i, row in enumerate(PEOPLE)), ""]
    ),
    "twice.csv": table(head="age,age,income"),
    "later/record.json": '{"schema": "dpassay/record/2"}',
    "cut/record.json": '{"schema": "dpassay/record/1", "res',
    "old/record.json": '{"schema": "dpassay/run/0"}',
    "attack/attack.json": '{"schema": "dpassay/attack/1"}',
    "last/index.html": "<html>",
    "last/record.json": '{"schema": "dpassay/record/1"}',
    "last/witnesses/my-api.json": '{"schema": "dpassay/witness/1"}',
    "misspelt/dpassay.toml": 'profle = "quick"\n',
    "percent/dpassay.toml": "confidence = 95\n",
    "unquoted/dpassay.toml": "profile = quick\n",
    "headed/dpassay.toml": '[dpassay]\nprofile = "quick"\n',
    "singular/dpassay.toml": '[[mechanism]]\ntarget = "my_api:predict"\n',
    "number/dpassay.toml": '[[mechanisms]]\ntarget = "my_api:predict"\nclaim = 1\n',
    "text/dpassay.toml": '[[mechanisms]]\ntarget = "my_api:predict"\nclaim = "epsilon=1"\n',
    "key/dpassay.toml": '[[mechanisms]]\ntarget = "my_api:predict"\nepsilon = 1\n',
}
BYTES = {
    "latin.csv": table("26,42,oui é").encode("cp1252"),
    "utf16.csv": table().encode("utf-16"),
    "people.xlsx": b"PK\x03\x04",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all files that the page names."""
    folder = tmp_path_factory.mktemp("mistakes")
    for name, data in (BYTES | {name: text.encode() for name, text in TEXTS.items()}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as the working directory, on a machine with two processors."""
    monkeypatch.chdir(made)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    return made


def test_the_page_has_its_rows() -> None:
    assert len(ROWS) == len(re.findall(r"^\|.*\| \d \|$", PAGE, re.MULTILINE)) >= 30


@pytest.mark.parametrize(("what", "line", "message", "code"), ROWS, ids=[row[0] for row in ROWS])
def test_row(
    what: str,
    line: str,
    message: str,
    code: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = sorted(folder.rglob("*"))
    place, _, command = line.rpartition(" && ")
    if place:
        monkeypatch.chdir(folder / place.removeprefix("cd "))
    assert main(shlex.split(command)[1:]) == int(code)
    found = capsys.readouterr()
    prefix = "dpassay: " if code == "3" else "dpassay: error: "
    assert found.err == f"{prefix}{message}\n"
    assert found.out == "" or code == "3"
    after = [path for path in sorted(folder.rglob("*")) if "__pycache__" not in path.parts]
    assert after == [path for path in before if "__pycache__" not in path.parts]
