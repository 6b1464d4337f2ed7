"""What a careful reader of the page, of report.md and of the terminal stumbled over."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpassay.numerics import DOWN, NEAREST, UP
from dpassay.reports.run.lead import briefs
from dpassay.reports.run.markdown import FEW, to_markdown
from dpassay.reports.run.page.catalogue import MARKS
from dpassay.reports.run.page.html import mechanism_pages, to_html
from dpassay.reports.run.page.plots import trade_off_table
from dpassay.reports.run.view import make_view
from dpassay.reports.shared.numbers import short_number
from dpassay.reports.shared.statuses import ALL

Record = dict[str, Any]


def with_profile(make: Any) -> Record:
    """A refuted claim of epsilon = 1 whose test of the two sides breaks it at one rate only."""
    result: Record = make.computed("walk.printed.exact", "refuted", 2.0, expected="refuted")
    epsilons, levels = [0.0, 1.0, 2.0], [0.0, 0.05, 0.2, 1.0]
    profile: Record = {"epsilon": epsilons, "false_positive": levels, "alpha": 0.0}
    profile |= {key: [0.4, 0.1, 0.0] for key in ("lower", "upper")}
    profile |= {f"trade_off_{key}": [1.0, 0.9, 0.25, 0.0] for key in ("lower", "upper")}
    result["per_query"][1]["profile"] = profile
    return result


def test_shapes_of_the_overview_mean_no_status() -> None:
    shapes = {mark.symbol for kind, mark in MARKS.items() if kind != "refuted"}
    assert shapes & {status.symbol for status in ALL} == set()
    drawn = {(mark.look.marker, mark.look.hollow) for mark in MARKS.values()}
    assert len(drawn) == len(MARKS)
    assert drawn & {("^", False), ("o", False), ("D", False)} == {("^", False)}
    assert MARKS["refuted"].look.marker == "^"


@pytest.mark.parametrize(
    ("number", "way", "words"),
    [
        (1.24999999999, DOWN, "1.2499"),
        (1.25000000001, UP, "1.2501"),
        (1.24999999999, NEAREST, "1.25"),
        (1.25, DOWN, "1.25"),
        (0.0499999999999, DOWN, "0.049999"),
        (math.inf, DOWN, "inf"),
        (0.0, DOWN, "0"),
    ],
)
def test_a_bound_a_hair_from_a_rounder_number_has_more_digits(
    number: float, way: str, words: str
) -> None:
    assert short_number(number, way) == words


def test_claims_are_said_to_be_rounded_and_strings_to_be_bad(make: Any) -> None:
    result = make.computed("m.printed.exact", "refuted", 2.0, expected="refuted")
    result["claim"]["epsilon"] = 0.435309
    record = make.record(result, catalogue=True)
    (page,) = mechanism_pages(record).values()
    for text in (to_html(record), page):
        assert "0.4354" in text
        assert "rounded up, to four digits or more" in text
    result = make.computed("m", "refuted", 0.05)
    strings = {"kind": "ScoreStability", "epsilon": None, "beta1": 1.0, "beta2": 1.0}
    result["claim"] |= strings | {"delta": 0.01}
    result["lower"] = 0.0499999999999
    (found,) = briefs(make.record(result))
    assert found.found == "= 0.05"  # and not a lower bound
    assert found.seen.endswith("a random string is bad with probability 0.05.")


def test_the_table_of_a_trade_off_has_the_claims(make: Any) -> None:
    (view,) = make_view(make.record(with_profile(make))).results
    assert view.profile is not None
    table = trade_off_table(view.profile)
    assert table.columns[-1] == "the claim's"
    assert [row[-1] for row in table.rows] == ["1", "0.864", "0.4563", "0"]
    assert {len(row) for row in table.rows} == {len(table.columns)} == {len(table.numeric)}


def test_a_test_is_told_at_a_rate_where_it_breaks_the_claim(make: Any) -> None:
    result = with_profile(make)
    for upper, rate in ((0.25, "0.2"), (0.5, "0.05")):
        result["per_query"][1]["profile"] |= {"trade_off_upper": [1.0, 0.9, upper, 0.0]}
        (view,) = make_view(make.record(result)).results
        assert view.profile is not None
        assert f"positive rate of {rate}, has a false negative rate" in view.profile.words[1]


@pytest.mark.parametrize("whole", [True, False])
def test_the_summary_says_where_results_are_told_in_full(make: Any, *, whole: bool) -> None:
    results = [make.computed(f"m{k}", "not refuted", 0.5) for k in range(FEW + 1)]
    text = to_markdown(make.record(*results, catalogue=whole), limit=12_000)
    assert ("* index.html has every result in full" in text) is not whole
    assert ("* The pages in mechanisms/, which index.html links to, have every" in text) is whole
