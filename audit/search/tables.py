"""Tables: datasets of records of any kind, and which of them are neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import InvalidInput, is_count, require
from dpassay.relations import (
    ADD_REMOVE_USER,
    OWN,
    REPLACE_ONE,
    REPLACE_USER,
    ZERO_OUT,
    answers_moved,
    check_relation,
)
from dpassay.rows.columns import LAST, MISSING, Coded
from dpassay.rows.reading import code, rows_of
from dpassay.rows.rows import Rows
from dpassay.search.proposals.pair_maker import PairGenerator
from dpassay.search.proposals.records import RecordSpace

SHOWN = 5
"""Columns that are named."""
LARGER = 2
"""Datasets have up to so many times the user's records, unless their number is fixed."""
LEAST = 20
"""Of fewer records it may be chance."""
OFTEN = 4
"""A value that names a record gives everything away; one that gives a label away comes so often, on
average."""


@dataclass(frozen=True, slots=True, eq=False)
class Tables(RecordSpace):
    """Records of any kind: a mechanism gets them in the form in which they are given here.

    Parameters
    ----------
    data : DataFrame, list, array or pair (X, y)
        The user's records. They are searched, and so are others with cells that the columns may
        have: a claim is about all datasets. A list holds values of any hashable kind, tuples of
        equal length, or dicts of equal keys.
    label : str, optional
        The column of a DataFrame that holds the label. Of a pair (X, y), y is the label.
    relation : str
        What neighbours are: `replace-one`, `replace-k`, `add-remove`, `zero-out` (a record becomes
        `zero`), `replace-user` and `add-remove-user` (all records of one user change, or go), `own`
        (what `neighbour` returns).
    group : str, optional
        The column that says whose record it is; for the relations of users.
    zero : record, optional
        The record that stands for none under `zero-out`, in the form of the data: a DataFrame of
        one row, say; by default all its cells are missing.
    neighbour : callable, optional
        Returns a neighbour of a dataset, `neighbour(data)`, in the form of the data; for `own`.
    limits : mapping, optional
        Least and greatest number of columns, by name; by default those of the data. The column of
        a list or of an array (n,) is named 'value', those of tuples and of X 'x0', 'x1', ...
    values : mapping, optional
        More values that cells of a column may have, None, NaN and infinities among them.
    fixed : bool
        Whether every dataset has as many records, or one less where neighbours do. By default
        smaller ones, and ones up to twice as large, are searched too.
    asked : int
        Queries of a proposal at most, >= 1. They are records without label and group.

    Raises
    ------
    InvalidInput
        If the data cannot be coded, or an argument does not go with the relation.
    """

    data: Any
    label: str | None = None
    relation: str = REPLACE_ONE
    group: str | None = None
    zero: Any = None
    neighbour: Callable[[Any], Any] | None = None
    limits: Mapping[str, tuple[float, float]] | None = None
    values: Mapping[str, Sequence[Any]] | None = None
    fixed: bool = False
    asked: int = 6
    rows: Rows = field(init=False, repr=False)
    generator: PairGenerator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        if answers_moved(self.relation) is not None:
            raise InvalidInput(f"relation = {self.relation}: is about answers; say Answers(...)")
        of_users = self.relation in (REPLACE_USER, ADD_REMOVE_USER)
        self._goes_with("group", self.group, of_users, f"{REPLACE_USER} or {ADD_REMOVE_USER}")
        self._goes_with("neighbour", self.neighbour, self.relation == OWN, OWN)
        if self.zero is not None and self.relation != ZERO_OUT:
            raise InvalidInput(f"zero: goes with relation '{ZERO_OUT}', not '{self.relation}'")
        require(is_count(self.asked), "asked", self.asked, "an integer >= 1")
        values = dict(self.values or {})
        if self.relation == ZERO_OUT and self.zero is None:
            names = rows_of(self.data, label=self.label, group=self.group).form.names
            values = {name: [*values.get(name, ()), None] for name in names}
        rows = rows_of(
            self.data, label=self.label, group=self.group, limits=self.limits, values=values
        )
        object.__setattr__(self, "rows", rows)
        generator = PairGenerator(
            rows=rows,
            own=rows,
            sizes=(len(rows),) * 2 if self.fixed else (0, LARGER * len(rows)),
            relation=self.relation,
            asked=int(self.asked),
            zero=self._zero(rows),
            function=None if self.neighbour is None else self._neighbour,
        )
        object.__setattr__(self, "generator", generator)

    def _goes_with(self, name: str, given: Any, wanted: bool, relation: str) -> None:
        if wanted and given is None:
            raise InvalidInput(f"{name} is missing: relation '{self.relation}' needs it")
        if given is not None and not wanted:
            raise InvalidInput(f"{name}: goes with relation {relation}, not '{self.relation}'")

    def _zero(self, rows: Rows) -> Any:
        if self.relation != ZERO_OUT:
            return None
        if self.zero is None:
            return np.full(len(rows.form.columns), MISSING)
        given = self.zero if hasattr(self.zero, "iloc") else [self.zero]
        found = code(rows.form, given)
        require(len(found) == 1, "zero", f"{len(found)} records", "one record")
        return found[0]

    def _neighbour(self, values: Coded) -> Coded:
        assert self.neighbour is not None
        return code(self.rows.form, self.neighbour(self.rows.form.handed(values)))

    @property
    def words(self) -> str:
        """Return how many columns, what is in them, and what neighbours are."""
        columns = self.rows.form.columns
        names = ", ".join(column.name for column in columns[:SHOWN])
        more = f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN else ""
        what = f"with the columns {names}{more}" if len(columns) > 1 else "of one value"
        some = f"{len(self.rows)} records" if self.fixed else "records"
        away = ", ".join(f"'{name}'" for name in giving_away(self.rows))
        told = f"; the label '{self.rows.form.label}' can be told from {away} alone" if away else ""
        return f"{some} {what}; neighbours: {self.relation}{told}"

    @property
    def guessed(self) -> str:
        """The columns of numbers and dates whose limits nobody has declared."""
        names = [
            column.name
            for column in self.rows.form.columns
            if column.kind != "value" and column.name not in (self.limits or {})
        ]
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return bool(names) * (
            f"The limits of {', '.join(names[:SHOWN])}{more} were taken from the data: declare "
            "them with Tables(data, limits=...) where other values can occur."
        )


def giving_away(rows: Rows) -> list[str]:
    """Return the columns from which the label, of two values or more, of every record can be told.

    These are columns each of whose values goes with one label, and comes `OFTEN` times on average;
    and numbers that one threshold for every further label divides by it. Fewer than `LEAST` records
    have none.
    """
    place = rows.form.place(rows.form.label)
    if place is None or len(rows) < LEAST:
        return []
    labels = rows.values[:, place]
    if len(np.unique(labels)) < 2:
        return []
    return [
        rows.form.columns[j].name
        for j in rows.form.features
        if _gives(rows.values[:, j], labels, numeric=rows.form.columns[j].kind != "value")
    ]


def _gives(cells: NDArray[np.float64], labels: NDArray[np.float64], *, numeric: bool) -> bool:
    pairs = np.unique(np.column_stack([cells, labels]), axis=0)
    values = len(np.unique(cells))
    if values < len(pairs) or values == 1:
        return False
    if OFTEN * values <= len(cells):
        return True
    if not numeric or (cells <= LAST).any():
        return False
    ordered = labels[np.argsort(cells, kind="stable")]
    return int((np.diff(ordered) != 0).sum()) == len(np.unique(labels)) - 1
