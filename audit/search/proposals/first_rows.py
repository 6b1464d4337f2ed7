"""Pairs of rows of any kind to begin with: own ones changed, small ones, values of one row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, permutations

import numpy as np

from dpassay.rows.columns import Coded
from dpassay.search.proposals.families import made, sizes_up_to
from dpassay.search.proposals.neighbours import Parts, with_cell
from dpassay.search.proposals.proposal import Proposal, spread
from dpassay.search.proposals.rows import MOST_MARKS, Maker, Row

SIZES = (2, 1, 3, 10, 5, 20, 4, 6)
"""Sizes of small datasets, in the order in which they are tried."""
SMALLEST = 3
"""Up to this size datasets are enumerated."""
MOST_OWN = 200
"""So many of the user's rows are changed in turns."""


def first_rows(maker: Maker, rng: np.random.Generator) -> list[Iterator[Proposal]]:
    """Return the families to begin with, those that tell most first."""

    def own(family: str, changes: Iterator[tuple[int, Row]]) -> Iterator[Proposal]:
        """Change the user's rows."""
        return made(lambda change: maker.make((maker.rows.values, *change), family), changes)

    def maybe(family: str, pairs: Iterator[Parts]) -> Iterator[Proposal]:
        return made(lambda parts: maker.make(parts, family), pairs)

    return [
        own("label of an own record changed", _labels(maker)),
        maybe("small dataset", _small(maker)),
        own("own record replaced by an extreme", _extremes(maker)),
        maybe("all records equal", _constant(maker)),
        maybe("half of one, half of another", _halves(maker)),
        maybe("a value in one record only", _absent(maker)),
        own("own record replaced by another", _others(maker, rng)),
        own("one cell of an own record changed", _cells(maker)),
        maybe("some of the own records", _subsampled(maker, rng)),
        maybe("random records", _random(maker, rng)),
    ]


def _sizes(maker: Maker) -> list[int]:
    return sizes_up_to(len(maker.rows), SIZES, fixed=maker.fixed)


def _labels(maker: Maker) -> Iterator[tuple[int, Row]]:
    label = maker.form.place(maker.form.label)
    if label is None:
        return
    for step in range(1, len(maker.marks[label]) + 1):
        for place in spread(len(maker.rows), MOST_OWN):
            row = maker.rows.values[place]
            yield place, with_cell(row, label, maker.other(label, row[label], step))


def _extremes(maker: Maker) -> Iterator[tuple[int, Row]]:
    for row in maker.typical:
        for place in spread(len(maker.rows), MOST_OWN)[:MOST_MARKS]:
            yield place, row
    for place in spread(len(maker.rows), MOST_OWN):
        for row in maker.typical:
            yield place, row


def _cells(maker: Maker) -> Iterator[tuple[int, Row]]:
    for step in range(max(map(len, maker.marks))):
        for k, place in enumerate(spread(len(maker.rows), MOST_OWN)):
            for column in (k % len(maker.marks), (k + 1) % len(maker.marks)):
                marks = maker.marks[column]
                cell = marks[step % len(marks)]
                yield place, with_cell(maker.rows.values[place], column, cell)


def _others(maker: Maker, rng: np.random.Generator) -> Iterator[tuple[int, Row]]:
    for place in spread(len(maker.rows), MOST_OWN) * 2:
        yield place, maker.rows.values[int(rng.integers(len(maker.rows)))]


def _small(maker: Maker) -> Iterator[Parts]:
    """Enumerate the smallest datasets of typical rows and their neighbours, up to order."""
    typical = maker.typical
    for size in range(1, SMALLEST + 1):
        for rest in combinations_with_replacement(range(len(typical)), size - 1):
            for one, other in permutations(range(len(typical)), 2):
                chosen = np.array([typical[k] for k in (one, *rest)])
                yield chosen, 0, typical[other]


def _constant(maker: Maker) -> Iterator[Parts]:
    """All rows equal; one of them becomes another."""
    for size in _sizes(maker):
        for row, new in permutations(maker.typical, 2):
            for place in (0, size - 1):
                yield np.tile(row, (size, 1)), place, new


def _halves(maker: Maker) -> Iterator[Parts]:
    """Half of the rows are equal, and so are the others, give or take one."""
    for size in _sizes(maker):
        for row, new in permutations(maker.typical, 2):
            values = np.tile(row, (size, 1))
            values[(size + 1) // 2 :] = new
            yield values, 0, new


def _absent(maker: Maker) -> Iterator[Parts]:
    """A value, or the absence of one, that no other row has."""
    columns = [j for j, column in enumerate(maker.form.columns) if column.kind == "value"]
    columns += [j for j, column in enumerate(maker.form.columns) if column.missing]
    for size in _sizes(maker):
        for column in dict.fromkeys(columns):
            for cell in maker.marks[column]:
                values = _cycled(maker, size)
                had = values[:, column] == cell
                values[had, column] = maker.other(column, float(cell))
                yield values, size - 1, with_cell(values[-1], column, float(cell))


def _cycled(maker: Maker, size: int) -> Coded:
    """Return so many own rows that are spread, again where they end."""
    rows = sorted(spread(len(maker.rows), size))
    cycled: Coded = maker.rows.values[np.resize(rows, size)]
    return cycled


def _subsampled(maker: Maker, rng: np.random.Generator) -> Iterator[Parts]:
    """Some of the own rows, one of them replaced."""
    while True:
        for size in _sizes(maker):
            rows = rng.integers(len(maker.rows), size=size)
            place = int(rng.integers(size))
            values = maker.rows.values[rows]
            yield values, place, maker.drawn(rng, values[place])


def _random(maker: Maker, rng: np.random.Generator) -> Iterator[Parts]:
    """Cells drawn one by one."""
    while True:
        for size in _sizes(maker):
            cells = [rng.choice(marks, size + 1) for marks in maker.marks]
            values = np.column_stack(cells)
            yield values[:-1], int(rng.integers(size)), values[-1]
