"""The input `theorems` of action.yml: what the script then runs, and the code it ends with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.gate.composite import run_action
from tests.gate.conftest import ACTION, ROOT, Staged, Tools

COIN = "dwork-feldman-2018/theorem-4.3/coin"


def calls(stub: Tools) -> list[str]:
    return [call for call in stub.called("dpassay") if "theorem" in call]


def test_what_is_called(staged: Staged, stub: Tools) -> None:
    assert staged({}).code == 0
    assert calls(stub) == []
    assert staged({"theorems": f"{COIN} --deep", "baseline": "check"}).code == 0
    assert calls(stub) == [
        f"<theorem> <run> <{COIN}> <--deep> <-q> <--out> <report/theorems>",
        "<baseline> <check> <report/theorems/theorems.json> <-o> <report/theorems>",
    ]


@pytest.mark.parametrize(
    ("run", "theorems", "check", "code"), [(0, 1, 0, 1), (0, 0, 2, 2), (0, 3, 4, 3), (4, 0, 0, 4)]
)
def test_the_worst_code_is_left_with(
    staged: Staged, run: int, theorems: int, check: int, code: int
) -> None:
    codes = {"RUN_EXIT": str(run), "REPORT_EXIT": str(run), "THEOREM_EXIT": str(theorems)}
    codes |= {"THEOREM_CHECK": str(check)}
    assert staged({"theorems": COIN, "baseline": "check"}, **codes).code == code


def test_gitlab_knows_the_same() -> None:
    job = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text(encoding="utf-8"))["dpassay"]
    assert job["variables"]["GATE_THEOREMS"] == ""
    junit = job["artifacts"]["reports"]["junit"]
    assert "$GATE_DIRECTORY/$GATE_OUT/theorems/theorems.xml" in junit


@pytest.mark.slow
def test_theorems_by_the_real_command(demo: Path, tools: Tools) -> None:
    done = run_action(ACTION, ROOT, demo, tools.environment(), {"theorems": COIN})
    assert done.code == 0, done.log
    record = json.loads((demo / "report/theorems/theorems.json").read_text(encoding="utf-8"))
    assert [each["id"] for each in record["results"]] == [COIN]
