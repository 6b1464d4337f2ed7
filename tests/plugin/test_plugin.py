"""The pytest plugin, in somebody else's project with a package `audit` and a folder `reports`."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay import DP, Answers
from dpassay.claims import Stability
from dpassay.errors import InvalidInput
from dpassay.pairs import replace_one
from dpassay.testing import assayed
from tests.core.toys import response
from tests.plugin.demo import GOOD, HALF, RAISES, TEST, make_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    make_project(tmp_path)
    return tmp_path


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(warm: Path, project: Path) -> Run:
    """`python -m pytest` in the project's folder, in a process that starts in a moment."""

    def run(*words: str, python: Path = warm / "python") -> tuple[int, str]:
        command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", *words]
        found = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        return found.returncode, found.stdout + found.stderr

    return run


def test_a_correct_api_passes_half_the_noise_fails_and_restoring_it_passes(
    project: Path, run: Run, warm: Path
) -> None:
    code, said = run()
    assert code == 0, said
    assert "= dpassay =" in said
    assert "not refuted: tests/test_privacy.py::test_label_api_keeps_its_epsilon" in said
    assert "Not refuted does not mean private." in said
    (project / "audit/api.py").write_text(HALF)
    code, said = run()
    assert code == 1
    for part in (
        "DP(1) of audit.api:predict is refuted",
        "claim       loss of at most 1 (declared by the user)",
        "bound       at least 1.",
        "certified at 99.9 % confidence",
        "witness     S: {(0; 0), (0; 0), (0; 0), (0; 1), (0; 1)} (data). S': label of record",
        "replay      dpassay replay ",
    ):
        assert part in said
    (line,) = {
        line.split("replay      ")[1] for line in said.splitlines() if "replay      dpassay" in line
    }
    command: list[Any] = [warm / "python", "-m", "dpassay", *shlex.split(line)[1:]]
    replayed = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert replayed.returncode == 1, replayed.stderr
    assert "reproduced: " in replayed.stdout
    (project / "audit/api.py").write_text(GOOD)
    assert run()[0] == 0
    assert (project / "reports/notes.txt").read_text() == "ours"


def test_a_refutation_that_nobody_asked_for_fails(project: Path, run: Run) -> None:
    """Where the method is not called or not even named; not where the verdict is read."""
    asserts = "found.assert_not_refuted(detectable=1.25)"
    for name, last in {
        "privacy": "assert found.detectable",
        "other": "found.assert_not_refuted  # noqa",
        "asked": "assert found.verdict in ('refuted', 'not refuted')",
    }.items():
        path = project / f"tests/test_{name}.py"
        path.write_text(TEST.replace(asserts, last))
    code, said = run()
    assert code == 0, said
    assert "3 passed" in said
    for api, ended, message in (
        (HALF, "3 passed, 2 errors", "DP(1) of audit.api:predict is refuted"),
        (RAISES, "1 failed, 2 passed, 2 errors", "could not be audited"),
    ):
        (project / "audit/api.py").write_text(api)
        code, said = run()
        assert code == 1, said
        assert ended in said
        told, _, summary = said.partition("short test summary info")
        assert re.findall(r"^ERROR tests/(\w+)\.py", summary, re.MULTILINE) == [
            "test_other",
            "test_privacy",
        ]
        never = "the test never asked: call assert_not_refuted(), or read .verdict"
        assert told.count(never) == 2
        assert told.count(message) >= 2


def test_what_users_do_with_names_of_ours(project: Path, run: Run) -> None:
    """Properties that are called like ours, a marker without names, and no plugin at all."""
    path = project / "tests/test_privacy.py"
    more = "".join(
        f"    record_property('dpassay', {value})\n" for value in ("'x'", "3", "'{}'", "'[]'")
    )
    path.write_text(TEST.replace("(assay):", "(assay, record_property):") + more)
    code, said = run()
    assert code == 0, said
    assert said.count("not refuted: tests/test_privacy.py") == 1
    code, said = run("-p", "no:dpassay")
    assert code == 1
    assert "fixture 'assay' not found" in said
    path.write_text(TEST.replace("dpassay(budget=5000)", "dpassay(3, 0.5)"))
    code, said = run()
    assert code == 1
    assert (
        "@pytest.mark.dpassay = (3, 0.5): must be given by name: seed, confidence, budget, "
        "stop_early, jobs, detect"
    ) in said


@pytest.mark.slow
def test_two_processes_and_a_junit_file_where_warnings_are_errors(project: Path, run: Run) -> None:
    (project / "audit/api.py").write_text(HALF)
    code, said = run("-n", "2", "-W", "error::pytest.PytestWarning", "--junitxml", "junit.xml")
    assert code == 1, said
    assert "refuted: tests/test_privacy.py" in said
    found = ET.parse(project / "junit.xml").find(".//property[@name='dpassay']")
    assert found is not None
    facts = json.loads(found.get("value") or "")
    assert facts["verdict"] == "refuted"
    assert facts["lower"] > 1


@pytest.mark.slow
def test_what_has_no_name_is_replayed_by_its_test(project: Path, run: Run) -> None:
    path = project / "tests/test_privacy.py"
    path.write_text(
        TEST.replace("assay(predict,", "assay(lambda *given: predict(*given),").replace(
            "budget=5000", "budget=5001"
        )
    )
    (project / "audit/api.py").write_text(HALF)
    code, said = run("--dpassay-seed", "5")
    assert code == 1
    (line,) = {
        line.split("replay      ")[1] for line in said.splitlines() if "replay      python" in line
    }
    python, *words = shlex.split(line)
    assert (python, words[-1]) == ("python", "--dpassay-seed=5")
    again = run(*words[2:])
    assert again[0] == 1
    (bound,) = {line.removeprefix("E").strip() for line in said.splitlines() if "  bound  " in line}
    assert bound in again[1]


