"""`dpassay theorem`: what is listed, run, written and replayed, and what it ends with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from dpassay.cli import theorem as command
from dpassay.cli.main import main
from dpassay.record.schemas import fault
from dpassay.reports.theorems.pages import to_html, to_junit
from dpassay.theorems.registry import chosen, every_row
from dpassay.theorems.row import Measured, Row
from dpassay.theorems.statement import PAPERS

COIN = "dwork-feldman-2018/theorem-4.3/coin"
NET = "dagan-feldman-2020/lemma-2/powers"


def written(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["theorem", "run", *words, "-q", "--out", str(folder)])
    record: dict[str, Any] = json.loads((folder / "theorems.json").read_text(encoding="utf-8"))
    return code, record


def test_the_list_has_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["theorem", "list"]) == 0
    text = capsys.readouterr().out
    assert all(row.key in text for row in every_row())
    assert all(title in text for title in PAPERS.values())


def test_the_list_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["theorem", "list", "--json", "--paper", "dagan-feldman-2020"]) == 0
    listed = json.loads(capsys.readouterr().out)["statements"]
    assert {each["paper"] for each in listed} == {"dagan-feldman-2020"}
    assert all(each["rows"] or each["no_row"] for each in listed)


def test_a_run_and_what_it_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, record = written(tmp_path, COIN, NET)
    assert code == 0
    assert fault(record, "theorems") == ""
    assert [each["verdict"] for each in record["results"]] == ["refuted", "verified"]
    assert record["run"]["command"] == f"dpassay theorem run {COIN} {NET}"
    shown = capsys.readouterr().out
    assert "refuted as expected" in shown
    assert "witness: alpha = 0.5, d = 1, epsilon = 0.1: claimed 0.625, true 0" in shown
    page = (tmp_path / "theorems.html").read_text(encoding="utf-8")
    assert page == to_html(record)
    assert "requires n &gt;= d/(32 eps alpha) examples" in page
    (witness,) = (tmp_path / "witnesses").iterdir()
    assert main(["theorem", "replay", str(witness)]) == 0
    assert json.loads(capsys.readouterr().out)["same"] is True


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        written(tmp_path / name, "dagan-feldman-2020/lemma-3")
    for name in ("theorems.json", "theorems.html", "theorems.xml"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_names_and_papers() -> None:
    assert {row.paper for row in chosen([], ["dagan-feldman-2020"])} == {"dagan-feldman-2020"}
    found = chosen(["dwork-feldman-2018/theorem-4.3"])
    assert {row.statement for row in found} == {"theorem-4.3"}
    assert chosen([]) == every_row()


def test_a_name_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["theorem", "run", "dwork-feldman-2018/theorem-4.3/coins"]) == 2
    assert f"did you mean '{COIN}'?" in capsys.readouterr().err


def test_a_witness_that_is_damaged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, COIN)
    (path,) = (tmp_path / "witnesses").iterdir()
    held = json.loads(path.read_text(encoding="utf-8"))
    held["witness"]["case"]["gamma"] = 1
    path.write_text(json.dumps(held), encoding="utf-8")
    capsys.readouterr()
    assert main(["theorem", "replay", str(path)]) == 2
    assert "is damaged" in capsys.readouterr().err


def test_a_witness_whose_numbers_do_not_come_out_again(tmp_path: Path) -> None:
    written(tmp_path, COIN)
    (path,) = (tmp_path / "witnesses").iterdir()
    held = json.loads(path.read_text(encoding="utf-8"))
    held["witness"]["upper"] = 7.0
    path.write_text(json.dumps(held), encoding="utf-8")
    assert main(["theorem", "replay", str(path)]) == 3


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """Rows that the command takes for all there are."""
    known: list[Row] = list(chosen([NET, COIN]))
    monkeypatch.setattr(command, "chosen", lambda *_: tuple(known))
    return known


def test_a_new_refutation_is_exit_1(tmp_path: Path, rows: list[Row]) -> None:
    rows[0] = replace(rows[0], verdict="verified", derivation="")
    code, record = written(tmp_path)
    assert code == 1
    case = ET.fromstring(to_junit(record)).find(".//failure")
    assert case is not None
    assert case.get("type") == "refuted"


def test_one_that_should_be_refuted_and_is_not_is_exit_3(tmp_path: Path, rows: list[Row]) -> None:
    rows[1] = replace(rows[1], verdict="refuted", derivation="Somewhere")
    assert written(tmp_path)[0] == 3


def test_what_is_done_stays_when_the_rest_is_stopped(tmp_path: Path, rows: list[Row]) -> None:
    def stop(**_: object) -> Measured:
        raise KeyboardInterrupt

    rows[1] = replace(rows[1], measure=stop)
    code, record = written(tmp_path)
    assert code == 130
    assert not record["run"]["complete"]
    assert [each["id"] for each in record["results"]] == [COIN]
    assert ET.fromstring(to_junit(record)).find(".//error") is not None


def test_a_check_that_breaks_is_exit_3(tmp_path: Path, rows: list[Row]) -> None:
    def broken(**_: object) -> Measured:
        raise ArithmeticError("out of luck")

    rows[1] = replace(rows[1], measure=broken)
    code, record = written(tmp_path)
    assert code == 3
    assert record["results"][1]["reason"] == "ArithmeticError: out of luck"
    assert "out of luck" in to_html(record)
