"""Records of theorems against each other and against a baseline: the same gate as for audits."""

from __future__ import annotations

import copy
import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from dpassay.cli.exit_codes import Exit
from dpassay.cli.main import main
from dpassay.errors import InvalidInput
from dpassay.record.files import dumps
from dpassay.record.schemas import fault
from dpassay.record.theorems.baseline import read_theorem_record
from dpassay.record.theorems.compare import compare_theorems

Record = dict[str, Any]


def row(name: str = "row", **changed: Any) -> Record:
    """A row that is verified; what is true is 0.8 of what is claimed, unless said otherwise."""
    measured: Record = {
        "case": {"n": 2},
        "claimed": 1.0,
        "lower": 0.8,
        "upper": 0.8,
        "alpha": 0.0,
        "detectable": None,
    }
    kept: Record = {
        "id": f"paper/theorem/{name}",
        "statement": {
            "paper": "Paper",
            "number": "Theorem 1",
            "place": "page 1",
            "printed": "x <= 1",
            "hypotheses": "none",
            "kind": "utility",
        },
        "checks": "that x <= 1",
        "quantity": "x",
        "relation": "at most",
        "method": "exact",
        "domain": "n = 1, 2",
        "derivation": None,
        "expected": None,
        "verdict": "verified",
        "reason": "it holds",
        "cells": 2,
        "worst": measured,
        "witness": None,
    }
    worst = {name: changed.pop(name) for name in tuple(changed) if name in measured}
    held: Record = measured | worst
    claimed = float(held["claimed"])
    held["factor"] = held["upper"] / claimed if 0 < claimed < math.inf else None
    return kept | {"worst": held} | changed


def wrong(**changed: Any) -> Record:
    """A row that is refuted by its only case."""
    found = row(lower=1.2, upper=1.2, **changed)
    return found | {"verdict": "refuted", "witness": found["worst"]} | changed


def known(**changed: Any) -> Record:
    """A row that is known to be wrong, and is."""
    return wrong(expected="refuted", derivation="Somewhere", **changed)


def record(*rows: Record, **facts: Any) -> Record:
    run: Record = {
        "version": "1",
        "packages": {},
        "commit": None,
        "seed": 0,
        "deep": False,
        "command": "dpassay theorem run",
        "complete": True,
    }
    return {"schema": "dpassay/theorems/1", "run": run | facts, "results": list(rows or [row()])}


def kinds(old: Record, new: Record, **said: Any) -> dict[str, str]:
    assert fault(record(old), "theorems") == fault(record(new), "theorems") == ""
    found = compare_theorems(record(old), record(new), **said)
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
    assert compare_theorems(record(old), record(new)).regressions


@pytest.mark.parametrize("case", NEWS)
def test_differences_that_are_none(case: str) -> None:
    old, new, expected = NEWS[case]
    assert set(kinds(old, new)) == expected
    assert not compare_theorems(record(old), record(new)).regressions


def test_rows_that_come_and_go() -> None:
    found = compare_theorems(record(row("a"), row("b")), record(row("b"), row("c")))
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


def test_accept_and_check_by_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put("theorems.json", record(row(), known(name="wrong")))
    check = ["baseline", "check", "theorems.json", "-o", "out"]
    assert main(check) == Exit.USAGE
    assert "does not exist; create it with `dpassay baseline accept" in capsys.readouterr().err
    assert main(["baseline", "accept", "theorems.json"]) == Exit.NOTHING
    told = capsys.readouterr()
    assert "dpassay-theorem-baseline.json: 2 rows of theorems.json" in told.out
    assert told.err == ""
    assert main(check) == Exit.NOTHING
    assert capsys.readouterr().out.startswith("No regression shown; 2 entries unchanged\n")
    put("theorems.json", record(wrong(), known(name="wrong")))
    assert main(check) == Exit.REFUTED
    said = " ".join(capsys.readouterr().out.split())
    assert "dpassay theorem replay witnesses/paper%2Ftheorem%2Frow.json" in said
    assert "dpassay theorem run paper/theorem/row" in said
    (failure, rose) = ET.parse(folder / "out/comparison.xml").findall(".//failure")
    assert (failure.get("type"), rose.get("type")) == ("refuted", "rose")
    assert "is refuted: it holds" in (folder / "out/comparison.md").read_text("utf-8")


