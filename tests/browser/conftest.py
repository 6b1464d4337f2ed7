"""One browser for a file of tests, and the pages that it looks at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import chromium, needed_here
from tests.browser.pages import PAGES, Site, catalogue, of_mechanism


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    needed_here()
    with chromium() as found:
        yield found


@pytest.fixture(scope="module", params=[*PAGES, "catalogue", "mechanism"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Site:
    if request.param in PAGES:
        return PAGES[request.param](tmp_path_factory.mktemp(request.param))
    run: Path = request.getfixturevalue("catalogue_run")
    return catalogue(run) if request.param == "catalogue" else of_mechanism(run)
