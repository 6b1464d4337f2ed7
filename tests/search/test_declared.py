"""Declared outputs: what is looked at follows the declaration, and nothing else may come back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dpassay.errors import InvalidInput, TargetError
from dpassay.search.declared import KINDS, Output, output_from_json, output_of
from dpassay.search.outputs import encoder_from_json, fit_encoder
from dpassay.search.values import NUMBER
from dpassay.targets.answer_set import as_draws

NUMBERS = np.array([1.5, 2.0, 2.0])
ROWS = np.array([[1.0, 2.0], [3.0, 4.0]])


def objects(*values: Any) -> Any:
    return as_draws(list(values), len(values), 0, "here")


FITTING: dict[str, list[Any]] = {
    "label": [NUMBERS, ROWS, objects("a", None), objects((1, "x"), ()), objects({"a": 1})],
    "number": [NUMBERS, NUMBERS[:, None], np.array([True]), objects(1, 2.5, float("nan"), 10**400)],
    "vector": [ROWS, objects((1, 2.0), ()), objects([1.0], [2.0, 3])],
    "sequence": [ROWS, objects((), ("a", None, 2))],
    "text": [objects("a", "b" * 500), np.array(["x", "yy"])],
}
MISFITS: dict[str, list[tuple[Any, str]]] = {
    "number": [
        (objects(1, "no"), "returned 'no' in run 1; must be a number"),
        (objects(None), "returned None in run 0"),
        (ROWS, r"returned \(1, 2\) in run 0"),
    ],
    "vector": [
        (NUMBERS, "returned 1.5 in run 0; must be a sequence of numbers"),
        (objects((1, 2), (1, "x")), r"returned \(1, 'x'\) in run 1"),
        (objects("12"), "returned '12' in run 0"),
    ],
    "sequence": [
        (NUMBERS, "returned 1.5 in run 0; must be a tuple, list or array"),
        (objects((1,), "abc"), "returned 'abc' in run 1"),
    ],
    "text": [
        (objects("a", 1), "returned 1 in run 1; must be a text"),
        (objects("a", b"a"), "returned an object of type builtins.bytes \\w+ in run 1"),
        (NUMBERS, "returned 1.5 in run 0"),
    ],
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_declared_passes(kind: str) -> None:
    for draws in FITTING[kind]:
        Output(kind=kind).check(draws, "here", by_query=False)


@pytest.mark.parametrize("kind", MISFITS)
def test_what_is_not_declared_is_named_with_its_run(kind: str) -> None:
    for draws, told in MISFITS[kind]:
        with pytest.raises(
            TargetError, match=f"^output = '{kind}': sample on here {told}"
        ) as found:
            Output(kind=kind).check(draws, "here", by_query=False)
        assert found.value.fatal
        assert "\n" not in str(found.value)


VALUES: list[tuple[Any, Any, int | None]] = [
    (["yes", "no"], objects("no", "yes"), None),
    (["yes", "no"], objects("no", "No"), 1),
    ([0, 1], np.array([1, 0, 1]), None),
    ([0, 1], np.array([1.0, 0.5]), 1),
    ([0, 1, None], objects(1, None, True), None),
    ([0.5, float("nan")], np.array([np.nan, 0.5]), None),
    (range(3), np.array([2, 3]), 1),
    ([(0, 1), (1, 0)], np.array([[0, 1], [1, 0], [1, 1]]), 2),
    ([(0,), (0, 1)], objects((0,), [0, 1], (1,)), 2),
    (np.array([0, 5]), np.array([5, 0], dtype=np.uint8), None),
    ({"b", "a"}, objects("a", "c"), 1),
]


@pytest.mark.parametrize("place", range(len(VALUES)))
def test_a_list_of_values_allows_these_alone(place: int) -> None:
    given, draws, stranger = VALUES[place]
    output = output_of(given)
    assert output is not None
    if stranger is None:
        output.check(draws, "here", by_query=False)
        return
    with pytest.raises(TargetError, match=f"in run {stranger}; must be one of "):
        output.check(draws, "here", by_query=False)


def test_at_queries_each_answer_is_held_against_it() -> None:
    answers = as_draws([("yes", "no"), ("no", "maybe")], 2, 2, "here")
    output = Output(kind="values", values=("yes", "no"))
    with pytest.raises(TargetError, match=r"returned 'maybe' in run 1 at query 1; must be one of"):
        output.check(answers, "here", by_query=True)
    with pytest.raises(TargetError, match=r"returned 'yes' in run 0 at query 0; must be a number"):
        Output(kind="number").check(answers, "here", by_query=True)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("lable", "output = 'lable': must be label, number, .*; did you mean 'label'"),
        ("", "output = '': must be label"),
        (5, "output = 5: must be label"),
        ({"a": 1}, "output = {'a': 1}: must be label"),
        ([1, True, 1.0], r"output = \[1, True, 1.0\]: must be label.*; all are alike"),
        ([], r"output = \[\]: must be label"),
        (range(257), "output: has 257 values; must be at most 256; did you mean 'number'"),
        ([f"u{k}" for k in range(257)], "output: has 257 values; .* did you mean 'label'"),
    ],
)
def test_no_declaration(given: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{told}"):
        output_of(given)


def test_sets_are_declared_in_one_order() -> None:
    words = [f"word {k}" for k in range(20)]
    assert output_of(set(words)) == output_of(frozenset(reversed(words)))


@pytest.mark.parametrize(
    "given", [*KINDS, None, ["yes", None, 1.5], [float("inf"), float("nan")], [(1, "a"), "b" * 300]]
)
def test_json_reads_back_what_was_written(given: Any) -> None:
    output = output_of(given)
    facts = None if output is None else json.loads(json.dumps(output.as_json()))
    assert output_from_json(facts) == output


@pytest.mark.parametrize("facts", ["lable", 3, ["a"], ["a", "a"], [{"special": "x"}, 1], {"a": 1}])
def test_other_json_is_refused(facts: Any) -> None:
    with pytest.raises(InvalidInput):
        output_from_json(facts)


CODES = np.tile([7001, 7002, 7003, 9000], 30)


def kinds_of(pilot: Any, output: Any, **how: Any) -> list[tuple[str, int | str]]:
    encoder = fit_encoder([pilot], output=output_of(output), **how)
    assert encoder_from_json(json.loads(json.dumps(encoder.as_json()))) == encoder
    return [(look.kind, look.place) for look in encoder.looks]


def test_labels_that_look_like_numbers_are_not_read_as_numbers() -> None:
    assert ("number", -1) in kinds_of(CODES, None)
    assert kinds_of(CODES, "label") == [("value", -1)]
    encoder = fit_encoder([np.arange(40)], output=output_of("label"))
    table = encoder.looks[0].table
    assert NUMBER not in table
    assert set(table) == set(range(40))  # seen once each


def test_numbers_are_read_as_numbers_whatever_the_pilot_shows() -> None:
    same = np.zeros(50)
    assert ("number", -1) not in kinds_of(same, None)
    assert ("number", -1) in kinds_of(same, "number")
    drawn = np.array([0.0, 3.5, np.nan])
    features = fit_encoder([same], output=output_of("number")).features(drawn)
    assert features[1, 0] == 3.5


def test_values_that_no_pilot_shows_have_codes_of_their_own() -> None:
    values = ["yes", "no", "error", "timeout"]
    encoder = fit_encoder([objects(*["yes", "no"] * 20)], output=output_of(values))
    assert encoder.looks[0].table == tuple(values)
    found = encoder.features(objects("timeout", "yes", "error"))
    assert found[:, 0].tolist() == [3.0, 0.0, 2.0]
    shown = fit_encoder([objects(*["yes", "no"] * 20)])
    assert len(set(shown.features(objects("timeout", "error"))[:, 0])) == 1


def test_vectors_are_read_number_by_number() -> None:
    pilot = np.zeros((50, 3))
    assert not {("number", k) for k in range(3)} & set(kinds_of(pilot, None))
    assert {("number", k) for k in range(3)} <= set(kinds_of(pilot, "vector"))
    assert kinds_of(pilot, "label") == [("value", -1)]


def test_sequences_have_a_length_and_places() -> None:
    pilot = objects(*[("a", "b"), ("b", "a")] * 20)
    assert ("length", 0) not in kinds_of(pilot, None)
    found = fit_encoder([pilot], output=output_of("sequence"))
    assert found.parts
    assert ("length", 0) in kinds_of(pilot, "sequence")


def test_texts_have_a_length_and_a_number() -> None:
    pilot = objects(*["id 1", "id 2"] * 20)
    assert kinds_of(pilot, None) == [("value", -1), ("form", 0)]
    looks = [("spelled", -1), ("letters", -1), ("value", -1), ("form", 0)]
    assert kinds_of(pilot, "text") == looks


def test_nothing_of_an_encoder_changes_where_nothing_is_declared() -> None:
    pilot = [np.random.default_rng(3).normal(size=(200, 2)), CODES[:, None] * [1, 1]]
    assert fit_encoder(pilot) == fit_encoder(pilot, output=None)
