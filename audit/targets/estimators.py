"""Estimators: what has `fit` and `predict`, trained anew in every run."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.errors import require
from dpassay.rows.rows import Features

SEED = "random_state"
"""What scikit-learn calls the parameter that coins come from."""
LARGEST_SEED = 2**31 - 1
PREDICT = "predict"
"""What is seen of an estimator by default: its predictions at queries."""


def is_estimator(thing: Any) -> bool:
    """Return whether it can be fitted and then predicts."""
    if isinstance(thing, ObservedEstimator):
        return True
    return callable(getattr(thing, "fit", None)) and callable(getattr(thing, PREDICT, None))


@dataclass(frozen=True, slots=True)
class ObservedEstimator:
    """An estimator of which more is seen than its predictions, or something else.

    `outputs` are attributes of the fitted estimator, and 'predict' for its predictions at
    queries; all of them together are one answer.
    """

    estimator: Any
    outputs: tuple[str, ...] = (PREDICT,)

    def __post_init__(self) -> None:
        known = is_estimator(self.estimator) and not isinstance(self.estimator, ObservedEstimator)
        require(known, "estimator", self.estimator, "an object with fit and predict")
        named = bool(self.outputs) and all(isinstance(each, str) for each in self.outputs)
        require(named, "outputs", self.outputs, "names of attributes, or 'predict'")


@dataclass(frozen=True, slots=True)
class TrainedEstimator:
    """A function of an estimator: fit it on data, predict at queries.

    Every run fits a copy with the parameters of the estimator and a `random_state` of its own,
    also within a pipeline. One that takes no `random_state` has coins of its own, which nobody
    seeds.
    """

    estimator: Any
    label: str | None = None  # the column of a DataFrame that holds the label
    # the column that says whose record it is; the estimator does not see it
    group: str | None = None
    outputs: tuple[str, ...] = (PREDICT,)  # see `ObservedEstimator`

    def __call__(self, data: Any, *rest: Any) -> Any:
        """Fit a copy on `data`; `rest` is `queries`, if they are asked, and `rng`.

        Return its predictions as a tuple if they are all that is seen of it; otherwise all that is
        seen as one answer, an array where it is numbers.
        """
        *queries, rng = rest
        fitted, parts = self._fitted(data, rng), list[Any]()
        for name in self.outputs:
            found = fitted.predict(*queries) if name == PREDICT else getattr(fitted, name)
            parts += np.asarray(found).ravel().tolist()
        numbers = all(type(part) in (int, float) for part in parts)
        whole = numbers and parts and self.outputs != (PREDICT,)
        return np.array(parts, dtype=float) if whole else tuple(parts)

    def _fitted(self, data: Any, rng: np.random.Generator) -> Any:
        fitted = self.copied(rng)
        X, y = self._parts(data)
        fitted.fit(X) if y is None else fitted.fit(X, y)
        return fitted

    def copied(self, rng: np.random.Generator) -> Any:
        """Return a copy with the same parameters, not trained, its `random_state` drawn anew."""
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
