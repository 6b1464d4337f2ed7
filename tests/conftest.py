"""What tests of several folders share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpassay.engine.detection import DetectionCurve
from dpassay.engine.guards import Guards
from dpassay.engine.testers import events
from tests.warm import programs


def pytest_collection_finish() -> None:
    """Keep no bytecode of what tests write, and look for no garbage among the tests themselves.

    The same file is written again within a second, and as long as before. Thousands of tests are
    kept to the end: each search among them takes a third of a second.
    """
    gc.collect()
    gc.freeze()
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of `dpassay` and `python` that start in a moment; see `tests.warm`."""
    with programs(tmp_path_factory.mktemp("warm")) as folder:
        yield folder


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
