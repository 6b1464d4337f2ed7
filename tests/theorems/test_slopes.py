"""Slopes of growth: what they are for powers, their intervals, and what is drawn."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpassay.record.schemas import fault
from dpassay.reports.theorems.pages import to_html
from dpassay.theorems.effort import Effort
from dpassay.theorems.registry import every_row
from dpassay.theorems.row import Measured
from dpassay.theorems.run import make_record
from dpassay.theorems.slopes import DECADE, WITHIN, series, slope_row, slopes
from tests.theorems.test_rows import checked

FACTS: dict[str, Any] = {
    "version": "1",
    "packages": {},
    "commit": None,
    "seed": 0,
    "deep": False,
    "command": "dpassay theorem run",
}


def power(claimed: float, true: float, off: float = 0.0) -> object:
    """What measures powers of 1 / alpha, the true one within a factor e^off."""

    def measure(alpha: float) -> Measured:
        value = alpha**-true
        return Measured(
            claimed=3 * alpha**-claimed, lower=value * math.exp(-off), upper=value * math.exp(off)
        )

    return measure


def slope_of(claimed: float, true: float, off: float = 0.0) -> Measured:
    return slopes(series(power(claimed, true, off), "alpha", 0.1, 0.001))  # type: ignore[arg-type]


def test_a_power_has_its_slope() -> None:
    found = slope_of(2.0, 1.5)
    assert found.claimed == pytest.approx(2.0)
    assert found.lower <= 1.5 <= found.upper
    assert found.upper - found.lower < 1e-10


@pytest.mark.parametrize("true", [0.5, 1.0, 2.5])
def test_the_interval_holds_every_slope_between_the_bounds(true: float) -> None:
    found = slope_of(1.0, true, off=0.1)
    # the points turned about the middle by as much as the bounds let them
    turned = 2 * 0.1 / math.log(100)
    assert found.lower <= true - turned
    assert found.upper >= true + turned


def test_less_than_a_decade_is_none() -> None:
    with pytest.raises(ValueError, match="less than a decade"):
        series(power(1.0, 1.0), "alpha", 0.1, 0.02)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("relation", "true", "verdict"),
    [
        ("at most", 1.0, "verified"),
        ("at most", 1.001, "refuted"),
        ("at least", 1.0 - WITHIN / 2, "verified"),
        ("at least", 1.0 - 2 * WITHIN, "refuted"),
    ],
)
def test_verdicts(relation: str, true: float, verdict: str) -> None:
    case = {"along": "alpha", "first": 0.1, "last": 0.01}
    row = slope_row("a/b/c", power(1.0, true), [case], number="it", relation=relation)  # type: ignore[arg-type]
    assert row.check(Effort()).verdict == verdict


def test_every_growth_spans_a_decade_and_is_drawn() -> None:
    rows = [row for row in every_row() if row.series is not None]
    assert len(rows) >= 20
    record = make_record([(row, checked(row.key)) for row in rows], FACTS, complete=True)
    assert fault(record, "theorems") == ""
    for result in record["results"]:
        places = [point[0] for point in result["series"]["points"]]
        assert max(places) >= DECADE * min(places) * (1 - 1e-9)
    assert to_html(record).count(": growth with ") == len(rows)
