"""Every page in a real browser: contrast and structure, nothing cut off, complete on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.chromium import WIDTHS, Scheme, opened, show, unfold, violations, wrong
from tests.browser.pages import Site
from tests.browser.paper import dense, on_paper

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """The page, folded, for the tests that change nothing but its size and its folds."""
    with opened(browser, site.path) as found:
        yield found


def test_nothing_is_cut_off_at_any_width_and_its_weight(
    page: Page, site: Site, shown: Callable[[str], None]
) -> None:
    found, heights = [], list[int]()
    for folded in (True, False):
        if not folded:
            unfold(page)
        for width in WIDTHS:
            show(page, width=width)
            found += [f"{width} px: {each}" for each in wrong(page, "sideways", "clipped")]
        nodes, height = page.evaluate(SIZE)  # at 1200 pixels, the last
        heights.append(height)
    assert not found, "\n".join(found)
    size = site.path.stat().st_size
    shown(f"{size} bytes, {nodes} nodes, {heights[0]} px at 1200 px, {heights[1]} px unfolded")
    assert 0 < heights[0] <= heights[1]
    assert site.height is None or heights[1] <= site.height


def test_axe_core_finds_no_violation(page: Page) -> None:
    """Unfolded, the wide page in the dark: each width and each scheme once."""
    unfold(page)
    found = []
    for width, scheme in LOOKS:
        show(page, width=width, scheme=scheme)
        found += [f"{width} px: {each}" for each in (*violations(page), *wrong(page, "faint"))]
    assert not found, "\n".join(found)


def test_paper_holds_every_result_and_every_last_column(
    browser: Browser, site: Site, shown: Callable[[str], None]
) -> None:
    with opened(browser, site.path) as page:
        paper = on_paper(page)
    shown(f"{paper.pages} printed pages, {paper.rows} rows")
    lost = paper.missing(site.names)
    assert not lost, "\n".join(lost)
    assert paper.left_out == 0
    if site.sheets is not None:
        assert paper.pages <= site.sheets


def test_every_result_is_named_without_scripts(browser: Browser, site: Site) -> None:
    with opened(browser, site.path, scripts=False) as page:
        text = dense(page.inner_text("body"))
    assert [name for name in site.names if dense(name) not in text] == []


LOOKS: tuple[tuple[int, Scheme], ...] = ((400, "light"), (1200, "dark"))
SIZE = "[document.querySelectorAll('*').length, document.scrollingElement.scrollHeight]"
