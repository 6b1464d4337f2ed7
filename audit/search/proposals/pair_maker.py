"""Pairs of neighbouring datasets of records: which may be proposed, and what is asked of them.

All datasets are coded as rows here: labelled records and lists of numbers are views of them. No
cell leaves what its column may hold. Where none of the user's labelled records is longer than 1,
none that is proposed is: such data are normalised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpassay.data import Dataset, Labelled, Values
from dpassay.pairs import NOTHING_ASKED, Change, Edit, FlipLabel, Replace, ReplaceValue
from dpassay.relations import (
    ADD_REMOVE,
    ADD_REMOVE_USER,
    OWN,
    REPLACE_USER,
    ZERO_OUT,
    records_replaced,
)
from dpassay.rows.columns import LAST, SPECIAL, Coded, Column
from dpassay.rows.rows import Form, Rows
from dpassay.search.columns import Array
from dpassay.search.proposals.proposal import Proposal, frozen, pick, proposal, spread

Row = Array
Parts = tuple[Coded, int, Row]
"""Rows, the place of one of them, and the row that may come there: what a pair is made of."""
MOST_MARKS = 12
"""So many values of a column are tried by name."""
TYPICAL = 3
"""So many of the own rows are what small datasets are made of, besides the extreme ones."""
MOST_OUTSIDE = 12
"""So many cells that the user has not described are tried."""
SHORTER, LEAST_PART = 0.95, 1e-3
"""How the way to an extreme row is shortened for normalised records, and where that ends."""
SLACK = 1e-9
"""Relative rounding of lengths that are meant to be 1."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairGenerator:
    """Makes pairs out of the user's `rows`, or of some that stand for them.

    `own` is the same data as a mechanism gets it, unless it is `made_up`. Datasets have as many
    rows as `sizes` allows, at least and at most; at most `asked` queries are asked, 0 for none.

    `relation` says what a neighbour is. `replace-one`, `replace-k`: rows become others.
    `add-remove`: one side has a row less. `zero-out`: a row becomes `zero`. `replace-user`,
    `add-remove-user`: the same of all rows of a user, by the column `form.group`. `own`: whatever
    `function` returns, as codes.
    """

    rows: Rows
    own: Dataset
    sizes: tuple[int, int]
    relation: str
    asked: int = 0
    made_up: bool = False
    zero: Row | None = None
    function: Callable[[Coded], Coded] | None = None
    marks: tuple[Row, ...] = field(init=False)
    """By column, cells that are tried: ends and middle, values, none."""
    norms: tuple[int, ...] = field(init=False)
    """In which norms no labelled record is longer than 1."""
    ends: tuple[Row, Row] = field(init=False)
    """Rows at the lower and the upper ends of all columns, or as near as records may lie."""
    typical: tuple[Row, ...] = field(init=False)
    """Rows that small datasets are made of: extreme ones, own ones, one without values."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "marks", tuple(map(marks_of, self.form.columns)))
        object.__setattr__(self, "norms", ())
        if isinstance(self.own, Labelled):
            norms = tuple(k for k in (1, 2) if self._longest(self.rows.values, k) <= 1 + SLACK)
            object.__setattr__(self, "norms", norms)
        low = self._towards(np.array([each[0] for each in self.marks]))
        high = self._towards(np.array([each[1 % len(each)] for each in self.marks]))
        object.__setattr__(self, "ends", (low, high))
        last = np.array([each[-1] for each in self.marks])
        found = [low, high, *self.rows.values[list(spread(len(self.rows), TYPICAL))], last]
        if (label := self.form.place(self.form.label)) is not None:
            found.insert(1, with_cell(low, label, self.other(label, low[label])))
        kept = {tuple(row.tolist()): row for row in found if self.holds(row[None, :])}
        object.__setattr__(self, "typical", tuple(kept.values()))

    @staticmethod
    def _longest(values: Coded, norm: int) -> float:
        return float(np.linalg.norm(values[:, :-1], norm, axis=1).max())

    def _towards(self, row: Row) -> Row:
        """Go from the mean of the records to a row, as far as records may lie."""
        found, part = row, 1.0
        while not self.holds(found[None, :]) and part >= LEAST_PART:
            part *= SHORTER
            found = part * row + (1 - part) * self.rows.values.mean(axis=0)
            found[-1] = row[-1]
            whole = [column.kind == "integer" for column in self.form.columns]
            found = np.where(whole, np.trunc(found), found)
        return found

    def holds(self, values: Coded) -> bool:
        """Whether rows are short enough, where all of the user's are."""
        return all(self._longest(values, norm) <= 1 + SLACK for norm in self.norms)

    @property
    def form(self) -> Form:
        """What the codes stand for."""
        return self.rows.form

    def other(self, column: int, cell: float, step: int = 1) -> float:
        """Return another cell that a column is tried with."""
        marks = self.marks[column].tolist()
        place = marks.index(cell) if cell in marks else -1
        return float(marks[(place + step) % len(marks)])

    def make(self, parts: Parts, family: str, queries: Array | None = None) -> Proposal | None:
        """Return the pair of a dataset and its neighbour, by a row that becomes another.

        None where nothing changes, or the dataset is none of the space. By default what is asked
        is what belongs to this pair.
        """
        if not self.sizes[0] <= len(parts[0]) <= self.sizes[1]:
            return None
        if self.norms and not self.holds(np.vstack([parts[0], parts[2]])):
            return None
        found = self._pair(parts)
        if found is None:
            return None
        base, change = self._seen(*found)
        asked = self._queries(found[0], parts) if queries is None else queries
        return proposal(base, change, family, self.relation, asked)

    def _pair(self, parts: Parts) -> tuple[Coded, Edit] | None:
        """Return a base and what makes its neighbour; None where nothing changes.

        Where one side has a row less, or none in its place, the other side has the row that may
        come there.
        """
        values, place, new = parts
        if self.relation in (REPLACE_USER, ADD_REMOVE_USER):
            return self._of_user(parts)
        if self.relation == ADD_REMOVE:
            return _with(values, place, new), Edit(removed=(place,))
        if self.relation == ZERO_OUT:
            assert self.zero is not None
            if (new == self.zero).all():
                return None
            edit = Edit(replaced=((place, _row(self.zero)),), relation=ZERO_OUT)
            return _with(values, place, new), edit
        if self.relation == OWN:
            return self._by_function(_with(values, place, new))
        count = min(records_replaced(self.relation), len(values))
        places = sorted((place + step) % len(values) for step in range(count))
        changed = [each for each in places if (values[each] != new).any()]
        if not changed:
            return None
        return values, Edit(replaced=tuple((each, _row(new)) for each in changed))

    def _of_user(self, parts: Parts) -> tuple[Coded, Edit] | None:
        """Replace or remove all rows of the user whose row is at a place."""
        values, place, new = parts
        group = self.form.place(self.form.group)
        assert group is not None
        whose = np.flatnonzero(values[:, group] == values[place, group])
        if self.relation == ADD_REMOVE_USER:
            removed = Edit(removed=tuple(whose.tolist()), relation=ADD_REMOVE_USER)
            return _with(values, place, with_cell(new, group, values[place, group])), removed
        theirs = with_cell(new, group, values[place, group])
        changed = [int(each) for each in whose if (values[each] != theirs).any()]
        if not changed:
            return None
        replaced = tuple((each, _row(theirs)) for each in changed)
        return values, Edit(replaced=replaced, relation=REPLACE_USER)

    def _by_function(self, values: Coded) -> tuple[Coded, Edit] | None:
        """Ask the user's function for a neighbour, which may be any dataset."""
        assert self.function is not None
        neighbour = self.function(values)
        if neighbour.shape == values.shape:
            changed = np.flatnonzero((values != neighbour).any(axis=1))
            replaced = tuple((int(each), _row(neighbour[each])) for each in changed)
            return (values, Edit(replaced=replaced, relation=OWN)) if replaced else None
        kept = min(len(values), len(neighbour))
        replaced = tuple(
            (each, _row(neighbour[each]))
            for each in range(kept)
            if (values[each] != neighbour[each]).any()
        )
        removed = tuple(range(kept, len(values)))
        added = tuple(map(_row, neighbour[kept:]))
        return values, Edit(replaced=replaced, removed=removed, added=added, relation=OWN)

    def _seen(self, values: Coded, edit: Edit) -> tuple[Dataset, Change]:
        """Return a dataset and its change as a mechanism gets them."""
        own, same = self.own, values is self.rows.values
        if isinstance(own, Rows):
            return own if same else Rows(values, self.form, known=True), edit
        ((place, row),) = edit.replaced
        if isinstance(own, Values):
            return own if same else Values(values[:, 0]), ReplaceValue(place, row[0])
        classes = np.array(self.form.columns[-1].values)
        base = own if same else Labelled(values[:, :-1], classes[values[:, -1].astype(int)])
        one, other = int(base.y[place]), int(classes[int(row[-1])])
        if {one, other} == {0, 1} and (values[place, :-1] == row[:-1]).all():
            return base, FlipLabel(place)
        return base, Replace(place, np.array(row[:-1]), other)

    @property
    def outside(self) -> list[Proposal]:
        """Pairs one of whose cells is none that the user described: NaN, infinite, or no value."""
        values, columns = self.rows.values.copy(), list(self.form.columns)
        if isinstance(self.own, Labelled):
            classes = {"low": 0.0, "high": float(self.own.y.max()), "dtype": "int64"}
            columns[-1] = Column(name="y", kind="integer", **classes)  # type: ignore[arg-type]
            values[:, -1] = self.own.y
        told = [replace(column, **_hostile(column)) for column in columns]
        form = replace(self.form, columns=tuple(told))
        if self.relation == OWN:
            return []
        asked = self._queries(values, (values, 0, values[0]))
        cells = [
            (j, cell)
            for j, column in enumerate(told)
            for cell in column.gaps
            if cell not in columns[j].gaps
        ]
        found = []
        for j, cell in cells[:MOST_OUTSIDE]:
            # no other cell is named: the record is the user's own
            family = f"{told[j].words(cell)} in '{told[j].name}'"
            pair = self._pair((values, 0, with_cell(values[0], j, cell)))
            if pair is not None:
                base = Rows(pair[0], form, known=True)
                found.append(proposal(base, pair[1], family, self.relation, asked))
        return found

    def parts(self, found: Proposal) -> Parts:
        """Return copies of what a proposal is made of."""
        base, change = found.base, found.change
        if isinstance(base, Rows):
            assert isinstance(change, Edit)
            values, one_less = base.values.copy(), (ADD_REMOVE, ZERO_OUT, ADD_REMOVE_USER, OWN)
            place = min(change.index, max(0, len(values) - 1))
            if self.relation in one_less or not change.replaced:
                return values, place, values[place].copy()
            return values, place, np.array(change.replaced[0][1])
        if isinstance(base, Values):
            assert isinstance(change, ReplaceValue)
            return base.values[:, None].copy(), change.index, np.array([change.value])
        classes = np.array(self.form.columns[-1].values)
        neighbour = found.neighbour
        assert isinstance(base, Labelled)
        assert isinstance(neighbour, Labelled)
        values, other = (
            np.column_stack([side.X, np.searchsorted(classes, side.y)])
            for side in (base, neighbour)
        )
        return values, change.index, other[change.index].copy()

    def _queries(self, values: Coded, parts: Parts) -> Array:
        """Ask at the changed row before and after, again, at another, between, at extreme ones."""
        if not self.asked:
            return NOTHING_ASKED
        _, place, new = parts
        before = values[place] if place < len(values) else new
        after = () if (before == new).all() else (new,)
        other, label = values[0], self.form.place(self.form.label)
        if label is not None and (rivals := np.flatnonzero(values[:, label] != before[label])).size:
            other = values[rivals[0]]
        kinds = np.array([column.kind for column in self.form.columns])
        apart = (kinds != "value") & (before > LAST) & (other > LAST)
        between = np.where(apart, before / 2 + other / 2, before)
        between = np.where(apart & (kinds != "number"), np.floor(between), between)
        features = list(self.form.features) or [0]
        rest = other, between, self.typical[0], self.typical[-1]
        asked = np.array([before, *after, before, *rest])[:, features]
        return _different(asked, len(after) + 1, self.asked)

    def drawn(self, rng: np.random.Generator, row: Row) -> Row:
        """Draw what may come in the place of a row."""
        kind = int(rng.integers(3))
        if kind == 0:
            column = int(rng.integers(len(row)))
            return with_cell(row, column, float(pick(rng, self.marks[column])))
        if kind == 1:
            chosen: Row = pick(rng, self.typical)
            return chosen
        own: Row = self.rows.values[int(rng.integers(len(self.rows)))]
        return own


