"""Coding, choice and scaling of predictors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from benchmarks.section5.scalings import SCALINGS
from benchmarks.section5.stepwise import backward, independent
from benchmarks.section5.tables import dummies
from dpassay.seeds import stream


def test_texts_become_a_column_for_each_category_but_the_first() -> None:
    coded = dummies(pd.DataFrame({"a": [3, 1, 2], "b": ["y", "?", "z"], "c": ["u", "v", "u"]}))
    assert coded.columns.tolist() == ["a", "b=y", "b=z", "c=v"]
    assert coded.to_numpy().tolist() == [[3, 1, 0, 0], [1, 0, 0, 1], [2, 0, 1, 0]]


def test_columns_that_depend_on_others_are_left_out() -> None:
    X = stream("independent").normal(size=(50, 3))
    both = np.column_stack([X[:, 0], X[:, 1], 3 - X[:, 0] + 2 * X[:, 1], X[:, 2]])
    assert independent(both) == [0, 1, 3]


def refitted(X: np.ndarray, y: np.ndarray, columns: list[int]) -> float:
    """Deviance of the model with these columns and a constant, by statsmodels."""
    model = sm.GLM(y, sm.add_constant(X[:, columns]), family=sm.families.Binomial())
    return float(model.fit(tol=1e-10).deviance)


def test_backward_elimination_is_that_of_refitting_everything() -> None:
    """Each step drops what costs least; AIC says where R would stop."""
    rng = stream("backward")
    X = rng.normal(size=(300, 12)) + rng.normal(size=(300, 1))
    score = X @ np.array([1, 0.6, 0.4, 0.3, 0.2, 0.1] + [0] * 6) + rng.logistic(size=300)
    y = (score > 0).astype(np.int64)
    columns, stop = list(range(12)), None
    while len(columns) > 3:
        without = [[c for c in columns if c != dropped] for dropped in columns]
        deviances = [refitted(X, y, each) for each in without]
        if stop is None and min(deviances) - 2 > refitted(X, y, columns):
            stop = len(columns)
        columns = without[int(np.argmin(deviances))]
    assert stop is not None
    assert backward(X, y, 3) == (columns, 12, stop)


@pytest.mark.parametrize("name", SCALINGS)
def test_scaled_records_are_in_the_unit_ball(name: str) -> None:
    X = stream("scaled").normal(size=(200, 4)) * [1.0, 10.0, 100.0, 1e5] + 3
    norms = np.linalg.norm(SCALINGS[name](X), axis=1)
    assert norms.max() == pytest.approx(1.0)
    assert (norms <= 1 + 1e-12).all()


def test_standardised_directions_are_those_of_standardised_columns() -> None:
    """All records are divided by one number."""
    X = stream("standardised").normal(size=(200, 3)) * [1.0, 10.0, 100.0]
    Z = SCALINGS["standardised"](X)
    assert Z.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert Z.std(axis=0) == pytest.approx(np.full(3, Z.std(axis=0)[0]))
