from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import xmlschema

from dpassay.cli.main import main
from dpassay.record.files import dumps
from dpassay.reports.attack.junit import to_junit as attack_junit
from dpassay.reports.run.comparisons import seen
from dpassay.reports.run.comparisons import to_junit as comparison_junit
from dpassay.reports.run.pipeline import to_junit
from tests.record.made_attacks import attacked
from tests.reports.test_attack_report import build, ladder, subject
from tests.reports.test_attack_report import make as attacked_by

Record = dict[str, Any]

GOLDEN = Path(__file__).parents[1] / "golden" / "junit.xml"
"""Renew with: python -m pytest tests/reports/test_junit.py --basetemp=T; cp
T/test_golden0/junit.xml tests/golden/"""

SCHEMA = xmlschema.XMLSchema(str(Path(__file__).with_name("junit.xsd")))
NASTY = "a<b>]]>&\"'\x00\x08\x1b\x7f\u0085\u2028\u202e\ud800\udfff\ufffe\uffff\U0001fffe\n\t\r ]]>"


def parsed(record: Record) -> ET.Element:
    """Read the suite that a record gives; see that it fits the schema and has counted right."""
    return suite_of(to_junit(record))


def suite_of(text: str) -> ET.Element:
    root = ET.fromstring(text.encode())
    SCHEMA.validate(root)
    (suite,) = root
    for element in (root, suite):
        assert int(element.attrib["tests"]) == len(suite.findall("testcase"))
        assert int(element.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(element.attrib["errors"]) == len(suite.findall("testcase/error"))
    assert suite.attrib.get("skipped", "0") == "0"
    return suite


def only_case(record: Record) -> ET.Element:
    (case,) = parsed(record).findall("testcase")
    return case


def test_golden(small: Record, tmp_path: Path) -> None:
    made = to_junit(small)
    (tmp_path / "junit.xml").write_text(made, encoding="utf-8")
    assert made == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("verdict", "expected", "tag", "kind"),
    [
        ("refuted", None, "failure", "refuted"),
        ("refuted", "refuted", "system-out", None),
        ("not refuted", None, "system-out", None),
        ("not refuted", "refuted", "error", "blind"),
        ("inconclusive", None, "failure", "inconclusive"),
        ("inconclusive", "refuted", "error", "blind"),
        ("verified", None, "system-out", None),
        ("verified", "refuted", "error", "blind"),
        ("error", None, "error", "error"),
        ("error", "refuted", "error", "error"),
    ],
)
def test_what_each_verdict_becomes(
    make: Any, verdict: str, expected: str | None, tag: str, kind: str | None
) -> None:
    (outcome,) = only_case(make.record(make.sampled("a b", verdict, expected=expected)))
    assert (outcome.tag, outcome.get("type")) == (tag, kind)
    assert "    dpassay explain 'a b' --record record.json" in (outcome.text or "").splitlines()


def test_an_exact_refutation_and_an_error_have_messages_of_one_line(make: Any) -> None:
    exact = make.computed("a", "refuted", loss="inf")
    error = make.result("b", "error", reason="no\nluck " + "x" * 5000)
    infinite, long = (
        case[0].attrib["message"] for case in parsed(make.record(exact, error)).iter("testcase")
    )
    claim = "1-differential privacy, replace-one"
    assert infinite == f"refuted: {claim}; the loss in nats is ∞, by the law"
    assert long.startswith(f"error: {claim}; no luck xxx")
    assert len(long) < 300


@pytest.mark.parametrize(
    ("results", "complete", "errors"),
    [(1, False, ["interrupted"]), (0, True, ["empty"]), (0, False, ["interrupted", "empty"])],
)
def test_a_run_that_says_too_little_is_no_pass(
    make: Any, results: int, complete: bool, errors: list[str]
) -> None:
    suite = parsed(make.record(*[make.computed("a", "verified")] * results, complete=complete))
    assert [error.get("type") for error in suite.iter("error")] == errors
    assert suite.attrib["tests"] == str(results + len(errors))