def test_a_suppression_lets_pass_what_rose(folder: Path) -> None:
    put("dpassay-theorem-baseline.json", record(row()))
    put("theorems.json", record(row(lower=0.9, upper=0.9)))
    assert main(["baseline", "check", "theorems.json"]) == Exit.REFUTED
    (folder / "dpassay.toml").write_text(
        '[[suppressions]]\nresult = "paper/theorem/row"\nkind = "rose"\nreason = "known"\n'
        f"expires = {datetime.now(tz=UTC).date()}\n"
    )
    assert main(["baseline", "check", "theorems.json"]) == Exit.NOTHING


def test_compare_by_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put("old.json", record(row()))
    (folder / "new").mkdir()
    put("new/theorems.json", record(row(lower=0.9, upper=0.9)))
    assert main(["compare", "old.json", "new", "--json"]) == Exit.REFUTED
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "dpassay/theorem-comparison/1"
    assert main(["compare", "old.json", "new", "--tolerance", "0.2"]) == Exit.NOTHING


def test_what_no_baseline_excuses_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put("theorems.json", record(wrong()))
    assert main(["baseline", "accept", "theorems.json"]) == Exit.NOTHING
    assert "paper/theorem/row is refuted: no baseline excuses that" in capsys.readouterr().err


def audits() -> Record:
    return {"schema": "dpassay/record/1", "run": {}, "results": []}


BAD: dict[str, tuple[Record, Record, str]] = {
    "an audit as OLD": (audits(), record(), "OLD = 'old.json': is of schema dpassay/record/1"),
    "an audit as NEW": (record(), audits(), "OLD = 'old.json': is of `dpassay theorem run`"),
    "interrupted": (record(), record(complete=False), "NEW = 'new.json': is of an interrupted"),
    "deep": (record(deep=True), record(), "has deep = True, the record False"),
    "no row in common": (record(row("a")), record(row("b")), "it has none of the rows"),
    "twice": (record(), record(row(), row()), "results has paper/theorem/row twice"),
    "bounds": (record(), record(row(lower=2.0)), "has lower = 2.0 above its upper"),
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


def test_a_failed_check_is_no_baseline(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put("theorems.json", record(row(verdict="error", worst=None, cells=0)))
    assert main(["baseline", "accept", "theorems.json"]) == Exit.USAGE
    assert "paper/theorem/row could not be checked" in capsys.readouterr().err


def test_another_file_is_not_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put("theorems.json", record())
    put("kept.json", audits())
    said = ["baseline", "accept", "theorems.json", "--baseline", "kept.json"]
    assert main(said) == Exit.USAGE
    assert "is not a record of theorems, so it is not replaced" in capsys.readouterr().err


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


@pytest.mark.parametrize("tolerance", [-0.1, 1.5, float("nan")])
def test_a_tolerance_out_of_range(tolerance: float) -> None:
    with pytest.raises(InvalidInput, match="tolerance"):
        compare_theorems(record(), copy.deepcopy(record()), tolerance=tolerance)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (wrong() | {"witness": None}, "is refuted, without a witness"),
        (row() | {"verdict": "refuted"}, "is refuted, without a witness"),
        (row() | {"witness": row()["worst"]}, "is verified, with a witness"),
        (row() | {"worst": None}, "is verified, without numbers"),
        (row() | {"verdict": "error"}, "is error, with numbers"),
        (
            wrong() | {"verdict": "verified", "witness": None},
            "claimed at most 1.0, and the verdict",
        ),
        (wrong() | {"witness": row()["worst"]}, "witness of paper/theorem/row is 0.8 to 0.8"),
        (wrong(relation="at least"), "claimed at least 1.0, and the verdict refuted"),
    ],
)
def test_a_verdict_that_is_not_that_of_its_numbers(
    entry: Record, said: str, tmp_path: Path
) -> None:
    """`compare` ended with a traceback, or believed it."""
    path = tmp_path / "theorems.json"
    path.write_text(dumps(record(entry)), encoding="utf-8")
    with pytest.raises(InvalidInput, match=f"is damaged: .*{said}"):
        read_theorem_record(path)


@pytest.mark.parametrize("apart", [-1e-9, 0.0, 1e-9])
def test_numbers_that_a_check_calls_equal_are_verified(apart: float, tmp_path: Path) -> None:
    path = tmp_path / "theorems.json"
    path.write_text(dumps(record(row(lower=1 + apart, upper=1 + apart))), encoding="utf-8")
    assert read_theorem_record(path)["results"][0]["verdict"] == "verified"
