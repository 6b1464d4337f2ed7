"""Base learners that predict numbers, by name."""

from __future__ import annotations

from typing import Any

from dpassay.errors import InvalidInput
from dpassay.targets.importing import load_object

REGRESSORS = ("tree", "nearest", "linear")


def regressor_of(name: str) -> Any:
    """Return an untrained regressor.

    Parameters
    ----------
    name : str
        One of `REGRESSORS`, or `module:object` of an estimator or of what makes one.

    Raises
    ------
    InvalidInput
        If it is neither.
    """
    if ":" in name:
        found = load_object(name, "--learner")
        return found if hasattr(found, "predict") and not isinstance(found, type) else found()
    if name == "tree":
        from sklearn.tree import DecisionTreeRegressor

        return DecisionTreeRegressor(random_state=0)
    if name == "nearest":
        from sklearn.neighbors import KNeighborsRegressor

        return KNeighborsRegressor(n_neighbors=1)
    if name == "linear":
        from sklearn.linear_model import LinearRegression

        return LinearRegression()
    allowed = f"one of {', '.join(REGRESSORS)} where numbers are predicted, or module:object"
    raise InvalidInput(f"--learner = '{name}': must be {allowed}")
