"""Claims about stability, half-lines and means, in every format."""

from __future__ import annotations

from typing import Any

import pytest

from dpassay.reports.html import to_html
from dpassay.reports.markdown import to_markdown
from dpassay.reports.view import make_view

Record = dict[str, Any]


@pytest.fixture
def kinds(make: Any) -> Record:
    """One result of every kind of claim, and one about numbers."""
    half_line = make.sampled("laplace.monte-carlo", "not refuted", lower=0.75)
    for cell, event in zip(half_line["per_query"], ({"at_least": 0.5}, {"below": -1.25}, {"at_least": 0.0}), strict=True):
        cell["event"] = event
    half_line["witness"]["event"] = {"at_least": 0.5}
    half_line["upper"] = "inf"
    return make.record(  # type: ignore[no-any-return]
        make.of_kind(make.computed("stable.exact", "refuted", loss=0.25), "Stability", 0.125),
        make.of_means(make.sampled("mean.monte-carlo", "not refuted", lower=0.0625, upper=0.5)),
        half_line,
    )


def test_each_kind_is_held_against_its_own_number(kinds: Record) -> None:
    view = make_view(kinds)
    found = {result.id: (result.claim, result.claimed, result.unit) for result in view.results}
    assert found == {
        "stable.exact": ("γ = 0.125", 0.125, "change of a probability"),
        "mean.monte-carlo": ("γ = 0.125", 0.125, "change of the prediction"),
        "laplace.monte-carlo": ("1", 1.0, "loss in nats"),
    }
    assert view.summary is not None
    assert "γ is a change" in view.summary.caption
    assert view.results[0].finding is not None
    assert view.results[0].finding.factor == "2.00 ×"


def test_the_words_fit_the_kind(kinds: Record) -> None:
    text = to_markdown(kinds)
    assert "moves the probability of a label by at most 0.125" in text
    assert "moves the (mean) prediction by at most 0.125" in text
    assert "p1 - p0 = 0.250000" in text
    assert "the mean prediction is 0.75 on S, 0.5 on S'" in text
    assert "≥ 0.5" in text
    assert "&lt; -1.25" in text
    assert "No upper bound" in text


def test_the_plots_name_what_they_measure(kinds: Record) -> None:
    page = to_html(kinds)
    assert "change of a probability" in page
    assert "change of the prediction" in page
    assert page.count("<svg") == 4
