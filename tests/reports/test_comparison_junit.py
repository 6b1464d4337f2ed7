"""A comparison as JUnit XML: what turns a pipeline red is a failure there too."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from dpassay.reports.run.comparisons import to_junit
from tests.reports.test_junit import NASTY, SCHEMA

FOLDER = Path("report")


def change(kind: str, name: str = "m.own.exact", **fields: str) -> dict[str, str]:
    return {
        "id": name,
        "mechanism": "m",
        "kind": kind,
        "words": "worse",
        "witness": "",
        "replay": "",
    } | fields


def compared(
    *regressions: dict[str, str], news: Any = (), suppressed: Any = (), unchanged: Any = ()
) -> dict[str, Any]:
    return {
        "regressions": list(regressions), "news": list(news), "suppressed": list(suppressed),
        "unchanged": list(unchanged),
        "notes": [], "rise_limits": [], "alpha": 1e-4, "tolerance": 0.05,
    }  # fmt: skip


def suite(comparison: dict[str, Any]) -> ET.Element:
    root = ET.fromstring(to_junit(comparison, FOLDER).encode())
    SCHEMA.validate(root)
    (found,) = root
    assert int(found.attrib["tests"]) == len(found.findall("testcase"))
    assert int(found.attrib["failures"]) == len(found.findall("testcase/failure"))
    return found


def test_a_regression_is_a_failure_and_what_is_let_pass_and_news_are_none() -> None:
    excuse = {
        "id": "m.own.exact",
        "kind": "rose",
        "reason": "minute 7",
        "expires": "2027-01-01",
        "up_to": None,
    }
    worse = change("refuted", witness="S and S'", replay="witnesses/m.json")
    found = suite(
        compared(
            worse, change("rose"), news=[change("new", "n")], suppressed=[excuse], unchanged=["u"]
        )
    )
    assert [case.attrib["name"] for case in found.findall("testcase")] == [
        "refuted: m.own.exact",
        "rose: m.own.exact",
        "new: n",
        "unchanged: u",
    ]
    (failure,) = found.iter("failure")
    assert failure.attrib == {"type": "refuted", "message": "refuted: worse"}
    assert failure.text == "worse\nS and S'\n    dpassay replay report/witnesses/m.json"
    assert "suppressed until 2027-01-01: minute 7" in (
        found.findall("testcase")[1].findtext("system-out") or ""
    )
    assert "1 privacy regression, 1 suppressed" in (found.findtext("system-out") or "")


@pytest.mark.parametrize("name", [NASTY, "", "x" * 10_000])
def test_hostile_names(name: str) -> None:
    suite(
        compared(
            change("rose", name, words=name, witness=name),
            news=[change("new", name)],
            unchanged=[name],
        )
    )


def test_nothing_at_all() -> None:
    assert suite(compared()).attrib["tests"] == "0"
