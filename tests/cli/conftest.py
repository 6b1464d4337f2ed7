"""A folder of its own for every test, and one that has been run once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpassay.cli.main import main

QUICK = ["run", "--profile", "quick", "-q"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    # the next test may have a module of the same name
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a quick run of a few mechanisms has written.

    Known to be wrong, with claims of several kinds.
    """
    out = tmp_path_factory.mktemp("small") / "report"
    names = ("soft-majority-overview", "projected-walk", "bagged", "averaged")
    assert main([*QUICK, *names, "--train", "60", "--queries", "3", "--out", str(out)]) == 0
    return out
