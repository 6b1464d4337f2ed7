"""Searches that look at few pairs: a fit or a release of another library takes long."""

from __future__ import annotations

import pytest

from dpassay.engine.searching import drawing
from dpassay.engine.searching import search as searched


@pytest.fixture
def few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at a dozen pairs, with few runs of each."""
    numbers = {"FIRST": 12, "SURVIVORS": (6, 2), "OFFSPRING": (2, 0), "SEARCH": 4}
    for name, value in numbers.items():
        monkeypatch.setattr(searched, name, value)
    monkeypatch.setattr(searched, "SHARES", (4, 2, 2))
    monkeypatch.setattr(searched, "LEAST", 40)
    monkeypatch.setattr(drawing, "PILOTS", 4)
    monkeypatch.setattr(drawing, "PILOT", 50)
