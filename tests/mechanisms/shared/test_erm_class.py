"""Risk minimisation over a class: the least error by brute force, ties, scikit-learn's manners."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from dpassay.data import Labelled, points
from dpassay.errors import InvalidInput
from dpassay.mechanisms.shared.classes import CLASSES
from dpassay.mechanisms.shared.erm_class import ClassERM, corner
from dpassay.mechanisms.shared.hypothesis_class import RULES
from dpassay.mechanisms.shared.learners import BlockLearner
from dpassay.mechanisms.shared.line_classes import Thresholds
from tests.mechanisms.dagan_feldman_2020 import twin_bagged as twin


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("H", CLASSES)
def test_no_labelling_of_the_class_has_fewer_errors(H: str, rule: Any) -> None:
    rng = np.random.default_rng(0)
    whole = np.array(list(itertools.product((1.0, 2, 3), repeat=2)))
    for _ in range(15):
        n = int(rng.integers(1, 9))
        X, y = rng.integers(1, 4, size=(n, 2)).astype(float), rng.integers(2, size=n)
        model = ClassERM(H=H, representative=rule).fit(X, y)
        every = model.hypotheses.representatives(whole, "least")
        errors = (model.hypotheses.predict(every, X) != (y == 1)).sum(axis=1)
        assert model.errors_ == errors.min() == (model.predict(X) != y).sum()
        assert model.predict(whole).dtype == np.int64


@pytest.mark.parametrize(
    ("learner", "answer", "columns"), [("threshold", twin.threshold, 1), (corner(), twin.corner, 2)]
)
def test_answers_are_the_twins(learner: Any, answer: twin.Learner, columns: int) -> None:

    def place_of(p: Any) -> Any:
        return tuple(p) if columns > 1 else p[0]

    rng, blocks = np.random.default_rng(1), BlockLearner(learner)
    asked = list(itertools.product(np.arange(0, 5.5, 0.5).tolist(), repeat=columns))
    for _ in range(30):
        n = int(rng.integers(1, 9))
        X, y = rng.integers(1, 5, size=(n, columns)).astype(float), rng.integers(2, size=n)
        found = blocks.fit(Labelled(X, y)).predict(points(asked, "queries"))
        rows = tuple(zip(map(place_of, X.tolist()), y.tolist(), strict=True))
        assert found.tolist() == [answer(rows, place_of(query)) for query in asked]


def test_of_thresholds_with_equal_errors_the_smallest_is_taken() -> None:
    """Both t = 1 and t = 3 have one error."""
    model = ClassERM().fit(np.array([[1.0], [2.0], [3.0]]), np.array([1, 0, 1]))
    assert (model.hypothesis_.item(), model.errors_) == (1.0, 1)


def test_it_is_cloned_and_its_parameters_are_set() -> None:
    model = ClassERM(H="intervals", feature=1)
    parameters = {**ClassERM().get_params(), "H": "intervals", "feature": 1}
    assert clone(model).get_params() == model.get_params() == parameters
    assert model.set_params(H="functions", points=4).hypotheses.vc_dimension == 4
    assert ClassERM(H=Thresholds(feature=1)).hypotheses == Thresholds(feature=1)


def test_a_point_outside_the_domain_is_refused() -> None:
    with pytest.raises(InvalidInput, match="x = 4: must be in the domain"):
        ClassERM(H="functions").fit(np.array([[4.0]]), np.array([1]))
