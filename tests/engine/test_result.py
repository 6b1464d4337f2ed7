"""A result in print: three lines, and no record of anybody in them."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.engine.result import Result
from dpassay.pairs import Pairs, Replace, replace_one
from tests.core.toys import response

SECRET = 31415.9265
X, Y = np.array([[SECRET, 2.0], [SECRET + 1, 3.0], [SECRET + 2, 4.0]]), np.array([0, 1, 1])


def coin(data: object, queries: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(2, size=(size, len(queries)))


def failing(data: object, queries: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    raise ValueError(f"cannot train on {X[0, 0]}")


def leaky(data: Labelled, queries: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.zeros((size, len(queries))) + int(data.y.sum() % 2)


def result_of(function: object, *, by_value: bool = False) -> Result:
    pairs = replace_one(X, Y, neighbours="flip")
    if by_value:
        change = Replace(0, np.array([SECRET, 7.0]), 1)
        pairs = Pairs(base=pairs.base, changes=(change,), how="by hand")
    return audit(function, claim=DP(epsilon=1.0), pairs=pairs, queries=X, budget=200)


@pytest.mark.parametrize("by_value", [False, True])
@pytest.mark.parametrize(
    ("function", "word"), [(coin, "inconclusive"), (leaky, "refuted"), (failing, "error")]
)
def test_a_result_prints_as_three_lines_without_a_record(
    function: object, word: str, *, by_value: bool
) -> None:
    result = result_of(function, by_value=by_value)
    assert str(result) == repr(result)
    lines = repr(result).splitlines()
    # the others go on; that the first proof was the end is a line of its own
    assert sum(not line.startswith("    ") for line in lines) == 3 + (word == "refuted")
    assert max(map(len, lines)) <= 80
    assert lines[0] == f"DP(1) of {__name__}:{function.__name__}: {word} (monte-carlo)"  # type: ignore[attr-defined]
    for text in (repr(result), result._repr_html_()):
        assert "31415" not in text
        assert "array" not in text


def test_a_notebook_gets_html_that_is_escaped() -> None:
    text = result_of(response(0.0))._repr_html_()
    assert "&lt;locals&gt;" in text
    assert "<locals>" not in text
    assert text.startswith("<div")


def test_an_exact_result_says_that_it_was_computed() -> None:
    from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority

    lines = repr(audit(SoftMajority())).splitlines()
    name = "dpassay.mechanisms.dwork_feldman_2018.soft_majority:SoftMajority"
    assert lines[0] == f"DP(1) of {name}: not refuted (exact)"
    assert lines[1] == "  loss 0.999994, computed from the exact law (claimed: at most 1)"
