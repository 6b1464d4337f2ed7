"""Estimators: fitted anew in every run, on data as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from dpassay import DP, InvalidInput, audit
from dpassay.targets.estimators import TrainedEstimator

PEOPLE = pd.DataFrame(
    {
        "age": [20, 35, 50, 64, 70, 31],
        "city": ["a", "b", None, "a", "b", "a"],
        "income": ["low", "mid", "high", "low", "mid", "low"],
    }
)


pytestmark = pytest.mark.usefixtures("few_pairs")


class Noisy(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A private majority: votes with noise, the winner for everybody."""

    def __init__(self, scale: float = 2.0, random_state: Any = None) -> None:
        self.scale, self.random_state = scale, random_state

    def fit(self, X: Any, y: Any) -> Noisy:
        """Count the labels that there may be."""
        assert "income" not in getattr(X, "columns", ())
        rng = np.random.default_rng(self.random_state)
        votes = [(np.asarray(y) == each).sum() for each in ("low", "mid", "high")]
        self.winner_ = ["low", "mid", "high"][int((votes + rng.laplace(0, self.scale, 3)).argmax())]
        return self

    def predict(self, X: Any) -> Any:
        """The same for everybody."""
        return np.array([self.winner_] * len(X))


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "refuted"), [(2.0, False), (0.3, True)])
def test_a_private_majority_and_one_with_too_little_noise(scale: float, refuted: bool) -> None:
    """On features and labels; tests/docs audits estimators on a table."""
    data = np.arange(6.0)[:, None], PEOPLE["income"].to_numpy(dtype=str)
    how: dict[str, Any] = {"budget": 200, "confidence": 0.99, "executor": "inline"}
    result = audit(Noisy(scale), claim=DP(epsilon=1.0), data=data, **how)
    assert result.verdict != "error"
    assert (result.verdict == "refuted") == refuted
    assert result.target.name.endswith(":Noisy")


def test_a_pipeline_of_scikit_learn_is_handed_what_the_user_gave() -> None:
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["city"]), remainder="passthrough"
    )
    trained = TrainedEstimator(make_pipeline(columns, DecisionTreeClassifier()), "income")
    rng = np.random.default_rng(0)
    predicted = trained(PEOPLE, PEOPLE[["age", "city"]], rng)
    assert predicted == tuple(PEOPLE["income"])


def test_coins_are_drawn_for_every_run_and_all_parts() -> None:
    given = make_pipeline(DummyClassifier(strategy="uniform", random_state=3))
    trained = TrainedEstimator(given)
    rng = np.random.default_rng(0)

    class Data:
        X, y = np.zeros((4, 1)), np.array([0, 1, 0, 1])

    answers = {trained(Data, np.zeros((8, 1)), rng) for _ in range(20)}
    assert len(answers) > 5
    again = TrainedEstimator(given)(Data, np.zeros((8, 1)), np.random.default_rng(1))
    assert again == TrainedEstimator(given)(Data, np.zeros((8, 1)), np.random.default_rng(1))
    assert given[0].random_state == 3


def test_what_an_estimator_needs() -> None:
    with pytest.raises(InvalidInput, match="data is missing: an estimator is fitted on records"):
        audit(LogisticRegression(), claim=DP(epsilon=1.0))
    with pytest.raises(InvalidInput, match="claim is missing"):
        audit(LogisticRegression(), data=PEOPLE, label="income")
    with pytest.raises(InvalidInput, match=r"data = 'no\.csv': must be a DataFrame, the path of"):
        audit(LogisticRegression(), claim=DP(epsilon=1.0), data="no.csv", label="income")
    with pytest.raises(InvalidInput, match="must be an object, not its class"):
        audit(LogisticRegression, data=PEOPLE, label="income")
