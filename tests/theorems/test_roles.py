"""What rows are checks of, and how statements as printed are counted by them."""

from __future__ import annotations

from typing import Any

from dpassay.reports.theorems.pages import outcomes, sentences
from dpassay.theorems.registry import every_row
from dpassay.theorems.roles import ENDS, READINGS, STEPS, role_of


def test_every_listed_row_exists_is_refuted_and_listed_once() -> None:
    refuted = {row.key for row in every_row() if row.verdict == "refuted"}
    assert refuted >= READINGS | ENDS | STEPS
    assert len(READINGS) + len(ENDS) + len(STEPS) == len(READINGS | ENDS | STEPS)


def test_steps_of_proofs_are_told_by_their_number() -> None:
    roles = {row.key: role_of(row) for row in every_row()}
    assert roles["dwork-feldman-2018/lemma-6.5-markov/whole"] == "step"
    assert roles["dwork-feldman-2018/theorem-4.3-tail/binomial"] == "step"
    assert roles["dwork-feldman-2018/lemma-4.5/printed-scale"] == "printed"
    assert roles["dwork-feldman-2018/theorem-4.3/coin"] == "end"


def result(name: str, verdict: str, role: str = "printed") -> dict[str, Any]:
    return {"id": f"paper/{name}", "verdict": verdict, "role": role}


def test_statements_are_counted_once_and_apart_from_what_is_none() -> None:
    results = [
        result("holds/one", "verified"),
        result("holds/another-reading", "refuted", "reading"),
        result("false/one", "refuted"),
        result("false/end", "refuted", "end"),
        result("end/inside", "verified"),
        result("end/end", "refuted", "end"),
        result("searched/one", "not refuted"),
        result("proof/step", "refuted", "step"),
    ]
    record = {"results": results}
    assert dict(outcomes(record)) == {"hold": 1, "fail": 1, "end": 1, "unknown": 1}
    assert sentences(record) == (
        (
            "4 statements as printed: 1 hold in all cases looked at, 1 are false, 1 are false only "
            "at an end of their range, 1 were not refuted as printed."
        ),
        (
            "Of 5 refuted checks: 1 of statements as printed, 1 reading, 2 ends of ranges, 1 step "
            "of a proof."
        ),
    )


def test_a_record_of_before_has_statements_as_printed_alone() -> None:
    old = {"results": [{"id": "paper/lemma/one", "verdict": "refuted"}]}
    assert dict(outcomes(old)) == {"fail": 1}
