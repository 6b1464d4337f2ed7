"""Where numbers stand on an axis, and which are written."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpassay.reports.shared.scales import LABELS, Scale

SIZES = st.floats(1e-12, 1e12)


def axis(least: float, most: float, *, logarithmic: bool = False) -> Scale:
    return Scale(least=least, most=most, start=0.0, end=100.0, logarithmic=logarithmic)


@pytest.mark.parametrize(
    ("least", "most", "told"),
    [
        (0.0, 1.0, (0, 0.5, 1)),
        (0.0, 0.175, (0, 0.05, 0.1, 0.15)),
        (0.0, 1.12, (0, 0.5, 1)),
        (-0.3, 0.5, (-0.2, 0, 0.2, 0.4)),
        (0.0, 7.3, (0, 2, 4, 6)),
    ],
)
def test_round_numbers_are_written(least: float, most: float, told: tuple[float, ...]) -> None:
    assert axis(least, most).ticks() == pytest.approx(told)


def test_decades_are_written() -> None:
    assert axis(1e-3, 1.0, logarithmic=True).ticks() == pytest.approx((1e-3, 1e-2, 0.1, 1))
    assert axis(1e-7, 2.0, logarithmic=True).ticks() == pytest.approx((1e-6, 1e-4, 1e-2, 1))


@given(SIZES, st.booleans())
def test_few_numbers_lie_between_the_ends(most: float, negative: bool) -> None:
    scale = axis(-most / 3 if negative else 0.0, most)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= LABELS
    assert all(-1e-9 <= scale.at(tick) <= 100 + 1e-9 for tick in ticks)


@given(SIZES, st.floats(100, 1e9))
def test_few_decades_lie_between_the_ends(least: float, factor: float) -> None:
    scale = axis(least, factor * least, logarithmic=True)
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= LABELS
    assert all(-1e-6 <= scale.at(tick) <= 100 + 1e-6 for tick in ticks)


@given(SIZES, SIZES, st.booleans())
def test_the_larger_number_stands_nearer_the_end(one: float, other: float, log: bool) -> None:
    assume(one < other)
    scale = axis(1.0, 10.0, logarithmic=log)
    assert scale.at(one) <= scale.at(other)
    assert scale.at(1.0) == 0
    assert scale.at(10.0) == pytest.approx(100)


def test_a_logarithmic_axis_has_a_place_far_below_for_nothing() -> None:
    place = axis(1.0, 10.0, logarithmic=True).at(0.0)
    assert math.isfinite(place)
    assert place < -10_000
