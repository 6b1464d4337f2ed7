"""Pages of errors are made from their JSON files; slopes and promised errors are what they say."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks import excess_error, rates
from benchmarks.rates import RATES, Found, errors, measured, page

DOCS = Path(__file__).parents[2] / "docs"


@cache
def found() -> Found:
    stored: Found = json.loads((DOCS / "rates.json").read_text(encoding="utf-8"))
    return stored


def test_the_page_says_what_was_found() -> None:
    assert page(found()) == (DOCS / "rates.md").read_text(encoding="utf-8")


def test_the_page_of_excess_errors_says_what_was_found() -> None:
    excess = json.loads((DOCS / "excess_error.json").read_text(encoding="utf-8"))
    assert excess_error.page(excess) == (DOCS / "excess_error.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RATES)
def test_so_many_records_are_enough_for_alpha(name: str) -> None:
    """alpha is where the statement's number of records is n, and below the largest."""
    rate = RATES[name]
    for axis in rate.order:
        for n, epsilon in rate.places(axis):
            alpha = rate.alpha(n, epsilon)
            assert 0 < alpha < rates.LARGEST
            assert rate.size(alpha, epsilon) == pytest.approx(n, rel=1e-9)


@pytest.mark.parametrize("name", RATES)
def test_promised_slopes_tend_to_the_order(name: str) -> None:
    """Logarithms flatten a slope by 2 / ln n at most, where n is large."""
    rate, few, many = RATES[name], 10**16, 10**18
    ratio = rate.alpha(many, 0.5) / rate.alpha(few, 0.5)
    assert np.log(ratio) / np.log(many / few) == pytest.approx(rate.order["n"], abs=2 / np.log(few))


def test_a_power_has_its_slope() -> None:
    along = np.array(RATES["label-flip"].along("n"))
    each = [[2 * n**-0.7, 4 * n**-0.7] for n in along]
    middle, low, high = measured("label-flip", "n", each)
    assert middle == pytest.approx(-0.7)
    assert low < middle < high


def test_the_first_errors_come_out_again() -> None:
    """Of the learners that take no time; rounded to seven digits."""
    for name in ("projected-walk", "projected-walk, ε = α/2"):
        assert errors(name, "n") == found()[name]["n"]


def test_theorem_2_4_holds_on_average() -> None:
    """Err <= e^epsilon (Opt + alpha), the printed constants; Opt = 0."""
    rate = RATES["projected-walk"]
    for axis in rate.order:
        for (n, epsilon), each in zip(
            rate.places(axis), found()["projected-walk"][axis], strict=True
        ):
            assert np.mean(each) <= np.exp(epsilon) * rate.alpha(n, epsilon)
