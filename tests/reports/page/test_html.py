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


PAGES: dict[bool, str] = {}
"""The pages of the small record, drawn once."""


def drawn(small: Record, *, catalogue: bool) -> str:
    if catalogue not in PAGES:
        PAGES[catalogue] = to_html(small | {"run": small["run"] | {"catalogue": catalogue}})
    return PAGES[catalogue]


@pytest.fixture
def page(small: Record) -> Page:
    return Page(drawn(small, catalogue=True))


@pytest.fixture
def own(small: Record) -> Page:
    return Page(drawn(small, catalogue=False))


@pytest.fixture(params=["page", "own"])
def both(request: pytest.FixtureRequest) -> Page:
    found: Page = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("catalogue", [True, False])
def test_it_has_no_scripts_and_no_links_outward(small: Record, *, catalogue: bool) -> None:
    text = drawn(small, catalogue=catalogue)
    assert text.startswith("<!DOCTYPE html>")
    page = Page(text)
    assert not {"script", "link", "iframe", "img", "object"} & {tag for tag, *_ in page.tags}
    targets = [
        value
        for _, attributes, _ in page.tags
        for name, value in attributes.items()
        if name in {"href", "xlink:href", "src"}
    ]
    assert targets
    outside = {target for target in targets if not target.startswith("#")}
    assert outside == (set(mechanism_pages(small)) if catalogue else set())
    assert not [
        name for _, attributes, _ in page.tags for name in attributes if name.startswith("on")
    ]


def test_language_viewport_and_headline(both: Page) -> None:
    assert both.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in both.all(
        "meta"
    )
    assert len(both.all("h1")) == 1


def test_headlines_are_the_leads(small: Record, page: Page, own: Page) -> None:
    assert page.inside("h1") == lead(small)
    small["run"]["catalogue"] = False
    assert own.inside("h1") == lead(small)


def test_ids_are_unique_and_links_arrive(both: Page) -> None:
    ids = [attributes["id"] for _, attributes, _ in both.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes, _ in both.tags:
        for name in ("href", "xlink:href"):
            if attributes.get(name, "").startswith("#"):
                assert attributes[name][1:] in ids
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(attributes.get(name, "").split()) <= set(ids)
        for reference in re.findall(r"url\(#([^)]+)\)", " ".join(attributes.values())):
            assert reference in ids


def test_every_plot_is_told_in_words_and_has_its_numbers(both: Page) -> None:
    plots = both.all("svg")
    assert plots
    assert all(
        plot["role"] == "img" and plot["aria-labelledby"] == f"{plot['id']}-title {plot['id']}-desc"
        for plot in plots
    )
    for told in ("desc", "title"):
        assert len(plots) == len(
            [parents for tag, _, parents in both.tags if tag == told and parents[-1] == "svg"]
        )
    figures = both.all("figure")
    tables = [1 for tag, _, parents in both.tags if tag == "table" and "figure" in parents]
    assert len(tables) == len(figures) == len(plots)


def test_the_catalogue_draws_the_overview_only(page: Page, own: Page) -> None:
    assert [plot["id"] for plot in page.all("svg")] == ["o1"]
    assert sorted(re.sub(r"\d+", "", plot["id"]) for plot in own.all("svg")) == [
        *["pq"] * 5,
        *["ps"] * 3,
    ]


def test_regions_have_names_of_their_own(both: Page) -> None:
    names = [
        attributes["aria-label"]
        for _, attributes, _ in both.tags
        if attributes.get("role") == "region"
    ]
    assert len(names) == len(set(names))


def test_tables_have_captions_and_scopes(both: Page) -> None:
    assert len(both.all("caption")) == len(both.all("table"))
    assert both.all("th")
    assert all(cell.get("scope") in {"row", "col"} for cell in both.all("th"))


def test_every_result_is_there_with_all_its_numbers(small: Record, own: Page) -> None:
    told = " ".join(data for _, data in own.texts)
    for result in small["results"]:
        assert result["id"] in told
    rows = {row[0]: row[1:] for row in own.rows if len(row) == 9}
    cells = [cell for result in small["results"] for cell in result["per_query"] if cell["counts"]]
    assert len([row for row in own.rows if len(row) == 9 and row[0] != "query"]) == len(cells)
    assert all(row[3] == "2,500 of 5,000" for name, row in rows.items() if name != "query")


def test_status_is_word_and_shape(both: Page) -> None:
    words = " ".join("".join(data.split("\n")) for _, data in both.texts)
    for shape, word in (
        ("▲", "refuted"),
        ("△", "refuted as expected"),
        ("■", "error"),
        ("◆", "inconclusive"),
        ("●", "not refuted"),
        ("★", "verified"),
    ):
        assert f"{shape} {word}" in words


def test_no_verdict_promises_too_much(both: Page) -> None:
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


def test_an_interrupted_run_says_so_first(both: Page) -> None:
    warning = next(data for _, data in both.texts if "interrupted" in data)
    assert "did not reach" in warning


def test_many_queries_are_drawn_and_listed(make: Any) -> None:
    result = make.computed("m", "not refuted")
    result["per_query"] = [
        make.cell(query, 0.5 + query / 1000, 0.8, exact=0.5 + query / 1000) for query in range(200)
    ]
    page = Page(to_html(make.record(result)))
    assert len(page.all("svg")) == 1
    assert len([row for row in page.rows if len(row) == 8]) == 201


def test_infinite_loss(make: Any) -> None:
    result = make.computed("a", "refuted", "inf")
    result["upper"] = "inf"
    text = to_html(make.record(result))
    assert "= ∞" in text
    assert "every finite ε is refuted too" in text


def test_missing_profiles_and_rows_are_absent(make: Any) -> None:
    result = make.sampled("a", "refuted")
    result["per_query"], result["sight"] = result["per_query"][:1], None
    assert not Page(to_html(make.record(result))).all("svg")


@pytest.mark.slow
def test_same_bytes_twice_and_in_a_fresh_process(small: Record, tmp_path: Path) -> None:
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
    texts = {"".join((to_html(small), *mechanism_pages(small).values())) for _ in range(2)}
    assert len(texts) == 1
    assert done.stdout.split() == [hashlib.sha256(texts.pop().encode()).hexdigest()]
