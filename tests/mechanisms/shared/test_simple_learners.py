"""The learners of a few lines answer as scikit-learn's do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

from dpassay.data import Labelled
from dpassay.mechanisms.shared import learners, simple_learners
from dpassay.mechanisms.shared.learners import BlockLearner
from dpassay.mechanisms.shared.simple_learners import Majority, Nearest


@pytest.mark.parametrize("features", [1, 4, 20])
def test_the_nearest(features: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simple_learners, "AT_ONCE", 500)
    rng = np.random.default_rng(features)
    X, y = rng.normal(size=(200, features)), rng.integers(0, 3, 200)
    queries = np.concatenate([rng.normal(size=(50, features)), X[:20]])
    theirs, ours = KNeighborsClassifier(n_neighbors=1).fit(X, y), Nearest().fit(X, y)
    np.testing.assert_array_equal(ours.predict(queries), theirs.predict(queries))
    np.testing.assert_array_equal(ours.predict_proba(queries), theirs.predict_proba(queries))
    assert Nearest().fit(X, y).predict(queries[:0]).shape == (0,)


def test_of_records_equally_far_the_first_is_taken() -> None:
    X, y = np.array([[1.0], [-1.0], [1.0]]), np.array([1, 0, 0])
    assert Nearest().fit(X, y).predict(np.array([[0.0], [1.0]])).tolist() == [1, 1]


@pytest.mark.parametrize("labels", [[0, 1, 1], [1, 0], [2, 0, 2, 1], [1]])
def test_the_majority(labels: list[int]) -> None:
    X, y = np.zeros((len(labels), 1)), np.array(labels)
    theirs, ours = DummyClassifier(strategy="most_frequent").fit(X, y), Majority().fit(X, y)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()
    assert ours.predict_proba(X).tolist() == theirs.predict_proba(X).tolist()


def test_what_a_ledger_knows_them_by_has_no_address() -> None:
    assert [repr(make()) for make in (Majority, Nearest)] == ["Majority()", "Nearest()"]


def test_large_blocks_are_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "HELD", 100)
    blocks = [Labelled(np.full((30, 1), float(k)), np.arange(30) % 2) for k in range(5)]
    learner = BlockLearner("nearest")
    for block in (*blocks, blocks[4], blocks[2], blocks[0]):
        learner.fit(block)
    assert learner.fits == 6, "the last three are remembered, the first is trained again"
