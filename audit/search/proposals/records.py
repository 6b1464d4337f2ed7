"""Spaces of records, and the families of pairs: first ones, and those made from the best so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np

from dpassay.data import Dataset
from dpassay.rows.columns import Coded
from dpassay.search.proposals.pair_maker import MOST_MARKS, PairGenerator, Parts, Row, with_cell
from dpassay.search.proposals.proposal import (
    Proposal,
    Space,
    Way,
    frozen,
    mixed,
    pick,
    proposal,
    root,
    spread,
    varied,
)
from dpassay.search.proposals.shrinking import smaller_rows

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


class RecordSpace(Space):
    """Datasets of records of one kind; a generator makes the pairs."""

    __slots__ = ()
    generator: PairGenerator

    @property
    def relation(self) -> str:
        """Return the relation of neighbours."""
        return self.generator.relation

    @property
    def own(self) -> Dataset | None:
        """The user's records, if there are any."""
        return None if self.generator.made_up else self.generator.own

    @property
    def columns(self) -> int:
        """Columns that a query has."""
        return max(1, len(self.generator.form.features)) if self.generator.asked else 0

    @property
    def only(self) -> int | None:
        """How many records every dataset has; None where their number is not fixed."""
        least, most = self.generator.sizes
        return most if least == most else None

    @property
    def outside(self) -> list[Proposal]:
        """Pairs with a cell that the user has not described."""
        return self.generator.outside

    def first(self, rng: np.random.Generator, most: int) -> list[Proposal]:
        """Own records changed, small datasets, values on one side only; see `Space.first`."""
        return mixed(first_rows(self.generator, rng), most)

    def more(self, best: Sequence[Proposal], rng: np.random.Generator, most: int) -> list[Proposal]:
        """Other records and queries; see `Space.more`."""
        return mixed(varied_rows(self.generator, best, rng), most, best)

    def smaller(self, found: Proposal) -> Iterator[Proposal]:
        """Fewer records, fewer queries, plainer cells; see `Space.smaller`."""
        return smaller_rows(self.generator, found)


def first_rows(maker: PairGenerator, rng: np.random.Generator) -> list[Iterator[Proposal]]:
    """Return the families to begin with, those that tell most first."""

    def own(family: str, changes: Iterator[tuple[int, Row]]) -> Iterator[Proposal]:
        """Change the user's rows."""
        return maybe(family, ((maker.rows.values, *change) for change in changes))

    def maybe(family: str, pairs: Iterator[Parts]) -> Iterator[Proposal]:
        if maker.made_up:
            family = family.replace("an own", "a").replace("own ", "")
        made = (maker.make(parts, family) for parts in pairs)
        return (each for each in made if each is not None)

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


def _sizes(maker: PairGenerator) -> list[int]:
    least, most = maker.sizes
    small = [SIZES[0], len(maker.rows), *SIZES[1:], most]
    between = [least + k for k in spread(most - least + 1, BETWEEN)]
    return [size for size in dict.fromkeys([*small, *between]) if least <= size <= most and size]


def _labels(maker: PairGenerator) -> Iterator[tuple[int, Row]]:
    label = maker.form.place(maker.form.label)
    if label is None:
        return
    for step in range(1, len(maker.marks[label]) + 1):
        for place in spread(len(maker.rows), MOST_OWN):
            row = maker.rows.values[place]
            yield place, with_cell(row, label, maker.other(label, row[label], step))


def _extremes(maker: PairGenerator) -> Iterator[tuple[int, Row]]:
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


def _cells(maker: PairGenerator) -> Iterator[tuple[int, Row]]:
    for step in range(max(map(len, maker.marks))):
        for k, place in enumerate(spread(len(maker.rows), MOST_OWN)):
            for column in (k % len(maker.marks), (k + 1) % len(maker.marks)):
                marks = maker.marks[column]
                cell = marks[step % len(marks)]
                yield place, with_cell(maker.rows.values[place], column, cell)