@pytest.mark.parametrize(
    "name", [NASTY, "x" * 100_000, "", " "], ids=["nasty", "long", "empty", "space"]
)
def test_hostile_names(make: Any, name: str) -> None:
    made = [make.sampled(name, verdict) for verdict in ("refuted", "not refuted", "error")]
    for each in made:
        each["mechanism"] = each["reason"] = each["claim"]["source"] = name
        each["witness"]["words"], each["parameters"] = name, {name: name}
    case, *_ = parsed(make.record(*made, command=name)).findall("testcase")
    if name == NASTY:
        cleaned = case.attrib["name"].partition(": ")[2]
        assert cleaned.startswith("a<b>]]>&\"'\ufffd\ufffd\ufffd\ufffd")


def test_a_name_that_was_not_cleaned_cannot_break_the_document(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("pipeline", "result", "view", "words"):
        monkeypatch.setattr(f"dpassay.reports.run.{module}.clean", str)
    made = make.sampled(NASTY, "refuted")
    made["mechanism"] = made["reason"] = NASTY
    case = only_case(make.record(made))
    assert case.attrib["classname"].startswith("dpassay.a<b>]]>&\"'\ufffd\ufffd\ufffd\x7f\u0085")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('tests="8" failures', 'tests="eight" failures'),
        ('<testcase classname="dpassay" name=', '<testcase classname="dpassay" title='),
        ("</error>", "<b/></error>"),
    ],
)
def test_the_schema_can_fail(small: Record, old: str, new: str) -> None:
    good = ET.tostring(ET.fromstring(to_junit(small)), encoding="unicode")
    assert SCHEMA.is_valid(good)
    assert (bad := good.replace(old, new)) != good
    assert not SCHEMA.is_valid(bad)


FOLDER = Path("report")


def change(kind: str, name: str = "m.own.exact", **fields: str) -> dict[str, str]:
    told = {"mechanism": "m", "words": "worse", "witness": "", "replay": ""}
    return {"id": name, "kind": kind} | told | fields


def suite(*regressions: dict[str, str], news: Any = (), excused: Any = (), same: Any = ()) -> Any:
    changes = {"regressions": list(regressions), "news": list(news), "suppressed": list(excused)}
    limits = {"notes": [], "rise_limits": [], "alpha": 1e-4, "tolerance": 0.05}
    return suite_of(comparison_junit(changes | {"unchanged": list(same)} | limits, FOLDER))


def test_a_regression_is_a_failure_and_what_is_let_pass_and_news_are_none() -> None:
    excuse = {"id": "m.own.exact", "kind": "rose", "reason": "minute 7", "up_to": None}
    excuse |= {"expires": "2027-01-01"}
    worse = change("refuted", witness="S and S'", replay="witnesses/m.json")
    found = suite(worse, change("rose"), news=[change("new", "n")], excused=[excuse], same=["u"])
    names = [case.attrib["name"] for case in found.findall("testcase")]
    assert names == ["refuted: m.own.exact", "rose: m.own.exact", "new: n", "unchanged: u"]
    (failure,) = found.iter("failure")
    assert failure.attrib == {"type": "refuted", "message": "refuted: worse"}
    assert failure.text == "worse\nS and S'\n    dpassay replay report/witnesses/m.json"
    let_pass, _ = (case.findtext("system-out") for case in found.findall("testcase")[1:3])
    assert "suppressed until 2027-01-01: minute 7" in (let_pass or "")
    assert "1 privacy regression, 1 suppressed" in (found.findtext("system-out") or "")
    assert suite().attrib["tests"] == "0"


@pytest.mark.parametrize("name", [NASTY, "", "x" * 10_000], ids=["nasty", "empty", "long"])
def test_hostile_names_of_compared(name: str) -> None:
    worse = change("rose", name, words=name, witness=name)
    suite(worse, news=[change("new", name)], same=[name])


