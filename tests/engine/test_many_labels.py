"""Mechanisms with thousands of labels: nothing grows with their square, and no guard fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpassay import DP, audit, replace_one
from dpassay.engine.detection.families import Singles
from dpassay.trials.encoders import ONE_BY_ONE, Labels


def audited(labels: int, law: str, leak: float = 0.0) -> Any:
    """Audit rows drawn each by itself; with a leak label 0 tells the first record."""
    p = np.ones(labels) if law == "uniform" else 1.0 / np.arange(1, labels + 1)

    def rows(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
        answers = rng.choice(labels, p=p / p.sum(), size=(size, len(queries)))
        told = rng.random(answers.shape) < leak * data.y[0]
        return np.where(told, 0, answers)

    pairs = replace_one([[0.0], [1.0]], [0, 1], pool=([[0.0]], [1]))
    how: dict[str, Any] = {"labels": tuple(range(labels)), "budget": 2_000, "executor": "inline"}
    return audit(rows, claim=DP(epsilon=1.0), pairs=pairs, queries=[[0.0]], **how)


@pytest.mark.parametrize(("labels", "law"), [(400, "uniform"), (400, "zipf"), (3_000, "zipf")])
def test_honest_rows_of_many_labels_are_no_error(labels: int, law: str) -> None:
    """'Its calls are sticky' was said of them from 400 labels on: a floor below their chance."""
    assert audited(labels, law).verdict == "inconclusive"


def test_a_label_of_many_that_leaks_is_refuted() -> None:
    result = audited(3_000, "uniform", leak=0.5)
    assert (result.verdict, result.evidence.worst.event) == ("refuted", (0,))


@pytest.mark.slow
def test_an_audit_of_50257_labels_ends() -> None:
    assert audited(50_257, "zipf").verdict == "inconclusive"


def test_labels_alone_are_an_identity_that_takes_no_space() -> None:
    counts = np.arange(24).reshape(2, 3, 4)
    assert np.array_equal(counts @ Singles(4).T, counts @ np.eye(4, dtype=int).T)
    assert np.array_equal([Singles(4)[event] for event in range(4)], np.eye(4))


def test_many_labels_are_counted_as_few_are() -> None:
    rng = np.random.default_rng(0)
    labels = tuple(rng.permutation(1_000)[: 2 * ONE_BY_ONE].tolist())
    draws = rng.choice(labels, size=(500, 3))
    counts, mark = Labels(labels).count(draws)
    assert np.array_equal(counts, [[(column == k).sum() for k in labels] for column in draws.T])
    assert mark == Labels(labels).count(draws.astype(float))[1]
    assert mark != Labels(labels).count(draws[::-1])[1]