def _hostile(column: Column) -> dict[str, Any]:
    """Return what cells of a column could be besides, as far as its dtype can hold it."""
    anything = column.dtype in ("", "object")
    floats = column.dtype.startswith("float") or (anything and column.kind != "value")
    return {
        "missing": column.missing or anything or column.dtype.startswith("str"),
        "special": tuple(SPECIAL) if floats and not column.missing else column.special,
    }


def marks_of(column: Column) -> Row:
    """Return the cells that a column is tried with, those that tell most first."""
    if column.kind == "value":
        found = [float(j) for j in spread(len(column.values), MOST_MARKS)]
    else:
        low, high = column.low, column.high
        cells = [low, high, (low + high) / 2, 0.0, 1.0, low + 1, high - 1]
        whole = column.kind != "number"
        found = [float(np.trunc(cell)) if whole else cell for cell in cells]
        found = [cell for cell in found if column.holds(cell)]
    return np.array(list(dict.fromkeys([*found, *column.gaps])))


def _with(values: Coded, place: int, row: Array) -> Coded:
    """Return rows with one of them in a place; themselves where it is there."""
    if (values[place] == row).all():
        return values
    found = values.copy()
    found[place] = row
    return found


def with_cell(row: Array, column: int, cell: float) -> Array:
    """Return a row with another cell in one of its columns."""
    found = row.copy()
    found[column] = cell
    return found


def _row(cells: Array) -> tuple[float, ...]:
    return tuple(cells.tolist())


def _different(asked: Array, again: int, most: int) -> Array:
    """Return up to `most` query points without those that are there twice, read-only.

    The one at the place `again` stays: it is meant to be asked twice.
    """
    alike = (asked[:, None] == asked).all(axis=2)
    kept = np.argmax(alike, axis=1) == np.arange(len(asked))
    kept[again] = True
    return frozen(asked[kept][:most])
