"""What a report says of answers: coded ones in words, and what of a release was looked at."""

from __future__ import annotations

import math
from typing import Any

import jsonschema
import pytest

from dpassay.engine.evidence import HalfLine
from dpassay.record.schemas import read_schema
from dpassay.record.witness_words import in_words
from dpassay.reports.run.view import make_view
from dpassay.reports.run.words import event_words
from tests.reports.sentences.told import Record, computed, computed_record, only


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("interface", {"base": "soft-majority,r=3"}, "the answer 7 (the transcript 1, 1, 1) has"),
        ("example61-noisy-max", {"n": 20}, "the answer 3 (t_1 >= 1, t_2 >= 1) has"),
        ("example61-exponential", {"n": 20}, "the answer 1 (i* = 1, t_1 >= 1, t_2 < 0) has"),
        ("distance-to-instability", {}, "(2 is bottom, no label) has"),
        ("algorithm-3-hinge-loss", {}, "The answer 4 (1 <= <w, u> < 1.001) has"),
    ],
)
def test_a_coded_answer_is_told_in_words(name: str, given: Record, said: str) -> None:
    assert said in in_words(next(iter(computed(name, **given))))


@pytest.mark.parametrize("name", ["example61-noisy-max", "example61-exponential"])
def test_what_of_the_release_was_looked_at(name: str) -> None:
    result = next(iter(computed(name, n=20)))
    assert (
        "for each t_i whether it is at least a threshold (0 or 1)) at the audited cells is"
        in result.outcome.reason
    )
    assert result.outcome.reason.endswith("; that of the whole release may be larger")
    alone = next(iter(computed(name, n=20, release="index")))
    assert "looked at" not in alone.outcome.reason


def test_predictions_are_no_probabilities(make: Any) -> None:
    value = make.of_kind(make.computed("a", "not refuted", 0.1), "PredictionStability", 0.5)
    for cell in value["per_query"]:
        cell["event"] = []
    sampled = make.of_means(make.sampled("b", "not refuted"))
    for result, title in ((value, "value, one side"), (sampled, "mean, one side")):
        table = only(make.record(result)).query_table
        assert title in table.columns
        assert not {"p1", "p0", "event", "in event, one side"} & set(table.columns)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("histogram", "2 (n~_i >= n - m, no other n~_j > 0)"),
        ("objective-perturbation", " <= <w, u> < "),
    ],
)
def test_answers_are_read_in_tables_too(name: str, words: str) -> None:
    record = computed_record(name)
    jsonschema.validate(record, read_schema("record"))
    privacy = next(each for each in make_view(record).results if each.unit == "loss in nats")
    table = privacy.query_table
    assert words in " ".join(row[table.columns.index("event")] for row in table.rows)


def test_a_half_line_ends_at_the_number_before_its_threshold(make: Any) -> None:
    assert event_words({"below": math.nextafter(0.0, 1.0)}) == "≤ 0"
    assert event_words({"below": math.nextafter(2.5, 3.0)}) == "≤ 2.5"
    assert [event_words({kind: 2.5}) for kind in ("below", "at_least")] == ["< 2.5", "≥ 2.5"]
    assert str(HalfLine(threshold=math.nextafter(0.0, 1.0), above=False)) == "≤ 0"
