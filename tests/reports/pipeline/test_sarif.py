"""SARIF: valid, stable, and at the right lines.

`sarif-2.1.0-rtm.4.json` is the official schema as the source distribution of sarif-om 1.0.4 on
PyPI has it (Microsoft, MIT licence).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpassay.reports.run.pipeline import to_sarif
from tests.reports.conftest import HOSTILE

Record = dict[str, Any]
SCHEMA = json.loads(Path(__file__).with_name("sarif-2.1.0-rtm.4.json").read_text("utf-8"))
VALIDATOR = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)
HERE = [
    {"role": "definition", "file": "my api/ä.py", "line": 7},
    {"role": "claim", "file": "dpassay.toml", "line": 9},
]
PACKAGE = {"role": "package", "file": "dpassay/mechanisms/a.py", "line": 3}


def written(record: Record) -> Record:
    document: Record = json.loads(to_sarif(record))
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []
    runs: list[Record] = document["runs"]
    assert len(runs) == 1
    return runs[0]


def prints(record: Record) -> dict[str, Record]:
    return {
        each["locations"][0]["logicalLocations"][0]["name"]: each["partialFingerprints"]
        for each in written(record)["results"]
    }


def test_the_fixture_is_a_schema_that_refuses() -> None:
    assert list(VALIDATOR.iter_errors({"version": "2.1.0"}))
    assert list(VALIDATOR.iter_errors({"version": "2.1.0", "runs": [{"tool": {}}]}))


def test_what_becomes_a_result_and_how_loud(make: Any) -> None:
    record = make.record(
        make.sampled("held", "not refuted"),
        make.sampled("dunno", "inconclusive"),
        make.result("broke", "error"),
        make.computed("known", "refuted", 2.0, expected="refuted"),
        make.computed("blind", "not refuted", expected="refuted"),
        make.sampled("leaky", "refuted", 1.9),
        make.computed("fine", "verified"),
    )
    run = written(record)
    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [
        ("dpassay/refuted", "error"),
        ("dpassay/error", "error"),
        ("dpassay/missed", "error"),
        ("dpassay/inconclusive", "warning"),
    ]
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in run["results"])
    assert "leaky leaks at least 1.9 times what it claims" in run["results"][0]["message"]["text"]
    assert run["invocations"][0]["executionSuccessful"] is False


def test_a_result_lies_where_the_mechanism_is_defined(make: Any) -> None:
    record = make.record(
        make.sampled("a", "refuted", 1.9, places=HERE),
        make.sampled("b", "refuted", 1.9, places=[PACKAGE]),
        make.sampled("c", "refuted", 1.9),
    )
    one, two, three = written(record)["results"]
    assert one["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "my%20api/%C3%A4.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 7},
    }
    (claim,) = one["relatedLocations"]
    assert claim["physicalLocation"]["artifactLocation"]["uri"] == "dpassay.toml"
    assert claim["physicalLocation"]["region"] == {"startLine": 9}
    assert two["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "dpassay/mechanisms/a.py"
    }
    assert "physicalLocation" not in three["locations"][0]


def test_a_fingerprint_stays_when_lines_seeds_numbers_and_other_results_move(make: Any) -> None:
    worse = make.sampled("api", "refuted", 1.9, places=HERE)
    known = prints(make.record(worse, make.sampled("b", "inconclusive")))["api"]
    moved = [{**HERE[0], "line": 99}, {**HERE[1], "file": "pyproject.toml"}]
    again = make.sampled("api", "refuted", 2.5, places=moved, reason="another")
    again["claim"]["epsilon"] = 1.5
    record = make.record(make.result("new", "error"), again, seed=77, commit="fff")
    assert prints(record)["api"] == known
    assert set(known) == {"dpassayClaim/v1", "primaryLocationLineHash"}


@pytest.mark.parametrize(
    "change", [{"mechanism": "other"}, {"parameters": {"epsilon": 2.0}}, {"claim": {}}, {}]
)
def test_another_claim_has_another_fingerprint(make: Any, change: Record) -> None:
    """And of two results about the same, each has its own."""
    one, other = (make.sampled("api", "refuted", 1.9) for _ in range(2))
    other |= {"id": "2"} | change
    if "claim" in change:
        other["claim"] = one["claim"] | {"relation": "add"}
    first, second = (
        each["partialFingerprints"] for each in written(make.record(one, other))["results"]
    )
    for key in ("primaryLocationLineHash", "dpassayClaim/v1"):
        assert first[key] != second[key]


def test_hostile_names_stay_text(make: Any) -> None:
    place = {"role": "definition", "file": f"a/{HOSTILE}.py", "line": 1}
    named = make.sampled(HOSTILE, "refuted", 1.9, places=[place])
    run = written(make.record(named, make.result("e", "error", reason=HOSTILE)))
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert set(uri) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%/._-~")
    assert "\x1b" not in to_sarif(make.record(named))


@pytest.mark.parametrize(("complete", "results"), [(False, 1), (True, 0), (False, 0)])
def test_a_run_that_says_too_little_is_told(make: Any, complete: bool, results: int) -> None:
    record = make.record(*[make.sampled("a", "not refuted")] * results, complete=complete)
    (invocation,) = written(record)["invocations"]
    assert invocation["executionSuccessful"] is False
    assert len(invocation["toolExecutionNotifications"]) == (not complete) + (not results)
