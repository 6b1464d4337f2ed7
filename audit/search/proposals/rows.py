"""Rows of any kind: which may be proposed, and how a pair of neighbours is made of them.

No cell leaves what its column may hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.rows.columns import MISSING, Coded, Column
from dpassay.rows.rows import Form, Rows
from dpassay.search.proposals.families import different
from dpassay.search.proposals.neighbours import Neighbours, Parts, with_cell
from dpassay.search.proposals.proposal import Proposal, pick, proposal, spread

Row = NDArray[np.float64]
MOST_MARKS = 12
"""So many values of a column are tried by name."""
TYPICAL = 3
"""So many of the own rows are what small datasets are made of, besides the extreme ones."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Maker:
    """Makes proposals out of rows.

    Parameters
    ----------
    rows : Rows
        The user's own.
    neighbours : Neighbours
        What a neighbour is.
    fixed : bool
        Whether every dataset has as many rows.
    asked : int
        Queries of a proposal at most, >= 1.
    """

    rows: Rows
    neighbours: Neighbours
    fixed: bool
    asked: int
    marks: tuple[Row, ...] = field(init=False)
    """By column, cells that are tried: ends and middle, values, none."""
    typical: tuple[Row, ...] = field(init=False)
    """Rows that small datasets are made of: extreme ones, own ones, one without values."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "marks", tuple(map(marks_of, self.form.columns)))
        low = np.array([each[0] for each in self.marks])
        high = np.array([each[1 % len(each)] for each in self.marks])
        last = np.array([each[-1] for each in self.marks])
        found = [low, high, *self.rows.values[list(spread(len(self.rows), TYPICAL))], last]
        if (label := self.form.place(self.form.label)) is not None:
            flipped = low.copy()
            flipped[label] = self.other(label, low[label])
            found.insert(1, flipped)
        kept = {tuple(row.tolist()): row for row in found}
        object.__setattr__(self, "typical", tuple(kept.values()))

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

        None where nothing changes, or the dataset is none of the space.

        Parameters
        ----------
        parts
            See `Parts`.
        family : str
        queries : array (q, f), optional
            What is asked; by default what belongs to this pair.
        """
        count, most = len(parts[0]), len(self.rows)
        if count > most or (self.fixed and count != most):
            return None
        found = self.neighbours.pair(parts)
        if found is None:
            return None
        values, edit = found
        asked = self._queries(values, parts) if queries is None else queries
        base = self.rows if values is self.rows.values else Rows(values, self.form, known=True)
        return proposal(base, edit, family, self.neighbours.relation, asked)

    def parts(self, found: Proposal) -> Parts:
        """Return copies of what a proposal is made of."""
        base = found.base
        assert isinstance(base, Rows)
        return self.neighbours.parts(base.values.copy(), found.change)

    def _queries(self, values: Coded, parts: Parts) -> NDArray[np.float64]:
        """Ask at the changed row before and after, again, at others, at extreme ones."""
        _, place, new = parts
        before = values[place] if place < len(values) else new
        after = () if (before == new).all() else (new,)
        rest = *values[:2], self.typical[0], self.typical[-1]
        features = list(self.form.features) or [0]
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
    found += [MISSING] if column.missing else []
    return np.array(list(dict.fromkeys(found)))
