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


OLD, NEARER = row(), row(lower=0.9, upper=0.9)
CERTIFIED: Record = {"method": "certified", "alpha": 1e-5, "detectable": 1.2}
SAMPLED = row(**CERTIFIED, lower=0.7, upper=0.9)
ABOVE, LESS = (row(relation="at least", lower=low, upper=low) for low in (2.0, 1.5))
REGRESSED: dict[str, tuple[Record, Record, set[str]]] = {
    "newly refuted": (OLD, wrong(), {"refuted", "rose"}),
    "refuted before too": (wrong(), wrong(), {"refuted"}),
    "a check failed": (OLD, row(verdict="error", worst=None, cells=0), {"failed"}),
    "wrong as is known, and not refuted": (
        known(),
        known(verdict="not refuted", witness=None),
        {"failed"},
    ),
    "nearer to the claim": (OLD, NEARER, {"rose"}),
    "nearer from above": (ABOVE, LESS, {"rose"}),
    "at another case": (OLD, row(case={"n": 1}, lower=0.9, upper=0.9), {"rose"}),
    "the claim allows more": (OLD, row(claimed=1.2), {"weakened", "fell"}),
    "fewer cases": (OLD, row(cells=1), {"blinder"}),
    "searched, and was computed": (OLD, row(method="search"), {"blinder"}),
    "a weaker verdict": (OLD, row(verdict="inconclusive"), {"blinder"}),
    "less power": (
        SAMPLED,
        row(**CERTIFIED | {"detectable": 1.4}, lower=0.7, upper=0.9),
        {"blinder"},
    ),
    "another number": (OLD, row(quantity="y", lower=0.9, upper=0.9), {"repointed"}),
}
NEWS: dict[str, tuple[Record, Record, set[str]]] = {
    "the same": (OLD, OLD, set()),
    "within the tolerance": (OLD, row(lower=0.84, upper=0.84), set()),
    "bounds that overlap": (SAMPLED, row(**CERTIFIED, lower=0.8, upper=1.0), set()),
    "further from the claim": (OLD, row(lower=0.7, upper=0.7), {"fell"}),
    "the claim allows less": (OLD, row(claimed=0.9, lower=0.72, upper=0.72), {"tightened"}),
    "not refuted any more": (wrong(), OLD, {"recovered", "fell"}),
    "a known error is larger": (
        known(),
        known() | {"worst": row(lower=1.5, upper=1.5)["worst"]},
        {"moved"},
    ),
    "in other words": (OLD, row(checks="whether x <= 1"), {"reworded"}),
    "an infinite claim": (row(claimed="inf"), row(claimed="inf", lower=0.9, upper=0.9), set()),
}


@pytest.mark.parametrize("case", REGRESSED | NEWS)
def test_what_is_different_and_whether_it_is_worse(case: str) -> None:
    old, new, expected = (REGRESSED | NEWS)[case]
    assert set(kinds(old, new)) == expected
    assert bool(compare(record(old), record(new)).regressions) == (case in REGRESSED)


def test_rows_that_come_and_go() -> None:
    found = compare(record(row("a"), row("b")), record(row("b"), row("c")))
    assert [(each.id, each.kind) for each in found.changes] == [
        ("paper/theorem/a", "vanished"),
        ("paper/theorem/c", "new"),
    ]
    assert found.unchanged == ("paper/theorem/b",)


def test_what_is_said_of_a_number_that_rose() -> None:
    assert kinds(OLD, NEARER)["rose"] == (
        "x: claimed 1, true 0.9, true / claimed 0.9 (n = 2), and was claimed 1, true 0.8, "
        "true / claimed 0.8 (n = 2)"
    )
    assert "rose" not in kinds(OLD, NEARER, tolerance=0.2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name: str, held: Record) -> None:
    Path(name).write_text(dumps(held), encoding="utf-8")


def test_a_refuted_row_is_told_with_what_shows_it_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put("dpassay-theorem-baseline.json", record(OLD, known(name="wrong")))
    put("theorems.json", record(wrong(), known(name="wrong")))
    assert main(["baseline", "check", "theorems.json", "-o", "out"]) == Exit.REFUTED
    said = " ".join(capsys.readouterr().out.split())
    assert "dpassay theorem replay witnesses/paper%2Ftheorem%2Frow.json" in said
    assert "dpassay theorem run paper/theorem/row" in said
    (failure, rose) = ET.parse(folder / "out/comparison.xml").findall(".//failure")
    assert (failure.get("type"), rose.get("type")) == ("refuted", "rose")
    assert "is refuted: it holds" in (folder / "out/comparison.md").read_text("utf-8")


@pytest.mark.parametrize(("old", "new", "said"), [
    (record(deep=True), record(), "has deep = True, the record False"),
    (record(row("a")), record(row("b")), "it has none of the rows"),
])  # fmt: skip
def test_what_cannot_be_compared(
    old: Record, new: Record, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put("old.json", old)
    put("new.json", new)
    assert main(["compare", "old.json", "new.json"]) == Exit.USAGE
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_reports_are_made_from_the_record(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put("theorems.json", record(OLD, wrong(name="bad")))
    assert main(["report", "theorems.json", "-o", "pages", "--exit-code"]) == Exit.REFUTED
    made = {path.name for path in (folder / "pages").iterdir()}
    assert made == {"theorems.html", "theorems.json", "theorems.xml"}
    assert main(["report", "theorems.json", "--format", "sarif"]) == Exit.USAGE
    assert "for a record of theorems" in capsys.readouterr().err


@pytest.mark.parametrize("apart", [-1e-9, 0.0, 1e-9])
def test_numbers_that_a_check_calls_equal_are_verified(apart: float, folder: Path) -> None:
    put("theorems.json", record(row(lower=1 + apart, upper=1 + apart)))
    assert THEOREMS.read(Path("theorems.json"))["results"][0]["verdict"] == "verified"
