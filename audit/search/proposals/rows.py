"""Proposals for rows of any kind: own ones changed, small datasets, values on one side only.

No cell leaves what its column may hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, permutations

import numpy as np
from numpy.typing import NDArray

from dpassay.rows.columns import MISSING, Coded, Column
from dpassay.rows.rows import Form, Rows
from dpassay.search.proposals.neighbours import Neighbours, Parts
from dpassay.search.proposals.proposal import Proposal, pick, proposal, root, spread

Row = NDArray[np.float64]
SIZES = (2, 1, 3, 10, 5, 20, 4, 6)
"""Sizes of small datasets, in the order in which they are tried."""
SMALLEST = 3
"""Up to this size datasets are enumerated."""
MOST_OWN = 200
"""So many of the user's rows are changed in turns."""
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
        again = len(after) + 1
        alike = (asked[:, None] == asked).all(axis=2)
        kept = np.argmax(alike, axis=1) == np.arange(len(asked))
        kept[again] = True  # a repeat of the first
        return frozen(asked[kept][: self.asked])

    def first(self, rng: np.random.Generator) -> list[Iterator[Proposal]]:
        """Return the families to begin with, those that tell most first."""
        return [
            self._own("label of an own record changed", self._labels()),
            self._small(),
            self._own("own record replaced by an extreme", self._extremes()),
            self._constant(),
            self._halves(),
            self._absent(),
            self._own("own record replaced by another", self._others(rng)),
            self._own("one cell of an own record changed", self._cells()),
            self._subsampled(rng),
            self._random(rng),
        ]

    def more(self, best: Sequence[Proposal], rng: np.random.Generator) -> list[Iterator[Proposal]]:
        """Return the families that are made from the best proposals so far."""
        makers = (
            self._crossed,
            self._stepped,
            self._replaced_otherwise,
            self._resized,
            self._moved,
            self._asked_elsewhere,
        )
        return [self._varied(make, best, rng) for make in makers]

    def _own(self, family: str, changes: Iterator[tuple[int, Row]]) -> Iterator[Proposal]:
        """Change the user's rows."""
        for place, row in changes:
            if (found := self.make((self.rows.values, place, row), family)) is not None:
                yield found

    def _maybe(self, family: str, pairs: Iterator[Parts]) -> Iterator[Proposal]:
        for parts in pairs:
            if (found := self.make(parts, family)) is not None:
                yield found

    def _places(self) -> tuple[int, ...]:
        return spread(len(self.rows), MOST_OWN)

    def _sizes(self) -> list[int]:
        count = len(self.rows)
        sizes = [count] if self.fixed else dict.fromkeys([SIZES[0], count, *SIZES[1:]])
        return [size for size in sizes if size <= count]

    def _with(self, row: Row, column: int, cell: float) -> Row:
        changed = row.copy()
        changed[column] = cell
        return changed

    def _labels(self) -> Iterator[tuple[int, Row]]:
        label = self.form.place(self.form.label)
        if label is None:
            return
        for step in range(1, len(self.marks[label]) + 1):
            for place in self._places():
                row = self.rows.values[place]
                yield place, self._with(row, label, self.other(label, row[label], step))

    def _extremes(self) -> Iterator[tuple[int, Row]]:
        for row in self.typical:
            for place in self._places()[:MOST_MARKS]:
                yield place, row
        for place in self._places():
            for row in self.typical:
                yield place, row

    def _cells(self) -> Iterator[tuple[int, Row]]:
        for step in range(max(map(len, self.marks))):
            for k, place in enumerate(self._places()):
                for column in (k % len(self.marks), (k + 1) % len(self.marks)):
                    marks = self.marks[column]
                    cell = marks[step % len(marks)]
                    yield place, self._with(self.rows.values[place], column, cell)

    def _others(self, rng: np.random.Generator) -> Iterator[tuple[int, Row]]:
        for place in self._places() * 2:
            yield place, self.rows.values[int(rng.integers(len(self.rows)))]

    def _small(self) -> Iterator[Proposal]:
        """Enumerate the smallest datasets of typical rows and their neighbours, up to order."""
        typical = self.typical

        def pairs() -> Iterator[Parts]:
            for size in range(1, SMALLEST + 1):
                for rest in combinations_with_replacement(range(len(typical)), size - 1):
                    for one, other in permutations(range(len(typical)), 2):
                        chosen = np.array([typical[k] for k in (one, *rest)])
                        yield chosen, 0, typical[other]

        return self._maybe("small dataset", pairs())

    def _constant(self) -> Iterator[Proposal]:
        """All rows equal; one of them becomes another."""

        def pairs() -> Iterator[Parts]:
            for size in self._sizes():
                for row, new in permutations(self.typical, 2):
                    for place in (0, size - 1):
                        yield np.tile(row, (size, 1)), place, new

        return self._maybe("all records equal", pairs())

    def _halves(self) -> Iterator[Proposal]:
        """Half of the rows are equal, and so are the others, give or take one."""

        def pairs() -> Iterator[Parts]:
            for size in self._sizes():
                for row, new in permutations(self.typical, 2):
                    values = np.tile(row, (size, 1))
                    values[(size + 1) // 2 :] = new
                    yield values, 0, new

        return self._maybe("half of one, half of another", pairs())

    def _absent(self) -> Iterator[Proposal]:
        """A value, or the absence of one, that no other row has."""

        def pairs() -> Iterator[Parts]:
            columns = [j for j, column in enumerate(self.form.columns) if column.kind == "value"]
            columns += [j for j, column in enumerate(self.form.columns) if column.missing]
            for size in self._sizes():
                for column in dict.fromkeys(columns):
                    for cell in self.marks[column]:
                        values = self._cycled(size)
                        had = values[:, column] == cell
                        values[had, column] = self.other(column, float(cell))
                        yield values, size - 1, self._with(values[-1], column, float(cell))

        return self._maybe("a value in one record only", pairs())

    def _cycled(self, size: int) -> Coded:
        """Return so many own rows that are spread, again where they end."""
        rows = sorted(spread(len(self.rows), size))
        cycled: Coded = self.rows.values[np.resize(rows, size)]
        return cycled

    def _subsampled(self, rng: np.random.Generator) -> Iterator[Proposal]:
        """Some of the own rows, one of them replaced."""

        def pairs() -> Iterator[Parts]:
            while True:
                for size in self._sizes():
                    rows = rng.integers(len(self.rows), size=size)
                    place = int(rng.integers(size))
                    values = self.rows.values[rows]
                    yield values, place, self._row(rng, values[place])

        return self._maybe("some of the own records", pairs())

    def _random(self, rng: np.random.Generator) -> Iterator[Proposal]:
        """Cells drawn one by one."""

        def pairs() -> Iterator[Parts]:
            while True:
                for size in self._sizes():
                    cells = [rng.choice(marks, size + 1) for marks in self.marks]
                    values = np.column_stack(cells)
                    yield values[:-1], int(rng.integers(size)), values[-1]

        return self._maybe("random records", pairs())

    def _row(self, rng: np.random.Generator, row: Row) -> Row:
        """Draw what may come in the place of a row."""
        kind = int(rng.integers(3))
        if kind == 0:
            column = int(rng.integers(len(row)))
            return self._with(row, column, float(pick(rng, self.marks[column])))
        if kind == 1:
            chosen: Row = pick(rng, self.typical)
            return chosen
        own: Row = self.rows.values[int(rng.integers(len(self.rows)))]
        return own

    def _varied(
        self,
        make: Callable[[Proposal, Sequence[Proposal], np.random.Generator], Proposal | None],
        best: Sequence[Proposal],
        rng: np.random.Generator,
    ) -> Iterator[Proposal]:
        """Vary the best proposals in turns, for ever."""
        while best:
            for each in best:
                found = make(each, best, rng)
                yield each if found is None else found

    def _crossed(
        self, found: Proposal, best: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Mix the rows of two datasets."""
        (values, place, new), (other, _, _) = map(self.parts, (found, pick(rng, best)))
        if not len(other):
            return None
        taken = rng.random(len(values)) < 0.5
        taken[place : place + 1] = False
        values[taken] = other[np.resize(np.arange(len(other)), len(values))[taken]]
        return self.make((values, place, new), f"{root(found.family)}, crossed")

    def _stepped(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Change one row of both datasets."""
        values, place, new = self.parts(found)
        if not len(values):
            return None
        row = int(rng.integers(len(values)))
        values[row] = self._row(rng, values[row])
        return self.make((values, place, new), f"{root(found.family)}, one step")

    def _replaced_otherwise(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Replace another row, or by another one."""
        values, place, new = self.parts(found)
        if rng.random() < 0.5 and len(values):
            place = int(rng.integers(len(values)))
        else:
            new = self._row(rng, new)
        return self.make((values, place, new), f"{root(found.family)}, replaced otherwise")

    def _resized(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Leave a row out, or put more like one of them in."""
        values, place, new = self.parts(found)
        if not len(values):
            return None
        row = int(rng.integers(len(values)))
        if rng.random() < 0.5 and row != place:
            values = np.delete(values, row, axis=0)
            place -= row < place
        else:
            values = np.vstack([values, np.tile(values[row], (int(pick(rng, (1, 2, 5))), 1))])
        return self.make((values, place, new), f"{root(found.family)}, resized")

    def _moved(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal | None:
        """Put the rows in another order."""
        values, place, new = self.parts(found)
        order = rng.permutation(len(values))
        place = int(np.flatnonzero(order == place)[0]) if place < len(values) else place
        return self.make((values[order], place, new), f"{root(found.family)}, reordered")

    def _asked_elsewhere(
        self, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
    ) -> Proposal:
        """Ask the same pair at other rows, or with another cell."""
        asked = found.queries.copy()
        features = list(self.form.features) or [0]
        for k in range(len(asked)) if rng.random() < 0.5 else [int(rng.integers(len(asked)))]:
            if rng.random() < 0.5:
                column = int(rng.integers(len(features)))
                asked[k, column] = pick(rng, self.marks[features[column]])
            else:
                asked[k] = self._row(rng, pick(rng, self.typical))[features]
        family = f"{root(found.family)}, asked elsewhere"
        relation = self.neighbours.relation
        return proposal(found.base, found.change, family, relation, frozen(asked))


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


def frozen(queries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return queries, read-only."""
    queries.flags.writeable = False
    return queries
