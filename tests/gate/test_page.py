"""docs/ci.md: its tables are what the action and the template have, its examples run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import yaml
from pre_commit.clientlib import load_config

from dpassay.reports import DEFAULT, FORMATS
from tests.gate.conftest import ACTION, ROOT, Staged, Tools
from tests.gate.test_gitlab import JOB, at, job

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
PUBLISH = yaml.safe_load((ROOT / "ci" / "publish" / "action.yml").read_text(encoding="utf-8"))
BLOCK = re.compile(r"^```yaml\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(PAGE)


def examples(name: str) -> list[Any]:
    return [yaml.safe_load(text) for file, text in BLOCKS if file == name]


def test_every_example_is_run_here() -> None:
    assert sorted(file for file, _ in BLOCKS) == sorted(
        4 * [".github/workflows/privacy.yml"] + [".gitlab-ci.yml"] + 2 * [".pre-commit-config.yaml"]
    )
    assert PAGE.count("```yaml") == len(BLOCKS)


def test_github_and_the_tutorial(staged: Staged, stub: Tools) -> None:
    checked = ["run", "report", "baseline"]
    attacked = [*checked, "attack", "report", "baseline"]
    ((_, tutorial),) = BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text("utf-8"))
    workflows = [*examples(".github/workflows/privacy.yml"), yaml.safe_load(tutorial)]
    expected = (["run", "report"], checked, attacked, checked, checked)
    for workflow, called in zip(workflows, expected, strict=True):
        _, ours = workflow["jobs"]["dpassay"]["steps"]
        assert ours["uses"].split("@")[0] == "OWNER/dpassay"
        stub.calls.unlink(missing_ok=True)
        done = staged(ours["with"])
        assert done.code == 0, done.log
        assert [call.split("> ")[0].strip("<>") for call in stub.called("dpassay")] == called


def test_gitlab(demo: Path, stub: Tools, repository: Path, pages: dict[str, str]) -> None:
    (example,) = examples(".gitlab-ci.yml")
    variables = example["dpassay"]["variables"]
    assert example["include"][0]["remote"].endswith("ci/gitlab.yml")
    assert set(variables) <= set(JOB["variables"])
    assert variables["GATE_REF"] == "COMMIT"
    code, log, _ = job(demo, stub, variables | at(repository) | pages)
    assert code == 0, log


def test_the_second_job_takes_what_the_first_leaves_and_runs_nothing_of_ours() -> None:
    jobs = examples(".github/workflows/privacy.yml")[1]["jobs"]
    *_, ours = jobs["dpassay"]["steps"]
    (step,) = jobs["publish"]["steps"]
    assert step["uses"].startswith("OWNER/dpassay/ci/publish@")
    assert step["with"]["artifact"] == ours["with"]["artifact"]
    assert set(step["with"]) <= set(PUBLISH["inputs"])
    assert jobs["dpassay"]["permissions"] == {"contents": "read"}
    writes = {name for name, may in jobs["publish"]["permissions"].items() if may == "write"}
    assert writes == {"security-events", "pull-requests"}


def test_pre_commit(tmp_path: Path) -> None:
    for number, example in enumerate(examples(".pre-commit-config.yaml")):
        path = tmp_path / f"{number}.yaml"
        path.write_text(yaml.safe_dump(example))
        (repository,) = load_config(str(path))["repos"]
        (hook,) = repository["hooks"]
        assert hook["id"] == "dpassay"
    ours = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
    assert {key: hook[key] for key in ("entry", "stages", "pass_filenames", "always_run")} == {
        key: ours[key] for key in ("entry", "stages", "pass_filenames", "always_run")
    }


def test_the_tables_name_everything() -> None:
    files = dict(re.findall(r"^\| `(\w+)` \| `(\w+\.\w+)` \|", PAGE, re.MULTILINE))
    assert files == {name: entry.filename for name, entry in FORMATS.items() if name not in DEFAULT}
    row = r"^\| `([a-z-]+)` \| (?!`\w+\.\w+` )(?:.*?) \| (.+?) \|$"
    inputs = dict(re.findall(row, PAGE, re.MULTILINE))
    assert set(inputs) == set(ACTION["inputs"])
    for name, said in inputs.items():
        assert not said.startswith("`") or said.strip("`") == ACTION["inputs"][name]["default"]
    rows = re.findall(r"^\| (`GATE_.*?) \|", PAGE, re.MULTILINE)
    assert set(re.findall(r"GATE_\w+", " ".join(rows))) == set(JOB["variables"])


def test_a_seed_from_the_commit_is_the_plugin_s() -> None:
    (line,) = re.findall(r'`(echo "DPASSAY_SEED=.*?)`', PAGE)
    sha = "00abcdef" + 32 * "0"
    words = line.replace(' >> "$GITHUB_ENV"', "")
    found = subprocess.run(
        ["bash", "-c", words], env={"GITHUB_SHA": sha}, capture_output=True, text=True, check=True
    )
    assert found.stdout == f"DPASSAY_SEED={int(sha[:8], 16)}\n"
