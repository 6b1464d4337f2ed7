from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dpassay.reports.run.lead import lead
from dpassay.reports.run.page.html import mechanism_pages, to_html
from tests.reports.conftest import links_of, make_small

Record = dict[str, Any]
Attributes = dict[str, str]

VOID = {"meta", "br", "link", "input"}


class Page(HTMLParser):
    """The tree of a page as flat lists; complains about tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, Attributes, tuple[str, ...]]] = []
        self.rows: list[list[str]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}, tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}, tuple(self.open)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    def all(self, tag: str) -> list[Attributes]:
        return [attributes for name, attributes, _ in self.tags if name == tag]

    def inside(self, tag: str) -> str:
        return "".join(data for name, data in self.texts if name == tag)


@pytest.fixture(scope="module")
def drawn() -> dict[bool, str]:
    """The pages of the small record, of the catalogue and of somebody's own, drawn once."""
    record = make_small()
    return {
        catalogue: to_html(record | {"run": record["run"] | {"catalogue": catalogue}})
        for catalogue in (True, False)
    }


@pytest.fixture
def page(drawn: dict[bool, str]) -> Page:
    return Page(drawn[True])


@pytest.fixture
def own(drawn: dict[bool, str]) -> Page:
    return Page(drawn[False])


@pytest.fixture(params=[True, False], ids=["catalogue", "own"])
def both(drawn: dict[bool, str], request: pytest.FixtureRequest) -> Page:
    return Page(drawn[request.param])


@pytest.mark.parametrize("catalogue", [True, False])
def test_it_has_no_scripts_and_no_links_outward(
    drawn: dict[bool, str], small: Record, *, catalogue: bool
) -> None:
    assert drawn[catalogue].startswith("<!DOCTYPE html>")
    assert links_of(drawn[catalogue]).outside == (
        set(mechanism_pages(small)) if catalogue else set()
    )
    tags = Page(drawn[catalogue]).tags
    ids = {attributes["id"] for _, attributes, _ in tags if "id" in attributes}
    for _, attributes, _ in tags:
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(attributes.get(name, "").split()) <= ids
        assert set(re.findall(r"url\(#([^)]+)\)", " ".join(attributes.values()))) <= ids


def test_language_viewport_headline_and_a_warning(both: Page) -> None:
    assert both.all("html") == [{"lang": "en"}]
    view = {"name": "viewport", "content": "width=device-width, initial-scale=1"}
    assert view in both.all("meta")
    assert len(both.all("h1")) == 1
    warning = next(data for _, data in both.texts if "interrupted" in data)
    assert "did not reach" in warning


def test_every_plot_is_told_in_words_and_has_its_numbers(both: Page) -> None:
    plots = both.all("svg")
    assert plots
    for plot in plots:
        assert plot["role"] == "img"
        assert plot["aria-labelledby"] == f"{plot['id']}-title {plot['id']}-desc"
    for told in ("desc", "title"):
        inside = [parents for tag, _, parents in both.tags if tag == told and parents[-1] == "svg"]
        assert len(plots) == len(inside)
    tables = [1 for tag, _, parents in both.tags if tag == "table" and "figure" in parents]
    assert len(tables) == len(both.all("figure")) == len(plots)


def test_the_catalogue_draws_the_overview_only(small: Record, page: Page, own: Page) -> None:
    assert page.inside("h1") == lead(small)
    assert own.inside("h1") == lead(small | {"run": small["run"] | {"catalogue": False}})
    assert [plot["id"] for plot in page.all("svg")] == ["o1"]
    drawn = sorted(re.sub(r"\d+", "", plot["id"]) for plot in own.all("svg"))
    assert drawn == [*["pq"] * 5, *["ps"] * 3]


def test_tables_have_captions_and_scopes_and_regions_have_names(both: Page) -> None:
    assert len(both.all("caption")) == len(both.all("table"))
    assert both.all("th")
    assert all(cell.get("scope") in {"row", "col"} for cell in both.all("th"))
    regions = [each for _, each, _ in both.tags if each.get("role") == "region"]
    assert len(regions) == len({each["aria-label"] for each in regions})


def test_every_result_is_there_with_all_its_numbers(small: Record, own: Page) -> None:
    told = " ".join(data for _, data in own.texts)
    for result in small["results"]:
        assert result["id"] in told
    rows = {row[0]: row[1:] for row in own.rows if len(row) == 9}
    cells = [cell for result in small["results"] for cell in result["per_query"] if cell["counts"]]
    assert len([row for row in own.rows if len(row) == 9 and row[0] != "query"]) == len(cells)
    assert all(row[3] == "2,500 of 5,000" for name, row in rows.items() if name != "query")


def test_status_is_word_and_shape_and_promises_nothing(both: Page) -> None:
    words = " ".join("".join(data.split("\n")) for _, data in both.texts)
    shapes = {"▲": "refuted", "△": "refuted as expected", "■": "error", "◆": "inconclusive"}
    for shape, word in (shapes | {"●": "not refuted", "★": "verified"}).items():
        assert f"{shape} {word}" in words
    shown = "".join(both.inside(tag) for tag in ("h1", "h2", "h3", "summary", "li", "dd"))
    assert not re.search(r"\b(safe|passed|is private)\b", shown)
    assert "Not refuted does not mean private." in both.inside("strong")


@pytest.mark.parametrize("catalogue", [True, False])
def test_foreign_text_stays_text(hostile: Record, *, catalogue: bool) -> None:
    hostile["run"]["catalogue"] = catalogue
    text = to_html(hostile)
    page = Page(text)
    assert "<script" not in text
    assert not page.all("script")
    assert text.count("&lt;script&gt;") > 20
    assert "\x1b" not in text
    assert "x" * 200 not in text


@pytest.mark.parametrize("catalogue", [True, False])
def test_nothing_audited(make: Any, *, catalogue: bool) -> None:
    page = Page(to_html(make.record(catalogue=catalogue)))
    assert page.inside("h1") == "Nothing was audited"
    assert not page.all("svg")


def test_many_queries_are_drawn_and_listed_and_what_is_missing_is_absent(make: Any) -> None:
    result = make.computed("m", "not refuted")
    result["per_query"] = [
        make.cell(query, 0.5 + query / 1000, 0.8, exact=0.5 + query / 1000) for query in range(200)
    ]
    page = Page(to_html(make.record(result)))
    assert len(page.all("svg")) == 1
    assert len([row for row in page.rows if len(row) == 8]) == 201
    result = make.sampled("a", "refuted")
    result["per_query"], result["sight"] = result["per_query"][:1], None
    assert not Page(to_html(make.record(result))).all("svg")


@pytest.mark.slow
def test_same_bytes_in_a_fresh_process(small: Record, tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text(json.dumps(small), encoding="utf-8")
    code = (
        "import hashlib, json, pathlib, sys; from dpassay.reports.run.page.html import to_html; "
        "from dpassay.reports.run.page.html import mechanism_pages; "
        "record = json.loads(pathlib.Path(sys.argv[1]).read_text()); "
        "pages = ''.join((to_html(record), *mechanism_pages(record).values())); "
        "print(hashlib.sha256(pages.encode()).hexdigest())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "record.json")],
        capture_output=True,
        text=True,
        check=True,
        env={"HOME": str(tmp_path), "PYTHONHASHSEED": "7"},
    )
    text = "".join((to_html(small), *mechanism_pages(small).values()))
    assert done.stdout.split() == [hashlib.sha256(text.encode()).hexdigest()]
