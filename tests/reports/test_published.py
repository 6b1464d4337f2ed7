"""The method note: our Clopper-Pearson limits beside those of statsmodels."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpassay.reports.run.markdown import to_markdown
from dpassay.reports.run.page.html import to_html
from dpassay.reports.run.published import published_table
from dpassay.stats import bounds
from tests.reports.conftest import of_kind

Record = dict[str, Any]
NAME = "Clopper–Pearson (statsmodels)"


def test_one_row_for_each_sampled_result(small: Record) -> None:
    table = published_table(small["results"])
    assert table is not None
    assert table.columns[-1] == NAME
    sampled = [
        result["id"]
        for result in small["results"]
        if result["mode"] == "monte-carlo" and result["per_query"]
    ]
    assert [row[0] for row in table.rows] == sampled
    assert all(row[-1] == row[-2] for row in table.rows)
    assert "agree to 9 digits" in table.caption


def test_the_bound_by_hand(make: Any) -> None:
    """ln(p1 / p0) for the limits of scipy.stats.binomtest, which are Clopper and Pearson's too."""
    from scipy.stats import binomtest

    result = make.sampled("a.monte-carlo", "refuted")
    counts, alpha = result["per_query"][0]["counts"], result["per_query"][0]["alpha"]
    one, other = (
        binomtest(counts[hits], counts[trials]).proportion_ci(1 - alpha)
        for hits, trials in (("x", "n1"), ("y", "n0"))
    )
    table = published_table([result])
    assert table is not None
    assert float(table.rows[0][-1]) == pytest.approx(math.log(one.low / other.high), abs=1e-6)


def test_a_change_of_a_probability_is_compared_in_its_units(make: Any) -> None:
    result = of_kind(make.sampled("a.monte-carlo", "refuted"), "Stability", 0.1)
    table = published_table([result])
    assert table is not None
    assert 0 < float(table.rows[0][-1]) < 1


def test_a_difference_is_told(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "clopper_pearson_lower", lambda x, n, alpha: 0.99 * x / n)
    table = published_table([make.sampled("a.monte-carlo", "refuted")])
    assert table is not None
    assert "differ by up to" in table.caption


def test_of_many_results_twenty_are_shown(make: Any) -> None:
    results = [make.sampled(f"a{k}.monte-carlo", "refuted") for k in range(25)]
    table = published_table(results)
    assert table is not None
    assert len(table.rows) == 20
    assert "25 results compared; the first 20 are shown" in table.caption


def test_both_pages_have_it_where_something_was_sampled(make: Any) -> None:
    pages = (to_html, to_markdown)
    assert all(
        NAME in page(make.record(make.sampled("a.monte-carlo", "refuted"))) for page in pages
    )
    assert not any(
        NAME in page(make.record(make.computed("a.exact", "verified"))) for page in pages
    )
