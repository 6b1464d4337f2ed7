"""ci/gitlab.yml: its form, and its script run in somebody else's project."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml

from tests.gate.conftest import ROOT, Tools, git
from tests.plugin.demo import HALF

TEMPLATE: dict[str, Any] = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text(encoding="utf-8"))
JOB: dict[str, Any] = TEMPLATE["dpassay"]


def job(
    project: Path, tools: Tools, variables: Mapping[str, str]
) -> tuple[int, str, dict[str, str]]:
    """Run all lines of the script in one shell; return its code and log, and its variables."""
    known = JOB["variables"] | dict(variables)
    found = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(JOB["script"])],
        cwd=project, env=tools.environment(**known), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return found.returncode, found.stdout + found.stderr, known


def at(repository: Path) -> dict[str, str]:
    """Return the variables that name a commit of a repository."""
    commit = git(repository, "rev-parse", "HEAD").strip()
    return {"GATE_REPOSITORY": repository.as_uri(), "GATE_REF": commit}


def test_its_form() -> None:
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-[a-z]+", JOB["image"])
    assert list(TEMPLATE) == ["dpassay"]
    assert set(JOB) == {"stage", "image", "variables", "script", "artifacts"}
    assert all(isinstance(line, str) for line in JOB["script"])
    assert all(isinstance(value, str) for value in JOB["variables"].values())
    assert JOB["artifacts"]["when"] == "always"
    for path in (*JOB["artifacts"]["paths"], *JOB["artifacts"]["reports"]["junit"]):
        assert Template(path).substitute(JOB["variables"]).startswith("./report")


@pytest.mark.slow
def test_half_the_noise_fails(demo: Path, tools: Tools, repository: Path) -> None:
    (demo / "audit/api.py").write_text(HALF)
    code, log, known = job(demo, tools, at(repository) | {"GATE_INSTALL": "-e ."})
    assert code == 1
    assert "label api" in log
    assert "exit code 1**, a claim is refuted" in log
    (installed,) = tools.called("pip")
    assert installed.endswith("> <-e> <.>")
    (folder,) = JOB["artifacts"]["paths"]
    assert (demo / Template(folder).substitute(known) / "record.json").is_file()


def test_what_cannot_be_fetched_is_no_verdict_and_a_baseline_is_compared_if_it_is_asked_for(
    demo: Path, stub: Tools, repository: Path, pages: dict[str, str]
) -> None:
    variables = pages | at(repository) | {"BASELINE_EXIT": "1"}
    for wrong, exit_code in (
        ({"GATE_REF": ""}, 2),
        ({"GATE_REF": "v99"}, 128),
        ({"GATE_REPOSITORY": ""}, 128),
    ):
        code, log, _ = job(demo, stub, variables | wrong)
        assert code == exit_code, log
    assert stub.called("dpassay") == []
    assert job(demo, stub, variables)[0] == 0
    assert job(demo, stub, variables | {"GATE_BASELINE": "check"})[0] == 1
    assert stub.called("dpassay")[-1] == "<baseline> <check> <report/record.json> <-o> <report>"
