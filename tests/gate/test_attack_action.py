"""The inputs `attack` and `theorems` of action.yml: what is run, and the code it ends with."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from tests.gate.composite import run_action
from tests.gate.conftest import ACTION, ROOT, Staged, Tools

WORDS = "soft-majority --epsilon 1"
COIN = "dwork-feldman-2018/theorem-4.3/coin"


def calls(stub: Tools, of: str = "attack") -> list[str]:
    return [call for call in stub.called("dpassay") if of in call]


def test_without_the_inputs_nothing_is_attacked_or_checked(staged: Staged, stub: Tools) -> None:
    assert {ACTION["inputs"][name]["default"] for name in ("attack", "theorems")} == {""}
    assert staged({}).code == 0
    assert calls(stub) == calls(stub, "theorem") == []


def test_what_is_called(staged: Staged, stub: Tools) -> None:
    done = staged({"attack": WORDS, "baseline": "check"})
    assert done.code == 0
    report = "<report> <report/attack/attack.json> <-o> <report/attack> <--exit-code>"
    assert calls(stub) == [
        "<attack> <soft-majority> <--epsilon> <1> <--out> <report/attack>",
        report,
        "<baseline> <check> <report/attack/attack.json> <-o> <report/attack>",
    ]
    assert "the attack" in done.summary
    staged({"attack": f"{WORDS} --allow-inconclusive"})
    assert calls(stub)[-1] == f"{report} <--allow-inconclusive>"
    staged({"attack": "$(touch hacked) ; rm *"})
    evil = "<attack> <$(touch> <hacked)> <;> <rm> <*> <--out> <report/attack>"
    assert evil in calls(stub), "words, and no script"
    assert staged({"theorems": f"{COIN} --deep", "baseline": "check"}).code == 0
    assert calls(stub, "theorem") == [
        f"<theorem> <run> <{COIN}> <--deep> <-q> <--out> <report/theorems>",
        "<baseline> <check> <report/theorems/theorems.json> <-o> <report/theorems>",
    ]


@pytest.mark.parametrize(
    ("run", "attack", "said", "check", "code"),
    [
        (0, 0, 1, 0, 1),  # code of the project ended the attack with 0, the record says otherwise
        (0, 0, 0, 1, 1),
        (0, 4, 4, 0, 4),
        (0, 3, 3, 4, 3),
        (0, 0, 0, 2, 2),
        (4, 1, 1, 0, 1),
        (1, 0, 0, 0, 1),
        (0, 137, 0, 0, 137),
    ],
)
def test_the_worst_code_is_left_with(
    staged: Staged, run: int, attack: int, said: int, check: int, code: int
) -> None:
    codes = {"ATTACK_EXIT": str(attack), "ATTACK_SAID": str(said), "ATTACK_CHECK": str(check)}
    codes |= {"RUN_EXIT": str(run), "REPORT_EXIT": str(run)}
    done = staged({"attack": WORDS, "baseline": "check"}, **codes)
    # what suppressions let pass of an audit is not refuted
    assert done.code == (0 if run == 1 else code)
    done = staged({"attack": WORDS}, **codes)
    assert done.code == (code if (run, attack, said) != (0, 0, 0) else 0)


def test_the_worst_code_of_theorems_is_left_with(staged: Staged) -> None:
    for run, theorems, check, code in ((0, 1, 0, 1), (0, 0, 2, 2), (0, 3, 4, 3), (4, 0, 0, 4)):
        codes = {"RUN_EXIT": str(run), "REPORT_EXIT": str(run), "THEOREM_EXIT": str(theorems)}
        codes |= {"THEOREM_CHECK": str(check)}
        assert staged({"theorems": COIN, "baseline": "check"}, **codes).code == code


def test_an_old_record_of_attacks_is_no_pass(staged: Staged, demo: Path) -> None:
    (demo / "report/attack").mkdir(parents=True)
    (demo / "report/attack/attack.json").write_text("{}")
    done = staged({"attack": WORDS}, ATTACK_RECORD="no")
    assert done.code == 2
    assert not (demo / "report/attack/attack.json").exists()


def test_gitlab_knows_the_same() -> None:
    job = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text(encoding="utf-8"))["dpassay"]
    assert job["variables"]["GATE_ATTACK"] == job["variables"]["GATE_THEOREMS"] == ""
    folder, junit = "$GATE_DIRECTORY/$GATE_OUT", job["artifacts"]["reports"]["junit"]
    assert {f"{folder}/attack/attack.xml", f"{folder}/theorems/theorems.xml"} <= {*junit}


@pytest.mark.nightly
@pytest.mark.slow
def test_an_attack_by_the_real_command(demo: Path, tools: Tools) -> None:
    words = f"{WORDS} --against mechanism --records 60 --references 4 --attacks gap --copies 0 "
    words += "--budgets 1 --transcripts 200"
    done = run_action(ACTION, ROOT, demo, tools.environment(), {"attack": words})
    assert done.code == 0, done.log
    (suite,) = ET.parse(demo / "report/attack/attack.xml").getroot()
    assert [case.attrib["name"] for case in suite.findall("testcase")] == [
        "soft-majority, epsilon = 1"
    ]
    assert "1 claim, 0 broken" in done.summary


@pytest.mark.slow
def test_theorems_by_the_real_command(demo: Path, tools: Tools) -> None:
    done = run_action(ACTION, ROOT, demo, tools.environment(), {"theorems": COIN})
    assert done.code == 0, done.log
    record = json.loads((demo / "report/theorems/theorems.json").read_text(encoding="utf-8"))
    assert [each["id"] for each in record["results"]] == [COIN]
