"""`dpassay selftest`: table, page, JSON and exit code."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from dpassay.claims import Stability
from dpassay.cli import selftest as selftest_command
from dpassay.cli.main import main
from dpassay.selftest import run as selftest
from dpassay.selftest import sensitivity as sight
from dpassay.selftest.run import Size

TINY = Size(n=(20,), runs=8, factor_runs=4, claims=(Stability(gamma=0.2),), medians=20)


def test_table_page_and_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sight, "FACTORS", (2.0,))
    monkeypatch.setattr(sight, "DRAWN", (1.0, 2.0))
    monkeypatch.setattr(sight, "HONEST_RUNS", 2)
    monkeypatch.setattr(selftest, "CLAIMS", ((1.0, 0.0),))
    checks = list(selftest.selftest(TINY))
    asked: list[Any] = []

    def again(size: Size, *, seed: int, progress: Any) -> Any:
        asked.append((size, seed))
        return iter(checks)

    monkeypatch.setattr(selftest_command, "selftest", again)
    out = tmp_path / "out"
    assert main(["selftest", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "all ok" in printed.out
    assert max(map(len, printed.out.splitlines())) <= 80
    assert printed.err == f"report: {out / 'selftest.html'}\n"
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(first) == ["selftest.html", "selftest.json"]
    assert main(["selftest", "--out", str(out), "--json", "-q"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.encode() == first["selftest.json"]
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first
    document = json.loads(printed.out)
    assert document["passed"]
    assert document["facts"]["command"] == "dpassay selftest --seed 0"
    assert "exact loss of soft-majority, exhaustive, off by" in {
        check["name"] for check in document["checks"]
    }
    checks[0] = dataclasses.replace(checks[0], value=2 * checks[0].limit)
    assert main(["selftest", "-q", "--deep", "--seed", "3"]) == 3
    assert capsys.readouterr().out.startswith("1 of ")
    assert asked == [(selftest.DEFAULT, 0), (selftest.DEFAULT, 0), (selftest.DEEP, 3)]


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "--seed", "-1"]) == 2
    assert "--seed = -1: must be an integer >= 0" in capsys.readouterr().err
    assert main(["selftest", "more"]) == 2


@pytest.mark.nightly
@pytest.mark.slow
def test_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "-q"]) == 0, capsys.readouterr().out
