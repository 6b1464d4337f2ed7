"""The gate in somebody's repository: green, red, refactored, green, renamed, green; three seeds.

A project of one function lies under git, with the workflow of docs/ci.md, whose steps are run.
"""

from __future__ import annotations

import json
import math
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from scipy.stats import binom

from dpassay.cli.main import main
from dpassay.record.kinds import RUNS
from dpassay.reports.run.pipeline import notices
from dpassay.stats.bounds import Counts
from dpassay.stats.lower_bounds import Method, lower_bound
from dpassay.stats.scales import Ratio
from tests.gate.composite import ShardResult
from tests.gate.conftest import BIN, ROOT, Tools, git
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
claim = {{ epsilon = {claim} }}
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


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Modules that a test has imported here: another test may have one of the same name."""
    before = {*sys.modules}
    yield
    for name in {*sys.modules} - before:
        if name.startswith(("my_api", "api_")):
            del sys.modules[name]


class Repository:
    """The project, and what its pipeline leaves."""

    def __init__(self, folder: Path, tools: Tools) -> None:
        self.folder, self.tools = folder, tools
        self.inputs = yaml.safe_load(WORKFLOW)["jobs"]["dpassay"]["steps"][-1]["with"]
        folder.mkdir()
        (folder / ".github" / "workflows").mkdir(parents=True)
        (folder / ".github" / "workflows" / "privacy.yml").write_text(WORKFLOW)
        (folder / "requirements.txt").write_text("numpy\n")
        (folder / ".gitignore").write_text("report/\n__pycache__/\n")
        git(folder, "init", "-q", "-b", "main")

    def push(self, text: str, name: str = "predict") -> ShardResult:
        """Commit the API and run the pipeline on it."""
        self.commit(text, name)
        return action(self.folder, self.tools, self.inputs, GITHUB_ACTIONS="true")

    def commit(self, text: str, name: str = "predict") -> None:
        (self.folder / "my_api.py").write_text(text)
        (self.folder / "dpassay.toml").write_text(CONFIG.format(name=name, claim="2.0"))
        git(self.folder, "add", ".")
        git(self.folder, "commit", "-qm", "a change", "--allow-empty")

    def dpassay(self, *words: str) -> None:
        subprocess.run([BIN / "dpassay", *words], cwd=self.folder, check=True, capture_output=True)

    def read(self, name: str) -> str:
        return (self.folder / "report" / name).read_text("utf-8")

    def sarif(self) -> list[Any]:
        results: list[Any] = json.loads(self.read("results.sarif"))["runs"][0]["results"]
        return results


@pytest.mark.slow
def test_green_red_refactored_green_renamed_green(
    tmp_path: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = (API.format(name="predict", strength=strength) for strength in ("1.0", "4.0"))
    project = Repository(tmp_path / "demo", tools)

    project.commit(good)
    with monkeypatch.context() as patch:
        patch.chdir(project.folder)
        patch.syspath_prepend(project.folder)
        assert main(["run", "-q", "--executor", "inline", "--out", "report"]) == 0
        assert main(["baseline", "accept"]) == 0

    green = project.push(good)
    assert green.code == 0, green.log
    assert project.sarif() == []
    assert project.read("comment.md").startswith("### No leak above what my\\_api:predict claims")

    red = project.push(bad)
    assert red.code == 1, red.log
    (result,) = project.sarif()
    assert (result["ruleId"], result["level"]) == ("dpassay/refuted", "error")
    where = result["locations"][0]["physicalLocation"]
    assert (where["artifactLocation"]["uri"], where["region"]) == ("my_api.py", {"startLine": 4})
    comment = project.read("comment.md")
    headline = r"### my\\_api:predict leaks more than it claims \(at least 1\.\d+ times\)\n"
    assert re.match(headline, comment)
    assert "**Against the accepted baseline:** 2 privacy regressions" in comment
    assert "dpassay replay REPORT/witnesses/my_api%3Apredict.own.monte-carlo.json" in comment

    moved = project.push(REFACTORED + bad)
    assert moved.code == 1
    (again,) = project.sarif()
    assert again["partialFingerprints"] == result["partialFingerprints"]
    assert again["locations"][0]["physicalLocation"]["region"] == {"startLine": 11}

    refactored = project.push(REFACTORED + good)
    assert refactored.code == 0, refactored.log
    assert project.sarif() == []

    renamed = API.format(name="answer", strength="1.0")
    stopped = project.push(renamed, "answer")
    assert stopped.code == 2
    command = "dpassay baseline move my_api:predict my_api:answer"
    assert f"run `{command}`" in stopped.log
    last = stopped.summary.rpartition("**dpassay: exit code 2**")[2]
    assert f"run `{command}`" in last.partition("#")[0], "it stands at the top"
    project.dpassay(*shlex.split(command)[1:])
    done = project.push(renamed, "answer")
    assert done.code == 0, done.log


N, CELLS, SEEDS = 1000, 4, 3


def odds(strength: float) -> float:
    """How often the answer is right."""
    return 1 / (1 + math.exp(-strength))


def bounds(cells: list[tuple[int, int]], alpha: float) -> list[float]:
    """The lower bounds that each of the tests gives for such counts of an answer."""
    methods: tuple[Method, ...] = ("stouffer", "fisher", "clopper-pearson", "accuracy")
    return [
        lower_bound(method, Counts(x=x, n1=N, y=y, n0=N), scale=Ratio(delta=0.0), alpha=alpha).value
        for method in methods
        for x, y in cells
    ]


def edges(x: int, y: int) -> list[tuple[int, int]]:
    """Points of both edges of the counts that are at least x and at most y."""
    return [(least, y) for least in (x, N)] + [(x, most) for most in (0, y // 2)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strength", "claim", "code", "verdict"),
    [(3.0, 1.0, 1, "refuted"), (1.0, 3.0, 0, "not refuted")],
)
def test_the_same_verdict_for_every_seed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    strength: float,
    claim: float,
    code: int,
    verdict: str,
) -> None:
    """A large leak of a small claim, and a loose claim.

    Every cell flips one label, so the right answer has probability q on one side and 1 - q on the
    other, and the counts of a cell, made by fresh trials, are binomial. A cell is sure to end as it
    should for all counts on one side of a corner, since every bound rises in x and falls in y; the
    probability to be beyond the corner, in any of the cells and for any of the seeds, is the
    failure probability, and is computed.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    name = f"api_{code}"
    Path(f"{name}.py").write_text(API.format(name="predict", strength=strength))
    text = CONFIG.format(name="predict", claim=claim).replace("my_api", name)
    Path("dpassay.toml").write_text(text)
    codes, alphas, fingerprints = [], set(), set()
    for seed in range(SEEDS):
        words = ["--seed", str(seed), "--executor", "inline", "-q", "--out", "report"]
        codes.append(main(["run", *words]))
        record = RUNS.read(Path("report/record.json"))
        (result,) = record["results"]
        assert result["verdict"] == verdict
        assert result["searched"]["certified_cells"] <= CELLS
        alphas |= {cell["alpha"] for cell in result["per_query"]}
        fingerprints |= {each.fingerprint for each in notices(record)}
    assert codes == [code] * SEEDS
    assert len(fingerprints) == code, "one for all seeds"
    (alpha,) = alphas
    assert SEEDS * failure(strength, claim, alpha, verdict) < 1e-12


def failure(strength: float, claim: float, alpha: float, verdict: str) -> float:
    """Return a bound on the probability that one run says anything else."""
    q = odds(strength)
    if verdict == "refuted":  # all counts beyond this corner give a bound above the claim
        x, y = 880, 120
        assert min(bounds(edges(x, y), alpha)) > claim
        return float(binom.cdf(x - 1, N, q) + binom.sf(y, N, 1 - q))
    # no bound is above the claim while the rare answer was given more often than this ...
    rare = 110
    often = [(N, y) for y in (rare, N // 2)] + [(x, rare) for x in (rare, N // 2)]
    assert max(bounds(often, alpha)) <= claim
    # ... and beyond this corner something has moved, or it would be inconclusive
    x, y = 620, 380
    assert min(bounds(edges(x, y), alpha)) > 0
    too_high = CELLS * float(binom.cdf(rare - 1, N, 1 - q))
    return too_high + float(binom.cdf(x - 1, N, q) + binom.sf(y, N, 1 - q))
