"""Patterns: what they hold in, how they read, and that they are read back."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.errors import InvalidInput
from dpassay.search.features import CODED, SINGLE, Feature
from dpassay.search.outputs import Encoder, encoder_from_json
from dpassay.search.patterns import Pattern, pattern_from_json
from dpassay.search.rules import AT_LEAST, BELOW, OneOf, ScoreCurve, ScoreRule, Threshold
from dpassay.search.values import ABSENT, NAN, NUMBER, Key

TOP, BOTTOM = "⊤", "⊥"


def places(*tables: tuple[Key, ...]) -> Encoder:
    """Return an encoder of the values in the first places, then the numbers in them."""
    values = [Feature("value", place, table) for place, table in enumerate(tables)]
    numbers = [Feature("number", place) for place in range(len(tables))]
    return Encoder((*values, *numbers), parts=True)


SYMBOLS = (TOP, BOTTOM, NUMBER)
THREE = places(SYMBOLS, SYMBOLS, SYMBOLS)
CURVES = (ScoreCurve(3, (0.0, 2.0), (-1.0, 1.0)), ScoreCurve(1, (0.0, 1.0), (0.5, 0.0)))
SCORE = Pattern(THREE, ScoreRule(CURVES, BELOW, 0.25, "x"))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ((OneOf(0, (0,)), OneOf(1, (0,)), Threshold(5, BELOW, 3.2)),
         "the first two answers are ⊤ and answer 3 is below 3.2"),
        ((Threshold(3, AT_LEAST, 1.0), OneOf(1, (1,))), "answer 1 is at least 1 and answer 2 is ⊥"),
        ((OneOf(0, (2,)),), "answer 1 is another number"),
        ((OneOf(0, (3,)),), "answer 1 is neither ⊤, ⊥ nor another number"),
        ((OneOf(0, (0, 3)),), "answer 1 is neither ⊥ nor another number"),
        ((OneOf(0, (0, 2, 3)),), "answer 1 is not ⊥"),
        ((OneOf(0, (0, 1)),), "answer 1 is either ⊤ or ⊥"),
        ((OneOf(0, (0, 1, 2, 3)),), "answer 1 is anything"),
        ((Threshold(3, BELOW, 2.0), Threshold(3, AT_LEAST, 1.5)),
         "answer 1 is at least 1.5 and below 2"),
        (SCORE.rule, "a learned score of answer 1 and answer 2 is below 0.25"),
    ],
)  # fmt: skip
def test_words(rule: Any, words: str) -> None:
    assert Pattern(THREE, rule).words == words


def test_many_values_are_counted() -> None:
    encoder = Encoder((Feature("value", SINGLE, tuple("abcdefghij")),), parts=False)
    assert Pattern(encoder, (OneOf(0, tuple(range(9))),)).words == (
        "the answer is one of 9 values ('a', 'b', 'c', ...)"
    )
    assert Pattern(encoder, (OneOf(0, (0, 1, 10)),)).words == (
        "the answer is none of 8 values ('c', 'd', 'e', ...)"
    )


def test_each_condition_holds_where_it_says() -> None:
    draws = [(TOP, TOP, 3.0), (TOP, TOP, 3.2), (TOP, BOTTOM, 1.0), (TOP, TOP, TOP), (TOP,), 7]
    rule = (OneOf(0, (0,)), OneOf(1, (0,)), Threshold(5, BELOW, 3.2))
    assert Pattern(THREE, rule).holds(draws).tolist() == [True, *[False] * 5]
    assert Pattern(THREE, rule[:2]).holds(draws).tolist() == [True, True, False, True, False, False]
    number = Pattern(THREE, (OneOf(0, (2,)),))
    assert number.holds(draws).tolist() == [*[False] * 5, True]


def test_what_has_no_number_is_on_neither_side_of_a_threshold() -> None:
    encoder = Encoder((Feature("number", SINGLE),), parts=False)
    for draws in (np.array([0.0, math.nan, 2.0]), [0, "x", 2]):
        low = Pattern(encoder, (Threshold(0, BELOW, 1.0),)).holds(draws)
        high = Pattern(encoder, (Threshold(0, AT_LEAST, 1.0),)).holds(draws)
        assert low.tolist() == [True, False, False]
        assert high.tolist() == [False, False, True]


def test_a_score_is_the_sum_of_its_curves() -> None:
    draws = [(1.5, BOTTOM), (1.5, TOP), (9.0, TOP), ("x", TOP)]
    # 0.5 + 0, 0.5 + 0.5, 1 + 0.5, nothing + 0.5
    for at, expected in ((0.6, [1, 0, 0, 1]), (0.5, [0, 0, 0, 0]), (1.25, [1, 1, 0, 1])):
        score = ScoreRule(CURVES, BELOW, at, "x")
        assert Pattern(THREE, score).holds(draws).astype(int).tolist() == expected


@pytest.mark.parametrize("kind", ["bool", "int8", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("at", [-(2.0**70), -1.0, 0.0, 0.1, 0.5, 1.0, 1.5, 3.0, 254.5, 2.0**70])
def test_what_is_fast_is_what_features_say(kind: str, at: float) -> None:
    draws = np.array([0, 1, 1, 3, 2, 0.1, 100]).astype(kind)
    tables = [(at,), (1,), (0, at), (NAN, 1), (0, 1, 2, 3, 100, at), tuple(range(300, 310))]
    tables = [tuple(dict.fromkeys(table)) for table in tables]
    looks = [Feature("number", SINGLE), *(Feature("value", SINGLE, table) for table in tables)]
    twice = np.stack([draws, draws], axis=1)
    for j, look in enumerate(looks):
        encoder = Encoder(tuple(looks), parts=False)
        column = encoder.features(draws)[:, j]
        rules = (
            [OneOf(j, tuple(range(look.codes - 1))), OneOf(j, (look.codes - 1,))]
            if look.coded
            else [Threshold(j, side, at) for side in (BELOW, AT_LEAST)]
        )
        for rule in rules:
            found = Pattern(encoder, (rule,)).holds(draws)
            assert found.dtype == bool
            assert found.tolist() == rule.of(column).tolist()
            plain = [float(value) for value in draws]
            if isinstance(rule, Threshold):
                twin = [(v < at) if rule.side == BELOW else (v >= at) for v in plain]
            else:
                inside = [any(v == key for key in look.table) for v in plain]
                twin = inside if rule.codes[0] == 0 else [not hit for hit in inside]
            assert found.tolist() == twin
    both = Encoder((Feature("whole", 0, ((at, at), (1, 1))),), parts=True)
    twin = [float(v) in {at, 1.0} for v in draws]
    assert Pattern(both, (OneOf(0, (0, 1)),)).holds(twice).tolist() == twin


@st.composite
def patterns(draw: Any) -> Pattern:
    values = st.sampled_from([0, 1, 2.5, TOP, None, NAN, ABSENT, NUMBER, math.inf, (1, TOP)])
    tables = st.lists(values, min_size=1, max_size=4, unique=True).map(tuple)
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    kinds = ["number", "value", "whole", "length", "change", "sum", "top", "distance", "bit"]
    looks = [
        Feature(kind, place if kind in {"number", "value", "distance", "bit"} else 0)
        for kind, place in draw(
            st.lists(st.tuples(st.sampled_from(kinds), st.integers(-1, 3)), min_size=1, max_size=3)
        )
    ]
    looks = [
        Feature(look.kind, look.place, draw(tables)) if look.kind in CODED
        else Feature("distance", look.place, (), draw(numbers)) if look.kind == "distance"
        else look
        for look in looks
    ]  # fmt: skip
    encoder = Encoder(tuple(looks), draw(st.booleans()))
    side = st.sampled_from([AT_LEAST, BELOW])
    if draw(st.booleans()):
        curves = []
        for j in range(len(looks)):
            knots = sorted(draw(st.sets(numbers, min_size=1, max_size=4)))
            heights = draw(st.lists(numbers, min_size=len(knots), max_size=len(knots)))
            curves.append(ScoreCurve(j, tuple(knots), tuple(heights)))
        return Pattern(encoder, ScoreRule(tuple(curves), draw(side), draw(numbers), "spline"))
    rule: list[Threshold | OneOf] = []
    for j, look in enumerate(looks):
        if look.coded:
            codes = draw(st.sets(st.integers(0, look.codes - 1), min_size=1))
            rule.append(OneOf(j, tuple(sorted(codes))))
        else:
            rule.append(Threshold(j, draw(side), draw(numbers)))
    return Pattern(encoder, tuple(rule))


DRAWS = [TOP, None, 0, 1.0, 2.5, (1, TOP), (1,), (0, 2.5, None), math.nan, math.inf, 10**400]


@given(patterns())
@settings(max_examples=60, deadline=None)
def test_a_pattern_is_read_back(pattern: Pattern) -> None:
    again = pattern_from_json(json.loads(json.dumps(pattern.as_json(), allow_nan=False)))
    assert again == pattern
    assert again.words == pattern.words
    with np.errstate(over="ignore", invalid="ignore"):
        assert again.holds(DRAWS).tolist() == pattern.holds(DRAWS).tolist()


def spots(facts: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return every place in a document."""
    inner = (
        facts.items() if isinstance(facts, dict)
        else enumerate(facts) if isinstance(facts, list) else ()
    )  # fmt: skip
    return [path] * bool(path) + [s for key, each in inner for s in spots(each, (*path, key))]


