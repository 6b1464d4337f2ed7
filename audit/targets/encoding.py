"""Encoding: records of any kind as features and classes, for mechanisms that take numbers only.

A scikit-learn `ColumnTransformer` codes the features. It is made from the form alone: columns,
limits and values, the same for all datasets of a search. So a record has one code whatever the
others are, and neighbours stay neighbours. Limits and values come from the data unless they are
said.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.rows.columns import Coded, Column
from dpassay.rows.rows import Form, Rows

if TYPE_CHECKING:
    from sklearn.compose import ColumnTransformer

DAY = 86_400e6
"""Microseconds."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """How records become features X and classes y.

    Numbers stay as they are, dates become days since 1970, every value of another column
    becomes a column of its own that is 0 or 1, and so does a missing one. The form has a label,
    whose values are the classes 0, 1, ... in their order; no number may be missing.
    """

    form: Form

    def __post_init__(self) -> None:
        if self.form.label is None:
            raise InvalidInput("label is missing: the mechanism takes labelled records")
        label = self._label
        counted = label.kind == "integer" and label.low == 0
        if label.gaps or not (counted or label.kind == "value"):
            raise InvalidInput(
                f"label = '{label.name}': must be values or classes 0, 1, ..., none of them missing"
            )
        for column in self._features:
            if column.gaps and column.kind != "value":
                raise InvalidInput(
                    f"column '{column.name}': a number may be missing; the mechanism takes none "
                    f"that is: fill it with a constant, data.fillna({{'{column.name}': 0}})"
                )

    @property
    def _label(self) -> Column:
        return self.form.columns[self.form.names.index(str(self.form.label))]

    @property
    def _features(self) -> tuple[Column, ...]:
        return tuple(self.form.columns[j] for j in self.form.features)

    @cached_property
    def transformer(self) -> ColumnTransformer:
        """The coder of the features, fitted to what cells may be."""
        from sklearn.compose import ColumnTransformer
        from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

        columns = list(enumerate(self._features))
        dates = [j for j, column in columns if column.kind == "date"]
        valued = [j for j, column in columns if column.kind == "value"]
        codes = [
            [*column.gaps, *map(float, range(len(column.values)))]
            for _, column in columns
            if column.kind == "value"
        ]
        numbers = [j for j, _ in columns if j not in dates and j not in valued]
        found = ColumnTransformer(
            [
                ("numbers", "passthrough", numbers),
                ("days", FunctionTransformer(_days), dates),
                ("values", OneHotEncoder(categories=codes, sparse_output=False), valued),
            ]
        )
        lowest = [column.low if column.kind != "value" else 0.0 for _, column in columns]
        return found.fit(np.array([lowest]))

    def points(self, values: Coded) -> NDArray[np.float64]:
        """Return features of coded queries, which have no label."""
        return np.asarray(self.transformer.transform(values), dtype=float)

    def labelled(self, rows: Rows) -> Labelled:
        """Return records as features and classes."""
        label = rows.values[:, self.form.names.index(str(self.form.label))]
        return Labelled(self.points(rows.values[:, list(self.form.features)]), label.astype(int))

    @property
    def words(self) -> str:
        """Say it: each column, and what became of it."""
        told = {"value": "a column for each value", "date": "days since 1970"}
        features = [f"{c.name}: {told.get(c.kind, 'as it is')}" for c in self._features]
        classes = list(self._label.values) or "as it is"
        return f"{'; '.join(features)}; classes of {self._label.name}: {classes}"


def _days(micros: Any) -> Any:
    return micros / DAY
