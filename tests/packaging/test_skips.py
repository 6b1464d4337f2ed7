"""No test is skipped for want of a tool that a pipeline could have installed, or has a clock."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import needed
from tests.browser import chromium

KNOWN = {
    "needed.py": (1, "a browser, or data: see there"),
    "packaging/test_skips.py": (3, "none: it names them"),
    "browser/test_installing.py": (1, "what only Debian does"),
    "cli/test_resume.py": (3, "what only Linux shows in /proc"),
    "targets/foreign/test_hostile.py": (1, "what only Linux shows in /proc"),
    "trials/isolation/test_hosts.py": (3, "what only Linux limits, and namespaces"),
    "mechanisms/test_conformance.py": (3, "mechanisms that are not of the kind"),
}
"""How often a file skips, and for what; nothing of it is a tool."""
WAYS = {"skip", "skipif", "xfail", "importorskip"}


def skips(source: str) -> int:
    """Count the places at which a test may be skipped, or may fail unseen."""
    if not any(way in source for way in WAYS):
        return 0  # most files, which need not be read closely
    return sum(
        isinstance(node, ast.Attribute)
        and node.attr in WAYS
        and ast.unparse(node.value) in {"pytest", "pytest.mark", "unittest"}
        for node in ast.walk(ast.parse(source))
    )


def test_every_skip_is_known() -> None:
    folder = Path(needed.__file__).parent
    found = {
        path.relative_to(folder).as_posix(): skips(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.py")
    }
    known = {name: number for name, (number, _) in KNOWN.items()}
    assert {name: number for name, number in found.items() if number} == known
    ways = ("pytest.skip('')", "pytest.importorskip('a')", "pytest.mark.skipif(1)(f)")
    assert [skips(way) for way in (*ways, "pytest.mark.xfail(f)")] == [1] * 4  # a new one is seen


@pytest.mark.parametrize(
    ("ci", "release", "outcome"),
    [
        ("true", "ID=debian\n", pytest.fail.Exception),
        ("1", "NAME=x\nID=debian\n", pytest.fail.Exception),
        ("true", "ID=fedora\n", pytest.skip.Exception),
        ("", "ID=debian\n", pytest.skip.Exception),
        ("false", "ID=debian\n", pytest.skip.Exception),
    ],
)
def test_a_pipeline_on_debian_fails_without_a_browser(
    ci: str,
    release: str,
    outcome: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "os-release").write_text(release)
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(needed, "RELEASE", tmp_path / "os-release")
    monkeypatch.setattr(chromium, "EXECUTABLE", tmp_path / "chromium")
    with pytest.raises(outcome, match=r"run `bash ci/chromium\.sh`"):
        chromium.needed_here()
    (tmp_path / "chromium").write_text("#!/bin/sh\n")
    (tmp_path / "chromium").chmod(0o755)
    chromium.needed_here()


def test_no_property_is_held_against_a_clock() -> None:
    """Whichever folder is run: the profile of tests/conftest.py holds, and no test has another."""
    folder = Path(needed.__file__).parent
    assert settings().deadline is None
    assert settings().derandomize
    assert HealthCheck.too_slow in settings().suppress_health_check
    given = {
        (path.relative_to(folder).as_posix(), ast.unparse(word.value))
        for path in folder.rglob("*.py")
        if "deadline" in (source := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        for word in node.keywords
        if word.arg == "deadline"
    }
    assert ("conftest.py", "None") in given
    assert {deadline for _, deadline in given} == {"None"}
