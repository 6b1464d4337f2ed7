"""What a row makes of its cases: verdict, worst case and witness, on rows that are made up."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpassay.errors import InvalidInput
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Measured, Row, computed
from dpassay.theorems.run import check_rows
from dpassay.theorems.sampled import frequency


def row(values: list[float], error: float = 0.0, **fields: Any) -> Row:
    """A row that claims 1 in every case, and is right or not."""
    told: dict[str, Any] = {
        "key": "p/s/t",
        "checks": "c",
        "quantity": "q",
        "method": "exact",
        "domain": "d",
    }
    told |= {"cases": lambda _: [{"value": value} for value in values]}
    told |= {"measure": lambda value: computed(1.0, value, error)}
    return Row(**(told | fields))


@pytest.mark.parametrize(
    ("values", "error", "method", "relation", "verdict"),
    [
        ([0.5, 1.0], 0.0, "exact", "at most", "verified"),
        ([0.5, 1.1], 0.0, "exact", "at most", "refuted"),
        ([0.5, 1.1], 0.0, "search", "at most", "refuted"),
        ([0.5, 1.0], 0.0, "search", "at most", "not refuted"),
        ([1.0, 1.1], 0.0, "exact", "at least", "verified"),
        ([0.9, 1.1], 0.0, "exact", "at least", "refuted"),
        ([1 + 1e-12], 1e-13, "exact", "at most", "verified"),
        ([1.1], 0.2, "exact", "at most", "inconclusive"),
        ([0.9], 0.2, "exact", "at most", "inconclusive"),
        ([1.1], 0.05, "exact", "at most", "refuted"),
        ([], 0.0, "exact", "at most", "inconclusive"),
        ([0.5], 0.0, "certified", "at most", "inconclusive"),
    ],
)
def test_verdicts(
    values: list[float], error: float, method: str, relation: str, verdict: str
) -> None:
    made = row(values, error, method=method, relation=relation)
    assert made.check(Effort()).verdict == verdict


def test_the_witness_is_the_first_and_the_numbers_are_of_the_worst() -> None:
    checked = row([0.5, 1.1, 3.0, 2.0]).check(Effort())
    assert (checked.cells, checked.witness, checked.case) == (4, {"value": 1.1}, {"value": 3.0})
    assert checked.worst == computed(1.0, 3.0, 0.0)


def test_one_doubtful_case_is_enough_to_verify_nothing() -> None:
    """Though another one, which holds, comes nearer to the claim for certain."""
    bounds = [Measured(claimed=1.0, lower=0.1, upper=2.0), computed(1.0, 0.9, 0.0)]
    made = row([0, 1], measure=lambda value: bounds[value])
    assert made.check(Effort()).verdict == "inconclusive"
    assert made.check(Effort()).worst == bounds[0]


def test_a_lower_bound_on_the_truth_is_enough_for_at_least_and_all_cases_count() -> None:
    def measure(value: float) -> Measured:
        return Measured(claimed=1.0, lower=value, upper=math.inf)

    good, bad = (row(v, measure=measure, relation="at least") for v in ([2.0, 1.0], [2.0, 0.5]))
    assert good.check(Effort()).verdict == "verified"
    assert good.check(Effort()).case == {"value": 1.0}
    assert bad.check(Effort()).verdict == "inconclusive"


def test_one_case_without_power_is_enough_to_decide_nothing() -> None:
    cases = [frequency(0.5, x, n, alpha=0.01) for x, n in ((500, 1000), (1, 3))]
    for some, verdict in (([0], "not refuted"), ([0, 1], "inconclusive")):
        made = row(list(some), method="certified", measure=lambda value: cases[value])
        assert made.check(Effort()).verdict == verdict


def test_a_check_that_breaks_is_an_error_and_the_next_one_runs() -> None:
    def broken(value: float) -> Measured:
        raise ArithmeticError(f"no {value}")

    found = list(check_rows([row([1.0], measure=broken), row([1.0])], Effort()))
    assert [checked.verdict for _, checked in found] == ["error", "verified"]
    assert found[0][1].reason == "ArithmeticError: no 1.0"


def test_a_refuted_row_needs_a_derivation_and_no_other_has_one() -> None:
    with pytest.raises(InvalidInput, match="derivation"):
        row([1.0], verdict="refuted")
    with pytest.raises(InvalidInput, match="derivation"):
        row([1.0], derivation="Somewhere")


def test_a_key_has_three_parts() -> None:
    with pytest.raises(InvalidInput, match="key"):
        row([1.0], key="p/s")


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput):
        computed(1.0, math.nan, 0.0)


def test_frequencies() -> None:
    low, high = (frequency(0.5, x, 1000, alpha=0.01) for x in (500, 600))
    assert low.lower < 0.5 < low.upper
    assert high.lower > 0.5
    assert low.detectable == high.detectable
    assert low.detectable is not None
    assert 0.55 < low.detectable < 0.58


def test_too_few_trials_see_nothing() -> None:
    assert frequency(0.5, 3, 3, alpha=1e-5).detectable is None
