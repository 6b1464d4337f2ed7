"""Rounding goes outwards.

What is written is a bound of what was found, read as a decimal number or as a float.
"""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.engine.evidence import AnySize
from dpassay.engine.verdicts import apart
from dpassay.numerics import (
    DOWN,
    NEAREST,
    UP,
    computed,
    computed_number,
    lower_number,
    number,
    rounded,
    upper_number,
    whole,
    written,
)
from dpassay.reports.shared.numbers import above, below, exact, factor, promise

FINITE = st.floats(min_value=0, max_value=1e9, allow_subnormal=False)


@given(value=FINITE, digits=st.integers(min_value=1, max_value=15))
def test_down_is_never_above_and_up_never_below(value: float, digits: int) -> None:
    low, high = (rounded(value, digits, way) for way in (DOWN, UP))
    assert low <= value <= high
    assert Decimal(repr(low)) <= Decimal(repr(value)) <= Decimal(repr(high))
    assert (
        Decimal(written(value, digits, DOWN))
        <= Decimal(repr(value))
        <= Decimal(written(value, digits, UP))
    )


@given(value=FINITE, error=st.floats(min_value=0, max_value=1e-6))
def test_a_computed_number_keeps_what_it_contained(value: float, error: float) -> None:
    near, wide = computed(value, error, 12)
    for read in (Decimal(near), Decimal(repr(near))):
        assert read - Decimal(repr(wide)) <= Decimal(value) - Decimal(error)
        assert read + Decimal(repr(wide)) >= Decimal(value) + Decimal(error)


@given(value=FINITE)
def test_what_is_recorded_and_shown_is_a_bound(value: float) -> None:
    assert float(lower_number(value)) <= value <= float(upper_number(value))
    assert Decimal(below(value, 0.0)) <= Decimal(repr(value)) <= Decimal(above(value))


@given(
    claimed=st.floats(min_value=1e-3, max_value=50),
    excess=st.floats(min_value=1e-14, max_value=1e-3),
)
def test_a_bound_above_the_claim_stays_above_it_wherever_it_is_written(
    claimed: float, excess: float
) -> None:
    found = claimed * (1 + excess)
    assert float(lower_number(found, claimed)) > claimed
    for shown, allowed in (
        (below(found, claimed), promise(claimed, found)),
        (exact(found, claimed, exceeds=True), promise(claimed, found)),
        apart(found, claimed, DOWN),
    ):
        assert float(shown) > float(allowed)


@given(claimed=st.floats(min_value=1e-5, max_value=50), share=st.floats(min_value=0, max_value=1))
def test_what_is_not_above_the_claim_is_never_shown_above_it(claimed: float, share: float) -> None:
    for found in (claimed * share, claimed * (1 + 1e-12)):
        assert float(exact(found, claimed, exceeds=False)) <= float(promise(claimed))
        assert float(factor(found, claimed, exceeds=False).split()[0]) <= 1
    assert float(below(claimed * share, claimed)) <= float(promise(claimed))


def test_by_hand() -> None:
    assert lower_number(2 / 3) == 0.666666666666
    assert upper_number(1 / 3) == 0.333333333334
    assert number(2 / 3) == 0.666666666667
    assert computed_number(2 / 3, 1e-15) == (0.666666666667, 3.35e-13)
    assert (lower_number(math.inf), upper_number(math.inf), computed_number(math.inf, 0.0)) == (
        "inf",
        "inf",
        ("inf", 0.0),
    )
    assert (below(1.9999999, 3.0), above(1.0000001), exact(1.9999999, 3.0, exceeds=False)) == (
        "1.999999",
        "1.000001",
        "2.000000",
    )
    assert (promise(0.1), promise(math.log(17.43)), promise(1.00000051, 1.00000052)) == (
        "0.1",
        "2.858193",
        "1.0000005",
    )


@pytest.mark.parametrize(("error", "exceeds"), [(1e-12, False), (1e-15, True)])
def test_a_worst_case_exceeds_the_claim_only_by_more_than_its_error(
    error: float, *, exceeds: bool
) -> None:
    found = AnySize(loss=1.0 + 1e-13, error=error, states=("a", "b"), argument="by hand")
    assert found.exceeds(1.0) is exceeds
    assert rounded(1.0 + 1e-13, 12, NEAREST) == 1.0


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (1_234_567, "1,234,567"), (10**15 - 1, "999,999,999,999,999"), (10**15, "1.00e15")],
)
def test_whole_numbers_stay_short(number: int, text: str) -> None:
    assert whole(number) == text
    assert whole(4**1000) == "1.15e602"
