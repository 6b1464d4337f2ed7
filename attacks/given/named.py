"""Estimators by name: base learners that predict numbers, and `module:object`."""

from __future__ import annotations

from typing import Any

from dpassay.errors import InvalidInput
from dpassay.targets.importing import load_object

REGRESSORS = ("tree", "nearest", "linear")


def regressor_of(name: str) -> Any:
    """Return an untrained regressor, one of `REGRESSORS` or named by `module:object`."""
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


def estimator_named(address: str) -> Any:
    """Return the estimator of `module:object`, made of its class if it names one."""
    found = load_object(address, "target")
    if not isinstance(found, type):
        return found
    try:
        return found()
    except Exception as error:  # what is not ours may do anything
        raise InvalidInput(
            f"target = {found.__name__}: cannot be made without arguments ({error}); name an object"
        ) from error
