"""Every row of docs/errors.md: exit code, one line on stderr, nothing written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from dpassay.cli.exit_codes import MEANINGS, Exit
from dpassay.cli.main import main
from dpassay.trials.blocks import BlockCounts
from dpassay.trials.ledger import Ledger

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
ROWS = re.findall(
    r"^\| ([^|`]+) \| `([^`]+)` \| (\d) \| (?:`([^`]*(?:`[^`]*)*?)`)? ?\|$",
    PAGE.read_text(encoding="utf-8"),
    re.MULTILINE,
)

BAD = """
import numpy as np
class Raises:
    def get_params(self, deep=True): return {}
    def set_params(self, **_): return self
    def fit(self, X, y): raise RuntimeError("out of luck")
def wrong_shape(data, queries, size, rng): return np.zeros((size, len(queries) + 1), dtype=int)
def coin(data, queries, size, rng): return rng.integers(0, 2, (size, len(queries)))
def wrong_label(data, queries, size, rng): return np.full((size, len(queries)), 7)
"""


def table(rows: list[str]) -> str:
    return "\n".join(["a,b,label", *rows]) + "\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all files that the page names."""
    folder = tmp_path_factory.mktemp("errors")
    good = [f"{i},{i * i},{i // 2 % 2}" for i in range(12)]
    texts = {
        "bad.py": BAD,
        "good.csv": table(good),
        "nan.csv": table([good[0], "1,,0", *good[2:]]),
        "inf.csv": table([*good[:2], "1,inf,0", *good[3:]]),
        "three.csv": table([f"{i},1,{i % 3}" for i in range(12)]),
        "oneclass.csv": table([f"{i},{i},{int(i > 10)}" for i in range(30)]),
        "noledger/ledger.sqlite": "accounts\n",
    }
    for name in ("noledger", "cutledger"):
        (folder / name).mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    cut = folder / "cutledger" / "ledger.sqlite"
    with Ledger(cut, resume=False) as ledger:
        counts = BlockCounts(calls=np.ones((1, 1, 1), dtype=np.int64), marks=(b"",))
        ledger.keep([((b"", 0, 1, 1), counts)])
    whole = cut.read_bytes()
    for path in cut.parent.iterdir():
        path.unlink()
    cut.write_bytes(whole[:5000])
    return folder


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    monkeypatch.syspath_prepend(made)
    return made


def test_the_page_has_its_rows() -> None:
    assert len(ROWS) == PAGE.read_text(encoding="utf-8").count("| `dpassay ")
    assert len(ROWS) >= 25


@pytest.mark.parametrize(("what", "command", "code", "message"), ROWS, ids=[row[0] for row in ROWS])
def test_row(
    what: str,
    command: str,
    code: str,
    message: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = sorted(folder.rglob("*"))
    assert main(shlex.split(command)[1:]) == int(code)
    stderr = capsys.readouterr().err
    if message:
        assert stderr.splitlines() == [
            f"dpassay: {message}" if ": error: " in message else f"dpassay: error: {message}"
        ]
    else:
        assert stderr == ""
    after = [path for path in sorted(folder.rglob("*")) if "__pycache__" not in path.parts]
    assert after == before


def test_exit_codes_have_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"| {code:d} | {meaning} |" for code, meaning in MEANINGS.items()]
    assert "\n".join(("| code | meaning |", "|---|---|", *rows, "")) in PAGE.read_text(
        encoding="utf-8"
    )
    page = (PAGE.parent / "ci.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (\d+) \| ([^|]*) \|[^|]*\|$", page, re.MULTILINE) == [
        (f"{c:d}", text) for c, text in MEANINGS.items()
    ]
    with pytest.raises(SystemExit):
        main(["--help"])
    told = " ".join(capsys.readouterr().out.partition("exit codes:")[2].split())
    assert told == " ".join(f"{code:d} {meaning}" for code, meaning in MEANINGS.items())
    assert set(Exit) == set(MEANINGS)


def test_unwritable_output_is_found_before_any_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpassay.cli.run.assay", lambda *_: pytest.fail("work was done first"))
    assert main(["run", "soft-majority", "--out", "good.csv/report"]) == 2
