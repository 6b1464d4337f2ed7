"""Shorter searches, as what is audited is not what is tested."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def short(few_pairs: None) -> None: ...