def test_a_baseline_cell_that_was_not_found_again_is_said_to_be_another_pair() -> None:
    limit = {"id": "f", "quantity": "loss", "cells": 0, "of": 1, "before": [0, "inf"]}
    limit |= {"least": "inf", "searched": True}
    assert seen(limit).startswith("f: the search found another pair than the baseline's")
    assert "run `dpassay run` again" in seen(limit | {"searched": False})


def cases(record: Record) -> dict[str, tuple[str, str, str]]:
    """Of each test case: the element, its type and what it says."""
    told = {}
    found = suite_of(attack_junit(record)).findall("testcase")
    for case in found:
        (outcome,) = case
        words = f"{outcome.get('message', '')}\n{outcome.text}"
        told[case.attrib["name"]] = (outcome.tag, outcome.get("type", ""), words)
    assert len(told) == len(found)
    return told


def test_something_of_everything_attacked() -> None:
    found = {name: each[:2] for name, each in cases(build()).items()}
    assert found == {
        "tree (unprotected)": ("system-out", ""),
        "soft-majority, epsilon = 0.1": ("system-out", ""),
        "soft-majority, epsilon = 1": ("system-out", ""),
        "broken, epsilon = 1": ("failure", "refuted"),
        "crash, epsilon = 1": ("error", "error"),
        "shared": ("failure", "refuted"),
        "service: sticky noise": ("failure", "refuted"),
        "the attack is complete": ("error", "interrupted"),
    }


def test_a_claim_that_no_leak_could_break_is_no_pass() -> None:
    blind = subject("m, epsilon = 8", 8.0, "one label", cap=2.0)
    tag, kind, words = cases(attacked_by(blind))["m, epsilon = 8"]
    assert (tag, kind) == ("failure", "inconclusive")
    assert words.startswith("the claim: could not have seen it\n")
    assert "one label, record 7: ε ≥ 0.5, cap 2; claim 8; no leak could have broken it" in words


def test_what_is_not_claimed_cannot_fail_and_nothing_is_no_pass() -> None:
    tag, _, words = cases(attacked_by(subject("tree", None, "scores")))["tree"]
    assert tag == "system-out"
    assert "nothing is claimed of it, so this case cannot fail" in words
    assert cases(attacked_by())["something was attacked"][:2] == ("error", "empty")


def test_numbers_of_a_broken_claim_with_lines() -> None:
    wrong = subject("m", 1.0, "one label", lower=1.5)
    wrong["certified"][0]["line"] = 12
    words = cases(attacked_by(wrong, repeated=[ladder("m", 0.5, 2.5)]))["m"][2]
    assert words.startswith("the claim: broken\n")
    assert "one label, record 7, line 12: ε ≥ 1.5, cap 2; claim 1: broken" in words
    assert "2 repeated answers: ε ≥ 2.5, cap 3; claim 2: broken" in words


def test_a_service_that_could_not_be_examined_is_no_pass() -> None:
    record = attacked_by(repeated=[ladder("m:f", 0.5)])
    record["run"] |= {"service": "m:f", "probe": {"blind": ["control"]}}
    tag, kind, words = cases(record)["m:f"]
    assert (tag, kind) == ("failure", "inconclusive")
    assert "not examined (no change of its answers was seen" in words


def test_hostile_names_of_attacked() -> None:
    bad = {"name": NASTY * 2, "claim": None, "error": NASTY}
    found = cases(attacked_by(subject(NASTY, 1.0, "one label"), bad))
    assert len(found) == 2
    assert all("\x1b" not in name for name in found)


def test_attacks_by_command(tmp_path: Path) -> None:
    record = attacked(0.9, epsilon=0.5)
    (tmp_path / "attack.json").write_text(dumps(record), encoding="utf-8")
    words = ["report", str(tmp_path), "-o", str(tmp_path / "out"), "--exit-code"]
    assert main([*words, "--format", "junit"]) == 1
    assert (tmp_path / "out" / "attack.xml").read_text(encoding="utf-8") == attack_junit(record)
