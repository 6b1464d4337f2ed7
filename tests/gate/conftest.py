"""A demo project and a copy of this repository under git, and a PATH that notes calls."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import once
from tests.gate.composite import ShardResult, run_action
from tests.plugin.demo import CONFIG, make_project

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
Staged = Callable[..., ShardResult]
IDENTITY = {
    f"GIT_{who}_{what}": f"a@{what}"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}
GIT = IDENTITY | {"GIT_CONFIG_GLOBAL": os.devnull}

NOTE = """#!/usr/bin/env bash
{ printf '%s' "${0##*/}"; printf ' <%s>' "$@"; echo; } >> "$CALLS"
"""
PIP = NOTE + 'exit "${PIP_EXIT:-0}"\n'
REAL = NOTE + 'exec {} "$@"\n'
STUB = f"""{NOTE}
case "$1 $*" in
  attack*)
    if [ "$ATTACK_RECORD" != no ]; then mkdir -p report/attack && echo "the attack" > \
report/attack/attack.md && echo "{{}}" > report/attack/attack.json; fi
    exit "${{ATTACK_EXIT:-0}}" ;;
  theorem*)
    mkdir -p report/theorems && echo "{{}}" > report/theorems/theorems.json
    exit "${{THEOREM_EXIT:-0}}" ;;
  report*attack.json*) exit "${{ATTACK_SAID:-0}}" ;;
  baseline*theorems.json*) exit "${{THEOREM_CHECK:-0}}" ;;
  baseline*attack.json*) exit "${{ATTACK_CHECK:-0}}" ;;
esac
case $1 in
  run)
    out="${{!#}}"
    if [ "$RECORD" != no ]; then mkdir -p "$out" && cp "$PAGES"/* "$out" && echo \
"${{RECORD:-{{}}}}" > "$out"/record.json; fi
    exit "$RUN_EXIT" ;;
  report) exit "${{REPORT_EXIT:-0}}" ;;
  baseline)
    if [ "$BASELINE_EXIT" != 2 ]; then cp "$COMPARISON" "${{!#}}"; fi
    exit "$BASELINE_EXIT" ;;
esac
"""
"""A `dpassay` that audits nothing: it leaves ready-made pages and the exit codes that a test
wants."""


@dataclass(frozen=True)
class Tools:
    """Programs that come before all others on PATH, and what they were called with."""

    folder: Path
    calls: Path

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith(("DPASSAY_", "GATE_", "GIT_", "GITHUB_"))
        }
        paths = (str(self.folder), str(BIN), kept["PATH"])
        return (
            kept
            | GIT
            | {"PATH": os.pathsep.join(paths), "CALLS": str(self.calls), "NO_COLOR": "1"}
            | variables
        )

    def called(self, program: str) -> list[str]:
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [
            line.removeprefix(f"{program} ") for line in lines if line.startswith(f"{program} ")
        ]


def git(folder: Path, *words: str) -> str:
    environment = os.environ | GIT
    found = subprocess.run(
        ["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.fixture(scope="session")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody else's project, with a configuration, under git; to be copied."""
    folder = tmp_path_factory.mktemp("committed")
    make_project(folder)
    (folder / "dpassay.toml").write_text(CONFIG)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


@pytest.fixture
def demo(tmp_path: Path, committed: Path) -> Path:
    """The same for one test alone."""
    return Path(shutil.copytree(committed, tmp_path / "demo"))


@pytest.fixture
def tools(tmp_path: Path, warm: Path) -> Tools:
    """The real dpassay, and a pip that installs nothing."""
    return _tools(tmp_path, REAL.replace("{}", shlex.quote(str(warm / "dpassay"))))


@pytest.fixture
def stub(tmp_path: Path) -> Tools:
    """A dpassay that does what a test wants, and a pip that installs nothing."""
    return _tools(tmp_path, STUB)


@pytest.fixture
def pages(tmp_path: Path) -> dict[str, str]:
    """What a stub leaves, and that each of its steps ends well."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/report.md").write_text("the report\n")
    (tmp_path / "pages/junit.xml").write_text("<testsuites/>\n")
    (tmp_path / "comparison.md").write_text("the comparison\n")
    places = {"PAGES": str(tmp_path / "pages"), "COMPARISON": str(tmp_path / "comparison.md")}
    return places | {"RUN_EXIT": "0", "BASELINE_EXIT": "0"}


@pytest.fixture
def staged(demo: Path, stub: Tools, pages: dict[str, str]) -> Staged:
    """The action with a dpassay whose exit codes and pages are given."""

    def run(
        inputs: Mapping[str, str] | None = None,
        *,
        report: str = "the report\n",
        comparison: str = "the comparison\n",
        **codes: str,
    ) -> ShardResult:
        Path(pages["PAGES"], "report.md").write_text(report)
        Path(pages["COMPARISON"]).write_text(comparison)
        return run_action(ACTION, ROOT, demo, stub.environment(**pages | codes), inputs)

    return run


def _tools(tmp_path: Path, dpassay: str) -> Tools:
    folder = tmp_path / "tools"
    folder.mkdir()
    for name, text in (("pip", PIP), ("dpassay", dpassay)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return Tools(folder, tmp_path / "calls")


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This repository as it lies here, committed: what others fetch."""

    def fill(copy: Path) -> None:
        for name in git(ROOT, "ls-files", "-co", "--exclude-standard").splitlines():
            if (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                (copy / name).write_bytes((ROOT / name).read_bytes())
        git(copy, "init", "-q", "-b", "main")
        git(copy, "add", ".")
        git(copy, "commit", "-qm", "as it lies here")

    return once(tmp_path_factory, "dpassay", fill)
