"""What tests of several folders share."""

from __future__ import annotations

import os
import sys

import pytest

from dpassay.engine.detection import DetectionCurve
from dpassay.engine.guards import Guards
from dpassay.engine.testers import events


def pytest_collection_finish() -> None:
    """Keep no bytecode of what tests write.

    The same file is written again within a second, and as long as before.
    """
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


@pytest.fixture
def bounds_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole audits without what plays no part in a bound.

    Guards, which can only take a refutation back, and sight.

    For false alarms of thousands of audits: there can be no fewer of them than with both. Guards
    have tests of their own.
    """
    for guard in ("varied", "asked_again"):
        monkeypatch.setattr(Guards, guard, lambda *_: None)
    monkeypatch.setattr(events, "sight", lambda *_: DetectionCurve(detectable=0.0))
