"""The pages of the catalogue's mechanisms: complete, linked both ways, cleared when stale."""

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
from dpassay.reports.run.page.catalogue import FOLDER, page_files, remove_stale
from dpassay.reports.run.page.html import mechanism_pages, to_html
from tests.reports.page.test_html import Page

Record = dict[str, Any]

DRAWN: dict[str, Page] = {}
"""The pages of the small record, and its index, drawn once."""


@pytest.fixture
def pages(small: Record) -> dict[str, Page]:
    if not DRAWN:
        DRAWN.update({path: Page(text) for path, text in mechanism_pages(small).items()})
        DRAWN["index.html"] = Page(to_html(small))
    return DRAWN


def two(make: Any) -> Record:
    """A printed claim that is wrong, its correction, and a mechanism that stands."""
    printed = make.computed("walk.printed.exact", "refuted", 2.0, expected="refuted")
    other = make.computed("walk.corrected.exact", "not refuted", 2.0)
    other["claim"] |= {"epsilon": 2.0, "status": "corrected"}
    return dict(
        make.record(
            printed, other, make.computed("still.printed.exact", "not refuted", 0.5), catalogue=True
        )
    )


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


def test_each_fold_and_each_wrong_claim_leads_to_its_page(make: Any) -> None:
    text = to_html(two(make))
    assert text.count('href="mechanisms/walk.html"') == 2
    assert text.count('href="mechanisms/still.html"') == 1
    fold = text[text.index('<details class="group') :]
    assert fold.count('href="mechanisms/walk.html"') == 1


def test_pages_follow_each_other_in_the_order_of_the_catalogue(make: Any) -> None:
    walk, still = mechanism_pages(two(make)).values()
    assert 'rel="next" href="still.html"' in walk
    assert 'rel="prev"' not in walk
    assert 'rel="prev" href="walk.html"' in still
    assert 'rel="next"' not in still


def test_a_page_begins_with_what_was_found_and_what_to_do(make: Any) -> None:
    walk, still = (Page(text) for text in mechanism_pages(two(make)).values())
    assert walk.inside("h1") == "walk leaks 2 times what it claims"
    steps = "".join(data for _, data in walk.texts)
    assert "The corrected one, ε = 2, was not refuted at the audited cells." in steps
    assert "dpassay replay witnesses/walk.printed.exact.json" in steps
    assert "dpassay run walk --seed 0 --profile deep --out walk" in steps
    assert still.inside("h1") == "No leak above what still claims was found"
    assert "Rely on the claim only as far" in "".join(data for _, data in still.texts)


def test_no_correction_is_recommended_where_none_stands(make: Any) -> None:
    record = two(make)
    record["results"][1]["verdict"] = "refuted"
    (walk, *_) = mechanism_pages(record).values()
    assert "Do not rely on this claim.<" in walk
    assert "The corrected one" not in walk
    assert "2 of its 2 claims are wrong" in walk


def test_every_picture_has_its_numbers(pages: dict[str, Page]) -> None:
    drawn = 0
    for path in set(pages) - {"index.html"}:
        figures = pages[path].all("figure")
        tables = [1 for tag, _, over in pages[path].tags if tag == "table" and "figure" in over]
        assert len(tables) == len(figures) == len(pages[path].all("svg"))
        drawn += len(figures)
    assert drawn == 8


def test_what_the_first_screen_tells_is_drawn_and_the_rest_is_in_tables(make: Any) -> None:
    """A catalogue has hundreds of results, most of which stand, with their printed twins beside."""
    record = two(make)
    for result in record["results"]:
        result["per_query"] = [make.cell(k, 0.5, 0.5, exact=0.5) for k in range(5)]
    texts = list(mechanism_pages(record).values())
    for text in texts:
        (picture,) = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
        assert len(picture) < 5_000
    captions = "".join(re.findall(r"<caption>.*?</caption>", texts[0], re.DOTALL))
    for name in ("walk.printed.exact", "walk.corrected.exact"):
        assert captions.count(f"Every query point of {name}:") == 1


def test_pages_are_self_contained_and_quote_what_is_foreign(hostile: Record) -> None:
    hostile["run"]["catalogue"] = True
    pages = mechanism_pages(hostile)
    assert pages
    for path, text in pages.items():
        assert re.fullmatch(r"mechanisms/[a-z0-9.-]+\.html", path)
        page = Page(text)
        assert not {"script", "link", "iframe", "img", "object"} & {tag for tag, *_ in page.tags}
        assert "&lt;script&gt;" in text
        assert "\x1b" not in text


def test_other_mechanisms_have_one_page(small: Record) -> None:
    small["run"]["catalogue"] = False
    assert mechanism_pages(small) == {}


def test_no_two_mechanisms_share_a_file() -> None:
    names = ["a", "A", "a-2", "a!", "../../etc", "", "é", "x" * 300, "x" * 301, "a"]
    files = page_files(names)
    assert len(set(files.values())) == len(files) == 9
    assert files["a"] == "mechanisms/a.html"
    for path in files.values():
        assert re.fullmatch(r"mechanisms/[a-z0-9][a-z0-9.-]{0,65}\.html", path)


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / FOLDER).glob("*"))


def test_pages_of_an_earlier_run_go_and_nothing_else(make: Any, tmp_path: Path) -> None:
    both = two(make)
    write(both, ["html"], tmp_path)
    assert listing(tmp_path) == ["still.html", "walk.html"]
    write_text(tmp_path / FOLDER / "mine.html", "<title>dpassay, a mechanism of the catalogue")
    write(both | {"results": both["results"][2:]}, ["md"], tmp_path)
    assert listing(tmp_path) == ["mine.html", "still.html", "walk.html"]
    write(both | {"results": both["results"][2:]}, ["html"], tmp_path)
    assert listing(tmp_path) == ["mine.html", "still.html"]
    write(both | {"run": both["run"] | {"catalogue": False}}, ["html"], tmp_path)
    assert listing(tmp_path) == ["mine.html"]


def test_a_folder_that_holds_only_stale_pages_goes_with_them(make: Any, tmp_path: Path) -> None:
    write(two(make), ["html", "json"], tmp_path)
    assert listing(tmp_path)
    clear(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_stale_page_that_cannot_be_removed_is_named(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(two(make), ["html"], tmp_path)

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(InvalidInput, match=r"--out = .*: cannot be written \(Permission denied\)"):
        remove_stale(tmp_path)


@pytest.mark.parametrize(
    ("command", "again"),
    [
        ("dpassay run", "dpassay run walk --profile deep"),
        (
            "dpassay run --profile quick --data a.csv",
            "dpassay run walk --data a.csv --profile deep",
        ),
        (
            "dpassay run --data=a.csv --profile=quick",
            "dpassay run walk --data=a.csv --profile deep",
        ),
        ("dpassay runs", "dpassay run walk --profile deep"),
    ],
)
def test_the_command_keeps_the_data_of_the_run(make: Any, command: str, again: str) -> None:
    record = two(make)
    record["run"]["command"] = command
    walk = Page(next(iter(mechanism_pages(record).values())))
    assert f"{again} --out walk" in "".join(data for _, data in walk.texts)
