"""What some tests need and not every machine has: a browser, and data that are not ours."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
"""Adult and MAGIC of the UCI repository, beside the checkout: nobody fetches them by himself."""
RELEASE = Path("/etc/os-release")


def debian() -> bool:
    """Whether ci/chromium.sh could install a browser here, for root."""
    return RELEASE.exists() and "ID=debian" in RELEASE.read_text(encoding="utf-8").splitlines()


def lacks(what: str, *, could_have: bool) -> NoReturn:
    """Skip a test for want of something; in a pipeline fail it, if that could have had it."""
    if could_have and os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(f"{what}; a pipeline (CI is set) must not skip what it could install")
    pytest.skip(what)


def data() -> Path:
    """Return the folder of the real data; skip where there is none."""
    if not DATA.is_dir():
        lacks("no such data on this machine", could_have=False)
    return DATA
