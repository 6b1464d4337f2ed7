from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import xmlschema

from dpassay.reports.run.pipeline import to_junit

Record = dict[str, Any]

GOLDEN = Path(__file__).parents[1] / "golden" / "junit.xml"
"""Renew with: python -m pytest tests/reports/test_junit.py --basetemp=T; cp
T/test_golden0/junit.xml tests/golden/"""

SCHEMA = xmlschema.XMLSchema(str(Path(__file__).with_name("junit.xsd")))
NASTY = "a<b>]]>&\"'\x00\x08\x1b\x7f\u0085\u2028\u202e\ud800\udfff\ufffe\uffff\U0001fffe\n\t\r ]]>"


def parsed(record: Record) -> ET.Element:
    """Read the suite that a record gives, once the document fits the schema.

    And once its counts are counted.
    """
    root = ET.fromstring(to_junit(record).encode())
    SCHEMA.validate(root)
    (suite,) = root
    cases = suite.findall("testcase")
    for element in (root, suite):
        assert int(element.attrib["tests"]) == len(cases)
        assert int(element.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(element.attrib["errors"]) == len(suite.findall("testcase/error"))
    assert suite.attrib["skipped"] == "0"
    return suite


def only_case(record: Record) -> ET.Element:
    (case,) = parsed(record).findall("testcase")
    return case


def test_golden(small: Record, tmp_path: Path) -> None:
    made = to_junit(small)
    (tmp_path / "junit.xml").write_text(made, encoding="utf-8")
    assert made == GOLDEN.read_text(encoding="utf-8")


def test_cases_stand_in_the_order_of_the_record(small: Record) -> None:
    suite = parsed(small)
    names = [case.attrib["name"] for case in suite.findall("testcase")]
    assert [name.rpartition(": ")[2] for name in names[:-1]] == [
        result["id"] for result in small["results"]
    ]
    assert [suite.attrib[key] for key in ("tests", "failures", "errors")] == ["8", "2", "3"]


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
    case = only_case(make.record(make.sampled("a.monte-carlo", verdict, expected=expected)))
    (outcome,) = case
    assert (outcome.tag, outcome.get("type")) == (tag, kind)
    assert case.attrib == {
        "classname": "dpassay.a",
        "name": (
            "1-differential privacy, replace-one (computed from what is printed): a.monte-carlo"
        ),
        "time": "0",
    }


def test_a_refutation_says_what_to_do(make: Any) -> None:
    failure = only_case(make.record(make.sampled("a b", "refuted"))).find("failure")
    assert failure is not None
    assert failure.attrib["message"] == (
        "refuted: 1-differential privacy, replace-one; the loss in nats is at least 1.234567 "
        "(99.9 % confidence); detectable: 1.181583 through an answer of probability 0.2 or more"
    )
    lines = (failure.text or "").splitlines()
    assert lines[0].startswith(
        "Claim. 1-differential privacy, replace-one: replacing one record multiplies"
    )
    assert "Witness. S: 8 records (data). S': label of record 7 flipped." in lines
    assert "    dpassay replay witnesses/a%20b.json --trust" in lines
    assert "    dpassay explain 'a b' --record record.json" in lines


def test_an_exact_refutation_and_an_error_have_messages_of_one_line(make: Any) -> None:
    exact = only_case(make.record(make.computed("a", "refuted", loss="inf"))).find("failure")
    assert exact is not None
    assert exact.attrib["message"] == (
        "refuted: 1-differential privacy, replace-one; the loss in nats is ∞, by the law"
    )
    error = only_case(make.record(make.result("a", "error", reason="no\nluck " + "x" * 5000))).find(
        "error"
    )
    assert error is not None
    assert error.attrib["message"].startswith(
        "error: 1-differential privacy, replace-one; no luck xxx"
    )
    assert len(error.attrib["message"]) < 300


def test_what_passes_has_a_few_lines(make: Any) -> None:
    out = (
        only_case(make.record(make.sampled("a", "not refuted", lower=0.1))).findtext("system-out")
        or ""
    )
    assert (
        "(99.9 % confidence); detectable: 1.181583 through an answer of probability 0.2 or more."
        in out
    )
    assert len(out.splitlines()) == 5


def test_an_interrupted_run_is_no_pass(make: Any) -> None:
    suite = parsed(make.record(make.computed("a", "not refuted"), complete=False))
    assert [error.get("type") for error in suite.iter("error")] == ["interrupted"]
    assert suite.attrib["tests"] == "2"


def test_an_empty_run_is_no_pass(make: Any) -> None:
    assert [error.get("type") for error in parsed(make.record()).iter("error")] == ["empty"]
    assert [error.get("type") for error in parsed(make.record(complete=False)).iter("error")] == [
        "interrupted",
        "empty",
    ]


def test_nothing_of_this_machine_or_moment(small: Record) -> None:
    assert to_junit(small) == to_junit(small)
    assert {key for element in parsed(small).iter() for key in element.attrib} == {
        *("name", "tests", "failures", "errors", "skipped", "time"),
        *("classname", "type", "message"),
    }


def test_hostile_records(hostile: Record) -> None:
    assert len(parsed(hostile).findall("testcase")) == 3


@pytest.mark.parametrize(
    "name", [NASTY, "x" * 100_000, "", " "], ids=["nasty", "long", "empty", "space"]
)
@pytest.mark.parametrize("verdict", ["refuted", "not refuted", "error"])
def test_hostile_names(make: Any, name: str, verdict: str) -> None:
    made = make.sampled(name, verdict)
    made["mechanism"] = made["reason"] = made["claim"]["source"] = made["witness"]["words"] = name
    made["parameters"] = {name: name}
    case = only_case(make.record(made, command=name))
    if name == NASTY:
        assert (
            case.attrib["name"].partition(": ")[2].startswith("a<b>]]>&\"'\ufffd\ufffd\ufffd\ufffd")
        )


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
        ('tests="8" failures', "failures"),
        ('tests="8" failures', 'tests="eight" failures'),
        ('skipped="0"', 'skiped="0"'),
        ('skipped="0"', 'timestamp="2026-01-01" skipped="-1"'),
        ('<testcase classname="dpassay" name=', '<testcase classname="dpassay" title='),
        ("<failure ", "<failed "),
        ("<testsuite ", '<testsuite verdict="refuted" '),
        ("</testsuite>", "<failure/></testsuite>"),
        ("</error>", "<b/></error>"),
        ('skipped="0" time="0"', 'skipped="0" time="soon"'),
    ],
)
def test_the_schema_can_fail(small: Record, old: str, new: str) -> None:
    good = ET.tostring(ET.fromstring(to_junit(small)), encoding="unicode")
    assert SCHEMA.is_valid(good)
    bad = good.replace(old, new).replace(
        "</failure>", "</failed>" if "<failed" in new else "</failure>"
    )
    assert bad != good
    assert not SCHEMA.is_valid(bad)