PUT: list[Any] = [
    None, True, -1, 0, 7, 1.5, math.nan, math.inf, 10**400, "x", "__class__", [], {}, [[]], [-1],
]  # fmt: skip


@pytest.mark.parametrize(
    "pattern",
    [SCORE, Pattern(THREE, (OneOf(0, (0,)), Threshold(5, BELOW, 3.2)))],
    ids=["score", "conditions"],
)
def test_what_is_no_pattern_is_refused_in_one_line(pattern: Pattern) -> None:
    good = pattern.as_json()
    lines = []
    for spot in spots(good):
        for put in PUT:
            facts = copy.deepcopy(good)
            inner = facts
            for key in spot[:-1]:
                inner = inner[key]
            inner[spot[-1]] = put
            try:
                read = pattern_from_json(facts)
            except InvalidInput as error:
                lines.append(str(error))
            else:
                read.holds(DRAWS)
                assert read.words
    assert len(lines) > 100
    assert not any("\n" in line for line in lines)
    worse: list[Any] = [None, [], "pattern", {}, {"encoder": good["encoder"], "all": []}]
    for bad in worse:
        with pytest.raises(InvalidInput):
            pattern_from_json(bad)
    with pytest.raises(InvalidInput):
        encoder_from_json({"parts": True, "nested": False, "features": [{"kind": "sum"}] * 1000})


@pytest.mark.parametrize("codes", [[1, 0], [0, 0], [4], [-1], [True], [0.0], [], None, "0"])
def test_codes_are_ascending_and_known(codes: Any) -> None:
    facts = Pattern(THREE, (OneOf(0, (0, 1)),)).as_json()
    facts["all"][0]["codes"] = codes
    with pytest.raises(InvalidInput, match="codes"):
        pattern_from_json(facts)


def test_curves_need_ascending_knots() -> None:
    facts = SCORE.as_json()
    facts["score"]["curves"][0]["knots"] = [2.0, 0.0]
    with pytest.raises(InvalidInput, match="knots"):
        pattern_from_json(facts)
