"""Every row comes out as it says, and statements, rows, page and findings agree."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from dpassay.theorems.effort import SHARE, Effort
from dpassay.theorems.page import page
from dpassay.theorems.registry import every_row, package_of, rows, statements
from dpassay.theorems.row import Row
from dpassay.theorems.run import check_rows, make_record
from dpassay.theorems.statement import PAPERS
from tests.docs.findings_pages import FINDINGS

ROOT = Path(__file__).parents[2]
ROWS = every_row()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_row_comes_out_as_it_says(row: Row) -> None:
    ((_, checked),) = check_rows([row], Effort())
    assert checked.verdict == row.verdict, checked.reason
    assert checked.cells > 0
    if row.verdict == "refuted":
        assert checked.witness is not None
        assert checked.found == row.measure(**checked.witness)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS[::6], ids=lambda row: row.key)
def test_it_comes_out_so_in_depth_with_other_random_numbers(row: Row) -> None:
    ((_, checked),) = check_rows([row], Effort(deep=True, seed=1))
    assert checked.verdict == row.verdict, checked.reason


def test_keys_are_unique_and_name_a_statement() -> None:
    assert max(Counter(row.key for row in ROWS).values()) == 1
    for row in ROWS:
        assert row.paper in PAPERS
        assert row.statement in {each.name for each in statements(row.paper)}


@pytest.mark.parametrize("paper", PAPERS)
def test_a_statement_has_rows_or_a_reason(paper: str) -> None:
    with_rows = {row.statement for row in rows(paper)}
    names = [each.name for each in statements(paper)]
    assert len(set(names)) == len(names)
    for each in statements(paper):
        assert (each.name in with_rows) != bool(each.no_row), each.name


@pytest.mark.parametrize("paper", PAPERS)
def test_every_file_of_a_paper_is_listed(paper: str) -> None:
    folder = ROOT / "audit" / "theorems" / package_of(paper).rpartition(".")[2]
    found = {path.stem for path in folder.glob("[!_]*.py")}
    found = {name for name in found if not name.startswith("statements")}
    listed = __import__(package_of(paper), fromlist=["ROW_FILES"]).ROW_FILES
    assert sorted(listed) == sorted(found)


def test_the_page_is_what_the_registry_says() -> None:
    assert (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8") == page()


def test_a_refuted_row_has_its_section_of_the_findings() -> None:
    titles = re.findall(r"^## (.*)$", FINDINGS, re.MULTILINE)
    for row in ROWS:
        if row.derivation:
            assert row.derivation in titles, row.key


def test_all_rows_together_keep_the_confidence() -> None:
    assert sum(row.method == "certified" for row in ROWS) * SHARE <= 1e-3
    for row in ROWS:
        if row.method == "certified":
            spent = sum(row.measure(**case).alpha for case in row.cases(Effort()))
            assert spent <= SHARE * (1 + 1e-9), row.key


def test_the_same_seed_gives_the_same_record() -> None:
    some = [row for row in ROWS if row.method != "exact"]
    first, second = (
        make_record(list(check_rows(some, Effort(seed=3))), {}, complete=True) for _ in range(2)
    )
    assert first == second
