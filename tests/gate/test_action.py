"""action.yml: its form, and its steps run in somebody else's project."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.gate.composite import ShardResult, fill, holds, run_action
from tests.gate.conftest import ACTION, ROOT, Staged, Tools
from tests.plugin.demo import HALF

SCRIPT = (ROOT / "ci" / "gate.sh").read_text(encoding="utf-8")
LIMIT = 1024 * 1024
FORMATS = "junit,md,sarif,comment"


def used(done: ShardResult, name: str) -> dict[str, str]:
    """What an action was given, whichever commit it is pinned to."""
    return next(
        (given for pin, given in done.used.items() if pin.startswith(f"actions/{name}@")), {}
    )


def test_inputs_have_defaults_and_the_script_reads_what_action_and_template_set() -> None:
    assert all("default" in facts for facts in ACTION["inputs"].values())
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


def test_a_correct_mechanism_passes_and_half_the_noise_fails(demo: Path, tools: Tools) -> None:
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
    (demo / "audit/api.py").write_text(HALF)
    done = action(demo, tools)
    assert done.code == 1
    assert done.outputs["exit-code"] == "1"
    assert "exit code 1**, a claim is refuted" in done.summary
    assert "| ▲ refuted | label api" in done.summary
    assert used(done, "upload-artifact")["path"] == str(demo / "report")


def test_no_configuration_and_a_broken_one_are_2_and_an_old_record_is_not_shown(
    demo: Path, tools: Tools
) -> None:
    (demo / "dpassay.toml").unlink()
    done = action(demo, tools, COLUMNS="12")
    assert done.code == 2
    assert "no mechanism is configured" in done.log
    assert "nothing configured" in done.summary
    assert not (demo / "report").exists()
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


def test_another_folder_and_targets_on_the_command_line(
    demo: Path, stub: Tools, pages: dict[str, str]
) -> None:
    inputs = {
        "working-directory": "demo",
        "targets": "audit.api:predict",
        "arguments": "--claim epsilon=1\n--train 20",
        "out": "found/here",
    }
    done = action(demo.parent, stub, inputs, **pages)
    assert done.code == 0, done.log
    assert done.outputs["record"] == str(demo / "found/here/record.json")
    assert used(done, "upload-artifact")["path"] == str(demo / "found/here")
    assert stub.called("dpassay")[0] == (
        "<run> <--configured> <audit.api:predict> <--claim> <epsilon=1> <--train> <20> "
        "<--out> <found/here>"
    )


@pytest.mark.parametrize(
    ("audit", "report", "check", "code"),
    [
        (0, 0, 2, 2),
        (1, 0, 2, 2),
        (1, 0, 0, 1),
        (4, 0, 1, 1),
        (4, 3, 0, 3),
        (5, 0, 0, 5),
        (137, 0, 0, 137),
        (137, 0, 1, 1),
        (0, 0, 137, 137),
        (0, 1, 0, 1),  # the project's code ended the run with 0, the record says otherwise
        (0, 130, 0, 130),
        (3, 3, 0, 0),  # let pass by a suppression
        (1, 1, 1, 1),
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
    assert staged(BASELINE_EXIT="1").code == 0
    without = stub.called("dpassay")
    assert without == [
        "<run> <--configured> <--out> <report>",
        f"<report> <report/record.json> <--format> <{FORMATS}> <-o> <report> <--exit-code>",
    ]
    assert staged({"baseline": "check"}).code == 0
    check = "<baseline> <check> <report/record.json> <-o> <report>"
    assert stub.called("dpassay") == [*without, *without, check]


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


def test_before_the_audit_everything_is_2(staged: Staged, stub: Tools) -> None:
    wrong: list[tuple[dict[str, str], str, str]] = [
        ({"baseline": "yes"}, "0", "baseline = 'yes': must be check or skip"),
        ({"working-directory": "nowhere"}, "0", "there is no folder 'nowhere'"),
        ({"out": "report\nexit-code=0\nx"}, "0", "must hold no line breaks"),
        ({"working-directory": "demo\nexit-code=0"}, "0", "must hold no line breaks"),
        ({}, "1", "the installation failed"),
    ]
    for inputs, pip, said in wrong:
        done = staged(inputs, PIP_EXIT=pip)
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


def test_the_summary_stays_below_the_limit_and_shows_both_pages_where_they_fit(
    staged: Staged,
) -> None:
    comparison = "c" * 60_000 + "\n"
    for length, fits in ((999_999, False), (980_000, True)):
        done = staged({"baseline": "check"}, report="r" * length + "\n", comparison=comparison)
        assert "r" * length in done.summary
        assert ("`comparison.md` is too long for this page" in done.summary) is not fits
        assert ("c" * 60_000 in done.summary) is fits
        assert len(done.summary.encode()) < LIMIT


def test_our_github_skips_and_fills_in_as_the_real_one() -> None:
    assert not holds("success()", {}, failed=True)
    assert holds("always() && steps.a.outputs.b != ''", {"steps.a.outputs.b": "x"}, failed=True)
    assert not holds("always() && steps.a.outputs.b != ''", {}, failed=True)
    assert fill("a-${{ github.job }}", {"github.job": "b"}) == "a-b"
    with pytest.raises(KeyError):
        fill("${{ inputs.missing }}", {})
