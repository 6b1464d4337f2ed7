"""The guard around a mechanism: what it does wrong is one error that says what and where."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.errors import InvalidInput, TargetError
from dpassay.laws import FiniteLaw
from dpassay.mechanism import FunctionMechanism
from dpassay.search.spaces import Answers
from dpassay.targets.guard import AuditTarget
from tests.core.toys import Sampled, TableMechanism, WithWorstCase, flip_group, target_of

QUERIES = flip_group(queries=2).queries
PLACE = r"\S*test_guard\.py:\d+ in function"
TABLE = ((0.5, 0.5), (0.25, 0.75))


def answering(answer: Any) -> AuditTarget:
    """A function that always returns, or raises, the same."""

    def function(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return target_of(FunctionMechanism(function=function, claims=(DP(epsilon=1.0),)))


def writing(data: Any, size: int, rng: np.random.Generator) -> Any:
    data[0] = 0.0
    return data[0] + rng.laplace(size=size)


def sorting(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    data.X.sort(axis=0)
    return rng.integers(2, size=(size, len(queries)))


@pytest.mark.parametrize(
    ("function", "data"), [(writing, Answers(2)), (sorting, ([[0.0], [1.0], [2.0]], [0, 1, 0]))]
)
def test_a_function_that_writes_into_its_data_is_told_to_copy_them(
    function: Any, data: Any
) -> None:
    found = audit(function, claim=DP(epsilon=1.0), data=data, budget=100, executor="inline")
    assert found.verdict == "error"
    assert re.search(
        rf"raised ValueError \(\S*test_guard:{function.__name__} writes into what it is given, "
        r"which is read-only; copy it first: data = data\.copy\(\)",
        found.outcome.reason,
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros((3, 1)), r"returned shape \(3, 1\); expected \(size, queries\) = \(3, 2\)"),
        (None, "returned None; expected"),
        (np.array([[0, 1], [1, 2], [0, 0]]), r"in trial 1 at query 1; expected one of \(0, 1\)"),
        (np.array([[0, 1], [1, 0], [np.nan, 0]]), "nan.* in trial 2 at query 0"),
        (np.full((3, 2), 0.5), "0.5.* in trial 0 at query 0"),
        (np.full((3, 2), "yes"), "returned an array of <U3"),
        (ValueError("no\nmore"), rf"raised ValueError: no more \(ValueError at {PLACE}\)$"),
        (ZeroDivisionError(), f"raised ZeroDivisionError: ZeroDivisionError at {PLACE}$"),
        (InvalidInput("r = 0"), rf"InvalidInput: r = 0 \(InvalidInput at {PLACE}\)$"),
    ],
)
def test_what_a_sample_may_do_wrong(answer: Any, message: str) -> None:
    with pytest.raises(TargetError, match=rf"^sample on here .*{message}"):
        answering(answer).sample(None, QUERIES, 3, np.random.default_rng(0), "here")


def test_an_error_says_its_place_in_the_code_of_the_user_and_has_the_traceback_below() -> None:
    def function(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
        return np.linalg.inv(np.zeros((2, 2)))  # the innermost place is numpy's

    target = target_of(FunctionMechanism(function=function, claims=(DP(epsilon=1.0),)))
    with pytest.raises(TargetError) as caught:
        target.sample(None, QUERIES, 3, np.random.default_rng(0), "here")
    first, *rest = caught.value.detail.splitlines()
    line = function.__code__.co_firstlineno + 1
    assert re.fullmatch(
        rf"Singular matrix \(LinAlgError at \S*test_guard\.py:{line} in function\)", first
    )
    assert rest[0] == "Traceback (most recent call last):"
    assert "Singular matrix" not in caught.value.cause
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301  (as it comes from a worker)
    assert (again.cause, again.detail) == (caught.value.cause, caught.value.detail)
    assert str(again) == str(caught.value)
    assert "\n" not in str(again)


def test_labels_of_another_number_type_are_taken() -> None:
    for right in (np.ones((3, 2)), np.ones((3, 2), dtype=bool), [[1, 0]] * 3):
        draws = answering(right).sample(None, QUERIES, 3, np.random.default_rng(0), "here")
        assert draws.shape == (3, 2)


def test_a_law_that_is_none() -> None:
    class Wrong(TableMechanism):
        def distribution(self, state: int, queries: Any) -> FiniteLaw:
            return super().distribution(state, queries[:1])

    said = r"distribution on here has shape \(1, 2\); expected \(queries, labels\) = \(2, 2\)"
    with pytest.raises(TargetError, match=said):
        target_of(Wrong(table=TABLE)).law(0, QUERIES, "here")
    declared = TableMechanism(table=TABLE, declared=((0.5, 0.4), (0.5, 0.5)))
    with pytest.raises(TargetError, match=r"here raised InvalidInput: log_p = .*sum to 1"):
        target_of(declared).law(0, QUERIES, "here")
    # `distribution = None` in a subclass takes the law away
    assert target_of(Sampled(table=TABLE)).law(0, QUERIES, "here") is None


def test_own_worst_cases_and_labels_are_passed_on() -> None:
    target = target_of(WithWorstCase(table=((0.2, 0.3, 0.5), (0.5, 0.3, 0.2))))
    assert len(target.worst_cases()) == 1
    assert target.labels == (0, 1, 2)


@pytest.mark.parametrize(
    "labels", [(1,), (1, 1), (), (0, True, 1), 3, None, "01", ("a", "b"), (0.0, 1.0), ([0], [1])]
)
def test_labels_that_are_none(labels: Any) -> None:
    claims = (DP(epsilon=1.0),)
    mechanism = FunctionMechanism(function=lambda *_: None, claims=claims, labels=labels)
    with pytest.raises(InvalidInput, match="at least two integers, all different"):
        target_of(mechanism)
