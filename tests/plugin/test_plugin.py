"""The pytest plugin, in somebody else's project.

Its own package `audit`, its own folder `reports`, its own pipeline.
"""

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

import pytest

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


def running(python: Path, project: Path) -> Run:
    """What runs `python -m pytest` in the project's folder."""

    def run(*words: str) -> tuple[int, str]:
        command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", *words]
        found = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        return found.returncode, found.stdout + found.stderr

    return run


@pytest.fixture
def run(warm: Path, project: Path) -> Run:
    """In a process that starts in a moment."""
    return running(warm / "python", project)


@pytest.fixture
def run_from_nothing(project: Path) -> Run:
    """In a process that has imported nothing."""
    return running(Path(sys.executable), project)


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
    _, *words = shlex.split(line)
    replayed = subprocess.run(
        [warm / "python", "-m", "dpassay", *words],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert replayed.returncode == 1, replayed.stderr
    assert "reproduced: " in replayed.stdout
    (project / "audit/api.py").write_text(GOOD)
    assert run()[0] == 0


@pytest.mark.slow
def test_the_command_line_beside_a_package_that_is_called_audit_too(
    project: Path, warm: Path
) -> None:
    """Green, then red with the message and the command that replays it."""

    def dpassay(*words: str) -> tuple[int, str]:
        command = [str(warm / "python"), "-m", "dpassay", *words]
        found = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        return found.returncode, " ".join(found.stdout.split()) + found.stderr

    wanted = ["run", "audit.api:predict", "--claim", "epsilon=1", "--train", "20"]
    wanted += ["--neighbours", "flip", "--profile", "quick", "--out", "reports/privacy"]
    assert dpassay(*wanted)[0] == 0
    (project / "audit/api.py").write_text(HALF)
    code, said = dpassay(*wanted)
    assert code == 1
    assert "refuted, 99.9 % confidence" in said
    code, said = dpassay(
        "explain", "audit.api:predict.own.monte-carlo", "--record", "reports/privacy/record.json"
    )
    for part in ("refuted", "the claim allows 1", "certified", "S': ", "dpassay replay "):
        assert part in said
    (path,) = (project / "reports/privacy/witnesses").iterdir()
    code, said = dpassay("replay", str(path), "--trust")
    assert code == 1
    assert "reproduced: " in said
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


def test_a_property_of_the_user_s_that_is_called_like_ours(project: Path, run: Run) -> None:
    path = project / "tests/test_privacy.py"
    more = "".join(
        f"    record_property('dpassay', {value})\n" for value in ("'x'", "3", "'{}'", "'[]'")
    )
    path.write_text(TEST.replace("(assay):", "(assay, record_property):") + more)
    code, said = run()
    assert code == 0, said
    assert said.count("not refuted: tests/test_privacy.py") == 1


def test_a_junit_file_where_warnings_are_errors(project: Path, run: Run) -> None:
    code, said = run("-W", "error::pytest.PytestWarning", "--junitxml", "junit.xml")
    assert code == 0, said


def test_a_marker_without_names_is_refused(project: Path, run: Run) -> None:
    (project / "tests/test_privacy.py").write_text(
        TEST.replace("dpassay(budget=5000)", "dpassay(3, 0.5)")
    )
    code, said = run()
    assert code == 1
    assert (
        "@pytest.mark.dpassay = (3, 0.5): must be given by name: seed, confidence, budget, "
        "stop_early, jobs, detect"
    ) in said


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


@pytest.mark.slow
def test_two_processes_and_a_junit_file(project: Path, run: Run) -> None:
    (project / "audit/api.py").write_text(HALF)
    code, said = run("-n", "2", "--junitxml", "junit.xml")
    assert code == 1, said
    assert "refuted: tests/test_privacy.py" in said
    (found,) = (
        each
        for each in ET.parse(project / "junit.xml").iter("property")
        if each.get("name") == "dpassay"
    )
    facts = json.loads(found.get("value") or "")
    assert facts["verdict"] == "refuted"
    assert facts["lower"] > 1


def test_without_the_plugin_nothing_of_it_is_there(project: Path, run: Run) -> None:
    code, said = run("-p", "no:dpassay")
    assert code == 1
    assert "fixture 'assay' not found" in said


def test_nothing_but_the_options_is_imported_before_it_is_used(
    project: Path, run_from_nothing: Run
) -> None:
    (project / "tests/test_privacy.py").write_text(
        "import sys\n\n\ndef test_nothing():\n"
        "    loaded = {name for name in sys.modules if name.partition('.')[0] in ('dpassay', "
        "'numpy', 'scipy')}\n"
        "    options = {'dpassay.config', 'dpassay.config.option', 'dpassay.config.options', "
        "'dpassay.config.values', 'dpassay.config.searches', "
        "'dpassay.config.profiles'}\n"
        "    options.add('dpassay.errors')\n"
        "    assert loaded <= {'dpassay', 'dpassay.pytest_plugin'} | options\n"
    )
    code, said = run_from_nothing()
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
