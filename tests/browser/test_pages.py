"""Every page in a real browser: contrast and structure, nothing cut off, complete on paper."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import (
    SCHEMES,
    WIDTHS,
    Scheme,
    clipped,
    faint,
    opened,
    show,
    sideways,
    unfold,
    violations,
)
from tests.browser.pages import Site
from tests.browser.paper import dense, on_paper

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_core_finds_no_violation(browser: Browser, site: Site, scheme: Scheme) -> None:
    found = []
    with opened(browser, site.path) as page:
        for width in (400, 1200) if scheme == "light" else (1200,):
            if (width, scheme) in site.unfolded:
                unfold(page)
            show(page, width=width, scheme=scheme)
            found += [f"{width} px: {each}" for each in violations(page)]
        found += faint(page)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folded", [True, False], ids=["folded", "unfolded"])
def test_nothing_is_cut_off_at_any_width(browser: Browser, site: Site, folded: bool) -> None:
    with opened(browser, site.path) as page:
        if not folded:
            unfold(page)
        found = []
        for width in WIDTHS:
            show(page, width=width)
            found += [f"{width} px: {each}" for each in (*sideways(page), *clipped(page))]
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


def test_weight(browser: Browser, site: Site, shown: Callable[[str], None]) -> None:
    with opened(browser, site.path) as page:
        nodes, folded = page.evaluate(SIZE)
        unfold(page)
        _, unfolded = page.evaluate(SIZE)
    size = site.path.stat().st_size
    shown(f"{size} bytes, {nodes} nodes, {folded} px at 1200 px, {unfolded} px unfolded")
    assert 0 < folded <= unfolded
    assert site.height is None or unfolded <= site.height


SIZE = "[document.querySelectorAll('*').length, document.scrollingElement.scrollHeight]"
