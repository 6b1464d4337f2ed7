"""Spending: all of alpha is spent, and only on bounds that exist."""

from __future__ import annotations

import pytest

from dpassay.stats.alpha import Spending


@pytest.mark.parametrize(
    ("bounded", "profiled", "shares"),
    [
        (True, True, (0.5, 0.25, 0.25)),
        (True, False, (0.5, 0.5, 0.0)),
        (False, True, (0.75, 0.0, 0.25)),
        (False, False, (1.0, 0.0, 0.0)),
    ],
)
def test_what_does_not_exist_costs_nothing(
    bounded: bool, profiled: bool, shares: tuple[float, float, float]
) -> None:
    spent = Spending(alpha=0.04, cells=4, queries=2, bounded=bounded, profiled=profiled)
    parts = (spent.lower, spent.upper, spent.profile)
    assert parts == pytest.approx([share * spent.alpha for share in shares])
    assert sum(parts) == pytest.approx(spent.alpha)
    assert 4 * spent.each_lower == pytest.approx(spent.lower)
    assert spent.largest_upper + 4 * spent.each_upper == pytest.approx(spent.upper)
