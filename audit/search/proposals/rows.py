"""Records of any kind: which may be proposed, and how a pair of neighbours is made of them.

All datasets are coded as rows here: labelled records and lists of numbers are views of them. No
cell leaves what its column may hold. Where none of the user's labelled records is longer than 1,
none that is proposed is: such data are normalised.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Dataset, Labelled, Values
from dpassay.edits import Edit
from dpassay.pairs import NOTHING_ASKED, Change, FlipLabel, Replace, ReplaceValue
from dpassay.relations import OWN
from dpassay.rows.columns import LAST, SPECIAL, Coded, Column
from dpassay.rows.rows import Form, Rows
from dpassay.search.proposals.families import different
from dpassay.search.proposals.neighbours import Neighbours, Parts, with_cell
from dpassay.search.proposals.proposal import Proposal, pick, proposal, spread

Row = NDArray[np.float64]
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
class Maker:
    """Makes proposals out of rows.

    Parameters
    ----------
    rows : Rows
        The user's own, or some that stand for them.
    neighbours : Neighbours
        What a neighbour is.
    sizes : (int, int)
        How many rows a dataset has at least and at most.
    asked : int
        Queries of a proposal at most, >= 1; 0 where nothing is asked.
    own : Rows, Labelled or Values
        The same rows as a mechanism gets them.
    made_up : bool
        Whether the rows are nobody's.
    """

    rows: Rows
    neighbours: Neighbours
    sizes: tuple[int, int]
    asked: int
    own: Dataset
    made_up: bool = False
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

    def make(
        self, parts: Parts, family: str, queries: NDArray[np.float64] | None = None
    ) -> Proposal | None:
        """Return the pair of a dataset and its neighbour, by a row that becomes another.

        None where nothing changes, or the dataset is none of the space. By default what is asked
        is what belongs to this pair.
        """
        if not self.sizes[0] <= len(parts[0]) <= self.sizes[1]:
            return None
        if self.norms and not self.holds(np.vstack([parts[0], parts[2]])):
            return None
        found = self.neighbours.pair(parts)
        if found is None:
            return None
        base, change = self._seen(*found)
        asked = self._queries(found[0], parts) if queries is None else queries
        return proposal(base, change, family, self.neighbours.relation, asked)

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
        neighbours = replace(self.neighbours, form=form)
        if self.neighbours.relation == OWN:
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
            pair = neighbours.pair((values, 0, with_cell(values[0], j, cell)))
            if pair is not None:
                base = Rows(pair[0], form, known=True)
                found.append(proposal(base, pair[1], family, neighbours.relation, asked))
        return found

    def parts(self, found: Proposal) -> Parts:
        """Return copies of what a proposal is made of."""
        base, change = found.base, found.change
        if isinstance(base, Rows):
            return self.neighbours.parts(base.values.copy(), change)
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

    def _queries(self, values: Coded, parts: Parts) -> NDArray[np.float64]:
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
        return different(asked, len(after) + 1, self.asked)

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
