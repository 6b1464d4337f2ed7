"""Pairs of records to begin with: own ones changed, small ones, ones at the user's own size."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, permutations

import numpy as np

from dpassay.rows.columns import Coded
from dpassay.search.proposals.families import in_turns, made
from dpassay.search.proposals.neighbours import Parts, with_cell
from dpassay.search.proposals.proposal import Proposal, spread
from dpassay.search.proposals.rows import MOST_MARKS, Maker, Row

SIZES = (2, 1, 3, 10, 5, 20, 4, 6, 7)
"""Sizes of small datasets, in the order in which they are tried."""
BETWEEN = 6
"""So many sizes are tried besides, from the least to the greatest."""
SMALLEST = 3
"""Up to this size datasets are enumerated."""
MOST_OWN = 200
"""So many of the user's rows are changed in turns."""
STANDING_OUT = 3
"""The records with the least and the greatest number of so many columns come first."""


def first_rows(maker: Maker, rng: np.random.Generator) -> list[Iterator[Proposal]]:
    """Return the families to begin with, those that tell most first."""

    def own(family: str, changes: Iterator[tuple[int, Row]]) -> Iterator[Proposal]:
        """Change the user's rows."""
        return maybe(family, ((maker.rows.values, *change) for change in changes))

    def maybe(family: str, pairs: Iterator[Parts]) -> Iterator[Proposal]:
        if maker.made_up:
            family = family.replace("an own", "a").replace("own ", "")
        return made(lambda parts: maker.make(parts, family), pairs)

    return [
        own("label of an own record changed", _labels(maker)),
        own("own record replaced by an extreme", _extremes(maker)),
        maybe("small dataset", _small(maker)),
        maybe("all records equal", _constant(maker)),
        maybe("half of one, half of another", _halves(maker)),
        maybe("votes one apart", _votes(maker)),
        maybe("a value in one record only", _absent(maker)),
        own("own record replaced by another", _others(maker, rng)),
        maybe("record moved to the other end", _to_the_other_end(maker)),
        own("one cell of an own record changed", _cells(maker)),
        maybe("some of the own records", _subsampled(maker, rng)),
        maybe("random records", _random(maker, rng)),
    ]


def _sizes(maker: Maker) -> list[int]:
    least, most = maker.sizes
    small = [SIZES[0], len(maker.rows), *SIZES[1:], most]
    between = [least + k for k in spread(most - least + 1, BETWEEN)]
    return [size for size in dict.fromkeys([*small, *between]) if least <= size <= most and size]


def _labels(maker: Maker) -> Iterator[tuple[int, Row]]:
    label = maker.form.place(maker.form.label)
    if label is None:
        return
    for step in range(1, len(maker.marks[label]) + 1):
        for place in spread(len(maker.rows), MOST_OWN):
            row = maker.rows.values[place]
            yield place, with_cell(row, label, maker.other(label, row[label], step))


def _extremes(maker: Maker) -> Iterator[tuple[int, Row]]:
    values = maker.rows.values
    numbers = [j for j, each in enumerate(maker.form.columns) if each.kind != "value"]
    both = np.argmax, np.argmin
    ends = [int(end(values[:, j])) for j in numbers[:STANDING_OUT] for end in both]
    places = list(dict.fromkeys([*ends, *spread(len(maker.rows), MOST_OWN)]))
    for row in maker.typical:
        for place in places[:MOST_MARKS]:
            yield place, row
    for place in places:
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
    swaps = list(permutations(maker.typical, 2))
    for last, (row, new), size in in_turns((0, 1), swaps, _sizes(maker)):
        yield np.tile(row, (size, 1)), last * (size - 1), new


def _halves(maker: Maker) -> Iterator[Parts]:
    """Half of the rows are equal, and so are the others, give or take one."""
    swaps = list(permutations(maker.typical, 2))
    for more, (row, new), size in in_turns((0, 1), swaps, _sizes(maker)):
        values = np.tile(row, (size, 1))
        values[(size + 1) // 2 + more :] = new
        yield values, 0, new


def _votes(maker: Maker) -> Iterator[Parts]:
    """Own features, and labels as many of the one kind as of the other, give or take one."""
    label = maker.form.place(maker.form.label)
    if label is None:
        return
    for (one, other), size in in_turns(list(permutations(maker.marks[label], 2)), _sizes(maker)):
        values = _cycled(maker, size)
        values[:, label] = np.where(np.arange(size) < (size + 1) // 2, one, other)
        for place in (0, (size - 1) // 2):
            yield values, place, with_cell(values[place], label, other)


def _absent(maker: Maker) -> Iterator[Parts]:
    """A value, or the absence of one, that no other row has."""
    columns = [j for j, column in enumerate(maker.form.columns) if column.kind == "value"]
    columns += [j for j, column in enumerate(maker.form.columns) if column.gaps]
    cells = [(j, float(cell)) for j in dict.fromkeys(columns) for cell in maker.marks[j]]
    for (column, cell), size in in_turns(cells, _sizes(maker)):
        values = _cycled(maker, size)
        values[values[:, column] == cell, column] = maker.other(column, cell)
        yield values, size - 1, with_cell(values[-1], column, cell)


def _to_the_other_end(maker: Maker) -> Iterator[Parts]:
    """One record goes past all others, which lie between the ends in order."""
    low, high = maker.ends
    kinds = [column.kind for column in maker.form.columns]
    if "number" not in kinds and "integer" not in kinds:
        return
    for size in _sizes(maker):
        steps = np.linspace(0, 1, size)[:, None]
        values = np.where([kind == "value" for kind in kinds], low, low + steps * (high - low))
        values = np.where([kind == "number" for kind in kinds], values, np.trunc(values))
        values = np.clip(values, np.minimum(low, high), np.maximum(low, high))
        yield values, 0, high
        yield values, size - 1, low
        yield values, size // 2, high


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
