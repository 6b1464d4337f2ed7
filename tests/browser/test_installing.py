"""ci/chromium.sh: what it does where there is no browser, with an apt-get that only notes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.needed import debian

ROOT = Path(__file__).parents[2]
BROWSER = "#!/bin/sh\necho Chromium\n"
APT = """#!/bin/sh
echo "$@" >> "$CALLS"
if [ "$1" = install ] && [ -n "$GIVES" ]; then cp "$GIVES" "$CHROMIUM"; fi
"""
Install = Callable[..., tuple[subprocess.CompletedProcess[str], list[str]]]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    def run(
        *, user: int = 0, there: bool = False, gives: bool = True, fonts: bool = True
    ) -> tuple[subprocess.CompletedProcess[str], list[str]]:
        for name, text in (
            ("apt-get", APT),
            ("id", f"#!/bin/sh\necho {user}\n"),
            ("fc-list", "#!/bin/sh\necho a font\n" if fonts else "#!/bin/sh\n"),
            ("given", BROWSER),
            *((("chromium", BROWSER),) if there else ()),
        ):
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o755)
        chromium = str(tmp_path / "chromium")
        environment = os.environ | {
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "CALLS": str(tmp_path / "calls"),
            "GIVES": str(tmp_path / "given") if gives else "",
            "CHROMIUM": chromium,
        }
        found = subprocess.run(
            ["bash", str(ROOT / "ci" / "chromium.sh"), chromium],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        calls = tmp_path / "calls"
        return found, calls.read_text().splitlines() if calls.exists() else []

    return run


def test_what_is_there_is_left_alone(install: Install) -> None:
    found, calls = install(there=True)
    assert (found.returncode, found.stdout, found.stderr, calls) == (0, "", "", [])


@pytest.mark.skipif(not debian(), reason="no Debian")
def test_root_gets_it_without_being_asked(install: Install) -> None:
    found, calls = install()
    assert found.returncode == 0
    assert calls[0].startswith("update")
    assert calls[1].startswith("install")
    assert "--yes" in calls[1].split()
    assert calls[1].endswith("chromium fonts-dejavu-core fonts-liberation")
    assert install()[1] == calls  # it is there now


@pytest.mark.skipif(not debian(), reason="no Debian")
def test_missing_letters_are_fetched_too(install: Install) -> None:
    found, calls = install(there=True, fonts=False)
    assert (found.returncode, len(calls)) == (0, 2)


@pytest.mark.skipif(not debian(), reason="no Debian")
def test_what_cannot_be_installed_ends_the_pipeline(install: Install) -> None:
    found, _ = install(gives=False)
    assert found.returncode == 1
    assert "is installed, and does not start" in found.stderr


def test_others_are_told_in_one_line(install: Install) -> None:
    found, calls = install(user=1000)
    assert (found.returncode, found.stdout, calls) == (0, "", [])
    (line,) = found.stderr.splitlines()
    assert "tests/browser is skipped" in line
    assert "apt-get install chromium" in line
