"""Reports of a result whose pair was searched for: what they say is true of a search."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from dpassay import DP, Answers, audit
from dpassay.engine.result import Result
from dpassay.record.run_record import make_record
from dpassay.record.witness_words import in_words
from dpassay.reports.run.comparisons import seen
from dpassay.reports.run.markdown import to_markdown
from dpassay.reports.run.page.html import to_html
from dpassay.reports.run.terminal import print_summary

pytestmark = pytest.mark.usefixtures("few_pairs")


def loud(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.laplace(scale=0.3, size=size)


def quiet(data: Any, rng: np.random.Generator) -> str:
    return "yes" if data[0] + rng.laplace(scale=4.0) > 0 else "no"


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    few: dict[str, Any] = {"budget": 300, "executor": "inline", "data": Answers(1)}
    few |= {"stop_early": False}
    return {each.__name__: audit(each, claim=DP(epsilon=1.0), **few) for each in (loud, quiet)}


@pytest.fixture(scope="module")
def record(results: dict[str, Result]) -> dict[str, Any]:
    facts = {
        "seed": 0,
        "confidence": 0.999,
        "budget": 300,
        "profile": "default",
        "commit": None,
        "command": "dpassay run",
        "catalogue": False,
        "complete": True,
        "data": None,
    }
    return make_record(facts, list(results.values()))


def test_what_was_found_is_a_sentence_without_nested_quotes(record: dict[str, Any]) -> None:
    out = io.StringIO()
    print_summary(record, Console(file=out, width=80))
    text = " ".join(out.getvalue().split())
    assert "of 300 runs before the change, in " in text
    assert "'the answer is" not in text
    assert "choose pairs and queries" not in text


def test_the_first_screen_says_among_what_was_searched(record: dict[str, Any]) -> None:
    page = to_html(record)
    among = "1 true answer, which a change moves by at most 1"
    assert f"pairs that were searched for among {among}" in page
    assert f"Searched among {among}: " in page
    assert "that it began with, " in page
    assert "There may be worse pairs." in page
    assert "Blind elsewhere." not in page


NOT_SAID = (
    "Every query was looked at by itself",
    "at one of the 1 pair",
    "Screening trials of every pair",
    "screening included",
    "an enumerated domain",
    "(searched).",
)
"""What is not true of a search, or not English."""


def test_nothing_is_said_that_is_not_true_of_a_search(record: dict[str, Any]) -> None:
    told = to_markdown(record)
    told = told[told.index("## Reproduce") :]
    assert [each for each in NOT_SAID if each in told] == []
    for each in (
        "All that one run returns is one output.",
        "that the search began with, would have led the audit to refute the claim",
        "the rounds of the search were rehearsed on drawn counts",
        "The search spends none of α, because none of its trials is in the bound.",
        "Pairs were searched for among 1 true answer, which a change moves by at most 1.",
        "search included",
    ):
        assert each in told


def test_the_witness_names_its_true_answers(results: dict[str, Result]) -> None:
    words = in_words(results["loud"])
    assert words.startswith("S: the true answer ")
    assert "A search found the pair, family '" in words


def test_a_card_says_no_infinite_bound(results: dict[str, Result]) -> None:
    told = repr(results["loud"])
    assert "inf" not in told
    assert "at the pair that a search found (claimed: at most 1)" in told


def test_a_baseline_cell_that_was_not_found_again_is_said_to_be_another_pair() -> None:
    limit = {"id": "f", "quantity": "loss", "cells": 0, "of": 1, "before": [0, "inf"]}
    limit |= {"least": "inf", "searched": True}
    assert seen(limit).startswith("f: the search found another pair than the baseline's")
    assert "run `dpassay run` again" in seen(limit | {"searched": False})
