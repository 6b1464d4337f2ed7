"""What tests of several folders share."""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter
from hypothesis import HealthCheck, settings

from dpassay.engine.detection.audits import AuditDesign
from dpassay.engine.evidence import DetectionCurve
from dpassay.engine.guards import Guards
from tests.warm import programs, shorten

# Hypothesis with fixed examples and no clock: a test says the same thing every time, whichever
# tests run with it and however busy the machine is.
settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    max_examples=40,  # always the same
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fixed")
# whoever starts the tests in the background has them ignore Ctrl-C, and what they start too
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Keep no bytecode of what tests write, and look for no garbage among the tests themselves.

    The same file is written again within a second, and as long as before. Thousands of tests are
    kept to the end: each search among them takes a third of a second.
    """
    gc.collect()
    gc.freeze()
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def forget(folder: Path, seen: Collection[str] = ()) -> None:
    """Have the modules of a folder imported anew, but for those of some names."""
    for name in [name for name in sys.modules if name not in seen]:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture(scope="session")
def known_modules() -> set[str]:
    """Names of modules that were looked at after a test and are not of its making.

    There are thousands, and as many tests: to look at all of them after each takes minutes.
    """
    return set()


@pytest.fixture(autouse=True)
def forgotten(tmp_path_factory: pytest.TempPathFactory, known_modules: set[str]) -> Iterator[None]:
    """Forget the modules that a test wrote and imported: the next may have one of the same name."""
    yield
    forget(_shared(tmp_path_factory), known_modules)
    known_modules.update(sys.modules)


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
    for guard in ("varied", "asked_again", "confirmed"):
        monkeypatch.setattr(Guards, guard, lambda *_, **__: None)
    monkeypatch.setattr(AuditDesign, "sight", lambda *_: DetectionCurve(detectable=0.0))


@pytest.fixture
def few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at a dozen pairs, with few runs of each, where the search is not what is tested."""
    shorten(monkeypatch.setattr)


def once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], None]) -> Path:
    """Return a folder that one process of the session fills; the others wait until it is full."""
    root = _shared(factory)
    with (root / f"{name}.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not lock.seek(0, os.SEEK_END):  # whoever held the lock may have written meanwhile
            fill(root / name)
            lock.write("full")
    return root / name


def _shared(factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which all processes of the session have their temporary files."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def catalogue_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a quick run of the whole catalogue has written."""
    from dpassay.cli.main import main

    def fill(folder: Path) -> None:
        assert main(["run", "--profile", "quick", "-q", "--out", str(folder)]) == 0

    return once(tmp_path_factory, "catalogue", fill)


@pytest.fixture
def shown(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """A line for the end of the session's output, also of a test that passes."""
    return lambda line: record_property("shown", line)


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    lines = [
        f"{report.nodeid}: {line}"
        for kind in ("passed", "failed")
        for report in terminalreporter.stats.get(kind, ())
        for name, line in report.user_properties
        if name == "shown" and report.when == "call"
    ]
    if lines:
        terminalreporter.section("seen")
        for line in sorted(lines):
            terminalreporter.line(line)
