"""Shrinking: from a pair that shows something to the simplest one that still does.

As Hypothesis shrinks: every candidate is simpler than what it was made from, by an order in which
nothing goes down for ever. Of records there are fewer, equal ones, simpler cells, fewer queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from dpassay.rows.columns import LAST, Coded
from dpassay.search.columns import Array
from dpassay.search.proposals.pair_maker import PairGenerator, Parts
from dpassay.search.proposals.proposal import Proposal, frozen, root

Numbers = Array
Complexity = tuple[int, ...]
"""Integers >= 0 of a fixed number, the first of them the most important."""
Tried = tuple[Complexity, Callable[[], Proposal | None]]
"""What might be proposed instead: how complicated it is, and what makes the proposal if it can."""
PLAIN = 50
"""Whole numbers up to this are simple."""
MOST_PARTS = 32
"""Stretches of rows that are left out, or made simpler, are no shorter than such a part."""
FEW_CELLS = 600
"""The cells of more than these are left as they are; rows go first."""
MOST_NUMBERS = 12
"""So many different numbers of a column are made simpler, wherever they are."""


def simplest_first(now: Complexity, tried: Iterable[Tried]) -> Iterator[Proposal]:
    """Yield the proposals that are simpler than what there is now, the simplest first."""
    simpler = [(complexity, make) for complexity, make in tried if complexity < now]
    for _, make in sorted(simpler, key=lambda each: each[0]):
        if (made := make()) is not None:
            yield made


def cost(number: float) -> int:
    """Say how complicated a number is: 0 is simplest, then 1, -1, 2, ..., then fractions."""
    size = abs(number)
    sign = int(number < 0)
    if size <= PLAIN and size == int(size):
        return max(0, 2 * int(size) - 1) + sign
    return 2 * PLAIN + 2 * len(repr(float(size))) + sign


def costs(numbers: Numbers, easy: Sequence[float] = ()) -> int:
    """Say how complicated some numbers are together; easy ones come before all others."""
    ranks = {each: rank for rank, each in enumerate(easy)}
    values, counts = np.unique(numbers, return_counts=True)
    return sum(
        count * ranks.get(value, len(ranks) + cost(value))
        for value, count in zip(values.tolist(), counts.tolist(), strict=True)
    )


def simpler_numbers(number: float) -> list[float]:
    """Return numbers that are simpler than one and near it, or simple at any rate."""
    whole = float(np.trunc(number))
    half, less = float(np.trunc(number / 2)), whole - float(np.sign(whole))
    tries = (0.0, 1.0, whole, half, less, float(f"{number:.2g}"), abs(number))
    return [each for each in dict.fromkeys(tries) if cost(each) < cost(number)]


def stretches(count: int) -> Iterator[slice]:
    """Yield stretches of so many places: all, halves, quarters, ..., single ones."""
    length = count
    while length >= 1:
        for start in range(0, count, length):
            yield slice(start, min(start + length, count))
        length = 0 if length == 1 else (length + 1) // 2


def smaller_rows(maker: PairGenerator, found: Proposal) -> Iterator[Proposal]:
    """Yield simpler pairs and queries that are like one: fewer rows, fewer queries, then others."""
    parts, asked, family = maker.parts(found), found.queries, root(found.family)
    values, place, new = parts
    now, size = _complexity(maker, parts, asked), len(values)

    def candidate(complexity: Complexity, parts: Parts, asked: Array) -> Tried:
        return complexity, partial(maker.make, parts, family, queries=asked)

    fewer = _fewer(values, place)
    yield from simplest_first(
        now, [candidate((len(each),), (each, at, new), asked) for each, at in fewer]
    )
    alone = [frozen(asked[k : k + 1].copy()) for k in range(len(asked)) if len(asked) > 1]
    yield from simplest_first(now, [candidate((size, 1), parts, each) for each in alone])
    both = np.vstack([values, new])
    if both.size > FEW_CELLS:
        return
    tried = [((each[:-1], place, each[-1]), asked) for each in _simpler(maker, both, place)]
    tried += [(parts, frozen(each)) for each in _simpler_queries(maker, asked)]
    if place:
        order = np.r_[place, np.delete(np.arange(size), place)].astype(int)
        tried.append(((values[order], 0, new), asked))
    yield from simplest_first(now, [candidate(_complexity(maker, *each), *each) for each in tried])


def _complexity(maker: PairGenerator, parts: Parts, asked: Array) -> Complexity:
    """Count rows, queries, cells that change, different rows; then look at cells and place."""
    values, place, new = parts
    both = np.vstack([values, new])
    changed = int((values[place] != new).sum()) if len(values) else 0
    features = list(maker.form.features) or [0]
    return (
        len(values),
        len(asked),
        changed,
        len(np.unique(both, axis=0)),
        _cost(maker, asked, features) if maker.asked else 0,
        _cost(maker, both, range(both.shape[1])),
        place,
        _cost(maker, values, range(both.shape[1])),
    )


def _cost(maker: PairGenerator, cells: Coded, columns: Sequence[int]) -> int:
    """Add up how far down the list of cells that are tried each cell comes, then how long it is."""
    return sum(costs(cells[:, j], _easy(maker, column)) for j, column in enumerate(columns))


def _easy(maker: PairGenerator, column: int) -> list[float]:
    """Return the cells of a column that come before all others: values, and ends if plain."""
    marks: list[float] = maker.marks[column].tolist()
    if maker.form.columns[column].kind == "value":
        return marks
    return [end for end in marks[:2] if cost(end) < 2 * PLAIN]


def _fewer(values: Coded, place: int) -> Iterator[tuple[Coded, int]]:
    others = np.delete(np.arange(len(values)), place)
    for part in stretches(len(others)):
        if (part.stop - part.start) * MOST_PARTS < len(others):
            break
        kept = np.delete(np.arange(len(values)), others[part])
        yield values[kept], int(np.searchsorted(kept, place))


def _simpler(maker: PairGenerator, both: Coded, place: int) -> Iterator[Coded]:
    """Yield rows and the new one with a stretch made typical, or cells made simpler."""
    count = len(both)
    for part in stretches(count):
        if (part.stop - part.start) * MOST_PARTS < count:
            break
        for row in maker.typical[:2]:
            yield _put(both, part, row)
    columns = range(both.shape[1])
    yield from (_put(both, (-1, column), both[place, column]) for column in columns if count > 1)
    for column in columns:
        for rows in (slice(None), -1):
            yield _put(both, (rows, column), maker.marks[column][0])
        yield from _plainer(maker, both, column, column)
    other = both.copy()
    other[[place, -1]] = both[[-1, place]]
    yield other


def _simpler_queries(maker: PairGenerator, asked: Array) -> Iterator[Array]:
    for j, column in enumerate(maker.form.features if maker.asked else ()):
        yield _put(asked, (slice(None), j), maker.marks[column][0])
        yield from _plainer(maker, asked, j, column)


def _plainer(maker: PairGenerator, cells: Coded, j: int, column: int) -> Iterator[Coded]:
    """Yield cells of which one number is simpler wherever it is in a column."""
    kind, ends = maker.form.columns[column], maker.marks[column][:2].tolist()
    if kind.kind == "value":
        return
    for number in np.unique(cells[:, j])[:MOST_NUMBERS].tolist():
        for simpler in (*ends, *simpler_numbers(number)):
            if number > LAST and kind.holds(simpler):
                yield _put(cells, (cells[:, j] == number, j), simpler)


def _put(cells: Coded, where: Any, what: Any) -> Coded:
    found = cells.copy()
    found[where] = what
    return found
