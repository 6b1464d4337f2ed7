"""Spaces: what datasets look like, in a user's few words; searches draw from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpassay.csv_files import is_file, read_frame
from dpassay.data import Labelled, Values, numbers
from dpassay.errors import InvalidInput, as_real, is_count, require
from dpassay.relations import REPLACE_ONE
from dpassay.rows.columns import Coded, Column
from dpassay.rows.reading import KINDS
from dpassay.rows.rows import Form, Rows
from dpassay.search.proposals.answers import Answers
from dpassay.search.proposals.pair_maker import PairGenerator
from dpassay.search.proposals.proposal import Space
from dpassay.search.proposals.records import RecordSpace
from dpassay.search.tables import LARGER, Tables

__all__ = ["Answers", "Records", "Scalars", "space_of"]

SHOWN = 5
"""Labels that are named."""
SIZE = 10
"""Numbers of a list where nobody says how many."""


@dataclass(frozen=True, slots=True, eq=False)
class Scalars(RecordSpace):
    """Lists of numbers between two limits, one for each record; neighbours replace one of them.

    Parameters
    ----------
    low, high : float
        Least and greatest number; finite, the first below the other.
    size : int, optional
        How many numbers a list has at most. By default as many as `values`, or 10.
    values : array (n,), optional
        Numbers of the user's own. They are searched, and so are other lists: a claim is about all.
    fixed : bool
        Whether every list has exactly `size` numbers. By default shorter ones are searched too.
    own_limits : bool
        Whether the limits are those of `values`, for want of others.

    Raises
    ------
    InvalidInput
        If a limit or size is out of its range, or the values do not keep to them.
    """

    low: float
    high: float
    size: int | None = None
    values: ArrayLike | None = None
    fixed: bool = False
    own_limits: bool = False
    generator: PairGenerator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        low, high = as_real(self.low), as_real(self.high)
        known = math.isfinite(low) and math.isfinite(high - low) and low < high
        require(known, "low, high", (self.low, self.high), "finite, the first below the other")
        own = None if self.values is None else numbers(self.values, "values")
        if own is not None and not (low <= own.min() and own.max() <= high):
            raise InvalidInput(f"values: must be numbers in [{low:g}, {high:g}], all of them")
        count = SIZE if own is None else len(own)
        size = count if self.size is None else self.size
        require(is_count(size), "size", size, "an integer >= 1")
        require(own is None or size == count, "size", size, f"{count}, the number of values")
        data = Values(np.linspace(low, high, int(size)) if own is None else own)
        column = Column(name="value", kind="number", low=low, high=high, dtype="float64")
        generator = _generator(
            data,
            data.values[:, None],
            (column,),
            fixed=self.fixed,
            largest=int(size),
            made_up=own is None,
        )
        named = {"low": low, "high": high, "size": int(size), "generator": generator}
        for name, value in named.items():
            object.__setattr__(self, name, value)

    @property
    def words(self) -> str:
        """Return how many numbers, and between which limits."""
        some = f"{self.size}" if self.fixed or self.size == 1 else f"1 to {self.size}"
        what = "number" if self.size == 1 else "numbers"
        return f"{some} {what} in [{self.low:g}, {self.high:g}], one of which a change replaces"

    @property
    def guessed(self) -> str:
        """The limits, if they are those of the values."""
        return self.own_limits * (
            "The limits of the numbers were taken from the data: declare them with "
            "Scalars(low, high, values=data) where other numbers can occur."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Records(RecordSpace):
    """Labelled records; neighbours replace one of them, its label alone or all of it.

    The user's records are searched, and so are others within the range of each feature, with the
    labels that these have: a claim is about all datasets. Smaller datasets are searched too unless
    the number of records is `fixed`. A proposal asks at most `asked` queries, >= 1.
    """

    data: Labelled
    fixed: bool = False
    asked: int = 6
    generator: PairGenerator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        known = isinstance(self.data, Labelled)
        require(known, "data", type(self.data).__name__, "a Labelled(X, y)")
        require(is_count(self.asked), "asked", self.asked, "an integer >= 1")
        X, labels = self.data.X, np.unique(self.data.y).tolist()
        classes = labels if len(labels) > 1 else sorted({0, *(labels if labels != [0] else [1])})
        values = np.column_stack([X, np.searchsorted(classes, self.data.y)])
        columns = [
            Column(
                name=f"x{j}",
                kind="integer" if (np.trunc(cells) == cells).all() else "number",
                low=float(cells.min()),
                high=float(cells.max()),
                dtype="float64",
            )
            for j, cells in enumerate(X.T)
        ]
        columns.append(Column(name="y", kind="value", values=tuple(classes)))
        generator = _generator(
            self.data, values, tuple(columns), fixed=self.fixed, asked=int(self.asked)
        )
        object.__setattr__(self, "generator", generator)

    @property
    def words(self) -> str:
        """Return how many records, features and labels."""
        count, columns = self.data.X.shape
        some = f"{count} record{'s' if count > 1 else ''}" if self.fixed else "records"
        what = f"of {columns} feature{'s' if columns > 1 else ''}"
        known = self.generator.form.columns[-1].values
        classes = ", ".join(map(str, known[:SHOWN]))
        more = ", ..." if len(known) > SHOWN else ""
        return f"{some} {what} with labels {classes}{more}, one of which a change replaces"


def _generator(
    own: Labelled | Values,
    values: Coded,
    columns: tuple[Column, ...],
    *,
    fixed: bool,
    asked: int = 0,
    largest: int = 0,
    made_up: bool = False,
) -> PairGenerator:
    """Return what proposes datasets that a mechanism gets as Labelled or Values."""
    form = Form(
        shape="labelled" if asked else "array", columns=columns, label="y" if asked else None
    )
    count = len(own)
    return PairGenerator(
        rows=Rows(values, form, known=True),
        relation=REPLACE_ONE,
        sizes=(count, count) if fixed else (1, largest or LARGER * count),
        asked=asked,
        own=own,
        made_up=made_up,
    )


def space_of(
    data: Any, *, label: str | None = None, relation: str | None = None, group: str | None = None
) -> Space:
    """Return the space that a user means by some data.

    That is a space itself; labelled records or (X, y); a list or column of numbers, of which the
    ends are the limits; or records of any kind, also the path of a file, for which, and for
    `label`, `relation` and `group`, see `Tables`. Raise InvalidInput if it is none of these.
    """
    if isinstance(data, (str, Path)):
        require(is_file(Path(data)), "data", data, KINDS)
        data = read_frame(Path(data), missing=True)
    if hasattr(data, "iloc") and not hasattr(data, "columns"):  # a column of pandas
        data = data.to_numpy()
    told = {"label": label, "relation": relation, "group": group}
    said: dict[str, Any] = {name: each for name, each in told.items() if each is not None}
    if isinstance(data, Space):
        if said:
            raise InvalidInput(f"{', '.join(said)}: say it in {type(data).__name__}(...) itself")
        return data
    if not said and isinstance(data, Labelled):
        return Records(data)
    if not said and _plain_labelled(data):
        return Records(Labelled(*data))
    if isinstance(data, Labelled):
        return Tables((data.X, data.y), **said)
    if said or not _plain_numbers(data):
        return Tables(data, **said)
    own = numbers(data, "data")
    if own.min() == own.max():
        raise InvalidInput(
            "data: all numbers are equal, so that their limits are not known; say "
            "Scalars(low, high, values=...)"
        )
    return Scalars(float(own.min()), float(own.max()), values=own, own_limits=True)


def _plain_labelled(data: Any) -> bool:
    """Return whether data are features and labels that are numbers of classes."""
    if not (isinstance(data, tuple) and len(data) == 2 and np.ndim(data[0]) == 2):
        return False
    if hasattr(data[0], "iloc"):
        return False
    X, y = np.asarray(data[0]), np.asarray(data[1])
    if X.dtype.kind not in "biuf" or y.dtype.kind not in "biuf":
        return X.dtype.kind in "biuf" and y.dtype.kind not in "OUSTM"
    finite = np.isfinite(X).all() and np.isfinite(y).all()
    return bool(finite and (y == np.trunc(y)).all() and (y >= 0).all())


def _plain_numbers(data: Any) -> bool:
    """Return whether data are a list or array of numbers, none of them missing."""
    if hasattr(data, "iloc") or isinstance(data, (str, bytes, dict)):
        return False
    try:
        array = np.asarray(data)
    except ValueError:  # rows of different lengths
        return False
    if array.ndim != 1 or array.dtype.kind not in "iuf" or not array.size:
        return False
    return bool(np.isfinite(array).all())
