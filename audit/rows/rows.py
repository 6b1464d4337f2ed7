"""Rows: records of any kind, coded as numbers, and handed out in the form in which they came.

A cell is a number, a date or one of few known values; each is coded as a float: a number as itself,
a date in microseconds, a value by its place among those of its column. What is coded can be
compared, sent and written down; a mechanism sees only what the user gave: a DataFrame with its
dtypes, a list, an array.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import InvalidInput, require
from dpassay.rows.columns import LAST, MISSING, SPECIAL, Coded, Column, value_from_json

Shape = Literal["frame", "list", "tuples", "dicts", "array", "labelled", "labelled frame"]
"""How rows are handed out: a DataFrame, a list of cells, tuples or dicts, an array, or an object
with the features `X`, an array or a DataFrame, and the labels `y`."""

LABELLED: tuple[Shape, ...] = ("labelled", "labelled frame")


@dataclass(frozen=True, kw_only=True)
class Form:
    """The columns of rows, each of another name, and how they are handed out.

    `label` and `group` are the columns that hold the label and whose record it is. Raise
    InvalidInput if there is no column, a name comes twice, or there is no such column.
    """

    shape: Shape
    columns: tuple[Column, ...]
    label: str | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        require(self.shape in get_args(Shape), "shape", self.shape, f"one of {get_args(Shape)}")
        require(len(self.columns) > 0, "columns", "none", "at least one")
        names = self.names
        require(len(set(names)) == len(names), "columns", names, "of different names")
        for argument in ("label", "group"):
            name = getattr(self, argument)
            require(name is None or name in names, argument, name, f"one of {', '.join(names)}")

    @property
    def names(self) -> list[str]:
        """Names of the columns, in their order."""
        return [column.name for column in self.columns]

    @cached_property
    def features(self) -> tuple[int, ...]:
        """Places of the columns that a query has: all but the label and the group."""
        apart = {self.label, self.group}
        return tuple(j for j, column in enumerate(self.columns) if column.name not in apart)

    def place(self, name: str | None) -> int | None:
        """Return the place of a column."""
        return None if name is None else self.names.index(name)

    def holds(self, values: Coded) -> bool:
        """Return whether codes (n, d) stand for rows that there may be."""
        return all(
            column.holds(cell)
            for column, cells in zip(self.columns, values.T.tolist(), strict=True)
            for cell in set(cells)
        )

    def handed(self, values: Coded) -> Any:
        """Return rows in the form in which they came: a new object every time."""
        if self.shape == "frame":
            return _frame(self.columns, values)
        if self.shape in LABELLED:
            labels = _array(self.columns[-1], values[:, -1])
            return Features(self.of_queries.handed(values[:, :-1]), labels)
        if self.shape == "array":
            arrays = [
                _array(column, cells) for column, cells in zip(self.columns, values.T, strict=True)
            ]
            if len(arrays) == 1 and self.names == ["value"]:
                return arrays[0]
            kinds = {np.dtype(column.dtype or object) for column in self.columns}
            alike = len(kinds) == 1 or all(kind.kind in "biuf" for kind in kinds)
            found = np.empty(values.shape, dtype=np.result_type(*kinds) if alike else object)
            for j, array in enumerate(arrays):
                found[:, j] = array
            return found
        cells = self._plain(values)
        if self.shape == "dicts":
            return [dict(zip(self.names, row, strict=True)) for row in zip(*cells, strict=True)]
        return cells[0] if self.shape == "list" else list(zip(*cells, strict=True))

    def _plain(self, values: Coded) -> list[list[Any]]:
        """Return the cells of each column as values of Python's own."""
        pairs = zip(self.columns, values.T.tolist(), strict=True)
        return [[column.plain(cell) for cell in codes] for column, codes in pairs]

    def records(self, values: Coded) -> Any:
        """Return rows as plain values, dates as texts, for what is not in Python.

        Of a DataFrame or dicts a dict for each record, of tuples and arrays (n, d) a list, else its
        value. Of features and labels a dict of both.
        """
        plain = self._plain(np.where(values == SPECIAL["nan"], MISSING, values))
        told = [
            [cell.isoformat() if hasattr(cell, "isoformat") else cell for cell in cells]
            for cells in plain
        ]
        rows = [list(row) for row in zip(*told, strict=True)]
        if self.shape in LABELLED:
            return {"X": [row[:-1] for row in rows], "y": told[-1]}
        if self.shape in ("frame", "dicts"):
            return [dict(zip(self.names, row, strict=True)) for row in rows]
        return told[0] if self.names == ["value"] else rows

    @cached_property
    def of_queries(self) -> Form:
        """The form of queries: records with features only; what features were given as."""
        columns = tuple(self.columns[j] for j in self.features)
        shapes: dict[Shape, Shape] = {"labelled": "array", "labelled frame": "frame"}
        return Form(shape=shapes.get(self.shape, self.shape), columns=columns or self.columns)

    def words(self, row: Sequence[float]) -> str:
        """Say a row."""
        cells = [column.words(cell) for column, cell in zip(self.columns, row, strict=True)]
        if self.shape in ("frame", "dicts", *LABELLED):
            cells = [f"{c.name} {cell}" for c, cell in zip(self.columns, cells, strict=True)]
        return cells[0] if len(cells) == 1 else f"({', '.join(cells)})"

    def as_json(self) -> dict[str, Any]:
        """Return shape, columns, label and group; refuse values that JSON cannot hold."""
        columns = [column.as_json() for column in self.columns]
        own = {"label": self.label, "group": self.group}
        return {"shape": self.shape, "columns": columns} | own

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that makes it, in hexadecimal."""
        try:
            told: Any = self.as_json()
        except InvalidInput:  # values of the user's own: known in this process only
            told = repr(self)
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Rows:
    """A dataset of records of any kind; frozen, its array is read-only.

    `values` (n, d) are codes, what they stand for is in `form`; n may be 0. Nobody looks at codes
    that are `known` to stand for something. Raise InvalidInput if the shape does not fit, or a code
    stands for nothing.
    """

    values: Coded
    form: Form
    known: InitVar[bool] = False

    def __post_init__(self, known: bool) -> None:
        values = np.array(self.values, dtype=float)
        values = values.reshape(-1, len(self.form.columns)) if values.size == 0 else values
        columns = len(self.form.columns)
        fits = values.ndim == 2 and values.shape[1] == columns
        require(fits, "values", f"shape {values.shape}", f"of shape (n, {columns})")
        if not (known or self.form.holds(values)):
            raise InvalidInput("values: must be codes of cells that the columns may have")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return what it is made of."""
        return (self.values,)

    @property
    def digest(self) -> str:
        """SHA-256 of form and contents, in hexadecimal."""
        state = hashlib.sha256(f"{self.form.digest}{self.values.shape}".encode())
        state.update(np.ascontiguousarray(self.values, dtype="<f8").tobytes())
        return state.hexdigest()

    @property
    def handed(self) -> Any:
        """The rows as the user gave them: a new object every time."""
        return self.form.handed(self.values)

    @property
    def words(self) -> str:
        """All rows."""
        return f"{{{', '.join(map(self.form.words, self.values.tolist()))}}}"

    def as_json(self) -> dict[str, Any]:
        """Return form and codes; see `Form.as_json`."""
        return {"form": self.form.as_json(), "values": self.values.tolist()}


