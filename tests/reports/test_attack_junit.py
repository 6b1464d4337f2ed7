"""A record of attacks as JUnit XML: what fails there, what passes, and what it says."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import xmlschema

from dpassay.cli.main import main
from dpassay.record.files import dumps
from dpassay.reports.attack.junit import to_junit
from tests.reports.test_attack_report import build, ladder, make, subject

Record = dict[str, Any]
SCHEMA = xmlschema.XMLSchema(str(Path(__file__).with_name("junit.xsd")))


def cases(record: Record) -> dict[str, tuple[str, str, str]]:
    """Of each test case: the element, its type and what it says."""
    root = ET.fromstring(to_junit(record).encode())
    SCHEMA.validate(root)
    (suite,) = root
    found = suite.findall("testcase")
    assert int(suite.attrib["tests"]) == len(found)
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
    assert int(suite.attrib["errors"]) == len(suite.findall("testcase/error"))
    told = {}
    for case in found:
        (outcome,) = case
        words = f"{outcome.get('message', '')}\n{outcome.text}"
        told[case.attrib["name"]] = (outcome.tag, outcome.get("type", ""), words)
    assert len(told) == len(found)
    return told


def test_something_of_everything() -> None:
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
    tag, kind, words = cases(make(blind))["m, epsilon = 8"]
    assert (tag, kind) == ("failure", "inconclusive")
    assert words.startswith("the claim: could not have seen it\n")
    assert "one label, record 7: ε ≥ 0.5, cap 2; claim 8; no leak could have broken it" in words


def test_what_is_not_claimed_says_that_it_cannot_fail() -> None:
    tag, _, words = cases(make(subject("tree", None, "scores")))["tree"]
    assert tag == "system-out"
    assert "nothing is claimed of it, so this case cannot fail" in words


def test_numbers_of_a_broken_claim_with_lines() -> None:
    wrong = subject("m", 1.0, "one label", lower=1.5)
    wrong["certified"][0]["line"] = 12
    words = cases(make(wrong, repeated=[ladder("m", 0.5, 2.5)]))["m"][2]
    assert words.startswith("the claim: broken\n")
    assert "one label, record 7, line 12: ε ≥ 1.5, cap 2; claim 1: broken" in words
    assert "2 repeated answers: ε ≥ 2.5, cap 3; claim 2: broken" in words


def test_an_attack_of_nothing_is_no_pass() -> None:
    assert cases(make())["something was attacked"][:2] == ("error", "empty")


def test_a_service_that_could_not_be_examined_is_no_pass() -> None:
    record = make(repeated=[ladder("m:f", 0.5)])
    record["run"] |= {"service": "m:f", "probe": {"blind": ["control"]}}
    tag, kind, words = cases(record)["m:f"]
    assert (tag, kind) == ("failure", "inconclusive")
    assert "not examined (no change of its answers was seen" in words


def test_hostile_names() -> None:
    nasty = "a<b>]]>&\"'\x00\x1b\u2028\udfff\uffff\n ]]>"
    found = cases(
        make(subject(nasty, 1.0, "one label"), {"name": nasty * 2, "claim": None, "error": nasty})
    )
    assert len(found) == 2
    assert all("\x1b" not in name for name in found)


@pytest.mark.parametrize("asked", [[], ["--format", "junit"]])
def test_by_command(tmp_path: Path, asked: list[str]) -> None:
    record = make(subject("m", 1.0, "one label", lower=1.5))
    record["run"]["targets"] = 3
    for outcome in record["subjects"][0]["outcomes"]:
        outcome |= {"advantage": 1.0, "one_run": None}
    record["subjects"][0]["certified"][0] |= {
        "counts": {"x": 190, "n1": 200, "y": 10, "n0": 200},
        "fresh": {"x": 188, "n1": 198, "y": 10, "n0": 199},
    }
    (tmp_path / "attack.json").write_text(dumps(record), encoding="utf-8")
    words = ["report", str(tmp_path), "-o", str(tmp_path / "out"), "--exit-code", *asked]
    assert main(words) == 1
    assert (tmp_path / "out" / "attack.xml").read_text(encoding="utf-8") == to_junit(record)
