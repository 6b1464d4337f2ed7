"""Linters have nothing to say of the actions, and of the workflows that we show.

zizmor, and what actionlint checks: its package on PyPI would fetch a program from elsewhere.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.gate.conftest import BIN, ROOT
from tests.gate.workflow_checks import by_schema, by_shellcheck, names, read, scripts

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


def schema_faults(folder: Path) -> list[str]:
    found = by_schema("github-actions", *(folder / name for name in ACTIONS))
    found += by_schema("github-workflows", *workflows(folder))
    return found + by_schema("gitlab-ci", folder / GITLAB)


def shell_faults(folder: Path) -> list[str]:
    documents = [folder / name for name in ACTIONS] + workflows(folder)
    found = [fault for path in documents for fault in scripts(read(path))]
    return found + by_shellcheck(*(folder / name for name in SCRIPTS))


def name_faults(folder: Path) -> list[str]:
    actions = {name: read(folder / name) for name in ACTIONS}
    documents = [*actions.values(), *map(read, workflows(folder))]
    return [fault for document in documents for fault in names(document, actions)]


def workflows(folder: Path) -> list[Path]:
    return sorted((folder / ".github" / "workflows").iterdir())


def plant(folder: Path, file: str, part: str, instead: str) -> None:
    text = (folder / file).read_text("utf-8")
    assert part in text
    (folder / file).write_text(text.replace(part, instead), encoding="utf-8")


def test_keys_values_scripts_and_names_have_no_fault(copied: Path) -> None:
    assert schema_faults(copied) + shell_faults(copied) + name_faults(copied) == []


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
    for file, _, _, said in planted:
        assert any(said in line for line in found), "\n".join(found)
        assert any(f"{copied / file}" in line for line in found), found


@pytest.mark.parametrize(
    ("file", "part", "instead", "said"),
    [
        ("action.yml", "run: bash", "run: cd $HOME/x; bash", "[SC2164]"),
        ("ci/publish/action.yml", "run: bash", "run: if [ x == ]; bash", "error:"),
        ("ci/gate.sh", 'cd "${GATE_DIRECTORY:-.}" ||', "cd ${GATE_DIRECTORY:-.} ||", "[SC2086]"),
        ("ci/publish/comment.sh", "set -euo", "x=`ls`; set -euo", "[SC2006]"),
        (WORKFLOW, "persist-credentials: false", "a: b\n      - run: echo $(ls)\n", "[SC2046]"),
    ],
)
def test_shellcheck_sees_a_fault(
    copied: Path, file: str, part: str, instead: str, said: str
) -> None:
    plant(copied, file, part, instead)
    assert any(said in line for line in shell_faults(copied))


@pytest.mark.parametrize(
    ("file", "part", "instead", "said"),
    [
        ("action.yml", "steps.gate.outputs.record", "steps.gaet.outputs.record", "no gaet"),
        ("action.yml", "id: gate\n", "name: gate\n", "steps has no gate"),
        ("action.yml", "inputs.cache == 'true'", "inputs.cash == 'true'", "inputs has no cash"),
        ("action.yml", "hashFiles(", "hashfiles(", "no such function: hashfiles"),
        ("action.yml", "'**/setup.cfg')", "'**/setup.cfg'", "parentheses do not match"),
        ("action.yml", "${{ github.job }}", "${{ github.job }", "not closed"),
        ("action.yml", "always() && steps", "always() & steps", "no expression from here: & "),
        ("ci/publish/action.yml", "${{ github.token }}", "${{ secrets.T }}", "no such context"),
        ("ci/publish/action.yml", "runner.temp }}/dpassay/r", "runner.tmp }}/dpassay/r", "no tmp"),
        (WORKFLOW, "ubuntu-latest", "ubunut-latest", "which GitHub has not"),
        (WORKFLOW, "needs: dpassay", "needs: dpasay", "publish needs dpasay, which is no job"),
        (WORKFLOW, "baseline: check", "base: check", "OWNER/dpassay has no input base"),
        (WORKFLOW, "artifact: privacy", "cache: 'true'", "ci/publish needs the input artifact"),
        (WORKFLOW, "github.event_name ==", "github.event-name ==", "github has no event-name"),
    ],
)
def test_a_wrong_name_is_seen(copied: Path, file: str, part: str, instead: str, said: str) -> None:
    plant(copied, file, part, instead)
    assert any(said in line for line in name_faults(copied))


@pytest.mark.parametrize("name", ACTIONS)
def test_scripts_hold_no_expression_uses_are_pinned_and_inputs_are_used(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    action = read(ROOT / name)
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert "uses" not in step or re.fullmatch(PINNED, step["uses"])
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(action["inputs"])
    assert all(facts["description"] for facts in action["inputs"].values())


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
