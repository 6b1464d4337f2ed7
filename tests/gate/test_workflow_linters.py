"""zizmor and actionlint have nothing to say of the actions and of the workflows that we show."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.gate.conftest import BIN, ROOT

ACTIONS = ("action.yml", "ci/publish/action.yml")
BLOCK = re.compile(r"^```yaml\n# (\.github/\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = (ROOT / "README.md", ROOT / "docs" / "ci.md")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The actions, and every workflow of the documentation with a hash put in for COMMIT."""
    for name in ACTIONS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text("utf-8"))
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    texts = [text for page in PAGES for _, text in BLOCK.findall(page.read_text("utf-8"))]
    assert len(texts) >= 4
    for number, text in enumerate(texts):
        (folder / f"{number}.yml").write_text(text.replace("COMMIT", "0" * 40))
    return tmp_path


def zizmor(folder: Path) -> tuple[int, str]:
    found = subprocess.run(
        [BIN / "zizmor", "--offline", "--no-progress", "--strict-collection", "."],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return found.returncode, found.stdout + found.stderr


def test_zizmor_finds_nothing(copied: Path) -> None:
    code, said = zizmor(copied)
    assert code == 0, said
    assert "No findings to report" in said
    assert all(f"completed ./{name}" in said for name in ACTIONS)


@pytest.mark.parametrize(
    ("file", "part", "instead", "audit"),
    [
        ("action.yml", "@ece7cb06caefa5fff74198d8649806c4678c61a1", "@v6", "unpinned-uses"),
        ("ci/publish/action.yml", "run: bash", "run: echo ${{ inputs.artifact }} #", "template"),
        (".github/workflows/1.yml", "persist-credentials: false", "path: .", "artipacked"),
    ],
)
def test_zizmor_sees_a_fault(copied: Path, file: str, part: str, instead: str, audit: str) -> None:
    text = (copied / file).read_text()
    assert part in text
    (copied / file).write_text(text.replace(part, instead))
    code, said = zizmor(copied)
    assert code != 0
    assert audit in said


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not on PATH")
def test_actionlint_finds_nothing(copied: Path) -> None:
    files = sorted(str(path) for path in (copied / ".github" / "workflows").iterdir())
    found = subprocess.run(
        ["actionlint", "-no-color", *files], cwd=copied, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout


def test_no_workflow_may_more_than_it_says(copied: Path) -> None:
    for path in (copied / ".github" / "workflows").iterdir():
        workflow = yaml.safe_load(path.read_text())
        assert workflow["permissions"] in ({}, {"contents": "read"})


def test_one_commit_for_every_use_of_an_action(copied: Path) -> None:
    texts = [path.read_text() for path in (*copied.rglob("*.yml"),)]
    pins: dict[str, set[str]] = {}
    for name, pin, version in re.findall(
        r"uses: ((?:actions|github)/[\w/-]+)@([0-9a-f]{40}) # (v[\d.]+)", "\n".join(texts)
    ):
        pins.setdefault(name, set()).add(f"{pin} {version}")
    assert pins
    assert all(len(versions) == 1 for versions in pins.values()), pins
    assert sum(text.count("uses: actions/") + text.count("uses: github/") for text in texts) == sum(
        len(re.findall(r"uses: (?:actions|github)/\S+@[0-9a-f]{40} # v", text)) for text in texts
    )
