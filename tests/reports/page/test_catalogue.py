"""The page of the catalogue and those of its mechanisms: complete, linked, cleared when stale."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.shared import clear
from dpassay.errors import InvalidInput
from dpassay.record.files import write_text
from dpassay.reports import write
from dpassay.reports.run.page.catalogue import FOLDER, make_catalogue, page_files, remove_stale
from dpassay.reports.run.page.html import mechanism_pages, to_html
from dpassay.reports.run.view import make_view
from tests.reports.conftest import links_of, make_small
from tests.reports.page.test_html import Page

Record = dict[str, Any]


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    """The pages of the small record, and its index, drawn once."""
    small = make_small()
    drawn = {path: Page(text) for path, text in mechanism_pages(small).items()}
    return drawn | {"index.html": Page(to_html(small))}


def two(make: Any) -> Record:
    """A printed claim that is wrong, its correction, and a mechanism that stands."""
    printed = make.computed("walk.printed.exact", "refuted", 2.0, expected="refuted")
    other = make.computed("walk.corrected.exact", "not refuted", 2.0)
    other["claim"] |= {"epsilon": 2.0, "status": "corrected"}
    still = make.computed("still.printed.exact", "not refuted", 0.5)
    return dict(make.record(printed, other, still, catalogue=True))


def test_every_result_is_told_on_the_page_of_its_mechanism(
    small: Record, pages: dict[str, Page]
) -> None:
    files = page_files(result["mechanism"] for result in small["results"])
    assert set(pages) == {*files.values(), "index.html"}
    for result in small["results"]:
        page = pages[files[result["mechanism"]]]
        assert any(result["id"] in data for _, data in page.texts)
        stories = [each for each in page.all("dl") if each.get("class") == "story-parts"]
        same = [each for each in small["results"] if each["mechanism"] == result["mechanism"]]
        assert len(stories) == len(same)


def test_links_between_the_pages_arrive(pages: dict[str, Page]) -> None:
    ids = {
        path: [attributes["id"] for _, attributes, _ in page.tags if "id" in attributes]
        for path, page in pages.items()
    }
    for path, page in pages.items():
        assert len(ids[path]) == len(set(ids[path]))
        for attributes in page.all("a"):
            target, _, anchor = attributes["href"].partition("#")
            assert ":" not in target
            there = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            assert not target.startswith("/")
            assert not anchor or anchor in ids[there if target else path]
            assert not target or there in pages


def test_every_picture_has_its_numbers(pages: dict[str, Page]) -> None:
    drawn = 0
    for page in (pages[path] for path in set(pages) - {"index.html"}):
        tables = [1 for tag, _, over in page.tags if tag == "table" and "figure" in over]
        assert len(tables) == len(page.all("figure")) == len(page.all("svg"))
        drawn += len(tables)
    assert drawn == 8


def test_pages_follow_each_other_in_the_order_of_the_catalogue(make: Any) -> None:
    record = two(make)
    walk, still = mechanism_pages(record).values()
    assert re.findall(r'rel="\w+" href="[^"]+"', walk) == ['rel="next" href="still.html"']
    assert re.findall(r'rel="\w+" href="[^"]+"', still) == ['rel="prev" href="walk.html"']
    (picture,) = re.findall(r"<svg.*?</svg>", walk, re.DOTALL)  # the rest is in tables
    assert len(picture) < 5_000
    captions = "".join(re.findall(r"<caption>.*?</caption>", walk, re.DOTALL))
    for name in ("walk.printed.exact", "walk.corrected.exact"):
        assert captions.count(f"Every query point of {name}:") == 1
    index = to_html(record)
    assert index.count('href="mechanisms/walk.html"') == 2  # a fold, and a wrong claim
    assert index.count('href="mechanisms/still.html"') == 1
    assert mechanism_pages(record | {"run": record["run"] | {"catalogue": False}}) == {}


def test_a_page_begins_with_what_was_found_and_what_to_do(make: Any) -> None:
    record = two(make)
    walk, still = (Page(text) for text in mechanism_pages(record).values())
    assert walk.inside("h1") == "walk leaks 2 times what it claims"
    steps = "".join(data for _, data in walk.texts)
    assert "The corrected one, ε = 2, was not refuted at the audited cells." in steps
    assert "dpassay replay witnesses/walk.printed.exact.json" in steps
    assert "dpassay run walk --seed 0 --profile deep --out walk" in steps
    assert still.inside("h1") == "No leak above what still claims was found"
    assert "Rely on the claim only as far" in "".join(data for _, data in still.texts)
    record["results"][1]["verdict"] = "refuted"  # no correction stands
    (text, _) = mechanism_pages(record).values()
    assert "Do not rely on this claim.<" in text
    assert "The corrected one" not in text
    assert "2 of its 2 claims are wrong" in text


def test_no_two_mechanisms_share_a_file() -> None:
    foreign = "<script>alert(1)</script>\x1b"
    names = ["a", "A", "a-2", "a!", "../../etc", "", "é", "x" * 300, "x" * 301, foreign, "a"]
    files = page_files(names)
    assert len(set(files.values())) == len(files) == 10
    assert files["a"] == "mechanisms/a.html"
    for path in files.values():
        assert re.fullmatch(r"mechanisms/[a-z0-9][a-z0-9.-]{0,65}\.html", path)


def test_pages_quote_what_is_foreign(hostile: Record) -> None:
    hostile["run"]["catalogue"] = True
    pages = mechanism_pages(hostile).values()
    assert pages
    for text in pages:
        links_of(text)
        assert "&lt;script&gt;" in text
        assert "\x1b" not in text


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / FOLDER).glob("*"))


def test_pages_of_an_earlier_run_go_and_nothing_else(make: Any, tmp_path: Path) -> None:
    both = two(make)
    write(both, ["html"], tmp_path)
    assert listing(tmp_path) == ["still.html", "walk.html"]
    write_text(tmp_path / FOLDER / "mine.html", "<title>dpassay, a mechanism of the catalogue")
    one = both | {"results": both["results"][2:]}
    write(one, ["md"], tmp_path)
    assert listing(tmp_path) == ["mine.html", "still.html", "walk.html"]
    write(one, ["html"], tmp_path)
    assert listing(tmp_path) == ["mine.html", "still.html"]
    write(both | {"run": both["run"] | {"catalogue": False}}, ["html"], tmp_path)
    assert listing(tmp_path) == ["mine.html"]
    (tmp_path / FOLDER / "mine.html").unlink()
    (tmp_path / "report.md").unlink()
    write(one, ["html", "json"], tmp_path)
    assert listing(tmp_path)
    clear(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_stale_page_that_cannot_be_removed_is_named(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    write(two(make), ["html"], tmp_path)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(InvalidInput, match=r"--out = .*: cannot be written \(Permission denied\)"):
        remove_stale(tmp_path)


@pytest.mark.parametrize(
    ("command", "again"),
    [
        ("run --profile quick --data a.csv", "run walk --data a.csv --profile deep"),
        ("run --data=a.csv --profile=quick", "run walk --data=a.csv --profile deep"),
        ("runs", "run walk --profile deep"),
    ],
)
def test_the_command_keeps_the_data_of_the_run(make: Any, command: str, again: str) -> None:
    record = two(make)
    record["run"]["command"] = f"dpassay {command}"
    walk = Page(next(iter(mechanism_pages(record).values())))
    assert f"dpassay {again} --out walk" in "".join(data for _, data in walk.texts)


def variants(make: Any) -> Record:
    """The same, with a claim of ours that is wrong and one about changes of probabilities."""
    ours = make.computed("ours.own.exact", "refuted", 3.0, expected="refuted")
    ours["claim"]["status"] = "own"
    change = make.of_kind(make.computed("walk.printed.exact.2", "not refuted", 0.1), "Stability", 1)
    record = two(make)
    return record | {"results": [change, *record["results"], ours]}


def test_wrong_claims_are_published_or_ours_and_all_are_told_once(make: Any) -> None:
    record = variants(make)
    found = make_catalogue(make_view(record).results)
    assert [each.id for each in found.published] == ["walk.printed.exact"]
    assert [each.id for each in found.ours] == ["ours.own.exact"]
    told = [each.id for group in found.groups for each in group.results]
    assert sorted(told) == sorted(result["id"] for result in record["results"])
    (group,) = (each for each in found.groups if each.name == "walk")
    assert {
        pair.printed and pair.printed.id: pair.other and pair.other.id for pair in group.pairs
    } == {
        "walk.printed.exact": "walk.corrected.exact",  # beside each other by what they are about
        "walk.printed.exact.2": None,
    }
    assert group.filters == "has-held has-wrong"


def test_the_filter_needs_no_script(make: Any) -> None:
    page = to_html(variants(make))
    for kind in ("wrong", "held", "undecided"):
        assert f'id="show-{kind}"' in page
        assert f":has(#show-{kind}:checked) .group:not(.has-{kind})" in page
    groups = re.findall(r'class="group ([^"]+)"', page)
    assert groups == ["has-wrong", "has-held has-wrong", "has-held"]


def test_the_overview_weighs_little(make: Any) -> None:
    """Two pictures; each mechanism adds its name, a line of the grid and its marks."""
    kinds = ("refuted", "not refuted")
    results = [make.computed(f"m{k}.{way}", way, 0.9) for k in range(70) for way in kinds]
    for number, result in enumerate(results):
        result["mechanism"] = f"m{number // 2}"
    page = to_html(make.record(*results, catalogue=True))
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) == 2
    assert sum(map(len, pictures)) < 70 * 500
