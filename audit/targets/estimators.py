"""Estimators: what has `fit` and `predict`, trained anew in every run."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.rows.handing import Features

SEED = "random_state"
"""What scikit-learn calls the parameter that coins come from."""
LARGEST_SEED = 2**31 - 1


def is_estimator(thing: Any) -> bool:
    """Whether it can be fitted and then predicts."""
    return callable(getattr(thing, "fit", None)) and callable(getattr(thing, "predict", None))


@dataclass(frozen=True, slots=True)
class Trained:
    """A function of an estimator: fit it on data, predict at queries.

    Every run fits a copy with the parameters of the estimator and a `random_state` of its own,
    also within a pipeline. One that takes no `random_state` has coins of its own, which nobody
    seeds.

    Parameters
    ----------
    estimator : object
        With `fit` and `predict`; it is not changed.
    label : str, optional
        The column of a DataFrame that holds the label.
    group : str, optional
        The column that says whose record it is; the estimator does not see it.
    """

    estimator: Any
    label: str | None = None
    group: str | None = None

    def __call__(self, data: Any, queries: Any, rng: np.random.Generator) -> tuple[Any, ...]:
        """Fit a copy and return what it predicts at each query."""
        fitted = self._copy(rng)
        X, y = self._parts(data)
        fitted.fit(X) if y is None else fitted.fit(X, y)
        predicted = np.asarray(fitted.predict(queries))
        return tuple(predicted.tolist())

    def _copy(self, rng: np.random.Generator) -> Any:
        parameters = getattr(self.estimator, "get_params", None)
        if parameters is None:
            return copy.deepcopy(self.estimator)
        from sklearn.base import clone

        found = clone(self.estimator)
        seeds = [name for name in parameters() if name.rpartition("__")[2] == SEED]
        if seeds:
            drawn = rng.integers(LARGEST_SEED, size=len(seeds)).tolist()
            found.set_params(**dict(zip(sorted(seeds), drawn, strict=True)))
        return found

    def _parts(self, data: Any) -> tuple[Any, Any]:
        """Return features and labels; None where there are none."""
        if hasattr(data, "columns"):
            apart = [name for name in (self.label, self.group) if name is not None]
            y = None if self.label is None else data[self.label]
            return data.drop(columns=apart), y
        if isinstance(data, Features) or hasattr(data, "X"):
            return data.X, data.y
        return np.asarray(data).reshape(len(data), -1), None
