"""An exception is an answer: it leaks where one side raises it more often than the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay import Answers, Labelled, Scalars
from dpassay.engine.result import Result
from dpassay.errors import Failed
from dpassay.mechanism.function import FunctionMechanism
from dpassay.record.replay import replay
from dpassay.record.witness import make_witness
from dpassay.record.witness_words import in_words
from dpassay.search.values import key_from_json, key_of, key_to_json, key_words
from tests.engine.recorded import evidence_of, hunted

pytestmark = pytest.mark.usefixtures("few_pairs")

PEOPLE = Labelled(np.arange(8.0)[:, None], np.array([0, 1] * 4))


def all_equal(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Some pairs show it, and no answer tells anything."""
    if (data == data[0]).all():
        raise ValueError("all equal")
    return rng.laplace(size=size)


def now_and_then(data: Any, rng: np.random.Generator) -> Any:
    """A run in twenty, on one side: no pilot of 20 runs must show it."""
    if data[0] > 0.5 and rng.random() < 0.05:
        raise KeyError("x")
    return float(rng.laplace())


def in_a_batch(data: Any, size: int, rng: np.random.Generator) -> Any:
    """A batch fails as a whole, though one run in it did."""
    found = rng.laplace(size=(size, 2))
    if data.max() > 0.9 and (rng.random(size) < 0.2).any():
        raise ZeroDivisionError
    return found


def one_class(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    """As many classifiers do."""
    if len(set(data.y)) < 2:
        raise RuntimeError("one class")
    return rng.random((size, len(queries))) < 0.5


def failed(result: Result) -> int:
    """Return how many pairs were passed over, since the function failed on them."""
    return sum(each["failed"] for each in evidence_of(result).searched["search"])


LEAKS: dict[str, tuple[Any, Any]] = {
    "all equal": (all_equal, Scalars(0, 1, size=4)),
    "now and then": (now_and_then, Scalars(0, 1, size=3)),
    "one class": (one_class, PEOPLE),
}


@pytest.mark.parametrize("name", LEAKS)
def test_an_exception_on_one_side_is_a_leak(name: str) -> None:
    function, data = LEAKS[name]
    result = hunted(function, data)
    assert result.verdict == "refuted"
    told = in_words(result)
    assert "exception" in told or "either " in told  # all but an exception
    assert failed(result) == 0
    witness = json.loads(json.dumps(make_witness(result)))
    again = replay(witness, target=result.target)
    assert again.reproduced
    assert again.refuted


def test_a_call_that_fails_in_some_of_its_runs_is_no_answer() -> None:
    """Redrawn run by run, such calls alone would show fewer failures than there are."""
    result = hunted(in_a_batch, Scalars(0, 1, size=3))
    assert result.verdict != "refuted"
    assert result.evidence is None or failed(result)


@pytest.mark.parametrize(
    ("toss", "seeded", "calls"),
    [
        (lambda rng: None, True, 9),
        (lambda rng: None, False, 101),
        (lambda rng: rng.random(), True, 101),
        (lambda rng: rng.spawn(1), True, 101),
    ],
)
def test_a_few_runs_show_an_exception_that_no_coin_decides_on(
    toss: Callable[[Any], Any], seeded: bool, calls: int
) -> None:
    made: list[int] = []

    def function(data: Any, size: int, rng: np.random.Generator) -> Any:
        made.append(size)
        toss(rng)
        raise ValueError("no records")

    takes = ("data", "size", "rng")
    one = FunctionMechanism(function=function, claims=(), takes=takes, free=True, seeded=seeded)
    answers = one.sample(None, np.empty((1, 0)), 100, np.random.default_rng(0))
    assert answers == [Failed.of(ValueError("no records"))] * 100
    assert len(made) == calls


@pytest.mark.slow
def test_the_same_in_processes() -> None:
    space = Scalars(0, 1, size=3)
    here, apart = hunted(now_and_then, space), hunted(now_and_then, space, executor=None)
    assert make_witness(here) == make_witness(apart)


def test_an_exception_as_likely_on_both_sides_is_none() -> None:
    def moody(data: Any, rng: np.random.Generator) -> Any:
        if rng.random() < 0.3:
            raise ValueError("bad mood")
        return "fine"

    assert hunted(moody, Scalars(0, 1, size=2)).verdict != "refuted"


@pytest.mark.slow
def test_randomised_response_by_exceptions_leaks_what_it_may() -> None:
    def response(data: Any, rng: np.random.Generator) -> Any:
        if rng.random() < (0.75 if data[0] > 0.5 else 0.25):
            raise ValueError("yes")
        return "no"

    assert hunted(response, Scalars(0, 1, size=1), epsilon=1.2).verdict != "refuted"
    assert hunted(response, Scalars(0, 1, size=1), epsilon=0.5).verdict == "refuted"


def always(data: Any, size: int, rng: np.random.Generator) -> Any:
    raise KeyError("no such column")


def test_what_always_fails_is_an_error() -> None:
    result = hunted(always, Answers(2))
    assert result.verdict == "error"
    assert "KeyError in every run" in result.outcome.reason
    assert "no such column" in result.outcome.detail


def test_what_always_fails_on_the_data_given_is_an_error() -> None:
    def few(data: Any, size: int, rng: np.random.Generator) -> Any:
        return always(data, size, rng) if len(data) > 2 else rng.laplace(size=size)

    result = hunted(few, Scalars(0, 1, values=[0, 0.5, 1]))
    assert result.verdict == "error"
    assert "sample on the data given raised KeyError" in result.outcome.reason


def test_where_memory_runs_out_the_pair_is_passed_over() -> None:
    def greedy(data: Any, rng: np.random.Generator) -> Any:
        if data[0] > 0.5:
            raise MemoryError
        return rng.random()

    result = hunted(greedy, Scalars(0, 1, size=1))
    assert result.verdict != "refuted"
    assert failed(result) > 0


@pytest.mark.slow
def test_an_exception_is_an_answer_whatever_was_declared() -> None:
    def count(data: Any, rng: np.random.Generator) -> Any:
        if data[0] > 0.5 and rng.random() < 0.1:
            raise KeyError("x")
        return int(rng.integers(3))

    for output in ("number", "label", [0, 1, 2]):
        result = hunted(count, Scalars(0, 1, size=2), output=output)
        assert result.verdict == "refuted", result.outcome.reason


def test_exceptions_are_known_by_their_type() -> None:
    one, other = Failed("KeyError", "here"), Failed("KeyError", "there")
    assert key_of(one) == key_of(other) != key_of(Failed("ValueError"))
    assert key_words(key_of(one)) == "an exception (KeyError)"
    assert key_from_json(key_to_json(key_of(one))) == key_of(one)
