"""Claims about stability, half-lines and means, in every format."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from dpassay.reports.run.markdown import to_markdown
from dpassay.reports.run.page.html import to_html
from dpassay.reports.run.terminal import print_explanation
from dpassay.reports.run.view import make_view

Record = dict[str, Any]


@pytest.fixture
def kinds(make: Any) -> Record:
    """One result of every kind of claim, and one about numbers."""
    half_line = make.sampled("laplace.monte-carlo", "not refuted", lower=0.75)
    events = ({"at_least": 0.5}, {"below": -1.25}, {"at_least": 0.0})
    for cell, event in zip(half_line["per_query"], events, strict=True):
        cell["event"] = event
    half_line["witness"]["event"] = {"at_least": 0.5}
    return make.record(  # type: ignore[no-any-return]
        make.of_kind(make.computed("stable.exact", "refuted", loss=0.25), "Stability", 0.125),
        make.of_means(make.sampled("mean.monte-carlo", "not refuted", lower=0.0625, upper=0.5)),
        half_line,
    )


def test_each_kind_is_held_against_its_own_number(kinds: Record) -> None:
    view = make_view(kinds)
    found = {result.id: (result.claim, result.promised, result.unit) for result in view.results}
    assert found == {
        "stable.exact": ("γ = 0.125", 0.125, "change of a probability"),
        "mean.monte-carlo": ("γ = 0.125", 0.125, "change of the prediction"),
        "laplace.monte-carlo": ("1", 1.0, "loss in nats"),
    }
    assert view.summary is not None
    assert "γ is a change" in view.summary.caption
    assert view.results[0].finding is not None
    assert view.results[0].finding.factor == "≥ 2.00 ×"  # of the audited cells


def test_the_words_fit_the_kind(kinds: Record) -> None:
    text = to_markdown(kinds)
    assert "changes the probability of any label by at most 0.125" in text
    assert "changes the (mean) prediction by at most 0.125" in text
    assert "p1 - p0 = 0.250000" in text
    assert "the mean prediction is 0.75 on S, 0.5 on S'" in text
    assert "≥ 0.5" in text
    assert "&lt; -1.25" in text
    assert "has no finite upper bound" in text


def test_the_words_fit_the_relation(kinds: Record) -> None:
    for result in kinds["results"]:
        result["claim"]["relation"] = "replace-3"
    text = to_markdown(kinds)
    assert text.count(", replace-3: replacing up to 3 records ") == len(kinds["results"])
    assert text.count(": replacing ") == len(kinds["results"])


def test_nothing_but_a_loss_is_in_nats(kinds: Record) -> None:
    stable = kinds | {"results": kinds["results"][:1]}
    console = Console(record=True, width=200, file=io.StringIO())
    print_explanation(stable, "stable.exact", console)
    assert "Query points with the largest change of a probability" in console.export_text()
    summary = make_view(stable).summary
    assert summary is not None
    assert summary.caption == "Every claim, worst first. γ is a change of a probability."
    for text in (to_markdown(stable), to_html(stable)):
        assert "nats." not in text
        assert "loss exceeds" not in text
    page = to_html(kinds)
    assert "<p>Losses in nats; γ is a change" in page
    assert "change of a probability" in page
    assert "change of the prediction" in page
    assert page.count("<svg") == 5


@pytest.mark.parametrize(
    ("width", "alpha", "said"),
    [(0.0, 0.0, "is 0.0625; the"), (0.125, 1e-4, "is between 0.0625 and 0.1875 (the")],
)
def test_the_profile_of_the_worst_query_is_told_and_drawn(
    make: Any, width: float, alpha: float, said: str
) -> None:
    profile: Record = {"epsilon": [0.0, 1.0, 3.0], "false_positive": [0.0, 0.0625, 1.0]}
    profile |= {"lower": [0.25, 0.0625, 0.0], "trade_off_lower": [0.75, 0.5, 0.0], "alpha": alpha}
    profile["upper"] = [each + width for each in profile["lower"]]
    profile["trade_off_upper"] = [0.75 + width, 0.5 + width, 0.0]
    result = make.sampled("band.monte-carlo", "refuted")
    result["per_query"][0]["profile"] = profile
    text = to_markdown(make.record(result))
    assert f"δ(1) {said}" in text
    assert ("wrong with probability at most 0.0001" in text) == (alpha > 0)
    assert "a false positive rate of 0.0625, " in text
    if width:
        page = to_html(make.record(result))
        assert page.count("<svg") == 4
        assert "Trade-off function" in page
