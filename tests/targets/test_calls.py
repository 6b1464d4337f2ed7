"""What a user's function is called with: by the names of its parameters, or by their number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay.errors import InvalidInput
from dpassay.mechanism import FunctionMechanism
from dpassay.targets.calls import named, taken


def drawn(function: Callable[..., Any], size: int) -> Any:
    takes, by_name = taken(function, "f"), named(function)
    mechanism = FunctionMechanism(
        function=function, claims=(), takes=takes, named=by_name, free=True
    )
    return mechanism.sample(np.ones(1), np.zeros((1, 1)), size, np.random.default_rng(0))


FOUR = ("data", "queries", "size", "rng")
WAYS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "all": (lambda data, queries, size, rng: None, FOUR),
    "other names": (lambda a, b, c, d: None, FOUR),
    "nothing asked": (lambda data, size, rng: None, ("data", "size", "rng")),
    "one run": (lambda data, rng: None, ("data", "rng")),
    "one run at queries": (lambda data, queries, rng: None, ("data", "queries", "rng")),
    "a parameter besides": (lambda x, size, rng, epsilon=1.0: None, ("data", "size", "rng")),
    "three of other names": (lambda x, number, source: None, ("data", "size", "rng")),
    "two of other names": (lambda table, generator: None, ("data", "rng")),
    "another name for queries": (lambda data, q, rng: None, ("data", "queries", "rng")),
    "another name for size": (lambda data, number, rng: None, ("data", "size", "rng")),
    "any number": (lambda *given: None, FOUR),
    "rng by name": (lambda data, *, rng: None, ("data", "rng")),
    "some by name, in any order": (lambda table, *, rng, size: None, ("data", "size", "rng")),
    "all by name": (lambda *, data, rng=None: None, ("data", "rng")),
    "queries by name": (lambda data, size, rng, *, queries: None, FOUR),
    "coins of its own": (lambda data: None, ("data",)),
    "coins of its own, at queries": (lambda data, queries: None, ("data", "queries")),
    "coins of its own, many runs": (lambda data, queries, size: None, ("data", "queries", "size")),
    "more that need not be given": (lambda data, rng, **more: None, ("data", "rng")),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_function_is_called_by_names_or_number(way: str) -> None:
    """The call itself must not fail, and must pass what the names say."""
    function, wanted = WAYS[way]
    assert taken(function, "f") == wanted
    drawn(function, 2)


def test_what_is_passed_by_name_arrives_under_that_name() -> None:
    def function(data: Any, *, rng: Any, size: Any) -> Any:
        return [(float(data[0]), type(rng).__name__)] * size

    assert drawn(function, 3) == [(1.0, "Generator")] * 3


REFUSED: dict[str, Callable[..., Any]] = {
    "nothing": lambda: None,
    "no rng, wrong order": lambda data, size, queries: None,
    "wrong order": lambda data, rng, size: None,
    "wrong order of four": lambda data, size, queries, rng: None,
    "five needed": lambda data, queries, size, rng, epsilon: None,
    "a name that is needed": lambda data, size, rng, *, epsilon: None,
}


@pytest.mark.parametrize("way", REFUSED)
def test_one_that_fits_no_way_is_refused(way: str) -> None:
    with pytest.raises(InvalidInput, match=r"^f: takes \(.*\); must take \(data, queries, size"):
        taken(REFUSED[way], "f")


def test_what_stands_by_name_alone_is_shown_as_it_is_written() -> None:
    def function(data: Any, *, generator: Any) -> None: ...

    told = r"^f: takes \(data, \*, generator\); must take"
    with pytest.raises(InvalidInput, match=told):
        taken(function, "f")


class Key:
    def holding(self, held: Any) -> Key:
        self.held = held
        return self


KEY = Key()


@pytest.mark.parametrize(
    "within", [lambda x: x, lambda x: {"a": [1, (x, 2)]}, lambda x: {KEY.holding(x): 1}]
)
@pytest.mark.parametrize(
    "held", [{"n": 0}, [0], np.zeros(1, dtype=int)], ids=lambda x: type(x).__name__
)
def test_an_answer_that_the_next_run_changes_stays_as_it_was(
    held: Any, within: Callable[[Any], Any]
) -> None:
    def function(data: Any, rng: Any) -> Any:
        held["n" if isinstance(held, dict) else 0] = int(rng.integers(2**40))
        return within(held)

    assert len(set(map(repr, drawn(function, 3)))) == 3
