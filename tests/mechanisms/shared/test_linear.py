"""The linear model: features that keep their norm, predictions that keep their limits."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.mechanisms.shared.linear import LinearPredictor, gamma
from tests.mechanisms.dwork_feldman_2018 import twin_erm


@pytest.mark.parametrize("L_f", [0.3, 7.0])
def test_features_are_those_of_the_twin_and_never_too_long(L_f: float) -> None:
    X = np.random.default_rng(0).normal(size=(200, 3)) * np.logspace(-3, 3, 200)[:, None]
    phi = LinearPredictor(L_f=L_f, feature_scale=1.7).features(X)
    expected = [twin_erm.features(tuple(x), 1.7, L_f) for x in X.tolist()]
    np.testing.assert_allclose(phi, expected, rtol=1e-14)
    assert (np.linalg.norm(phi, axis=1) <= L_f * (1 + 4e-16)).all()
    scaled = LinearPredictor(L_f=2.0, feature_scale=(10.0, 1.0)).features(np.array([[30.0, 4.0]]))
    np.testing.assert_allclose(scaled, [[1.2, 1.6]], rtol=1e-15)


def test_a_feature_is_a_function_of_its_record_alone() -> None:
    X = np.random.default_rng(1).normal(size=(50, 7)) * 3
    model = LinearPredictor()
    alone = np.concatenate([model.features(X[i : i + 1]) for i in range(50)])
    np.testing.assert_array_equal(alone, model.features(X))


def test_huge_and_tiny_numbers() -> None:
    tiny = [[3e-320, 0.0], [1e-200, 1e-200]]
    phi = LinearPredictor().features(np.array([[1e300, -1e300], *tiny]))
    np.testing.assert_allclose(phi[0], [math.sqrt(0.5), -math.sqrt(0.5)])
    np.testing.assert_array_equal(phi[1:], tiny)


def test_predictions_keep_their_limits() -> None:
    model = LinearPredictor(R=0.7, L_f=3.0)
    assert model.numbers == (-(0.7 * 3.0), 0.7 * 3.0)
    X = np.random.default_rng(2).normal(size=(1000, 4)) * 10
    w = np.random.default_rng(3).normal(size=(100, 4))
    values = model.predictions(w * 0.7 / np.linalg.norm(w, axis=1, keepdims=True), X)
    assert (np.abs(values) <= model.numbers[1]).all()


def test_a_distance_of_weights_is_an_error_of_predictions() -> None:
    model = LinearPredictor(R=0.5, L_f=2.0)
    law = model.law(np.array([0.3, 0.4]), 1e-3, np.array([[6.0, 8.0], [0.0, 0.0]]))
    np.testing.assert_allclose(law.values, [1.0, 0.0], rtol=1e-15)
    assert law.error == pytest.approx(2e-3, rel=1e-9)
    exact = model.law(np.array([0.3, 0.4]), 0.0, np.ones((1, 2)))
    assert exact.error == pytest.approx(4 * 2.0**-53, rel=1e-9)


def test_gamma_bounds_a_long_product() -> None:
    values = np.random.default_rng(4).uniform(0.9, 1.1, size=500)
    exact = math.prod(map(Fraction, values.tolist()), start=Fraction(1))
    found = math.prod(values.tolist())
    assert 0 < abs(Fraction(found) - exact) <= Fraction(gamma(499)) * abs(exact)


@pytest.mark.parametrize(
    ("parameter", "value", "allowed"),
    [
        *(("n", value, "integer >= 1") for value in (0, 1.5, None)),
        *(("R", value, "finite number > 0") for value in (0, -1.0, math.inf, math.nan, "1")),
        ("L_f", 0, "finite number > 0"),
        *(
            ("feature_scale", value, "finite number > 0")
            for value in (0, math.nan, (1.0, -2.0), (), "one")
        ),
    ],
)
def test_refused(parameter: str, value: Any, allowed: str) -> None:
    with pytest.raises(InvalidInput, match=parameter) as refusal:
        LinearPredictor(**{parameter: value})
    assert allowed in str(refusal.value)


def test_data_that_do_not_fit() -> None:
    data = Labelled(np.zeros((3, 2)), np.array([0, 1, 0]))
    LinearPredictor(n=3, feature_scale=[1.0, 2.0]).check(data)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="n = 4: must be the number of records, 3"):
        LinearPredictor(n=4).check(data)
    with pytest.raises(InvalidInput, match="one number, or one for each of 2"):
        LinearPredictor(n=3, feature_scale=(1.0, 1.0, 1.0)).check(data)
    with pytest.raises(InvalidInput, match="labels"):
        LinearPredictor(n=3).check(Labelled(np.zeros((3, 2)), np.array([0, 1, 2])))
