"""The gate in somebody's repository of one function, by the steps of the workflow of docs/ci.md."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpassay.cli.main import main
from tests.gate.composite import ShardResult
from tests.gate.conftest import ROOT, Tools, git
from tests.gate.test_action import action

API = '''import numpy as np


def {name}(data, queries, size, rng):
    """The parity of the labels, told wrong with probability 1 / (1 + e^{strength})."""
    p = 1 / (1 + np.exp({strength}))
    label = int(data.y.sum() % 2)
    return np.where(rng.random((size, len(queries))) < p, 1 - label, label)
'''
CONFIG = """budget = 1000
train = 4
queries = 1
neighbours = "flip"
detect = 20

[[mechanisms]]
target = "my_api:{name}"
claim = {{ epsilon = 2.0 }}
"""
REFACTORED = '"""The label API."""\n\nimport math\n\nTAU = math.tau\n\n\n'
WORKFLOW = next(
    text
    for text in re.findall(
        r"^```yaml\n# \.github/\S+\n(.*?)^```$",
        (ROOT / "docs" / "ci.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    if "baseline: check" in text and "publish" in text
)


@pytest.mark.slow
def test_red_refactored_green_renamed(
    tmp_path: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / ".gitignore").write_text("report/\n__pycache__/\n")
    git(folder, "init", "-q", "-b", "main")
    inputs = yaml.safe_load(WORKFLOW)["jobs"]["dpassay"]["steps"][-1]["with"]

    def commit(text: str, name: str = "predict") -> None:
        (folder / "my_api.py").write_text(text)
        (folder / "dpassay.toml").write_text(CONFIG.format(name=name))
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "a change", "--allow-empty")

    def push(text: str, name: str = "predict") -> ShardResult:
        commit(text, name)
        return action(folder, tools, inputs, GITHUB_ACTIONS="true")

    def read(name: str) -> str:
        return (folder / "report" / name).read_text("utf-8")

    def sarif() -> list[Any]:
        results: list[Any] = json.loads(read("results.sarif"))["runs"][0]["results"]
        return results

    good, bad = (API.format(name="predict", strength=strength) for strength in ("1.0", "4.0"))
    commit(good)
    with monkeypatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        assert main(["run", "-q", "--executor", "inline", "--out", "report"]) == 0
        assert main(["baseline", "accept"]) == 0

    red = push(bad)
    assert red.code == 1, red.log
    (result,) = sarif()
    assert (result["ruleId"], result["level"]) == ("dpassay/refuted", "error")
    where = result["locations"][0]["physicalLocation"]
    assert (where["artifactLocation"]["uri"], where["region"]) == ("my_api.py", {"startLine": 4})
    comment = read("comment.md")
    headline = r"### my\\_api:predict leaks more than it claims \(at least 1\.\d+ times\)\n"
    assert re.match(headline, comment)
    assert "**Against the accepted baseline:** 2 privacy regressions" in comment
    assert "dpassay replay REPORT/witnesses/my_api%3Apredict.own.monte-carlo.json" in comment

    moved = push(REFACTORED + bad)
    assert moved.code == 1
    (again,) = sarif()
    assert again["partialFingerprints"] == result["partialFingerprints"]
    assert again["locations"][0]["physicalLocation"]["region"] == {"startLine": 11}

    refactored = push(REFACTORED + good)
    assert refactored.code == 0, refactored.log
    assert sarif() == []
    assert read("comment.md").startswith("### No leak above what my\\_api:predict claims")

    stopped = push(API.format(name="answer", strength="1.0"), "answer")
    assert stopped.code == 2
    command = "run `dpassay baseline move my_api:predict my_api:answer`"
    assert command in stopped.log
    last = stopped.summary.rpartition("**dpassay: exit code 2**")[2]
    assert command in last.partition("#")[0], "it stands at the top"
