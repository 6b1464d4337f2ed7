"""IBM/differential-privacy-library 23 and 42 (removed after 0.3.0): Wishart noise.

diffprivlib 0.3.0 (Python 3.8). The Wishart mechanism, and `LinearRegression` on top of it, are not
private. Claimed: epsilon = 1. True: without limit; the noise is positive semidefinite, so the
answer minus the true matrix never has a negative eigenvalue.

Data: a list of vectors of two floats, clipped to the unit ball. Answer: four floats, or one.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from diffprivlib.mechanisms import Laplace, Wishart
from diffprivlib.models import LinearRegression

warnings.simplefilter("ignore")


def clipped(data: Any) -> Any:
    """Return the vectors, those outside of the unit ball shortened."""
    rows = np.array(data, dtype=float)
    return rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))


def release(data: Any) -> Any:
    """Return the second moment, as a list of four."""
    rows = clipped(data)
    noisy = Wishart().set_epsilon(1.0).set_sensitivity(1.0).randomise(rows.T @ rows)
    return noisy.ravel().tolist()


def regression(data: Any) -> Any:
    """Return the coefficient of the second number on the first."""
    rows = clipped(data)
    model = LinearRegression(epsilon=1.0, data_norm=1.0, fit_intercept=False)
    return [float(each) for each in model.fit(rows[:, :1], rows[:, 1]).coef_]


def control(data: Any) -> Any:
    """Add Laplace noise to three entries, which together move by at most 3."""
    rows = clipped(data)
    a, b, _, d = (rows.T @ rows).ravel().tolist()
    noise = Laplace().set_epsilon(1.0).set_sensitivity(3.0)
    return [noise.randomise(each) for each in (a, b, d)]
