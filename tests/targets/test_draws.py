"""Answers of any kind become rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpassay.errors import TargetError
from dpassay.search.features import Feature
from dpassay.search.outputs import Encoder
from dpassay.targets.answer_set import as_draws


@pytest.mark.parametrize(
    ("answers", "shape", "plain"),
    [
        (np.zeros(3), (3,), True),
        (np.zeros((3, 5)), (3, 5), True),
        (np.zeros((3, 2, 2)), (3, 4), True),
        ([1, 0, 1], (3,), True),
        ([True, False, True], (3,), True),
        ([1.5, 2.0, 3.0], (3,), True),
        ([1.5, 2, 3], (3,), False),
        ([np.zeros(4)] * 3, (3, 4), True),
        (["a", "b", "a"], (3,), False),
        ([None, (1, 2), (1,)], (3,), False),
        ([(1, 2), (1, 2), (1, 2)], (3,), False),
        (np.array(["a", "b", "c"]), (3,), False),
        ([10**400, 1, 2], (3,), False),
        ([np.zeros(1), np.zeros(2), None], (3,), False),
    ],
)
def test_rows(answers: Any, shape: tuple[int, ...], plain: bool) -> None:
    found = as_draws(answers, 3, 0, "S")
    assert found.shape == shape
    assert (found.dtype.kind in "biuf") is plain
    if not plain:
        for each, given in zip(found, answers, strict=True):
            assert isinstance(given, np.ndarray) or each is given or each == given


@pytest.mark.parametrize(
    ("answers", "queries", "told"),
    [
        (None, 0, "returned NoneType; expected 3 answers"),
        (np.float64(1), 0, "expected 3 answers"),
        ({1, 2, 3}, 0, "returned set"),
        ("abc", 0, "returned str"),
        ([1, 2], 0, "returned 2 answers; expected `size` = 3"),
        (np.zeros((3, 2)), 4, r"shape \(3, 2\); expected \(size, queries\) = \(3, 4\)"),
        ([1, 2, 3], 2, "together=True"),
    ],
)
def test_what_is_no_row_per_run_is_refused(answers: Any, queries: int, told: str) -> None:
    with pytest.raises(TargetError, match=told):
        as_draws(answers, 3, queries, "S")


AT_QUERIES = [["a", "b"], ["b", "b"], ["a", "a"]]


@pytest.mark.parametrize(
    "answers", [np.array(AT_QUERIES), *(list(map(kind, AT_QUERIES)) for kind in (np.array, tuple))]
)
def test_labels_of_any_kind_at_queries_are_columns(answers: Any) -> None:
    found = as_draws(answers, 3, 2, "S")
    assert found[:, 0].tolist() == ["a", "b", "a"]
    lists = as_draws(AT_QUERIES, 3, 2, "S")
    assert lists.tolist() == found.tolist()
    alone = as_draws(answers, 3, 0, "S")
    encoder = Encoder((Feature("count", 0, ("a",)),), parts=True)
    assert encoder.features(alone).tolist() == [[1], [0], [2]]
