"""Shorter searches, as what is audited is not what is tested."""

from __future__ import annotations

import pytest

from dpassay.engine.searching import search as searched

SHORT = {"FIRST": 64, "SURVIVORS": (16, 4), "OFFSPRING": (8, 0), "SHARES": (4, 2, 1)}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SHORT.items():
        monkeypatch.setattr(searched, name, value)
