"""IBM/differential-privacy-library 105 (open): a lower bound taken twice.

diffprivlib 0.6.6. `LinearRegression` takes the lower bound twice for the sensitivity of the sum of
x^2: that of bounds (0, 1) is 0, and the sum is used without noise. Claimed: epsilon = 1. True:
without limit, coef_ is a noisy sum of x y over an exact sum of x^2.

Data: records with floats x and y in [0, 1]. Answer: a list of one float.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from diffprivlib.models import LinearRegression

warnings.simplefilter("ignore")


def fit(data: Any, lower: float) -> Any:
    """Return the coefficient, with x in [lower, 1]."""
    model = LinearRegression(
        epsilon=1.0, bounds_X=(lower, 1.0), bounds_y=(0.0, 1.0), fit_intercept=False
    )
    X = np.array([[each["x"]] for each in data], dtype=float)
    y = np.array([each["y"] for each in data], dtype=float)
    return [float(each) for each in model.fit(X, y).coef_]


def release(data: Any) -> Any:
    """Say the bounds as they are."""
    return fit(data, 0.0)


def control(data: Any) -> Any:
    """Say bounds that are symmetric: the formula is right for them."""
    return fit(data, -1.0)
