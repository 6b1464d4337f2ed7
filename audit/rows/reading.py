"""Reading: data as a user has them, coded as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import InvalidInput, as_real, near, require
from dpassay.rows.columns import MISSING, SPECIAL, Coded, Column, Kind
from dpassay.rows.rows import LABELLED, Features, Form, Rows, Shape

MOST_VALUES = 100_000
"""Values that a column may have."""
KINDS = (
    "a DataFrame, the path of a CSV file, a list of values, tuples or dicts, an array, a pair "
    "(X, y) of features and labels, or a description such as Answers(size=5), Scalars(0, 1)"
)
"""What data may be."""


def rows_of(
    data: Any,
    *,
    label: str | None = None,
    group: str | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    values: Mapping[str, Sequence[Any]] | None = None,
) -> Rows:
    """Code a DataFrame, a list, an array or a pair (X, y) as rows.

    A list holds values of any hashable kind, tuples of equal length, or dicts of equal keys.
    `label` and `group` are the columns that hold the label, and whose record it is. `limits` are
    the least and greatest value of columns, by default those of the data; `values` are more values
    that cells of a column may have. None among them: a cell may be missing. Raise InvalidInput if
    the data are nothing of the kind, a column is not there, or a cell cannot be coded.
    """
    shape, columns = _columns_of(data)
    names = [name for name, _ in columns]
    asked = [("limits", name) for name in limits or ()] + [
        ("values", name) for name in values or ()
    ]
    asked += [(key, name) for key, name in (("label", label), ("group", group)) if name is not None]
    for argument, name in asked:
        if name not in names:
            close = near(str(name), names)
            hint = f"; did you mean '{close}'?" if close else f"; it has {', '.join(names)}"
            raise InvalidInput(f"{argument} = '{name}': the data have no such column{hint}")
    label = names[-1] if shape in LABELLED else label
    found = [
        _coded(name, cells, (limits or {}).get(name), (values or {}).get(name))
        for name, cells in columns
    ]
    form = Form(shape=shape, columns=tuple(each for each, _ in found), label=label, group=group)
    require(len(found[0][1]) > 0, "data", "no records", "at least one record")
    return Rows(np.column_stack([codes for _, codes in found]), form)


def code(form: Form, data: Any) -> Coded:
    """Code records that have the columns of a form already; refuse any other."""
    shape, columns = _columns_of(data, empty=form)
    if (shape, [name for name, _ in columns]) != (form.shape, form.names):
        raise InvalidInput(f"records: must have the columns {', '.join(form.names)}")
    codes = [
        [_code(column, cell) for cell in _plain(cells)]
        for column, (_, cells) in zip(form.columns, columns, strict=True)
    ]
    return Rows(np.array(codes, dtype=float).T, form).values


def _columns_of(data: Any, empty: Form | None = None) -> tuple[Shape, list[tuple[str, Any]]]:
    """Return the shape of data, and their columns."""
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        return "frame", [(str(name), data.iloc[:, j]) for j, name in enumerate(data.columns)]
    if isinstance(data, tuple) and len(data) == 2 and len(np.shape(data[0])) == 2:
        return _features(data[0], data[1])
    if isinstance(data, Features):
        return _features(data.X, data.y)
    if isinstance(data, np.ndarray):
        if data.ndim not in (1, 2):
            raise InvalidInput(f"data = shape {data.shape}: must be of shape (n,) or (n, d)")
        if data.ndim == 1:
            return "array", [("value", data)]
        return "array", [(f"x{j}", each) for j, each in enumerate(data.T)]
    if isinstance(data, (list, tuple)):
        return _of_list(list(data), empty)
    raise InvalidInput(f"data = {type(data).__name__}: must be {KINDS}")


def _of_list(data: list[Any], empty: Form | None) -> tuple[Shape, list[tuple[str, Any]]]:
    if not data and empty is not None:
        return empty.shape, [(column.name, []) for column in empty.columns]
    if data and all(isinstance(each, dict) for each in data):
        names = list(data[0])
        if set(map(type, names)) != {str} or any(list(each) != names for each in data):
            raise InvalidInput("data: dicts must have the same texts as keys, in the same order")
        return "dicts", [(name, [each[name] for each in data]) for name in names]
    widths = {len(each) if isinstance(each, (tuple, list)) else -1 for each in data}
    if widths == {-1} or 0 in widths or len(widths) > 1:
        return "list", [("value", data)]
    return "tuples", [(f"x{j}", [each[j] for each in data]) for j in range(widths.pop())]


def _features(X: Any, y: Any) -> tuple[Shape, list[tuple[str, Any]]]:
    """Return the columns of features, and last the labels, none turned into another value."""
    frame = hasattr(X, "iloc")
    if frame:
        columns = [(str(name), X.iloc[:, j]) for j, name in enumerate(X.columns)]
    else:
        columns = [(f"x{j}", each) for j, each in enumerate(np.asarray(X).T)]
    labels = y
    if not hasattr(y, "dtype"):
        given = list(y)
        tight = np.array(given) if given else np.array([], dtype=object)
        numeric = tight.dtype.kind in "biuf" and tight.ndim == 1
        labels = tight if numeric else np.array(given, dtype=object)
    if len(labels) != len(columns[0][1]):
        raise InvalidInput(
            f"data: X has {len(columns[0][1])} records and y has {len(labels)} labels; must be as "
            "many"
        )
    return "labelled frame" if frame else "labelled", [*columns, ("y", labels)]


def _plain(cells: Any) -> list[Any]:
    """Return cells as values of Python's own; None where one is missing.

    In a column of floats or of texts alone NaN is a missing cell; elsewhere it is told from None.
    """
    found = cells.tolist() if hasattr(cells, "tolist") else list(cells)
    floats = str(getattr(cells, "dtype", "")).lower().startswith(("float", "category", "str"))
    return [None if _is_missing(cell, nan=floats) else cell for cell in found]


def _is_missing(cell: Any, *, nan: bool) -> bool:
    if cell is None:
        return True
    if isinstance(cell, (float, np.floating)):
        return nan and bool(np.isnan(cell))
    return type(cell).__name__ in ("NAType", "NaTType")


def _coded(
    name: str, cells: Any, limits: tuple[float, float] | None, more: Sequence[Any] | None
) -> tuple[Column, NDArray[np.float64]]:
    """Return a column and the codes of its cells."""
    dtype = str(getattr(cells, "dtype", ""))
    if dtype.startswith("datetime64"):
        return _dates(name, cells, dtype, limits, missing=None in (more or ()))
    plain, extra = _plain(cells), list(more or ())
    missing = any(cell is None for cell in (*plain, *extra))
    named = {_special(cell) for cell in (*plain, *extra)}
    special = tuple(name for name in SPECIAL if name in named)
    if missing or special:  # integers of which some are missing become floats, as in pandas
        dtype = "float64" if dtype.startswith(("int", "uint")) else dtype
        dtype = "object" if dtype == "bool" or dtype.startswith(("<U", "|S")) else dtype
    present = [c for c in (*plain, *extra) if c is not None and not _special(c)]
    numeric = all(type(cell) in (int, float) for cell in present)
    facts: dict[str, Any]
    if numeric and dtype != "category" and (present or limits or special):
        facts = _numbers(name, present, limits, dtype)
    elif limits is not None:
        raise InvalidInput(f"limits: column '{name}' holds no numbers")
    else:
        facts = {"kind": "value", "values": _known_values(name, cells, present)}
    column = Column(name=name, missing=missing, dtype=dtype, special=special, **facts)
    return column, np.array([_code(column, cell) for cell in plain])


def _numbers(
    name: str, present: list[Any], limits: tuple[float, float] | None, dtype: str
) -> dict[str, Any]:
    """Return kind and limits of a column of numbers."""
    whole = all(type(cell) is int for cell in present) and not dtype.startswith("float")
    if not all(abs(cell) < 2**53 for cell in present):
        raise InvalidInput(f"column '{name}': must be finite numbers below 2^53")
    ends = min(present, default=0.0), max(present, default=0.0)
    low, high = ends if limits is None else map(as_real, limits)
    if present and not (low <= ends[0] and ends[1] <= high):
        raise InvalidInput(f"limits: column '{name}' has numbers beyond [{low:g}, {high:g}]")
    kind: Kind = "integer" if whole else "number"
    return {"kind": kind, "low": float(low), "high": float(high)}


def _special(cell: Any) -> str:
    """Return the name of a number that is not finite, else nothing."""
    number = isinstance(cell, (float, np.floating)) and not np.isfinite(cell)
    return str(float(cell)) if number else ""


def _known_values(name: str, cells: Any, present: list[Any]) -> tuple[Any, ...]:
    """Return the values of a column, in order where they have one."""
    for cell in present:
        try:
            hash(cell)
        except Exception:  # noqa: BLE001  (what is not ours may do anything)
            raise InvalidInput(
                f"column '{name}': has a value of type {type(cell).__name__}, which is not "
                "hashable; must be texts, numbers, truth values, None or tuples of such"
            ) from None
    categories = getattr(getattr(cells, "cat", None), "categories", ())
    by_type = {(type(cell), cell): cell for cell in (*categories, *present)}
    known = list(by_type.values())
    if len(known) > MOST_VALUES:
        raise InvalidInput(f"column '{name}': has {len(known)} values; must be <= {MOST_VALUES}")
    if not len(categories):
        known.sort(key=lambda cell: (type(cell).__name__, repr(cell)))
    return tuple(known) or ("",)


def _code(column: Column, cell: Any) -> float:
    """Return the code of one cell."""
    if _is_missing(cell, nan=column.missing and "nan" not in column.special):
        return MISSING
    if (name := _special(cell)) and name in SPECIAL:
        return SPECIAL[name]
    if column.kind == "value":
        return float(_places(column.values)[type(cell), cell])
    if column.kind == "date":
        cell = cell.astimezone(UTC).replace(tzinfo=None) if cell.tzinfo else cell
        return float(np.datetime64(cell, "us").astype("int64"))
    return float(cell)


_KNOWN: dict[int, tuple[tuple[Any, ...], dict[tuple[type, Any], int]]] = {}


def _places(values: tuple[Any, ...]) -> dict[tuple[type, Any], int]:
    """Return the places of values; 1, 1.0 and True are three of them."""
    known = _KNOWN.get(id(values))
    if known is None or known[0] is not values:
        _KNOWN.clear()
        known = values, {(type(value), value): j for j, value in enumerate(values)}
        _KNOWN[id(values)] = known
    return known[1]


def _dates(
    name: str, cells: Any, dtype: str, limits: tuple[Any, Any] | None, *, missing: bool
) -> tuple[Column, NDArray[np.float64]]:
    import pandas as pd

    def micros(series: Any) -> NDArray[np.float64]:
        bare = series.dt.tz_convert("UTC").dt.tz_localize(None) if series.dt.tz else series
        codes = bare.to_numpy("datetime64[us]").astype("int64").astype(float)
        return np.where(series.isna().to_numpy(), MISSING, codes)

    codes = micros(pd.Series(cells))
    present = codes[codes != MISSING]
    ends = present if limits is None else micros(pd.Series(pd.to_datetime(list(limits))))
    if not len(ends):
        raise InvalidInput(f"column '{name}': has no date; say its limits")
    low, high, missing = float(ends.min()), float(ends.max()), missing or len(present) < len(codes)
    column = Column(name=name, kind="date", low=low, high=high, missing=missing, dtype=dtype)
    return column, codes