LOADED = """
import sys

OPTIONS = ("option", "options", "values", "searches", "profiles")


def test_nothing():
    dear = ("dpassay", "numpy", "scipy")
    loaded = {name for name in sys.modules if name.partition(".")[0] in dear}
    known = {"dpassay", "dpassay.pytest_plugin", "dpassay.errors", "dpassay.config"}
    assert loaded <= known | {f"dpassay.config.{name}" for name in OPTIONS}
"""


def test_nothing_but_the_options_is_imported_before_it_is_used(project: Path, run: Run) -> None:
    (project / "tests/test_privacy.py").write_text(LOADED)
    code, said = run(python=Path(sys.executable))
    assert code == 0, said
    assert "= dpassay =" not in said


def test_an_audit_that_cannot_see_enough_fails_and_so_does_one_that_cannot_run(
    project: Path, run: Run
) -> None:
    (project / "tests/test_privacy.py").write_text(TEST.replace("budget=5000", "budget=200"))
    (project / "tests/test_other.py").write_text(TEST.replace("audit.api", "audit.other"))
    (project / "audit/other.py").write_text(RAISES)
    code, said = run()
    assert code == 1
    assert "2 failed" in said
    assert "is not refuted, but the audit could only see a loss of" in said
    assert re.search(r"raise the budget, or call assert_not_refuted\(detectable=[\d.]+\)", said)
    assert "could not be audited" in said
    assert "raised KeyError" in said


@pytest.mark.slow
def test_call_over_marker_over_command_line_over_commit(project: Path, run: Run) -> None:
    test = TEST.replace("budget=5000", "budget=200{}").replace(
        "queries=[[0.0]]", "queries=[[0.0]]{}"
    )
    test = test.replace("    found.assert_not_refuted(detectable=1.25)\n", "")
    for name, given in {"privacy": ("", ""), "marker": (", seed=8", "")}.items():
        (project / f"tests/test_{name}.py").write_text(test.format(*given))
    (project / "tests/test_call.py").write_text(test.format(", seed=8", ", seed=9"))

    def seeds(*words: str) -> dict[str, str]:
        """The seed of each of the tests."""
        code, said = run(*words)
        assert code == 0, said
        return dict(re.findall(r"tests/test_(\w+)\.py::.*\n.*seed (\d+)$", said, re.MULTILINE))

    assert seeds() == {"privacy": "0", "marker": "8", "call": "9"}
    assert seeds("--dpassay-seed", "7") == {"privacy": "7", "marker": "8", "call": "9"}
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=project, check=True)
    head = subprocess.check_output([*git, "rev-parse", "HEAD"], cwd=project, text=True)
    assert seeds("tests/test_privacy.py") == {"privacy": str(int(head[:8], 16))}


def test_the_largest_leak_there_can_be_bounds_what_is_asked_for(tmp_path: Path) -> None:
    common: dict[str, Any] = {
        "path": tmp_path / "witness.json", "rerun": "pytest", "budget": 500,
        "pairs": replace_one([[0.0], [1.0]], [0, 1], neighbours="flip"), "queries": [[0.0]],
    }  # fmt: skip
    found = assayed(response(1.0), claim=Stability(gamma=0.8), **common)
    found.assert_not_refuted()  # 0.9 is asked for, which these trials show
    found.assert_not_refuted(detectable=0.95)
    for leak in (0.8, 1.0, 1.2):
        with pytest.raises(
            InvalidInput,
            match=f"detectable = {leak}: must be above the claim, 0.8, and below the largest",
        ):
            found.assert_not_refuted(detectable=leak)
    assayed(response(1.0), claim=Stability(gamma=1), **common).assert_not_refuted()


def loud(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.laplace(scale=0.3, size=size)


@pytest.mark.usefixtures("few_pairs")
def test_a_searched_function_fails_with_the_event_and_the_pair(tmp_path: Path) -> None:
    path, few = tmp_path / "witness.json", {"budget": 400, "executor": "inline"}
    more: dict[str, Any] = {"claim": DP(epsilon=1.0), "data": Answers(1), "path": path} | few
    found = assayed(loud, rerun="python -m pytest x.py", **more)
    assert found.facts()["searched"] is True
    with pytest.raises(AssertionError) as told:
        found.assert_not_refuted()
    text = str(told.value)
    for part in (
        "DP(1) of",
        "is refuted",
        "witness     S: the true answer ",
        "A search found the pair",
        "dpassay replay",
    ):
        assert part in text
    assert path.is_file()


def shared(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    """One noise for all answers of a run, so that their differences carry none."""
    near = np.abs(queries[:, None, 0] - data.X[None, :, 0]) < 0.5
    return near @ data.y + rng.laplace(scale=2.0, size=(size, 1))


@pytest.mark.slow
@pytest.mark.usefixtures("few_pairs")
def test_answers_taken_together_refute_what_each_alone_does_not(tmp_path: Path) -> None:
    few: dict[str, Any] = {"path": tmp_path / "w.json", "budget": 400, "executor": "inline"}
    few |= {"claim": DP(epsilon=1.0), "data": (np.arange(8.0)[:, None] / 8, np.arange(8) % 2)}
    for together in (False, True):
        found = assayed(shared, rerun="python -m pytest x.py", together=together, **few)
        assert (found.verdict == "refuted") is together
