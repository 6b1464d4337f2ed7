"""Records of theorems against each other and against a baseline: the same gate as for audits."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from dpassay.cli.exit_codes import Exit
from dpassay.cli.main import main
from dpassay.record.compare import compare
from dpassay.record.files import dumps
from dpassay.record.kinds import THEOREMS
from dpassay.record.schemas import fault
from tests.record.made_theorems import Record, known, record, row, wrong


def kinds(old: Record, new: Record, **said: Any) -> dict[str, str]:
    assert fault(record(old), "theorems") == fault(record(new), "theorems") == ""
    found = compare(record(old), record(new), **said)
    return {change.kind: change.words for change in found.changes}


SAMPLED: Record = {
    "method": "certified",
    "alpha": 1e-5,
    "detectable": 1.2,
    "lower": 0.7,
    "upper": 0.9,
}
REGRESSED: dict[str, tuple[Record, Record, set[str]]] = {
    "newly refuted": (row(), wrong(), {"refuted", "rose"}),
    "refuted before too": (wrong(), wrong(), {"refuted"}),
    "a check failed": (row(), row(verdict="error", worst=None, cells=0), {"failed"}),
    "known to be wrong, and not refuted": (
        known(),
        known(verdict="not refuted", witness=None),
        {"failed"},
    ),
    "nearer to the claim": (row(), row(lower=0.9, upper=0.9), {"rose"}),
    "nearer from above": (
        row(relation="at least", lower=2.0, upper=2.0),
        row(relation="at least", lower=1.5, upper=1.5),
        {"rose"},
    ),
    "at another case": (row(), row(case={"n": 1}, lower=0.9, upper=0.9), {"rose"}),
    "the claim allows more": (row(), row(claimed=1.2), {"weakened", "fell"}),
    "fewer cases": (row(), row(cells=1), {"blinder"}),
    "searched, and was computed": (row(), row(method="search"), {"blinder"}),
    "a weaker verdict": (row(), row(verdict="inconclusive"), {"blinder"}),
    "less power": (row(**SAMPLED), row(**SAMPLED | {"detectable": 1.4}), {"blinder"}),
    "another number": (row(), row(quantity="y", lower=0.9, upper=0.9), {"repointed"}),
}
NEWS: dict[str, tuple[Record, Record, set[str]]] = {
    "the same": (row(), row(), set()),
    "within the tolerance": (row(), row(lower=0.84, upper=0.84), set()),
    "bounds that overlap": (row(**SAMPLED), row(**SAMPLED | {"lower": 0.8, "upper": 1.0}), set()),
    "further from the claim": (row(), row(lower=0.7, upper=0.7), {"fell"}),
    "the claim allows less": (
        row(),
        row(claimed=0.9, lower=0.72, upper=0.72),
        {"tightened"},
    ),
    "not refuted any more": (wrong(), row(), {"recovered", "fell"}),
    "a known error is larger": (
        known(),
        known() | {"worst": row(lower=1.5, upper=1.5)["worst"]},
        {"moved"},
    ),
    "in other words": (row(), row(checks="whether x <= 1"), {"reworded"}),
    "an infinite claim": (row(claimed="inf"), row(claimed="inf", lower=0.9, upper=0.9), set()),
}


@pytest.mark.parametrize("case", REGRESSED)
def test_regressions(case: str) -> None:
    old, new, expected = REGRESSED[case]
    assert set(kinds(old, new)) == expected
    assert compare(record(old), record(new)).regressions


@pytest.mark.parametrize("case", NEWS)
def test_differences_that_are_none(case: str) -> None:
    old, new, expected = NEWS[case]
    assert set(kinds(old, new)) == expected
    assert not compare(record(old), record(new)).regressions


def test_rows_that_come_and_go() -> None:
    found = compare(record(row("a"), row("b")), record(row("b"), row("c")))
    assert [(each.id, each.kind) for each in found.changes] == [
        ("paper/theorem/a", "vanished"),
        ("paper/theorem/c", "new"),
    ]
    assert found.unchanged == ("paper/theorem/b",)


def test_what_is_said_of_a_number_that_rose() -> None:
    words = kinds(row(), row(lower=0.9, upper=0.9))["rose"]
    assert words == (
        "x: claimed 1, true 0.9, true / claimed 0.9 (n = 2), and was claimed 1, true 0.8, "
        "true / claimed 0.8 (n = 2)"
    )
    assert "rose" not in kinds(row(), row(lower=0.9, upper=0.9), tolerance=0.2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name: str, held: Record) -> str:
    Path(name).write_text(dumps(held), encoding="utf-8")
    return name


def test_a_refuted_row_is_told_with_what_shows_it_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put("dpassay-theorem-baseline.json", record(row(), known(name="wrong")))
    put("theorems.json", record(wrong(), known(name="wrong")))
    assert main(["baseline", "check", "theorems.json", "-o", "out"]) == Exit.REFUTED
    said = " ".join(capsys.readouterr().out.split())
    assert "dpassay theorem replay witnesses/paper%2Ftheorem%2Frow.json" in said
    assert "dpassay theorem run paper/theorem/row" in said
    (failure, rose) = ET.parse(folder / "out/comparison.xml").findall(".//failure")
    assert (failure.get("type"), rose.get("type")) == ("refuted", "rose")
    assert "is refuted: it holds" in (folder / "out/comparison.md").read_text("utf-8")


BAD: dict[str, tuple[Record, Record, str]] = {
    "deep": (record(deep=True), record(), "has deep = True, the record False"),
    "no row in common": (record(row("a")), record(row("b")), "it has none of the rows"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_compared(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, expected = BAD[case]
    put("old.json", old)
    put("new.json", new)
    assert main(["compare", "old.json", "new.json"]) == Exit.USAGE
    told = capsys.readouterr().err
    assert expected in told
    assert told.count("\n") == 1


def test_reports_are_made_from_the_record(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put("theorems.json", record(row(), wrong(name="bad")))
    assert main(["report", "theorems.json", "-o", "pages", "--exit-code"]) == Exit.REFUTED
    assert {path.name for path in (folder / "pages").iterdir()} == {
        "theorems.html",
        "theorems.json",
        "theorems.xml",
    }
    assert main(["report", "theorems.json", "--format", "sarif"]) == Exit.USAGE
    assert "for a record of theorems" in capsys.readouterr().err


@pytest.mark.parametrize("apart", [-1e-9, 0.0, 1e-9])
def test_numbers_that_a_check_calls_equal_are_verified(apart: float, tmp_path: Path) -> None:
    path = tmp_path / "theorems.json"
    path.write_text(dumps(record(row(lower=1 + apart, upper=1 + apart))), encoding="utf-8")
    assert THEOREMS.read(path)["results"][0]["verdict"] == "verified"
