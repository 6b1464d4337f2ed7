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

from dpassay.reports.run.html import to_html

Record = dict[str, Any]
Attributes = dict[str, str]

KINDS = ("data", "own worst case", "domain")
VOID = {"meta", "br", "link"}


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


@pytest.fixture
def page(small: Record) -> Page:
    return Page(to_html(small))


def test_it_is_one_file_without_scripts_or_links_outward(small: Record) -> None:
    text = to_html(small)
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
    assert all(target.startswith("#") for target in targets)
    assert not [
        name for _, attributes, _ in page.tags for name in attributes if name.startswith("on")
    ]


def test_language_viewport_and_headline(page: Page) -> None:
    assert page.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all(
        "meta"
    )
    assert page.inside("h1").startswith(
        "2 of 7 claims refuted (1 from trials, at 99.9 % confidence; 1 computed)"
    )


def test_ids_are_unique_and_links_arrive(page: Page) -> None:
    ids = [attributes["id"] for _, attributes, _ in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes, _ in page.tags:
        for name in ("href", "xlink:href"):
            if name in attributes:
                assert attributes[name][1:] in ids
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(attributes.get(name, "").split()) <= set(ids)
        for reference in re.findall(r"url\(#([^)]+)\)", " ".join(attributes.values())):
            assert reference in ids


def test_every_plot_is_told_in_words(page: Page) -> None:
    plots = page.all("svg")
    assert len(plots) == 1 + 6
    assert all(
        plot["role"] == "img" and plot["aria-labelledby"] == f"{plot['id']}-title {plot['id']}-desc"
        for plot in plots
    )
    assert (
        len([parents for tag, _, parents in page.tags if tag == "desc" and parents[-1] == "svg"])
        == 7
    )
    assert (
        len([parents for tag, _, parents in page.tags if tag == "title" and parents[-1] == "svg"])
        == 7
    )


def test_tables_have_captions_and_scopes(page: Page) -> None:
    tables = page.all("table")
    assert len(tables) == 3 + 6
    assert len(page.all("caption")) == len(tables)
    assert page.all("th")
    assert all(cell.get("scope") in {"row", "col"} for cell in page.all("th"))


def test_summary_has_the_numbers_of_the_record(small: Record, page: Page) -> None:
    results = {result["id"]: result for result in small["results"]}
    seen = 0
    for row in page.rows:
        for name, result in results.items():
            if len(row) == 7 and row[1].startswith(name):
                seen += 1
                if result["verdict"] == "error":
                    assert row[3:] == ["–", "–", "–", "0"]
                    continue
                assert float(row[3]) == pytest.approx(result["lower"], abs=5e-7)
                top = result["upper"] if result["exact"] is None else result["exact"]
                assert float(row[4][2:].replace("∞", "inf")) == pytest.approx(float(top), abs=5e-7)
                assert row[4][0] == ("≤" if result["exact"] is None else "=")
                assert float(row[5]) == pytest.approx(result["detectable"], abs=5e-7)
                assert int(row[6].replace(",", "")) == result["trials"]
    assert seen == 7


def test_query_tables_have_the_numbers_of_the_record(small: Record, page: Page) -> None:
    sampled = [row for row in page.rows if len(row) == 9 and row[1] in KINDS]
    computed = [row for row in page.rows if len(row) == 8 and row[1] in KINDS]
    cells = [cell for result in small["results"] for cell in result["per_query"]]
    for column, name in ((2, "lower"), (3, "upper")):
        wanted = sorted(float(cell[name]) for cell in cells if cell["counts"])
        assert sorted(float(row[column].replace("∞", "inf")) for row in sampled) == pytest.approx(
            wanted, abs=5e-7
        )
    wanted = sorted(cell["exact"] for cell in cells if not cell["counts"])
    assert sorted(float(row[2]) for row in computed) == pytest.approx(wanted, abs=5e-7)
    assert all(row[4] == "2,500 of 5,000" for row in sampled)


def test_status_is_word_and_shape(page: Page) -> None:
    words = {row[0] for row in page.rows if len(row) == 7}
    assert words >= {
        "▲refuted",
        "△refuted as expected",
        "■error",
        "◆inconclusive",
        "●not refuted",
        "★verified",
    }


def test_no_verdict_promises_too_much(page: Page) -> None:
    verdicts = " ".join(row[0] for row in page.rows) + page.inside("h1") + page.inside("h3")
    assert not re.search(r"\b(private|safe|passed)\b", verdicts)
    assert "Not refuted does not mean private." in page.inside("strong")


def test_foreign_text_stays_text(hostile: Record) -> None:
    text = to_html(hostile)
    page = Page(text)
    assert "<script" not in text
    assert not page.all("script")
    assert text.count("&lt;script&gt;") > 20
    assert "\x1b" not in text
    assert "x" * 200 not in text


def test_nothing_audited(make: Any) -> None:
    page = Page(to_html(make.record()))
    assert page.inside("h1") == "Nothing was audited"
    assert not page.all("svg")


def test_sixty_results_of_two_hundred_queries(make: Any) -> None:
    cells = [
        make.cell(query, 0.5 + query / 1000, 0.8, exact=0.5 + query / 1000) for query in range(200)
    ]
    results = [make.computed(f"m{k}", "not refuted") for k in range(60)]
    results[3]["per_query"] = cells
    page = Page(to_html(make.record(*results)))
    assert len(page.all("svg")) == 61
    assert len([row for row in page.rows if len(row) == 8 and row[1] in KINDS]) == 200 + 59 * 2


def test_infinite_loss(make: Any) -> None:
    result = make.computed("a", "refuted", "inf")
    result["upper"] = "inf"
    text = to_html(make.record(result))
    assert "= ∞" in text
    assert "∞ ×" in text


def test_same_bytes_twice_and_in_a_fresh_process(small: Record, tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text(json.dumps(small), encoding="utf-8")
    code = (
        "import hashlib, json, pathlib, sys; from dpassay.reports.run.html import to_html; "
        "print(hashlib.sha256(to_html(json.loads(pathlib.Path(sys.argv[1]).read_text())).encode())"
        ".hexdigest())"
    )
    settings = tmp_path / "matplotlibrc"
    settings.write_text(
        "axes.labelpad: 20\nxtick.minor.visible: True\nsvg.fonttype: path\n", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "record.json")],
        capture_output=True,
        text=True,
        check=True,
        env={"MATPLOTLIBRC": str(settings), "HOME": str(tmp_path), "PYTHONHASHSEED": "7"},
    )
    texts = {to_html(small), to_html(small)}
    assert len(texts) == 1
    assert done.stdout.strip() == hashlib.sha256(texts.pop().encode()).hexdigest()
