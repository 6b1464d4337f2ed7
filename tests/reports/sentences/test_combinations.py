"""Sentences of every format over relation, source of data, kind of answer, verdict and mode."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any

import pytest

from benchmarks.sentences import COMBINATIONS, FORMATS, QUIET, Combination, sentences
from dpassay.reports.run.page import plots
from dpassay.reports.run.view import make_view
from tests.cli.conftest import without_pictures
from tests.warm import shorten

FORBIDDEN = {
    "a key as prose": r"\b(?:replacing|up to) (?:add-remove|zero-out|replace-|answers-|own\b)",
    "no value": r"\bNone\b|\bnan\b|\{\}|\[\]",
    "one of many": r"\b1 (?:pairs|claims|records|queries|cells|families)\b|each of 1\b|the 1 \w",
    "nothing said": r"at most ∞|≤ ∞ at|no data|: \.|  |(?<![\d.])\.\.(?![\d.])|;\.|, \.",
    "said twice": r"\b([a-zA-Z]+) \1\b(?!\.)|declared by the user \(",
    "a key of the record": r"\b(?:monte_carlo|per_query|any_size|looked_at|certified_cells)\b",
    "an own query": r"\bquery own\b",
}
"""What no sentence has."""


@pytest.fixture(
    scope="module", params=COMBINATIONS, ids=lambda each: "-".join(map(str, vars(each).values()))
)
def record(request: pytest.FixtureRequest) -> tuple[Combination, dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch.setattr)
        return request.param, request.param.record()


def test_no_sentence_is_bad(record: tuple[Combination, dict[str, Any]]) -> None:
    """Words below pictures are those of the same combination where nothing is hidden."""
    each, made = record
    result = made["results"][0]
    names = (result["id"], result["mechanism"], made["run"]["command"])
    named = re.compile("|".join(map(re.escape, names)))  # what the user named may be anything
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "svg", lambda *_, **__: "")  # of a picture no word is looked at
        with without_pictures() if each.scale == QUIET else nullcontext():
            told = [said for kind in FORMATS for said in sentences(made, kind)]
    for said in told:
        plain = named.sub("X", said)
        for what, pattern in FORBIDDEN.items():
            assert not re.search(pattern, plain), f"{what}: {said}"


def test_every_paragraph_ends_with_a_full_stop(record: tuple[Combination, dict[str, Any]]) -> None:
    """And begins with a capital, or with the name of a method or of the mechanism."""
    _, made = record
    view = make_view(made)
    names = (made["results"][0]["mechanism"], "sample on", "prepare on")
    texts = [text for part in view.results[0].parts for text in part.texts]
    for text in filter(None, (*texts, *view.notes, view.caveat_detail, *view.findings_words)):
        assert re.search(r"[.:]$", text), text
        assert text[0].isupper() or not text[0].isalpha() or text.startswith(names), text


def test_what_was_looked_at_is_what_was_given(record: tuple[Combination, dict[str, Any]]) -> None:
    each, made = record
    told = {
        "pairs": "pairs that were given",
        "law": "an enumerated domain" if each.mode == "exhaustive" else "own worst cases",
    }.get(each.source, "pairs that were searched for among ")
    told = "nothing was looked at" if made["results"][0]["verdict"] == "error" else told
    assert told in dict(make_view(made).facts)["data"]


def test_the_two_datasets_are_shown_where_a_search_refutes(
    record: tuple[Combination, dict[str, Any]],
) -> None:
    each, made = record
    result = made["results"][0]
    searched = "search" in (result["searched"] or {})
    shown = [said for said in sentences(made, "terminal") if re.match(r"S: .* S': ", said)]
    assert len(shown) == (searched and result["verdict"] == "refuted")
    found = each.result().to_frame()
    assert ("S" in found) == bool(shown)
