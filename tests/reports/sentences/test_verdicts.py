"""What a report says of a verdict, of a leak of 0 and of numerical errors."""

from __future__ import annotations

from typing import Any

import pytest

from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.record.run_record import make_record
from dpassay.reports.run.view import make_view
from tests.core.toys import flip_group, target_of
from tests.reports.sentences.told import FACTS, Blurred, computed_record, only, told


def test_what_is_not_refuted_never_looks_above_the_claim() -> None:
    """Both numbers of a section have the same six decimals."""
    record = computed_record("psgd-laplace", ("n", 20))
    for result in record["results"]:
        if result["verdict"] == "not refuted":
            worst, allowed = result["reason"].split(" is ")[1].split("; the claim allows ")
            worst, allowed = worst.split(",")[0], allowed.split(" (")[0]
            assert float(worst) <= float(allowed)
            assert worst == make_view(record | {"results": [result]}).results[0].top.removeprefix(
                "= "
            )
            assert allowed in make_view(record | {"results": [result]}).results[0].claim


def test_what_is_inconclusive_by_its_numerical_error_is_not_said_to_have_been_missed() -> None:
    """Of a law that is known up to .1 the page said that a violation could have been missed, or
    nothing was seen to move."""

    vague = target_of(Blurred(table=((1.0, 0.0), (0.5, 0.5)), error=0.1))
    record = make_record(FACTS, assay([vague], flip_group(1), Settings(mode="exact")))
    (result,) = record["results"]
    assert result["verdict"] == "inconclusive"
    assert "numerical error" in result["reason"]
    assert "numerical error" in only(record).status.meaning


def test_the_bounds_allow_for_the_error(make: Any) -> None:
    said = told(only(make.record(make.computed("a", "not refuted"))), "How the bound was made")
    assert "Numerical error at most 1e-14, at the worst cell; the bounds already" in said


@pytest.mark.parametrize(
    ("delta", "more", "named"),
    [
        (0.0, "", "the loss"),
        (0.00135914, " by more than δ = 0.00135914", "the loss at δ = 0.00135914"),
    ],
)
def test_a_loss_of_0_has_no_formula(make: Any, delta: float, more: str, named: str) -> None:
    result = make.computed("a", "not refuted", 0.0)
    result["claim"]["delta"] = delta
    result["witness"] |= {"p1": 1.0, "p0": 1.0}
    said = told(only(make.record(result)), "Counts")
    assert "ln(" not in said
    assert said.endswith(
        f"At no audited cell does the probability of an event change{more}: {named} is 0."
    )


def test_an_error_below_0_is_not_told_as_0(make: Any) -> None:
    result = make.computed("a", "not refuted", 0.0)
    result["claim"] |= {"kind": "Accuracy", "epsilon": None, "delta": None, "bound": 0.5}
    result["per_query"] = [
        make.cell(0, 0.0, 0.0, exact=0.0) | {"event": [], "p1": -0.225791, "p0": -0.225909}
    ]
    result["witness"] |= {"event": [], "p1": -0.225791, "p0": -0.225909}
    shown = only(make.record(result))
    assert shown.query_table.rows[0][2:5] == ("≤ 0.000000", "-0.225791", "-0.225909")
    # a record from before such errors were kept
    assert (shown.lower, shown.top) == ("–", "≤ 0.000000")


def test_an_excess_below_0_is_shown_as_it_was_computed() -> None:
    shown = only(computed_record("projected-walk-error", ("n", 20), ("T", 1)))
    assert shown.top.startswith("= ")
    assert "excess error" in told(shown, "Claim", "Counts", "Verdict")
    assert "excess error" in shown.query_table.caption
    assert {row[6] for row in shown.query_table.rows} <= {"excess error", "S to S'", "S' to S"}


def test_what_has_no_numerical_error_is_not_given_one(make: Any) -> None:
    result = make.computed("a", "refuted", 1.5, any_size=make.any_size(1.5))
    result["error"], result["any_size"]["error"] = 0.0, 0.0
    said = told(only(make.record(result)))
    assert "at most 0;" not in said
    assert "No numerical error." in told(only(make.record(result)), "How the bound was made")
    assert "is 1.500000 (no numerical error), between" in told(
        only(make.record(result)), "Worst over all datasets"
    )
