"""A folder of its own for every test, and pages without pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dpassay.cli.main import main
from dpassay.reports.run.page import html

QUICK = ["run", "--profile", "quick", "-q"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@contextmanager
def without_pictures() -> Iterator[None]:
    """Pages without their pictures, for runs whose pages are not what a test is about.

    To draw them takes half of a small run. That they come out the same again is seen in
    test_run.py, and what they show in tests/reports.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html, "pictures_of", lambda *_: iter(()))
        yield


@pytest.fixture
def undrawn() -> Iterator[None]:
    """No pictures as long as a test lasts."""
    with without_pictures():
        yield


def line(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that is said of wrong usage."""
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said.strip().removeprefix("dpassay: error: ")
