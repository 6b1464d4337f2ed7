"""Linters have nothing to say of the actions, and of the workflows that we show."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.gate.conftest import BIN, ROOT

ACTIONS = ("action.yml", "ci/publish/action.yml")
GITLAB = "ci/gitlab.yml"
SCRIPTS = ("ci/gate.sh", "ci/chromium.sh", "ci/publish/comment.sh", "ci/release.sh", ".ci/run")
WORKFLOW = ".github/workflows/2.yml"
"""That of docs/ci.md with two jobs."""
BLOCK = re.compile(r"^```yaml\n# (\.github/\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PINNED = r"(actions|github)/[a-z/-]+@[0-9a-f]{40}"
PAGES = (ROOT / "docs" / "tutorial.md", ROOT / "docs" / "ci.md")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The actions, their scripts, and every workflow shown, with a hash put in for COMMIT."""
    for name in (*ACTIONS, GITLAB, *SCRIPTS):
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
    code, told = zizmor(copied)
    assert code == 0, told
    assert "No findings to report" in told
    assert all(f"completed ./{name}" in told for name in ACTIONS)


def test_zizmor_sees_faults(copied: Path) -> None:
    plant(copied, "action.yml", "@ece7cb06caefa5fff74198d8649806c4678c61a1", "@v6")
    plant(copied, "ci/publish/action.yml", "run: bash", "run: echo ${{ inputs.artifact }} #")
    plant(copied, ".github/workflows/1.yml", "persist-credentials: false", "path: .")
    code, told = zizmor(copied)
    assert code != 0
    assert all(audit in told for audit in ("unpinned-uses", "template", "artipacked"))


def said(command: list[Any], script: str | None = None) -> list[str]:
    """Return what a linter has to say, nothing if it finds no fault."""
    found = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return []
    return (found.stdout + found.stderr).splitlines() or [f"exit code {found.returncode}"]


def schema_faults(folder: Path) -> list[str]:
    """Hold keys and values against the schemas that check-jsonschema brings along."""
    found: list[str] = []
    for schema, files in (
        ("github-actions", [folder / name for name in ACTIONS]),
        ("github-workflows", workflows(folder)),
        ("gitlab-ci", [folder / GITLAB]),
    ):
        command = [BIN / "check-jsonschema", "--verbose", "--builtin-schema", f"vendor.{schema}"]
        found += said([*command, *files])
    return found


def shell_faults(folder: Path) -> list[str]:
    """Check scripts, of files and of steps, of whichever severity a fault is."""
    shellcheck = [BIN / "shellcheck", "--norc", "--format=gcc"]
    found = said([*shellcheck, *(folder / name for name in SCRIPTS)])
    for document in documents(folder):
        for step in steps(document):
            if "run" in step:
                found += said([*shellcheck, "--shell=bash", "-"], step["run"])
    return found


def documents(folder: Path) -> list[Any]:
    return [read(path) for path in (*(folder / name for name in ACTIONS), *workflows(folder))]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def steps(document: Any) -> list[Any]:
    jobs = document["jobs"].values() if "jobs" in document else [document["runs"]]
    return [step for job in jobs for step in job["steps"]]


def workflows(folder: Path) -> list[Path]:
    return sorted((folder / ".github" / "workflows").iterdir())


def plant(folder: Path, file: str, part: str, instead: str) -> None:
    text = (folder / file).read_text("utf-8")
    assert part in text
    (folder / file).write_text(text.replace(part, instead), encoding="utf-8")


def test_keys_values_and_scripts_have_no_fault(copied: Path) -> None:
    assert schema_faults(copied) + shell_faults(copied) == []


def test_schemas_see_faults(copied: Path) -> None:
    planted = (
        ("action.yml", "using: composite", "using: compost", "'composite' was expected"),
        ("ci/publish/action.yml", "      run: bash", "      rum: bash", "'rum' was unexpected"),
        (GITLAB, "when: always", "when: ever", "'ever' is not one of"),
        (".github/workflows/0.yml", "runs-on:", "run-on:", "'runs-on' is a required property"),
        (WORKFLOW, "contents: read", "contents: reads", "'reads' is not one of"),
    )
    for file, part, instead, _ in planted:
        plant(copied, file, part, instead)
    found = schema_faults(copied)
    for file, _, _, told in planted:
        assert any(told in line for line in found), "\n".join(found)
        assert any(f"{copied / file}" in line for line in found), found


