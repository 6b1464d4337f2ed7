"""Records as a user has them, and what a trained model shows at them.

Records are a DataFrame with a label, or a pair (X, y). A model shows probabilities, one label, or
how close its number is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.subjects import SCORES, ModelView, asked
from dpassay.attacks.observed import Array
from dpassay.errors import InvalidInput, TargetError, near, require, told
from dpassay.rows.reading import rows_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tabular:
    """Features (n, d) of any kind, and what is predicted of them (n,)."""

    X: Any
    y: NDArray[Any]

    def __len__(self) -> int:
        return len(self.y)

    def take(self, places: NDArray[np.int64]) -> Any:
        """Return the features of some records, in the form in which they came."""
        return self.X.iloc[places] if hasattr(self.X, "iloc") else self.X[places]

    @property
    def coded(self) -> Array:
        """Features and label as numbers, one column each; for looking at, not for learning."""
        data = self.X.assign(**{"label of dpassay": self.y}) if hasattr(self.X, "iloc") else None
        return rows_of((self.X, self.y) if data is None else data).values


def tabular(data: Any, label: str | None, argument: str) -> Tabular:
    """Read records from a DataFrame with its label column, or from a pair (X, y)."""
    if isinstance(data, tuple) and len(data) == 2:
        require(label is None, "label", label, "left out with a pair (X, y)")
        X, y = data[0] if hasattr(data[0], "iloc") else np.asarray(data[0]), np.asarray(data[1])
    elif hasattr(data, "columns") and hasattr(data, "iloc"):
        names = [str(name) for name in data.columns]
        if label is None:
            raise InvalidInput(f"label is missing: must be a column of {argument}, to be predicted")
        if label not in names:
            close = near(label, names)
            hint = f"did you mean '{close}'?" if close else f"it has {', '.join(names[:12])}"
            raise InvalidInput(f"label = '{label}': {argument} has no such column; {hint}")
        X, y = data.drop(columns=[label]), data[label].to_numpy()
    else:
        raise InvalidInput(
            f"{argument} = {type(data).__name__}: must be a DataFrame (with label=...), or a pair "
            "(X, y)"
        )
    shape = np.shape(X)
    fits = len(shape) == 2 and len(y) == shape[0] and np.ndim(y) == 1
    told = f"shapes {shape} and {np.shape(y)}"
    require(fits, argument, told, "features of shape (n, d) and n labels")
    require(len(y) > 0 and shape[1] > 0, argument, told, "at least one record and one feature")
    return Tabular(X=X, y=y)


def joined(first: Tabular, second: Tabular) -> Tabular:
    """Return the records of both, those of the first before; their columns must be the same."""
    if hasattr(first.X, "iloc") != hasattr(second.X, "iloc"):
        raise InvalidInput("members, non_members: must be both DataFrames, or both arrays")
    y = np.concatenate([first.y, second.y])
    if hasattr(first.X, "iloc"):
        import pandas as pd

        one, other = (list(each.X.columns) for each in (first, second))
        alike = "the columns of members, " + ", ".join(map(str, one))
        require(one == other, "non_members", f"columns {', '.join(map(str, other))}", alike)
        return Tabular(X=pd.concat([first.X, second.X], ignore_index=True), y=y)
    wide, other_wide = first.X.shape[1], second.X.shape[1]
    require(wide == other_wide, "non_members", f"{other_wide} columns", f"{wide}, as members")
    return Tabular(X=np.concatenate([first.X, second.X]), y=y)


NUMBERS = ModelView(name="numbers", m=None)
"""A prediction of a real number."""
TASKS = ("classes", "numbers")
"""What may be predicted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PredictionTask:
    """What models predict: `y` (n,) holds classes of any kind, or finite numbers, of all records.

    There must be two values at least.
    """

    kind: str  # one of `TASKS`
    y: Any
    classes: NDArray[Any] = field(init=False)
    codes: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        require(self.kind in TASKS, "task", self.kind, f"one of {', '.join(TASKS)}")
        values = np.asarray(self.y)
        if self.kind == "numbers":
            try:
                values = values.astype(float)
            except (TypeError, ValueError):
                raise InvalidInput("label: must be numbers, as numbers are predicted") from None
            finite = np.isfinite(values)
            if not finite.all():
                place = int(np.argmin(finite))
                raise InvalidInput(f"label[{place}] = {values[place]}: must be a finite number")
        try:
            classes, codes = np.unique(values, return_inverse=True)
        except TypeError:
            raise InvalidInput("label: must be values of one kind, texts or numbers") from None
        several = len(classes) > 1
        require(several, "label", str(classes[:1]), "of two values or more")
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "codes", codes.astype(np.int64))

    @property
    def labels(self) -> NDArray[np.int64]:
        """Labels 0..K-1 that the shares are of; of numbers always 1, 'close'."""
        return self.codes if self.kind == "classes" else np.ones(len(self.codes), dtype=np.int64)

    def views(self, model: Any) -> tuple[ModelView, ...]:
        """Ways of looking at a model, trained or not."""
        if self.kind == "numbers":
            return (NUMBERS,)
        return (
            (SCORES, asked(1)) if callable(getattr(model, "predict_proba", None)) else (asked(1),)
        )

    def shown(
        self, model: Any, X: Any, codes: NDArray[np.int64], name: str = "model"
    ) -> list[Array]:
        """Return the shares of each label at records in each view, shape (n, K) each.

        Of a predicted number f the share of 'close' is 1 / (1 + ((f - y) / s)^2), with s
        the standard deviation of all y: 1/2 for a prediction that is one deviation off. Its
        log-odds are minus the logarithm of the squared residual, up to a constant. `codes`
        (n,) are the indices of the records' true values in `classes`. A model that fails or
        answers nonsense raises `TargetError`.
        """
        try:
            if self.kind == "numbers":
                return [self._close(np.asarray(model.predict(X), dtype=float), codes, name)]
            found = [self._labels(np.asarray(model.predict(X)), len(codes), name)]
            if len(self.views(model)) > 1:
                shares = np.asarray(model.predict_proba(X), dtype=float)
                found.insert(0, self._spread(shares, model, len(codes), name))
        except (InvalidInput, TargetError):
            raise
        except Exception as error:  # what is not ours may do anything
            raise TargetError(f"{name}: {type(error).__name__} was raised", told(error)) from error
        return found

    def _close(self, numbers: Array, codes: NDArray[np.int64], name: str) -> Array:
        if numbers.shape != (len(codes),):
            raise TargetError(f"{name}: predicts shape {numbers.shape}, must be ({len(codes)},)")
        if not np.isfinite(numbers).all():
            raise TargetError(f"{name}: predicts {numbers[~np.isfinite(numbers)][0]}")
        close = closeness(numbers, self.classes[codes], self.classes[self.codes].std())
        return np.stack([1 - close, close], axis=1)

    def _labels(self, answers: NDArray[Any], n: int, name: str) -> Array:
        if answers.shape != (n,):
            raise TargetError(f"{name}: predicts shape {answers.shape}, must be ({n},)")
        found: Array = (answers[:, None] == self.classes).astype(float)
        wrong = found.sum(axis=1) != 1
        if wrong.any():
            raise TargetError(
                f"{name}: predicts {answers[wrong][0]!r}, which is the label of no record"
            )
        return found

    def _spread(self, shares: Array, model: Any, n: int, name: str) -> Array:
        """Put the columns of `predict_proba` in the order of our classes."""
        own = np.asarray(getattr(model, "classes_", self.classes))
        if shares.shape != (n, len(own)):
            raise TargetError(
                f"{name}: predict_proba has shape {shares.shape}, must be {(n, len(own))}"
            )
        if not ((shares >= -1e-9) & (shares <= 1 + 1e-9)).all():
            raise TargetError(f"{name}: predict_proba is not made of numbers in [0, 1]")
        places = {value: k for k, value in enumerate(self.classes.tolist())}
        found = np.zeros((n, len(self.classes)))
        for j, value in enumerate(own.tolist()):
            if value in places:
                found[:, places[value]] = np.clip(shares[:, j], 0, 1)
        return found


def closeness(numbers: Array, y: Array, spread: float) -> Array:
    """Return 1 / (1 + ((f - y) / s)^2) of predicted numbers f: 1/2 for one deviation off."""
    found: Array = 1 / (1 + ((numbers - y) / spread) ** 2)
    return found


def task_of(model: Any, y: Any) -> str:
    """Return what a model predicts: classes, or numbers.

    Classes where it has classes or probabilities; numbers where scikit-learn calls it a regressor,
    or the label has numbers that are not whole.
    """
    if any(hasattr(model, each) for each in ("predict_proba", "classes_")):
        return "classes"
    kind = getattr(model, "_estimator_type", None)
    if kind is None and hasattr(model, "__sklearn_tags__"):
        kind = model.__sklearn_tags__().estimator_type
    if kind in ("classifier", "regressor"):
        return "numbers" if kind == "regressor" else "classes"
    values = np.asarray(y)
    broken = values.dtype.kind == "f" and (values != np.trunc(values)).any()
    return "numbers" if broken else "classes"
