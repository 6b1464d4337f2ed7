""".pre-commit-hooks.yaml: its form, its entry, and pre-commit itself."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from pre_commit.clientlib import load_manifest

from tests.gate.conftest import ROOT, Tools, git
from tests.plugin.demo import HALF

(HOOK,) = load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))
CONFIG = """
repos:
  - repo: {repository}
    rev: {rev}
    hooks: [{{id: dpassay}}]
"""


def run(folder: Path, environment: Mapping[str, str], *words: str) -> tuple[int, str]:
    found = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return found.returncode, found.stdout + found.stderr


def test_its_form() -> None:
    assert (HOOK["id"], HOOK["language"], HOOK["stages"]) == ("dpassay", "python", ["pre-push"])
    assert HOOK["always_run"]
    assert not HOOK["pass_filenames"]


@pytest.mark.slow
def test_its_entry(demo: Path, tools: Tools) -> None:
    """A correct API passes it in the push below."""
    words = (*shlex.split(HOOK["entry"]), *HOOK["args"])
    (demo / "audit/api.py").write_text(HALF)
    code, said = run(demo, tools.environment(), *words)
    assert code == 1
    assert "label api" in said
    assert git(demo, "status", "--porcelain") == " M audit/api.py\n"
    (demo / "dpassay.toml").rename(demo / "elsewhere.toml")
    code, said = run(demo, tools.environment(), *words)
    assert code == 2, "the catalogue is not ours"
    assert "no mechanism is configured" in said


@pytest.fixture
def surroundings(tools: Tools, tmp_path: Path) -> dict[str, str]:
    """The variables of a machine that never ran pre-commit and has only the hook's dpassay."""
    (tools.folder / "dpassay").unlink()
    (tools.folder / "pip").unlink()
    (tmp_path / "tmp").mkdir()
    places = {"PRE_COMMIT_HOME": str(tmp_path / "pre-commit"), "TMPDIR": str(tmp_path / "tmp")}
    # what is never imported need not be compiled
    places |= {"PIP_NO_COMPILE": "1", "PYTHONDONTWRITEBYTECODE": ""}
    return tools.environment(VIRTUALENV_NO_PERIODIC_UPDATE="1", **places)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_push_is_stopped(
    demo: Path, surroundings: dict[str, str], repository: Path, tmp_path: Path
) -> None:
    rev = git(repository, "rev-parse", "HEAD").strip()
    (demo / ".pre-commit-config.yaml").write_text(CONFIG.format(repository=repository, rev=rev))
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "remote")
    git(demo, "remote", "add", "origin", str(tmp_path / "remote"))
    git(demo, "add", ".")
    git(demo, "commit", "-qm", "a hook")
    code, said = run(
        demo, surroundings, sys.executable, "-m", "pre_commit", "install", "--hook-type", "pre-push"
    )
    assert code == 0, said
    code, said = run(demo, surroundings, "git", "push", "origin", "main")
    assert code == 0, said
    good = git(tmp_path / "remote", "rev-parse", "main")
    (demo / "audit/api.py").write_text(HALF)
    git(demo, "commit", "-qam", "half the noise")
    code, said = run(demo, surroundings, "git", "push", "origin", "main")
    assert code == 1
    assert "times what it claims" in said
    assert git(tmp_path / "remote", "rev-parse", "main") == good
