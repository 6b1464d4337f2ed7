"""ci/chromium.sh: what it does where there is no browser, with an apt-get that only notes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.needed import debian

ROOT = Path(__file__).parents[2]
BROWSER = "#!/bin/sh\necho Chromium\n"
APT = """#!/bin/sh
echo "$@" >> "$CALLS"
if [ "$1" = install ] && [ -n "$GIVES" ]; then cp "$GIVES" "$CHROMIUM"; fi
"""


def install(
    folder: Path, *, user: int = 0, there: bool = False, gives: bool = True, fonts: bool = True
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run the script as some user; return what came of it, and the calls of apt-get."""
    programs = {"apt-get": APT, "id": f"#!/bin/sh\necho {user}\n", "given": BROWSER}
    programs["fc-list"] = "#!/bin/sh\necho a font\n" if fonts else "#!/bin/sh\n"
    for name, text in (programs | ({"chromium": BROWSER} if there else {})).items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    chromium, calls = folder / "chromium", folder / "calls"
    environment = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "CALLS": str(calls)}
    environment |= {"GIVES": str(folder / "given") if gives else "", "CHROMIUM": str(chromium)}
    found = subprocess.run(
        ["bash", str(ROOT / "ci" / "chromium.sh"), str(chromium)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return found, calls.read_text().splitlines() if calls.exists() else []


def test_what_is_there_is_left_alone_and_who_may_not_install_is_told(tmp_path: Path) -> None:
    found, calls = install(tmp_path, user=1000)
    assert (found.returncode, found.stdout, calls) == (0, "", [])
    (line,) = found.stderr.splitlines()
    assert "tests/browser is skipped" in line
    assert "apt-get install chromium" in line
    found, calls = install(tmp_path, there=True)
    assert (found.returncode, found.stdout, found.stderr, calls) == (0, "", "", [])


@pytest.mark.skipif(not debian(), reason="no Debian")
def test_root_gets_it_without_being_asked_and_a_pipeline_without_it_ends(tmp_path: Path) -> None:
    found, calls = install(tmp_path, gives=False)
    assert found.returncode == 1
    assert "is installed, and does not start" in found.stderr
    found, both = install(tmp_path)
    assert found.returncode == 0
    assert both == calls * 2
    update, install_, *_ = calls
    assert update.startswith("update")
    assert install_.startswith("install")
    assert "--yes" in install_.split()
    assert install_.endswith("chromium fonts-dejavu-core fonts-liberation")
    assert install(tmp_path)[1] == both  # it is there now
    found, calls = install(tmp_path, there=True, fonts=False)
    assert (found.returncode, len(calls)) == (0, len(both) + 2)  # its letters are not
