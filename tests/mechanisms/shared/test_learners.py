"""Base learners: constant blocks, what is remembered, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from dpassay.data import Labelled, points
from dpassay.errors import InvalidInput
from dpassay.mechanisms.shared import learners, simple_learners
from dpassay.mechanisms.shared.learners import LEARNERS, MEMO, BlockLearner
from dpassay.mechanisms.shared.simple_learners import Majority, Nearest

X = np.array([[0.0], [1], [2], [3], [4], [5]])
QUERIES = points([[0.5], [4.5], [100.0]], "queries")
SEPARATED = Labelled(X, np.array([0, 0, 0, 1, 1, 1]))


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_block_with_one_class_or_one_record_is_a_constant(learner: str) -> None:
    for label, records in ((0, 6), (1, 6), (1, 1)):
        teacher = BlockLearner(learner).fit(Labelled(X[:records], np.full(records, label)))
        assert teacher.predict(QUERIES).tolist() == [label] * 3


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name != "majority"])
def test_separated_classes_are_learnt(learner: str) -> None:
    assert BlockLearner(learner).fit(SEPARATED).predict(QUERIES).tolist() == [0, 1, 1]


def test_an_equal_block_is_trained_once_and_another_is_not_taken_for_it() -> None:
    learner = BlockLearner("tree")
    first = learner.fit(SEPARATED)
    assert learner.fit(Labelled(X.copy(), SEPARATED.y.copy())) is first
    assert learner.fits == 1
    other = learner.fit(Labelled(X, 1 - SEPARATED.y))
    assert other.predict(QUERIES).tolist() == [1, 0, 0]
    learner.fit(SEPARATED.take([1, 0, 2, 3, 4, 5]))
    assert learner.fits == 3


def test_the_memory_is_bounded_and_forgets_the_oldest() -> None:
    learner = BlockLearner("majority")
    blocks = [Labelled(np.array([[float(i)]]), np.array([0])) for i in range(MEMO + 1)]
    for block in (*blocks, blocks[-1], blocks[0]):
        learner.fit(block)
    assert learner.fits == MEMO + 2


def test_a_teacher_answers_other_queries_anew() -> None:
    """A writeable array of queries may change under it."""
    teacher = BlockLearner("tree").fit(SEPARATED)
    queries = np.array([[0.5], [4.5]])
    assert teacher.predict(QUERIES).tolist() == [0, 1, 1]
    assert teacher.predict(queries).tolist() == [0, 1]
    queries[:] = queries[::-1].copy()
    assert teacher.predict(queries).tolist() == [1, 0]
    assert teacher.predict(QUERIES).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "learner",
    [
        RandomForestClassifier(n_estimators=3),
        make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=3)),
    ],
    ids=["forest", "pipeline"],
)
def test_free_coins_are_frozen(learner: Any) -> None:
    rng = np.random.default_rng(0)
    block = Labelled(rng.normal(size=(40, 3)), rng.integers(2, size=40))
    queries = points(rng.normal(size=(50, 3)), "queries")
    first, second = (BlockLearner(learner).fit(block).predict(queries) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_the_learner_given_is_not_trained_itself() -> None:
    learner = DecisionTreeClassifier()
    BlockLearner(learner).fit(SEPARATED)
    assert not hasattr(learner, "tree_")
    assert learner.random_state is None


@pytest.mark.parametrize(
    "learner", ["sklearn.linear_model:LogisticRegression", LogisticRegression, LogisticRegression()]
)
def test_a_learner_is_a_name_a_class_or_an_object(learner: Any) -> None:
    assert BlockLearner(learner).fit(SEPARATED).predict(QUERIES).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        ("oracle", "learner = 'oracle': must be one of logistic, .*, or module:object"),
        ("no_such_module:thing", "'no_such_module:thing': cannot import 'no_such_module'"),
        ("sklearn.tree:Oracle", "'sklearn.tree:Oracle': module 'sklearn.tree' has no 'Oracle'"),
        (7, "learner = 7: must be a scikit-learn classifier"),
    ],
)
def test_what_is_no_learner_is_refused(learner: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        BlockLearner(learner)


class Constant(BaseEstimator):  # type: ignore[misc]
    """A learner that always answers the same thing."""

    def __init__(self, answer: Any = 0.5) -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any) -> Constant:
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.answer)


@pytest.mark.parametrize("answer", [0.5, 2, -1, np.nan])
def test_an_answer_that_is_no_label_is_an_error(answer: float) -> None:
    with pytest.raises(ValueError, match="expected a label 0 or 1"):
        BlockLearner(Constant(answer)).fit(SEPARATED).predict(QUERIES)


@pytest.mark.parametrize("scale", [1e-301, 1e-170])
def test_a_column_whose_variance_underflows_is_trained_on(scale: float) -> None:
    """Logistic regression never ended: liblinear loops on such numbers."""
    X = np.array([[-1.0, 1.0], [-0.5, 0.0], [0.25, 1.0], [-0.75, 0.0]]) * [scale, 1.0]
    teacher = BlockLearner("logistic").fit(Labelled(X, np.array([1, 0, 1, 0])))
    assert teacher.predict(X).tolist() == [1, 0, 1, 0]


# The learners of a few lines answer as scikit-learn's do


@pytest.mark.parametrize("features", [1, 20])
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
