"""Debian's Chromium, driven by Playwright: nothing is downloaded, nothing is sent anywhere."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.needed import debian, lacks

Scheme = Literal["light", "dark"]
Check = Literal["clipped", "faint", "sideways"]

EXECUTABLE = Path("/usr/bin/chromium")
"""Where the Debian package puts it, and where `ci/chromium.sh` looks."""
FLAGS = (
    "--no-sandbox",  # as root there is none
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDTHS = (400, 800, 1200)
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
SCREEN = 900
"""Height of a screen in pixels."""
MISSING = f"no {EXECUTABLE}: run `bash ci/chromium.sh` as root on Debian"

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
CHECKS = Path(__file__).with_name("checks.js").read_text(encoding="utf-8")


def installed() -> bool:
    """Tell whether there is a Chromium to drive."""
    return shutil.which(EXECUTABLE) is not None


def needed_here() -> None:
    """Skip the test that asks where there is no Chromium; fail it where one must be."""
    if not installed():
        lacks(MISSING, could_have=debian())


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser; the caller has found it installed."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser, path: Path, *, width: int = 1200, scripts: bool = True
) -> Iterator[Page]:
    """Open a page from the disk, with the checks loaded into it, or without any script."""
    page = browser.new_page(
        viewport={"width": width, "height": SCREEN}, java_script_enabled=scripts
    )
    try:
        page.goto(path.resolve().as_uri())
        if scripts:
            page.evaluate(CHECKS)
        yield page
    finally:
        page.close()


def show(page: Page, *, width: int, scheme: Scheme = "light") -> None:
    """Make an open page as wide as that, in that colour scheme."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": SCREEN})


def unfold(page: Page) -> None:
    """Open everything that is folded."""
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")


def violations(page: Page) -> list[str]:
    """Name what axe-core, with all of its rules, finds wrong on a page as it is shown now."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate(
        "axe.run(document, {resultTypes: ['violations'], preload: false})"
    )
    return [
        f"{rule['id']}, {' '.join(map(str, node['target']))}: "
        + " ".join(node["failureSummary"].split())
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def wrong(page: Page, *checks: Check) -> list[str]:
    """Name what the checks of checks.js find.

    `clipped`: text and pictures of which a part can be seen nowhere; `faint`: letters in pictures
    of which the contrast is below 4.5, which axe-core leaves out; `sideways`: what makes the page
    itself, not a box in it, wider than the window.
    """
    return [each for name in checks for each in page.evaluate(f"dpassayChecks.{name}()")]