def _others(maker: PairGenerator, rng: np.random.Generator) -> Iterator[tuple[int, Row]]:
    for place in spread(len(maker.rows), MOST_OWN) * 2:
        yield place, maker.rows.values[int(rng.integers(len(maker.rows)))]


def _small(maker: PairGenerator) -> Iterator[Parts]:
    """Enumerate the smallest datasets of typical rows and their neighbours, up to order."""
    typical = maker.typical
    for size in range(1, SMALLEST + 1):
        for rest in combinations_with_replacement(range(len(typical)), size - 1):
            for one, other in permutations(range(len(typical)), 2):
                chosen = np.array([typical[k] for k in (one, *rest)])
                yield chosen, 0, typical[other]


def _constant(maker: PairGenerator) -> Iterator[Parts]:
    """All rows equal; one of them becomes another."""
    swaps = list(permutations(maker.typical, 2))
    for last, (row, new), size in _in_turns((0, 1), swaps, _sizes(maker)):
        yield np.tile(row, (size, 1)), last * (size - 1), new


def _halves(maker: PairGenerator) -> Iterator[Parts]:
    """Half of the rows are equal, and so are the others, give or take one."""
    swaps = list(permutations(maker.typical, 2))
    for more, (row, new), size in _in_turns((0, 1), swaps, _sizes(maker)):
        values = np.tile(row, (size, 1))
        values[(size + 1) // 2 + more :] = new
        yield values, 0, new


def _votes(maker: PairGenerator) -> Iterator[Parts]:
    """Own features, and labels as many of the one kind as of the other, give or take one."""
    label = maker.form.place(maker.form.label)
    if label is None:
        return
    for (one, other), size in _in_turns(list(permutations(maker.marks[label], 2)), _sizes(maker)):
        values = _cycled(maker, size)
        values[:, label] = np.where(np.arange(size) < (size + 1) // 2, one, other)
        for place in (0, (size - 1) // 2):
            yield values, place, with_cell(values[place], label, other)


def _absent(maker: PairGenerator) -> Iterator[Parts]:
    """A value, or the absence of one, that no other row has."""
    columns = [j for j, column in enumerate(maker.form.columns) if column.kind == "value"]
    columns += [j for j, column in enumerate(maker.form.columns) if column.gaps]
    cells = [(j, float(cell)) for j in dict.fromkeys(columns) for cell in maker.marks[j]]
    for (column, cell), size in _in_turns(cells, _sizes(maker)):
        values = _cycled(maker, size)
        values[values[:, column] == cell, column] = maker.other(column, cell)
        yield values, size - 1, with_cell(values[-1], column, cell)


def _to_the_other_end(maker: PairGenerator) -> Iterator[Parts]:
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


def _cycled(maker: PairGenerator, size: int) -> Coded:
    """Return so many own rows that are spread, again where they end."""
    rows = sorted(spread(len(maker.rows), size))
    cycled: Coded = maker.rows.values[np.resize(rows, size)]
    return cycled


def _subsampled(maker: PairGenerator, rng: np.random.Generator) -> Iterator[Parts]:
    """Some of the own rows, one of them replaced."""
    while True:
        for size in _sizes(maker):
            rows = rng.integers(len(maker.rows), size=size)
            place = int(rng.integers(size))
            values = maker.rows.values[rows]
            yield values, place, maker.drawn(rng, values[place])


def _random(maker: PairGenerator, rng: np.random.Generator) -> Iterator[Parts]:
    """Cells drawn one by one."""
    while True:
        for size in _sizes(maker):
            cells = [rng.choice(marks, size + 1) for marks in maker.marks]
            values = np.column_stack(cells)
            yield values[:-1], int(rng.integers(size)), values[-1]


def _in_turns(*choices: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield all combinations, those first that consist of the first choices of each kind."""
    places = product(*(range(len(each)) for each in choices))
    for combination in sorted(places, key=sum):
        yield tuple(each[k] for each, k in zip(choices, combination, strict=True))


def varied_rows(
    maker: PairGenerator, best: Sequence[Proposal], rng: np.random.Generator
) -> list[Iterator[Proposal]]:
    """Return the families that are made from the best proposals so far."""
    ways: dict[str, Way[Parts]] = {name: partial(way, maker) for name, way in WAYS.items()}
    families = varied(ways, best, rng, maker.parts, maker.make)
    return [*families, _asked_elsewhere(maker, best, rng)] if maker.asked else families


def _crossed(
    maker: PairGenerator,  # noqa: ARG001
    parts: Parts,
    other: Callable[[], Parts],
    rng: np.random.Generator,
) -> Parts | None:
    """Mix the rows of two datasets."""
    (values, place, new), (rival, _, _) = parts, other()
    if not len(rival):
        return None
    taken = rng.random(len(values)) < 0.5
    taken[place : place + 1] = False
    values[taken] = rival[np.resize(np.arange(len(rival)), len(values))[taken]]
    return values, place, new


def _stepped(maker: PairGenerator, parts: Parts, _: Any, rng: np.random.Generator) -> Parts | None:
    """Change one row of both datasets."""
    values, place, new = parts
    if not len(values):
        return None
    row = int(rng.integers(len(values)))
    values[row] = maker.drawn(rng, values[row])
    return values, place, new


def _replaced(maker: PairGenerator, parts: Parts, _: Any, rng: np.random.Generator) -> Parts:
    """Replace another row, or by another one."""
    values, place, new = parts
    if rng.random() < 0.5 and len(values):
        return values, int(rng.integers(len(values))), new
    return values, place, maker.drawn(rng, new)


def _resized(maker: PairGenerator, parts: Parts, _: Any, rng: np.random.Generator) -> Parts | None:
    """Leave a row out, or put more like one of them in."""
    values, place, new = parts
    if not len(values):
        return None
    row = int(rng.integers(len(values)))
    if rng.random() < 0.5 and row != place:
        return np.delete(values, row, axis=0), place - (row < place), new
    more = min(int(pick(rng, (1, 2, 5, 20))), max(0, maker.sizes[1] - len(values)))
    return np.vstack([values, np.tile(values[row], (more, 1))]), place, new


def _reordered(_: PairGenerator, parts: Parts, __: Any, rng: np.random.Generator) -> Parts:
    """Put the rows in another order."""
    values, place, new = parts
    order = rng.permutation(len(values))
    if rng.random() < 0.3:
        order = np.argsort(values[:, int(rng.integers(values.shape[1]))], kind="stable")
    place = int(np.flatnonzero(order == place)[0]) if place < len(values) else place
    return values[order], place, new


WAYS: dict[str, Callable[..., Parts | None]] = {
    "crossed": _crossed,
    "one step": _stepped,
    "replaced otherwise": _replaced,
    "resized": _resized,
    "reordered": _reordered,
}
"""How the best pairs so far are varied."""


def _asked_elsewhere(
    maker: PairGenerator, best: Sequence[Proposal], rng: np.random.Generator
) -> Iterator[Proposal]:
    """Ask the best pairs at other rows, or with another cell."""
    features = list(maker.form.features) or [0]
    while best:
        for found in best:
            asked = found.queries.copy()
            every = range(len(asked))
            for k in every if rng.random() < 0.5 else [int(rng.integers(len(asked)))]:
                row = _asked(maker, rng, asked[k].copy(), features)
                if maker.holds(np.append(row, 0.0)[None, :]):
                    asked[k] = row
            family = f"{root(found.family)}, asked elsewhere"
            yield proposal(found.base, found.change, family, maker.relation, frozen(asked))


def _asked(maker: PairGenerator, rng: np.random.Generator, row: Row, features: list[int]) -> Row:
    """Return another query like one."""
    column, kind = int(rng.integers(len(features))), int(rng.integers(3))
    marks = maker.marks[features[column]]
    if kind == 0:
        row[column] = pick(rng, marks)
    elif kind == 1 and maker.form.columns[features[column]].kind == "number":
        row[column] = row[column] / 2 + pick(rng, marks) / 2
    else:
        row = maker.drawn(rng, pick(rng, maker.typical))[features]
    return row
