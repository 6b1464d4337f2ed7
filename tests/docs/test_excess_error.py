"""The page of excess errors is made from its JSON file."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import excess_error

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_says_what_was_found() -> None:
    found = json.loads((DOCS / "excess_error.json").read_text(encoding="utf-8"))
    assert excess_error.page(found) == (DOCS / "excess_error.md").read_text(encoding="utf-8")
