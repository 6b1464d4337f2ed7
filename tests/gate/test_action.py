"""action.yml: its form, and its steps run in somebody else's project."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from tests.gate.composite import ShardResult, fill, holds, run_action
from tests.gate.conftest import ACTION, ROOT, Staged, Tools
from tests.plugin.demo import HALF, RAISES

SCRIPT = (ROOT / "ci" / "gate.sh").read_text(encoding="utf-8")
LIMIT = 1024 * 1024
FORMATS = "junit,md,sarif,comment"


def used(done: ShardResult, name: str) -> dict[str, str]:
    """What an action was given, whichever commit it is pinned to."""
    return next(
        (given for pin, given in done.used.items() if pin.startswith(f"actions/{name}@")), {}
    )


def test_its_form() -> None:
    assert all("default" in facts for facts in ACTION["inputs"].values())
    assert all(facts["description"] and facts["value"] for facts in ACTION["outputs"].values())


def test_the_script_reads_what_the_action_and_the_template_set() -> None:
    (gate,) = (step for step in ACTION["runs"]["steps"] if "run" in step)
    template = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text())["dpassay"]["variables"]
    read = set(re.findall(r"\$\{?(GATE_\w+)", SCRIPT))
    given = {name for name in gate["env"] if name != "PIP_CACHE_DIR"}
    assert read == given == set(template) - {"GATE_REPOSITORY", "GATE_REF"}


def test_pip_keeps_its_cache_where_the_cache_action_saves_it(staged: Staged) -> None:
    (gate,) = (step for step in ACTION["runs"]["steps"] if "run" in step)
    done = staged()
    assert used(done, "cache")["path"].endswith("/dpassay-pip")
    assert fill(gate["env"]["PIP_CACHE_DIR"], {"runner.temp": ""}) == "/dpassay-pip"
    assert used(staged({"cache": "false"}), "cache") == {}


def action(
    project: Path, tools: Tools, inputs: Mapping[str, str] | None = None, **variables: str
) -> ShardResult:
    return run_action(ACTION, ROOT, project, tools.environment(**variables), inputs)


def test_a_correct_mechanism_passes_and_the_reports_are_uploaded(demo: Path, tools: Tools) -> None:
    done = action(demo, tools, {"install": "-e .", "python-version": "3.12"})
    assert done.code == 0, done.log
    assert tools.called("pip") == [f"<install> <--quiet> <{ROOT}> <-e> <.>"]
    assert done.outputs == {"exit-code": "0", "record": str(demo / "report/record.json")}
    assert Path(done.outputs["record"]).is_file()
    assert done.summary.startswith("**dpassay: exit code 0**")
    assert "| ● not refuted | label api" in done.summary
    assert used(done, "setup-python") == {"python-version": "3.12"}
    assert used(done, "upload-artifact") == {
        "name": "dpassay-privacy-0",
        "path": str(demo / "report"),
        "overwrite": "True",
    }
    assert [call.split()[0] for call in tools.called("dpassay")] == ["<run>", "<report>"]


def test_half_the_noise_fails_with_a_summary_that_names_it(demo: Path, tools: Tools) -> None:
    (demo / "audit/api.py").write_text(HALF)
    done = action(demo, tools)
    assert done.code == 1
    assert done.outputs["exit-code"] == "1"
    assert "exit code 1**, a claim is refuted" in done.summary
    assert "| ▲ refuted | label api" in done.summary
    assert used(done, "upload-artifact")["path"] == str(demo / "report")


def test_a_broken_configuration_is_2_and_an_old_record_is_not_shown(
    demo: Path, tools: Tools
) -> None:
    (demo / "dpassay.toml").write_text('profile = "quack"\n')
    (demo / "report").mkdir()
    (demo / "report/record.json").write_text("{}")
    (demo / "report/report.md").write_text("# an earlier run")
    done = action(demo, tools)
    assert done.code == 2
    assert "profile = 'quack'" in done.log
    assert done.outputs == {"exit-code": "2", "record": ""}
    assert "an earlier run" not in done.summary
    assert used(done, "upload-artifact") == {}


def test_a_mechanism_that_raises_is_3_and_the_report_says_so(demo: Path, tools: Tools) -> None:
    (demo / "audit/api.py").write_text(RAISES)
    done = action(demo, tools)
    assert done.code == 3, done.log
    assert "| ■ error | label api" in done.summary
    assert Path(done.outputs["record"]).is_file()


@pytest.mark.slow
def test_another_folder_and_targets_on_the_command_line(demo: Path, tools: Tools) -> None:
    inputs = {
        "working-directory": "demo",
        "targets": "audit.api:predict",
        "arguments": "--claim epsilon=1\n--train 20 --queries 1",
        "out": "found/here",
    }
    (demo / "dpassay.toml").unlink()
    done = action(demo.parent, tools, inputs)
    assert done.code == 0, done.log
    assert done.outputs["record"] == str(demo / "found/here/record.json")
    assert used(done, "upload-artifact")["path"] == str(demo / "found/here")


@pytest.mark.parametrize(
    ("audit", "report", "check", "code"),
    [
        (0, 0, 0, 0),
        (0, 0, 2, 2),
        (1, 0, 2, 2),
        (1, 0, 0, 1),
        (3, 0, 1, 1),
        (4, 0, 1, 1),
        (4, 3, 0, 3),
        (5, 0, 0, 5),
        (5, 4, 0, 4),
        (137, 0, 0, 137),
        (137, 0, 1, 1),
        (0, 0, 137, 137),
        (0, 1, 0, 1),  # the project's code ended the run with 0, the record says otherwise
        (0, 130, 0, 130),
        (1, 1, 0, 0),  # let pass by a suppression
        (3, 3, 0, 0),
        (1, 1, 1, 1),
        (1, 3, 0, 1),
    ],
)
def test_the_worst_code_is_left_with(
    staged: Staged, audit: int, report: int, check: int, code: int
) -> None:
    done = staged(
        {"baseline": "check"},
        RUN_EXIT=str(audit),
        REPORT_EXIT=str(report),
        BASELINE_EXIT=str(check),
    )
    assert done.code == code
    assert done.outputs["exit-code"] == str(code)
    assert "the report" in done.summary
    assert ("the comparison" in done.summary) == (check != 2)


def test_the_calls_with_a_baseline_and_without(staged: Staged, stub: Tools) -> None:
    assert staged({"baseline": "check"}).code == 0
    assert stub.called("dpassay") == [
        "<run> <--configured> <--out> <report>",
        f"<report> <report/record.json> <--format> <{FORMATS}> <-o> <report> <--exit-code>",
        "<baseline> <check> <report/record.json> <-o> <report>",
    ]


def test_without_check_nothing_is_compared(staged: Staged, stub: Tools) -> None:
    assert staged(BASELINE_EXIT="1").code == 0
    assert not any("baseline" in call for call in stub.called("dpassay"))


def test_no_record_is_no_pass(staged: Staged) -> None:
    done = staged({"arguments": "--dry-run"}, RECORD="no")
    assert done.code == 2
    assert "no record was written" in done.summary
    assert done.outputs["record"] == ""


def test_inconclusive_behind_what_is_let_pass_stays_unless_it_is_allowed(
    staged: Staged, stub: Tools
) -> None:
    weak = '{\n  "results": [\n    {\n      "verdict": "inconclusive"\n    }\n  ]\n}'
    codes = {"RUN_EXIT": "1", "REPORT_EXIT": "1", "RECORD": weak}
    assert staged({"baseline": "check"}, **codes).code == 4
    assert staged({"baseline": "check", "arguments": "--allow-inconclusive"}, **codes).code == 0
    assert stub.called("dpassay")[-2].endswith("<--exit-code> <--allow-inconclusive>")


@pytest.mark.parametrize("columns", ["80", "12"])
def test_a_project_of_which_nothing_would_be_audited(
    demo: Path, tools: Tools, columns: str
) -> None:
    (demo / "dpassay.toml").unlink()
    done = action(demo, tools, COLUMNS=columns)
    assert done.code == 2
    assert "no mechanism is configured" in done.log
    assert "nothing configured" in done.summary
    assert not (demo / "report").exists()


LEAVES = "import os\nos._exit(0)\n"
LEAVES_LATE = f"import atexit, os\natexit.register(os._exit, 0)\n{HALF}"


@pytest.mark.slow
@pytest.mark.parametrize(("api", "code"), [(LEAVES, 3), (LEAVES_LATE, 1)])
def test_code_that_ends_the_process_with_0_is_no_pass(
    demo: Path, tools: Tools, api: str, code: int
) -> None:
    (demo / "audit/api.py").write_text(api)
    done = action(demo, tools)
    assert done.code == code, done.log
    assert "nothing was found" not in done.summary


@pytest.mark.slow
def test_what_is_suppressed_is_green_and_an_open_regression_is_in_the_junit_file(
    demo: Path, tools: Tools
) -> None:
    action(demo, tools)
    run_dpassay(demo, "baseline", "accept")
    (demo / "audit/api.py").write_text(HALF)
    assert action(demo, tools, {"baseline": "check"}).code == 1
    failures = [
        case.attrib["name"]
        for case in cases(demo / "report/comparison.xml")
        if case.find("failure") is not None
    ]
    assert "refuted: label api.own.monte-carlo" in failures
    day = (datetime.now(tz=UTC) + timedelta(days=9)).date()
    rule = (
        '[[suppressions]]\nresult = "label api.own.monte-carlo"\nkind = "{}"\nreason = "minute '
        '7"\nexpires = {}\n'
    )
    with (demo / "dpassay.toml").open("a") as file:
        file.write("".join(rule.format(name.partition(":")[0], day) for name in failures))
    done = action(demo, tools, {"baseline": "check"})
    assert done.code == 0, done.log
    assert not [
        case for case in cases(demo / "report/comparison.xml") if case.find("failure") is not None
    ]
    assert action(demo, tools).code == 1, "without the check nothing is let pass"


def run_dpassay(project: Path, *words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "dpassay", *words], cwd=project, check=True, capture_output=True
    )


def cases(path: Path) -> list[ET.Element]:
    return list(ET.parse(path).iter("testcase"))


@pytest.mark.parametrize(
    ("inputs", "codes", "said"),
    [
        ({"baseline": "yes"}, {}, "baseline = 'yes': must be check or skip"),
        ({"working-directory": "nowhere"}, {}, "there is no folder 'nowhere'"),
        ({"out": "report\nexit-code=0\nx"}, {}, "must hold no line breaks"),
        ({"working-directory": "demo\nexit-code=0"}, {}, "must hold no line breaks"),
        ({}, {"PIP_EXIT": "1"}, "the installation failed"),
    ],
)
def test_before_the_audit_everything_is_2(
    staged: Staged, stub: Tools, inputs: dict[str, str], codes: dict[str, str], said: str
) -> None:
    done = staged(inputs, **codes)
    assert done.code == 2
    assert said in done.summary
    assert done.outputs == {"exit-code": "2", "record": ""}
    assert stub.called("dpassay") == []


def test_inputs_are_words_and_never_run(staged: Staged, stub: Tools, demo: Path) -> None:
    evil = '"; touch pwned; $(touch pwned) `touch pwned` * '
    words = " ".join(f"<{word}>" for word in evil.split())
    done = staged({"install": evil, "targets": evil, "arguments": evil})
    assert done.code == 0, done.log
    assert not list(demo.parent.rglob("pwned"))
    assert stub.called("pip") == [f"<install> <--quiet> <{ROOT}> {words}"]
    assert stub.called("dpassay")[0] == f"<run> <--configured> {words} {words} <--out> <report>"


def test_the_summary_stays_below_the_limit(staged: Staged) -> None:
    done = staged(
        {"baseline": "check"}, report="r" * 999_999 + "\n", comparison="c" * 60_000 + "\n"
    )
    assert "r" * 999_999 in done.summary
    assert "`comparison.md` is too long for this page" in done.summary
    assert len(done.summary.encode()) < LIMIT


def test_both_pages_are_shown_where_they_fit(staged: Staged) -> None:
    done = staged(
        {"baseline": "check"}, report="r" * 980_000 + "\n", comparison="c" * 60_000 + "\n"
    )
    assert "c" * 60_000 in done.summary
    assert len(done.summary.encode()) < LIMIT


def test_our_github_skips_and_fills_in_as_the_real_one() -> None:
    assert not holds("success()", {}, failed=True)
    assert holds("always() && steps.a.outputs.b != ''", {"steps.a.outputs.b": "x"}, failed=True)
    assert not holds("always() && steps.a.outputs.b != ''", {}, failed=True)
    assert fill("a-${{ github.job }}", {"github.job": "b"}) == "a-b"
    with pytest.raises(KeyError):
        fill("${{ inputs.missing }}", {})
