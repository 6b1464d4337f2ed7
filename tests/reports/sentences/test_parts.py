"""Numbers of a part of a release are none of the release, but for what they say from below."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from dpassay.record.schemas import read_schema
from dpassay.reports.run.lead import briefs
from dpassay.reports.run.terminal import row_of
from dpassay.reports.run.view import make_view
from tests.reports.sentences.told import Record, beside, computed, computed_record, only, told

PART = "the sign of <w, x> alone"


def of_part(make: Any, verdict: str = "not refuted", loss: float = 0.75, **more: Any) -> Record:
    result: Record = make.computed("a", verdict, loss, looked_at=PART, **more)
    result["claim"]["unit"] = "released weights"
    return result


def test_a_verdict_is_of_what_was_looked_at() -> None:
    (result,) = (each for each in computed("algorithm-3-hinge-loss") if each.verdict == "refuted")
    said = (
        "the worst loss of what was looked at (the bin of <w, u> alone) at the audited cells "
        "is 9.277792, so that of the whole release is at least as large; the claim"
    )
    assert result.outcome.reason.startswith(said)


@pytest.mark.parametrize("name", ["algorithm-3-hinge-loss", "histogram"])
def test_the_record_says_what_was_looked_at(name: str) -> None:
    record = computed_record(name)
    jsonschema.validate(record, read_schema("record"))
    privacy = [result for result in record["results"] if result["claim"]["kind"] == "DP"]
    others = [result for result in record["results"] if result["claim"]["kind"] != "DP"]
    assert all(result["looked_at"] for result in privacy)
    assert all("looked_at" not in result for result in others)
    for result in privacy:
        (shown,) = make_view(record | {"results": [result]}).results
        assert "Only a part of the release was looked at" in told(shown, "Claim")
        assert "A test of the whole release may do better." in told(shown, "Privacy profile")
        assert "of what was looked at (" in told(shown, "Privacy profile")


@pytest.mark.parametrize("verdict", ["refuted", "not refuted"])
def test_the_tables_say_at_least(make: Any, verdict: str) -> None:
    loss = 1.5 if verdict == "refuted" else 0.75
    whole = make_view(make.record(make.computed("a", verdict, loss)))
    part = make_view(make.record(of_part(make, verdict, loss)))
    assert (whole.results[0].top, part.results[0].top) == (f"= {loss:.6f}", f"≥ {loss:.6f}")
    assert part.summary.rows[0][-2] == f"released weights; looked at: {PART}"
    assert "'detectable' is a leak of that part" in part.summary.caption
    assert "part" not in whole.summary.caption
    if verdict == "refuted":
        assert part.findings.rows[0][3:5] == ("≥ 1.500000", "≥ 1.50 ×")


@pytest.mark.parametrize(
    ("part", "only"),
    [
        ("the sign of <w, x> alone", "sign"),
        ("the number <w, u> alone", "number <w, u>"),
        ("for each t_i whether it is at least a threshold (0 or 1),", "a part"),
        ("", ""),
    ],
)
def test_what_of_the_release_was_looked_at_stands_beside_the_verdict(
    make: Any, part: str, only: str
) -> None:
    result = of_part(make, "not refuted", 0.5, mode="exhaustive") | {"looked_at": part}
    (brief,) = briefs(make.record(result))
    shown = f"not refuted ({only} only)" if only else "any excess would show"
    assert row_of(brief, 0.999)[-1] == shown


def test_an_upper_bound_of_a_part_is_none(make: Any) -> None:
    result = make.sampled("a", "not refuted", lower=0.1, upper=0.9)
    assert only(make.record(result)).top == "≤ 0.900000"
    assert only(make.record(result | {"looked_at": PART})).top == "–"
    seen = told(only(make.record(result | {"looked_at": PART})), "What would have been seen")
    assert "in the part of the release looked at, would have led" in seen


def test_a_part_shows_no_claim_to_be_loose(make: Any) -> None:
    whole = make.computed("a", "not refuted", 0.5, any_size=make.any_size(0.5))
    assert make_view(make.record(whole)).findings
    part = of_part(make, loss=0.5, any_size=make.any_size(0.5))
    assert not make_view(make.record(part)).findings
    tight = make_view(
        make.record(of_part(make, loss=0.995, any_size=make.any_size(0.995)))
    ).findings
    assert tight.rows[0][1:4] == ("tight", "1", "≥ 0.994999")  # its error is taken off


def test_both_notions_say_at_least(make: Any) -> None:
    part, whole = of_part(make), make.computed("b", "not refuted")
    results = []
    for result, labels in ((part, [0, 1]), (whole, [0, 1, 2])):
        result["any_size"] = make.any_size(0.75)
        results.append(beside(result, error=1e-12, any_size=make.any_size(0.5)))
        results[-1]["other"]["witness"] = result["witness"] | {"labels": labels}
    notions = make_view(make.record(*results)).notions
    assert [row[3] for row in notions.rows] == ["≥ 0.749999", "0.750000"]
    # a part; single answers of three
    assert [row[6] for row in notions.rows] == ["≥ 0.499999", "≥ 0.499999"]
