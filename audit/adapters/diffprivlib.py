"""diffprivlib: the claim of a model or a tool, and models of which more than predictions is seen.

Its tools take `random_state`, so that a function of `data` and `rng` can hand them coins:
`mean(data, epsilon=1.0, bounds=(0, 1), random_state=int(rng.integers(2**31)))`. Its models are
estimators, which `audit` fits anew in every run with a `random_state` of its own.
"""

from __future__ import annotations

import inspect
import math
from functools import partial
from typing import Any

from dpassay.claims import DP
from dpassay.errors import InvalidInput, as_real, require
from dpassay.targets.estimators import ObservedEstimator

ALLOWED = "a model or function with a parameter epsilon, or a BudgetAccountant that has spent some"


def claim(spent: Any) -> DP:
    """Return what a model, a tool or an accountant claims.

    That is the `epsilon` of a model; the parameter `epsilon` of a function or `functools.partial`,
    or the default of that; or what a BudgetAccountant has spent in all. The neighbour relation is
    that of the data it is audited on; diffprivlib means that one record is replaced. Raise
    InvalidInput if it has no epsilon, or one that is no claim.
    """
    if callable(getattr(spent, "total", None)):
        total = spent.total()
        require(total.epsilon > 0, "spent", spent, ALLOWED)
        return _claim(total.epsilon, float(total.delta))
    if isinstance(spent, ObservedEstimator):
        spent = spent.estimator
    epsilon = getattr(spent, "epsilon", None)
    if epsilon is None and callable(spent):
        epsilon = _parameter(spent)
    require(epsilon is not None, "spent", spent, ALLOWED)
    return _claim(epsilon, 0.0)


def model(estimator: Any, outputs: tuple[str, ...] = ("predict",)) -> ObservedEstimator:
    """Return a model of which other things are seen than its predictions.

    `estimator` has `fit` and `predict`: `GaussianNB(epsilon=1.0)` say. `outputs` are what somebody
    sees of the fitted model, all of it together one answer: attributes such as 'theta_', 'var_',
    'class_prior_', 'coef_', 'intercept_', and 'predict' for the predictions at queries.
    """
    return ObservedEstimator(estimator, tuple(outputs))


def _claim(epsilon: Any, delta: float) -> DP:
    number = as_real(epsilon)
    require(0 < number < math.inf, "epsilon", epsilon, "a finite number > 0")
    return DP(epsilon=number, delta=delta, source="declared to diffprivlib")


def _parameter(function: Any) -> Any:
    """Return the epsilon that a function is called with: as a partial says, or by default."""
    if isinstance(function, partial) and "epsilon" in function.keywords:
        return function.keywords["epsilon"]
    try:
        found = inspect.signature(function).parameters.get("epsilon")
    except (TypeError, ValueError):
        raise InvalidInput(f"spent = {function!r:.80}: must be {ALLOWED}") from None
    return None if found is None or found.default is found.empty else found.default
