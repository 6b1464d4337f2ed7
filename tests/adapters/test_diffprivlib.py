"""diffprivlib: claims from epsilon and budgets, and what is seen of a fitted model.

The library itself goes with older releases of scikit-learn than ours: the examples run it, in an
environment of their own. Here stand objects of the same form.
"""

from __future__ import annotations

from collections import namedtuple
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from dpassay import DP, InvalidInput, Tables, audit
from dpassay.adapters import diffprivlib
from dpassay.targets.estimators import ObservedEstimator, TrainedEstimator

X, Y = np.linspace(0, 1, 6)[:, None], np.array([0, 1, 0, 1, 0, 1])
SPACE = Tables((X, Y), fixed=True)
Total = namedtuple("Total", "epsilon delta")  # noqa: PYI024  (what the library returns is no more)


class Mean(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Releases the noisy mean of numbers in [0, 1]; predicts the same whatever was learned."""

    def __init__(self, epsilon: float = 1.0, random_state: Any = None) -> None:
        self.epsilon, self.random_state = epsilon, random_state

    def fit(self, X: Any, y: Any) -> Mean:
        rng = np.random.default_rng(self.random_state)
        self.theta_ = np.array([[X.mean() + rng.laplace(0, 1 / (self.epsilon * len(X)))]])
        self.classes_ = np.unique(y)
        self.names_ = np.array(["a", "b"])
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=int)


class Budget:
    """What a BudgetAccountant is asked."""

    def __init__(self, epsilon: float, delta: float) -> None:
        self.spent = Total(epsilon, delta)

    def total(self) -> Total:
        return self.spent


pytestmark = pytest.mark.usefixtures("few_pairs")


def tool(array: Any, epsilon: float = 0.5) -> Any:
    """A function with epsilon, as `diffprivlib.tools` has them."""
    return array, epsilon


@pytest.mark.parametrize(
    ("spent", "epsilon", "delta"),
    [
        (Mean(epsilon=2.0), 2.0, 0.0),
        (diffprivlib.model(Mean(epsilon=2.0), ("theta_",)), 2.0, 0.0),
        (tool, 0.5, 0.0),
        (partial(tool, epsilon=3), 3.0, 0.0),
        (Budget(1.5, 0.01), 1.5, 0.01),
    ],
)
def test_a_claim_is_what_is_spent(spent: Any, epsilon: float, delta: float) -> None:
    claim = diffprivlib.claim(spent)
    assert (claim.epsilon, claim.delta) == (epsilon, delta)
    assert claim.source == "declared to diffprivlib"


@pytest.mark.parametrize(
    ("spent", "message"),
    [
        (3, "spent = 3: must be a model or function with a parameter epsilon"),
        (len, "spent = <built-in function len>: must be a model or function"),
        (Budget(0.0, 0.0), "spent = .*: must be a model or function .*that has spent some"),
        (Mean(epsilon=float("inf")), "epsilon = inf: must be a finite number > 0"),
        (partial(tool, epsilon=-1), "epsilon = -1: must be a finite number > 0"),
    ],
)
def test_what_has_no_epsilon_is_refused(spent: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{message}"):
        diffprivlib.claim(spent)


@pytest.mark.parametrize(
    ("estimator", "outputs", "message"),
    [
        (3, ("predict",), "estimator = 3: must be an object with fit and predict"),
        (ObservedEstimator(Mean()), ("predict",), "estimator = Observed.*: must be an object with"),
        (Mean(), (), r"outputs = \(\): must be names of attributes, or 'predict'"),
        (Mean(), (1,), r"outputs = \(1,\): must be names"),
    ],
)
def test_what_is_no_model_is_refused(estimator: Any, outputs: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{message}"):
        diffprivlib.model(estimator, outputs)


def test_all_that_is_seen_is_one_answer() -> None:
    class Data:
        X, y = globals()["X"], Y

    def seen(*outputs: str) -> Any:
        queries = [X[:2]] if "predict" in outputs else []
        return TrainedEstimator(Mean(), outputs=outputs)(Data, *queries, np.random.default_rng(0))

    theta = seen("theta_")
    assert isinstance(theta, np.ndarray)
    assert theta.shape == (1,)
    assert seen("predict", "theta_", "classes_").tolist() == [0, 0, *theta, 0, 1]
    assert seen("names_", "theta_") == ("a", "b", *theta)


@pytest.mark.parametrize(
    ("epsilon", "outputs", "verdicts"),
    [
        (6.0, ("predict",), {"not refuted", "inconclusive"}),
        (6.0, ("predict", "theta_"), {"refuted"}),
        (1.0, ("theta_",), {"not refuted", "inconclusive"}),
        (0.1, ("classes_",), {"refuted"}),  # which are taken from the data
        (1.0, ("coef_",), {"error"}),  # which is not there
    ],
)
def test_the_mean_leaks_where_it_is_seen_and_not_where_it_is_not(
    epsilon: float, outputs: tuple[str, ...], verdicts: set[str]
) -> None:
    mean = diffprivlib.model(Mean(epsilon=epsilon), outputs)
    found = audit(
        mean, claim=DP(epsilon=1.0), data=SPACE, budget=300, confidence=0.99, executor="inline"
    )
    assert found.verdict in verdicts
    assert found.target.seeded