def form_from_json(told: Mapping[str, Any]) -> Form:
    """Read back what `Form.as_json` wrote; raise InvalidInput for anything else."""
    try:
        columns = tuple(
            Column(**(dict(each) | {"values": tuple(map(value_from_json, each.get("values", ())))}))
            for each in told["columns"]
        )
        return Form(shape=told["shape"], columns=columns, label=told["label"], group=told["group"])
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"form = {told!r:.80}: cannot be read ({error})") from None


def rows_from_json(told: Mapping[str, Any]) -> Rows:
    """Read back what `Rows.as_json` wrote; raise InvalidInput for anything else."""
    try:
        return Rows(np.array(told["values"], dtype=float), form_from_json(told["form"]))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"rows: cannot be read ({error})") from None


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Features:
    """What a mechanism is handed that came as a pair (X, y)."""

    X: Any
    y: Any

    def __len__(self) -> int:
        return len(self.y)


class Handed:
    """Coded rows (n, d) that are handed out again and again, each time as a new object."""

    def __init__(self, form: Form, values: Coded) -> None:
        self.form, self._made = form, form.handed(values)

    def fresh(self) -> Any:
        """Return the rows; what somebody does to them, the next one does not see."""
        made = self._made
        if isinstance(made, Features):
            return Features(made.X.copy(), made.y.copy())
        return [dict(row) for row in made] if self.form.shape == "dicts" else made.copy()


def _frame(columns: Sequence[Column], values: Coded) -> Any:
    """Return cells as a DataFrame, each column of the dtype that it had."""
    import pandas as pd

    def series(column: Column, codes: NDArray[np.float64]) -> Any:
        if column.kind == "date":
            known = codes != MISSING
            stamps = np.where(known, codes, 0).astype("int64").astype("datetime64[us]")
            stamps[~known] = np.datetime64("NaT")
            dtype: Any = column.dtype
            dates: Any = pd.Series(stamps)
            if "," in dtype:  # of a time zone
                zone = dtype.partition(",")[2].strip(" ]")
                dates = dates.dt.tz_localize("UTC").dt.tz_convert(zone)
            return dates.astype(dtype)
        if column.dtype == "category":
            places = np.where(codes <= LAST, -1, codes).astype(int)
            categories: Any = list(column.values)
            return pd.Series(pd.Categorical.from_codes(places, categories=categories))
        return pd.Series(_array(column, codes), dtype=column.dtype or "object")

    parts = {
        column.name: series(column, codes) for column, codes in zip(columns, values.T, strict=True)
    }
    return pd.DataFrame(parts, index=pd.RangeIndex(len(values)))


def _array(column: Column, codes: NDArray[np.float64]) -> NDArray[Any]:
    """Return cells as an array of the dtype that they had."""
    dtype, gone = column.dtype, codes <= LAST
    numeric = column.kind in ("number", "integer")
    if numeric and not gone.any() and not dtype.startswith(("object", "str", "Int", "UInt")):
        return codes.astype(dtype or ("int64" if column.kind == "integer" else float))
    if numeric and dtype.startswith("float"):
        floats = np.where(codes == SPECIAL["inf"], np.inf, np.where(gone, np.nan, codes))
        return np.where(codes == SPECIAL["-inf"], -np.inf, floats).astype(dtype)
    found = np.empty(len(codes), dtype=object)
    for j, cell in enumerate(codes.tolist()):
        found[j] = column.plain(cell)
    if dtype == "bool" or dtype.startswith(("<U", "|S", "<M")):
        return found.astype(dtype)
    return found
