"""The protocol: what is written is one line of JSON, and what is read is what was answered."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.data import Labelled, Values
from dpassay.errors import Failed, InvalidInput
from dpassay.search.values import key_of
from dpassay.targets.foreign.protocol import (
    NOT_FINITE,
    Hello,
    Malformed,
    answers_of,
    hello_of,
    reply_of,
    text_of,
    value_of,
)


def _no_error(value: dict[str, Any]) -> bool:
    return set(value) != {"error"}


TEXTS = st.text().filter(lambda text: text not in NOT_FINITE)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    LEAVES, lambda parts: st.lists(parts) | st.dictionaries(TEXTS, parts).filter(_no_error)
)


@given(VALUES)
def test_what_is_written_is_read_back(value: Any) -> None:
    text = text_of(value)
    assert "\n" not in text
    assert text.isascii()
    json.loads(text, parse_constant=pytest.fail)  # no NaN and no Infinity in it
    (found,) = answers_of(reply_of(f'{{"answers": [{text}]}}'.encode()), 1)
    assert key_of(found) == key_of(value)
    assert repr(found) == repr(_tuples(value))


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    return {k: _tuples(v) for k, v in value.items()} if isinstance(value, dict) else value


def test_what_a_server_does_not_say_is_not_assumed() -> None:
    assert hello_of({}) == Hello(seeded=False, batch=1, queries=False)
    assert hello_of({"error": {"type": "KeyError"}}) == Hello()
    assert hello_of({"batch": 7, "more": 1}).batch == 7


@pytest.mark.parametrize("said", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_have_are_texts(said: float) -> None:
    text = text_of([said])
    assert text in ('["nan"]', '["inf"]', '["-inf"]')
    assert repr(value_of(json.loads(text))) == repr((said,))
    read = reply_of(f'{{"answers": [{json.dumps(said)}]}}'.encode())  # Python's own spelling
    assert repr(answers_of(read, 1)) == repr([said])


NUMBERS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?", fullmatch=True
)
"""Numbers as a program may write them, far out of range too."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.lists(NUMBERS, max_size=5).map(lambda found: f'{{"answers": [{", ".join(found)}]}}'))
def test_numbers_are_read_as_pythons_own_reader_reads_them(line: str) -> None:
    assert repr(reply_of(line.encode())) == repr(json.loads(line))


@given(JSON, st.booleans(), st.integers(0, 99), st.integers(0, 99), st.binary(max_size=3))
def test_any_line_is_read_as_pythons_own_reader_reads_it(
    value: Any, ascii_alone: bool, at: int, cut: int, put: bytes
) -> None:
    """A line as it was written, and one with some bytes replaced."""
    whole = json.dumps({"answers": value}, ensure_ascii=ascii_alone).encode()
    for line in (whole, whole[:at] + put + whole[at + cut :]):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            assert repr(reply_of(line)) == repr(found)
        else:
            with pytest.raises(Malformed):
                reply_of(line)


WRONG = {
    bytes(range(128, 256)) + b"\0": "which is no JSON",
    b"[1, 2]": "which is no JSON object",
    b"[" * 100_000: "which is no JSON",
    b"9" * 10_000: "which is no JSON",
    b'{"answers": [0.0]}': "it gave 1 answers; 3 were asked for",
    b'{"answers": [0, 0, 0, 0]}': "it gave 4 answers; 3 were asked for",
    b'{"answers": 0.5}': "must have a list 'answers'",
    b'{"batch": 0}': "hello: batch = 0; must be an integer >= 1",
    b'{"seeded": 1}': "hello: seeded = 1; must be true or false",
}


@pytest.mark.parametrize(("line", "said"), WRONG.items(), ids=WRONG.values())
def test_what_is_wrong_within_a_line_is_said(line: bytes, said: str) -> None:
    with pytest.raises(Malformed, match=said):
        answers_of(reply_of(line), 3) if b"answers" in line else hello_of(reply_of(line))


def test_a_failed_trial_is_an_answer_known_by_what_it_says() -> None:
    reply = {"answers": [{"error": {"type": "ValueError", "message": "17"}}, 0.5, {"error": None}]}
    assert answers_of(reply, 3) == [Failed("ValueError: 17"), 0.5, Failed("None")]


@dataclass
class Row:
    name: str
    age: float


DATA = [
    (Values(np.array([0.5, 1.0])), "[0.5,1.0]"),
    (Labelled(np.array([[0.5, 1.0]]), np.array([1])), '{"X":[[0.5,1.0]],"y":[1]}'),
    (np.array([[1, 2], [3, 4]]), "[[1,2],[3,4]]"),
    ([np.float64(math.inf), np.int64(3), np.bool_(True)], '["inf",3,true]'),
    ((1, "é", None), '[1,"\\u00e9",null]'),
    ([Row("a", math.nan)], '[{"name":"a","age":"nan"}]'),
    ({"a": (1,)}, '{"a":[1]}'),
]


@pytest.mark.parametrize(("data", "text"), DATA, ids=[text for _, text in DATA])
def test_data_have_a_json_form(data: Any, text: str) -> None:
    assert text_of(data) == text


@pytest.mark.parametrize("data", [{1: 2}, {1, 2}, object(), b"a", [1j], Row])
def test_data_without_one_are_refused(data: Any) -> None:
    with pytest.raises(InvalidInput, match="has no JSON form"):
        text_of(data)
