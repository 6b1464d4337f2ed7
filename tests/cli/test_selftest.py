"""`dpassay selftest`: table, page, JSON and exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpassay.claims import Stability
from dpassay.cli import selftest as selftest_command
from dpassay.cli.main import main
from dpassay.selftest import run as selftest
from dpassay.selftest import sensitivity as sight
from dpassay.selftest.run import Size

TINY = Size(n=(20,), runs=8, factor_runs=4, claims=(Stability(gamma=0.2),), medians=20)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest_command, "DEFAULT", TINY)
    monkeypatch.setattr(sight, "FACTORS", (2.0,))
    monkeypatch.setattr(sight, "DRAWN", (1.0, 2.0))
    monkeypatch.setattr(sight, "HONEST_RUNS", 2)
    monkeypatch.setattr(selftest, "CLAIMS", ((1.0, 0.0),))


@pytest.mark.usefixtures("tiny")
def test_table_page_and_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    assert {"exact loss of soft-majority, exhaustive, off by"} < {
        check["name"] for check in document["checks"]
    }


@pytest.mark.usefixtures("tiny")
def test_a_broken_harness_exits_with_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for part in ("error", "calibration", "golden", "replay"):
        monkeypatch.setattr(selftest, f"{part}_checks", lambda *args: iter(()))
    monkeypatch.setattr(sight, "power", lambda *args, **rest: 1.0)
    assert main(["selftest", "-q"]) == 3
    assert capsys.readouterr().out.startswith("1 of ")


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "--seed", "-1"]) == 2
    assert "--seed = -1: must be an integer >= 0" in capsys.readouterr().err
    assert main(["selftest", "more"]) == 2
    with pytest.raises(SystemExit):
        main(["selftest", "--help"])
    assert "examples:\n  dpassay " in capsys.readouterr().out


@pytest.mark.nightly
@pytest.mark.slow
def test_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "-q"]) == 0, capsys.readouterr().out
