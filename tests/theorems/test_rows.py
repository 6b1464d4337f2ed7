"""Every row comes out as it says, and statements, rows, page and findings agree."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from dpassay.theorems.effort import SHARE, Effort
from dpassay.theorems.page import page
from dpassay.theorems.registry import every_row, package_of, rows, statements
from dpassay.theorems.row import Checked, Row
from dpassay.theorems.run import check_rows, make_record
from dpassay.theorems.statement import PAPERS
from tests.docs.findings_pages import FINDINGS

ROOT = Path(__file__).parents[2]
ROWS = every_row()
CV, DF, DG = "chaudhuri-vinterbo-2013", "dwork-feldman-2018", "dagan-feldman-2020"
WHOLE = {
    *(f"{CV}/theorem-1/fresh", f"{CV}/theorem-5/alpha-split-shared"),
    *(f"{DF}/theorem-2.4/ties-together", f"{DG}/section-4.1-privacy/equation-6"),
}
DEAR = {
    *WHOLE,
    *(f"{CV}/theorem-5/{each}" for each in ("disjoint", "alpha-split-overlooked")),
    *(f"{CV}/section-5-methods/oplr", f"{CV}/theorem-2/output-perturbation"),
    *(f"{CV}/algorithm-5/density", f"{CV}/theorem-4/beta1"),
    *(f"{CV}/section-4.1-algorithms/algorithm-{each}" for each in (3, 4)),
    *(f"{DG}/section-4.1-matching/{each}" for each in ("apart", "some", "partners", "ratio")),
    *(f"{DG}/lemma-8/constants", f"{DG}/lemma-10/ratio", f"{DG}/lemma-11/loss"),
    *(f"{DG}/section-4.1-privacy/equation-5", f"{DF}/theorem-2.4/no-ties"),
    *(f"{DF}/theorem-5.3/{each}" for each in ("no-ties", "ties-together")),
    *(f"{DF}/lemma-5.2/different-points", f"{CV}/joint-release/same-strings"),
}
"""Rows of which every third case is checked: all of them take from one to ten seconds. The slow
tests check four of them whole, the nightly tests all."""
DEEP = (
    *(f"{DG}/{each}" for each in ("theorem-3/growth", "lemma-7/all-representatives")),
    *(f"{DG}/{each}" for each in ("remark-2/net", "corollary-1/error", "theorem-5/size")),
    *(f"{DF}/{each}" for each in ("corollary-4.13/excess-loss", "theorem-4.12-loss/before")),
    *(f"{DF}/{each}" for each in ("theorem-4.1/privacy", "section-4.1-soft-majority/privacy")),
    *(f"{CV}/composition/advanced", f"{CV}/theorem-6/beta2"),
)
KNOWN = {row.key: row for row in ROWS}


def outcome(row: Row, effort: Effort) -> Checked:
    ((_, found),) = check_rows([row], effort)
    return found


@cache
def checked(key: str) -> Checked:
    """Return what comes out of a row; several tests look at it."""
    row = KNOWN[key]
    if key in DEAR:
        cases = list(row.cases(Effort()))
        row = replace(row, cases=lambda _: cases[::3])
    return outcome(row, Effort())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_row_comes_out_as_it_says(row: Row) -> None:
    found = checked(row.key)
    assert found.verdict == row.verdict, found.reason
    assert found.cells > 0
    if row.verdict == "refuted":
        assert found.witness is not None
        assert found.found == row.measure(**found.witness)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "effort"),
    [
        *((key, Effort()) for key in sorted(WHOLE)),
        *(pytest.param(key, Effort(), marks=pytest.mark.nightly) for key in sorted(DEAR - WHOLE)),
        *((key, Effort(deep=True)) for key in DEEP),
        *((row.key, Effort(seed=1)) for row in ROWS if row.method != "exact"),
    ],
)
def test_it_comes_out_so_as_a_whole_in_depth_and_with_other_random_numbers(
    key: str, effort: Effort
) -> None:
    found = outcome(KNOWN[key], effort)
    assert found.verdict == KNOWN[key].verdict, found.reason


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
    first = [(row, checked(row.key)) for row in some]
    second = list(check_rows(some, Effort()))
    assert make_record(first, {}, complete=True) == make_record(second, {}, complete=True)
