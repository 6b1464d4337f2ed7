"""What journeys leave is what they left: see tests.golden.journeys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden.journeys import journeys


@pytest.mark.slow
def test_journeys_leave_what_they_left() -> None:
    known = json.loads(Path(__file__).with_name("journeys.json").read_text(encoding="utf-8"))
    assert journeys() == known