def test_shellcheck_sees_faults(copied: Path) -> None:
    planted = (
        ("action.yml", "run: bash", "run: cd $HOME/x; bash", "[SC2164]"),
        ("ci/publish/action.yml", "run: bash", "run: if [ x == ]; bash", "error:"),
        ("ci/gate.sh", 'cd "${GATE_DIRECTORY:-.}" ||', "cd ${GATE_DIRECTORY:-.} ||", "[SC2086]"),
        ("ci/publish/comment.sh", "set -euo", "x=`ls`; set -euo", "[SC2006]"),
        (WORKFLOW, "persist-credentials: false", "a: b\n      - run: echo $(ls)\n", "[SC2046]"),
    )
    for file, part, instead, _ in planted:
        plant(copied, file, part, instead)
    found = shell_faults(copied)
    for _, _, _, told in planted:
        assert any(told in line for line in found), told


FILES = "'**/requirements*.txt', '**/pyproject.toml', '**/setup.py', '**/setup.cfg'"
OWN = "github.event.pull_request.head.repo.full_name == github.repository"
OF_GITHUB = {
    *("github.event.pull_request.number", "github.job", "github.token", "runner.os", "runner.temp"),
    *("strategy.job-index", f"hashFiles({FILES})"),
    *(f"steps.gate.outputs.{name}" for name in ("exit-code", "folder", "record")),
    "always() && steps.gate.outputs.folder != ''",
    "always() && inputs.comment == 'true' && github.event_name == 'pull_request'",
    f"always() && (github.event_name == 'push' || {OWN})",
}
"""Expressions and conditions that were looked up in GitHub's reference; it ignores a wrong name."""


def unknown(folder: Path) -> set[str]:
    """Return the expressions, steps and jobs that are named and not known."""
    wrong: set[str] = set()
    for path in (*(folder / name for name in ACTIONS), *workflows(folder)):
        text, document = path.read_text("utf-8"), read(path)
        inputs = document.get("inputs", {})
        known = OF_GITHUB | {f"inputs.{name}" for name in inputs}
        known |= {f"inputs.{name} == 'true'" for name in inputs}
        conditions = re.findall(r"^ +(?:- )?if: (.*)$", text, re.MULTILINE)
        found = {*conditions, *re.findall(r"\$\{\{ (.*?) \}\}", text)}
        wrong |= found - known
        assert text.count("${{") == len(re.findall(r"\$\{\{ .*? \}\}", text))
        ids = {step["id"] for step in steps(document) if "id" in step}
        wrong |= set(re.findall(r"steps\.(\w+)\.", text)) - ids
        jobs = document.get("jobs", {})
        assert all(job["runs-on"] == "ubuntu-latest" for job in jobs.values())
        wrong |= {job["needs"] for job in jobs.values() if "needs" in job} - jobs.keys()
    return wrong


def test_expressions_and_references_are_known(copied: Path) -> None:
    assert unknown(copied) == set()
    plant(copied, "action.yml", "steps.gate.outputs.record", "steps.gaet.outputs.record")
    plant(copied, WORKFLOW, "needs: dpassay", "needs: dpasay")
    assert unknown(copied) == {"steps.gaet.outputs.record", "gaet", "dpasay"}


@pytest.mark.parametrize("name", ACTIONS)
def test_scripts_hold_no_expression_uses_are_pinned_and_inputs_are_used(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    action = read(ROOT / name)
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert "uses" not in step or re.fullmatch(PINNED, step["uses"])
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(action["inputs"])
    assert all(facts["description"] for facts in action["inputs"].values())


def test_no_workflow_may_more_than_it_says_and_every_use_of_an_action_is_of_one_commit(
    copied: Path,
) -> None:
    assert all(
        read(path)["permissions"] in ({}, {"contents": "read"}) for path in workflows(copied)
    )
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
