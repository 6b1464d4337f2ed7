"""Every check finds what is planted into a page that is sound without it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.chromium import CHECKS, opened, show, unfold, violations, wrong
from tests.browser.pages import selftest
from tests.browser.paper import on_paper

pytestmark = pytest.mark.slow

PLANT = "text => document.querySelector('main').insertAdjacentHTML('afterbegin', text)"
LONG = "a sentence that is much longer than the box that it has to stand in"
NOWRAP = "width: 9em; overflow: hidden; white-space: nowrap"
CUT = '<clipPath id="cp"><rect width="20" height="20"/></clipPath>'
DARK = "@media (prefers-color-scheme: dark) { #dim { color: #444 } }"
NARROW = "@media (max-width: 500px) { #dim { color: #888; background: #999 } }"
ON_PAPER = "<style>@media print {{ {} {{ display: none }} }}</style>"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return selftest(tmp_path_factory.mktemp("sound")).path


@pytest.fixture
def page(browser: Browser, sound: Path) -> Iterator[Page]:
    with opened(browser, sound) as found:
        unfold(found)
        yield found


def box(style: str, text: str = LONG, name: str = "box") -> str:
    return f'<p id="{name}" style="{style}">{text}</p>'


def picture(text: str, style: str = "") -> str:
    return f'<svg viewBox="0 0 100 20" style="{style}">{text}</svg>'


def letters(text: str, x: int = 5, y: int = 10, fill: str = "#333") -> str:
    return f'<text x="{x}" y="{y}" fill="{fill}" font-size="9">{text}</text>'


def table(text: str, style: str, first: str) -> str:
    cells = f'<tr><td style="{first}">{text}</td><td>next</td></tr>'
    return f'<table style="{style}">{cells}</table>'


def folded(text: str) -> str:
    return f'<details id="f"><summary>more</summary>{text}</details>'


WIDE = table("first", "width: 3000px", "width: 2900px")


def test_without_a_plant_nothing_is_found(page: Page) -> None:
    """A wide table is sound in a box: whoever scrolls it sees all of it."""
    boxed = f'<div class="scroll" tabindex="0">{WIDE}</div>'
    page.evaluate(PLANT, f"<p>{LONG}</p>")
    assert violations(page) == wrong(page, "faint") == []
    page.evaluate(PLANT, boxed)
    assert wrong(page, "clipped") == wrong(page, "sideways") == []
    page.evaluate(PLANT, WIDE)
    (found,) = wrong(page, "sideways")
    assert re.search(r"td: makes the page wider, \d{4} px in 1200", found)


def test_axe_core_finds_what_breaks_its_rules(page: Page) -> None:
    planted = {
        "color-contrast": box("color: #999; background: #aaa"),
        "image-alt": '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',
        "heading-order": "<h4>three levels down</h4>",
        "link-name": '<a href="#checks"></a>',
        "scrollable-region-focusable": box("width: 5em; height: 3em; overflow: auto"),
    }
    for text in planted.values():
        page.evaluate(PLANT, text)
    assert {found.split(",")[0] for found in violations(page)} == set(planted)


def test_contrast_is_looked_at_in_both_schemes_and_at_every_width(page: Page) -> None:
    page.evaluate(PLANT, f'<style>{DARK}{NARROW}</style><p id="dim">dim</p>')
    assert violations(page) == []
    show(page, width=1200, scheme="dark")
    assert "#dim" in "".join(violations(page))
    show(page, width=400)
    assert "#dim" in "".join(violations(page))
    show(page, width=1200)
    assert violations(page) == []


def test_letters_of_a_picture_have_a_contrast_too(page: Page) -> None:
    for opacity, fill in ((1, "#999"), (0.4, "#333"), (1, "rgb(0 0 0 / 40%)")):
        page.evaluate(PLANT, picture(letters("pale", fill=fill), f"opacity: {opacity}"))
    page.evaluate(PLANT, picture(letters("plain")))
    assert len(wrong(page, "faint")) == 3
    show(page, width=1200, scheme="dark")
    found = wrong(page, "faint")
    # the first can be read there, the last cannot
    assert len(found) == 3
    assert "plain" in "".join(found)


def test_what_is_clipped_is_found(page: Page) -> None:
    """Each plant alone: the page is as it was before it again."""
    before = page.evaluate("document.querySelector('main').innerHTML")
    for why, text in CLIPPED:
        page.evaluate(PLANT, text)
        assert re.search(why, "\n".join(wrong(page, "clipped"))), text
        page.evaluate("text => { document.querySelector('main').innerHTML = text }", before)
        assert wrong(page, "clipped") == []


CLIPPED = (
    ("cut off by", box(NOWRAP)),
    ("cut off by", box(f"{NOWRAP}; text-overflow: ellipsis", f"<b>{LONG}</b>")),
    ("cut off by", box("width: 9em; height: 2em; overflow: clip")),
    ("cut off by", box("width: 50px; overflow: hidden", '<svg width="90" height="9"></svg>')),
    ("cut off by .*svg", picture(letters("beyond the edge", x=60))),
    ("cut off by .*svg", picture(letters("above it", y=2))),
    ("clip-path", picture(f'{CUT}<g clip-path="url(#cp)">{letters("behind it")}</g>')),
    ("runs out of", table(LONG, "table-layout: fixed; width: 20em", "white-space: nowrap")),
    ("left of the page", box("margin-left: -60em; width: 30em")),
    ("right of the page", box("position: fixed; left: 1190px; white-space: nowrap")),
    (
        "more in it than it shows",
        f'<style>#pre::before {{ content: "{LONG}" }}</style>{box(NOWRAP, "", "pre")}',
    ),
)


def test_what_is_for_screen_readers_or_folded_is_not_clipped(page: Page) -> None:
    dot = "position: absolute; width: 1px; height: 1px; overflow: hidden"
    for style in (
        f"{dot}; clip-path: inset(50%)",
        f"{dot}; white-space: nowrap",
        f"{NOWRAP}; visibility: hidden",
        f"{NOWRAP}; display: none",
    ):
        page.evaluate(PLANT, box(style))
    page.evaluate(PLANT, folded(box(NOWRAP)))
    assert wrong(page, "clipped") == []
    unfold(page)
    assert len(wrong(page, "clipped")) == 2  # the sentence, and the box that it is in


def test_paper_shows_what_is_missing(page: Page) -> None:
    page.evaluate(PLANT, folded("<h2>a folded heading</h2>"))
    page.evaluate("document.getElementById('f').open = false")
    paper = on_paper(page)
    assert paper.rows > 20
    assert paper.missing(("error of stouffer, n = 100", "a folded heading")) == []
    assert paper.missing(("a name of no check",)) == ["'a name of no check'"]


@pytest.mark.parametrize(
    ("lost", "text"),
    [
        ("last column of 1 rows, row 0 first", f'<div style="overflow: hidden">{WIDE}</div>'),
        ("'only shown'", f"{ON_PAPER.format('#np')}<h2 id=np>only shown</h2>"),
        ("'shut'", f"{ON_PAPER.format('#f::details-content')}{folded('<h2>shut</h2>')}"),
    ],
)
def test_what_is_not_on_paper_is_found(page: Page, lost: str, text: str) -> None:
    page.evaluate(PLANT, text)
    assert lost in on_paper(page).missing(())


def test_a_fold_may_be_left_out_on_purpose(page: Page) -> None:
    rows = on_paper(page).rows
    page.reload()
    page.evaluate(CHECKS)
    page.evaluate(PLANT, f"{ON_PAPER.format('#f')}{folded(f'<h2>left out</h2>{WIDE}')}")
    paper = on_paper(page)
    assert (paper.rows, paper.left_out) == (rows, 1)
    assert paper.missing(()) == []
    assert paper.missing(("left out",)) == ["'left out'"]  # names must be there
