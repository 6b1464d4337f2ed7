"""What a notebook shows of a result."""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from dpassay import DP, Answers, audit
from dpassay.data import Labelled
from dpassay.engine.result import Result
from dpassay.pairs import FlipLabel, Pairs
from dpassay.record.run_record import result_json
from dpassay.reports.run.markdown import to_markdown
from dpassay.reports.run.page.html import to_html

mpl.use("Agg")


def leaky(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    p = 0.9 if data.y.sum() % 2 else 0.1
    return (rng.random((size, len(queries))) < p).astype(int)


def honest(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    p = 1 / (1 + np.exp(-0.5 * (2 * (data.y.sum() % 2) - 1)))
    return (rng.random((size, len(queries))) < p).astype(int)


def broken(*_: Any) -> Any:
    raise ValueError("<b>no</b>")


@cache
def result(function: Any) -> Result:
    data = Labelled(np.arange(12.0).reshape(-1, 1), np.arange(12) % 2)
    pairs = Pairs(base=data, changes=(FlipLabel(0), FlipLabel(3)), how="two")
    how: dict[str, Any] = {"budget": 2000, "executor": "inline", "stop_early": False}
    return audit(function, claim=DP(epsilon=1), pairs=pairs, queries=data.X[:3], **how)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (leaky, ("leaks at least", "claimed ε = 1", "the answer", "went from", "S'")),
        (honest, ("No leak above what", "found", "Not refuted does not mean private")),
        (broken, ("could not be audited", "ValueError")),
    ],
)
def test_a_card_says_what_was_found(function: Any, said: tuple[str, ...]) -> None:
    shown = result(function)._repr_html_()
    assert len(re.findall(r"<(?!/|br\b)", shown)) == shown.count("</")
    text = unescape(re.sub("<[^>]*>", "", shown))
    assert [words for words in said if words not in text] == []
    assert "<b>" not in shown


def test_a_plot_has_a_point_per_query_and_the_claim() -> None:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    assert result(leaky).plot(ax) is ax
    assert np.asarray(ax.collections[-1].get_offsets()).shape == (3, 2)
    assert any(np.asarray(line.get_ydata())[0] == 1 for line in ax.lines)
    assert ax.get_ylabel() == "loss"
    assert {label.get_text() for label in ax.get_xticklabels()} == {"0", "1", "2"}
    (ratios,) = ax.child_axes
    figure.canvas.draw()
    assert ratios.get_ylim() == pytest.approx(np.exp(ax.get_ylim()))
    plt.close(figure)


def test_a_frame_has_the_bounds_of_every_pair_at_every_query() -> None:
    frame = result(leaky).to_frame()
    assert {"pair", "query", "direction", "lower", "upper"} <= set(frame.columns)
    assert set(zip(frame["pair"], frame["query"], strict=True)) == {
        (pair, query) for pair in range(2) for query in range(3)
    }


def loud(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.laplace(scale=0.3, size=size)


NOT_SAID = (
    *("Every query was looked at by itself", "at one of the 1 pair", "screening included"),
    *("Screening trials of every pair", "an enumerated domain", "(searched)."),
    *("Blind elsewhere.", "choose pairs and queries"),
)
"""What is not true of a search, or not English."""
AMONG = "1 true answer, which a change moves by at most 1"


def test_a_search_is_said_to_have_found_the_pair(few_pairs: None, make: Any) -> None:
    few: dict[str, Any] = {"budget": 600, "executor": "inline", "stop_early": False}
    found = audit(loud, claim=DP(epsilon=1.0), data=Answers(1), **few)
    told = repr(found)
    assert "at the pair that a search found (claimed: at most 1)" in told
    assert "inf" not in told
    record = make.record(result_json(found, 0.999), data=None)
    page, text = to_html(record), to_markdown(record)
    assert [each for each in NOT_SAID if each in page or each in text] == []
    for each in (f"pairs that were searched for among {AMONG}", f"Searched among {AMONG}: "):
        assert each in page
    assert "that it began with, " in page
    assert "There may be worse pairs." in page
    for each in (
        "All that one run returns is one output.",
        "that the search began with, would have led the audit to refute the claim",
        "the rounds of the search were rehearsed on drawn counts",
        "The search spends none of α, because none of its trials is in the bound.",
        f"Pairs were searched for among {AMONG}.",
        "search included",
    ):
        assert each in page
        assert each in text.partition("## Reproduce")[2]
