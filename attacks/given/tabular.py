"""Records as a user has them: a DataFrame with a label, or a pair (X, y)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import InvalidInput, near, require
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
    def coded(self) -> NDArray[np.float64]:
        """Features and label as numbers, one column each; for looking at, not for learning.

        Texts and other values are places in a list, a missing one the least number.
        """
        data = self.X.assign(**{"label of dpassay": self.y}) if hasattr(self.X, "iloc") else None
        return rows_of((self.X, self.y) if data is None else data).values


def tabular(data: Any, label: str | None, argument: str) -> Tabular:
    """Read records from a DataFrame with its label column, or from a pair (X, y).

    Messages call them `argument`. Records without rows or without the column are refused.
    """
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
