"""Proposals: pairs of neighbours with queries that are worth a look, and how they are mixed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from dpassay.data import Dataset
from dpassay.pairs import NOTHING_ASKED, Change, Pairs
from dpassay.search.columns import Array

REPEATS = 50
"""A family that has made so many proposals in a row that were known already has run dry."""

LARGE = 20_000
"""Datasets of more bytes than this are the same if they are one object."""
LONG = 256
"""Datasets of more bytes than this are remembered by a digest."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Proposal:
    """A pair of neighbours, what is asked of both, and what kind of pair it is, in short words.

    `queries` (q, d) are one row of one 0 where nothing is asked.
    """

    pairs: Pairs
    queries: Array
    family: str

    @property
    def base(self) -> Dataset:
        """The dataset S."""
        base: Dataset = self.pairs.base
        return base

    @property
    def change(self) -> Change:
        """What makes the neighbour S'."""
        return self.pairs.changes[0]

    @property
    def neighbour(self) -> Dataset:
        """The dataset S'."""
        neighbour: Dataset = self.change.apply(self.base)
        return neighbour

    @property
    def identity(self) -> Hashable:
        """What two proposals have in common that ask the same of the same two datasets.

        Which of the two is S does not matter: both directions are looked at. Large datasets, of
        which there are few, are only compared as objects; they must be kept.
        """
        asked = self.queries.shape, self.queries.tobytes()
        if sum(array.nbytes for array in self.base.arrays) > LARGE:
            return id(self.base), str(self.change.as_json()), asked
        return frozenset(map(_contents, (self.base, self.neighbour))), asked


def _contents(data: Dataset) -> tuple[bytes, ...]:
    whole = ((array + 0).tobytes() for array in data.arrays)  # -0.0 is 0.0
    return tuple(each if len(each) <= LONG else hashlib.blake2b(each).digest() for each in whole)


def proposal(
    base: Dataset, change: Change, family: str, relation: str, queries: Array = NOTHING_ASKED
) -> Proposal:
    """Return a proposal with one change of a dataset."""
    pairs = Pairs(
        base=base,
        changes=(change,),
        how=f"searched: {family}",
        relation=relation,
        key=f"searched:{family}",
    )
    return Proposal(pairs=pairs, queries=queries, family=family)


class Space:
    """What datasets look like, and which of them are neighbours: what a search draws from."""

    __slots__ = ()

    @property
    def relation(self) -> str:
        """The neighbour relation that every proposal keeps to."""
        raise NotImplementedError

    @property
    def words(self) -> str:
        """What the datasets are, in words."""
        raise NotImplementedError

    @property
    def guessed(self) -> str:
        """Which limits were taken from the data, in a sentence; empty where none were."""
        return ""

    @property
    def columns(self) -> int:
        """Coordinates of a query point; 0 where nothing is asked."""
        return 0

    @property
    def own(self) -> Dataset | None:
        """The user's own dataset, if there is one."""
        return None

    @property
    def only(self) -> int | None:
        """How many records every dataset has; None where their number is not fixed."""
        return None

    @property
    def outside(self) -> Sequence[Proposal]:
        """Pairs with a cell that the user has not described, which their family names."""
        return ()

    def first(self, rng: np.random.Generator, most: int) -> list[Proposal]:
        """Return up to `most` pairs to begin with, those that tell most first.

        The kinds of pairs take turns. Equal generators give equal proposals, none of them twice.
        """
        raise NotImplementedError

    def more(self, best: Sequence[Proposal], rng: np.random.Generator, most: int) -> list[Proposal]:
        """Return up to `most` pairs that are like the best so far, the best of them first."""
        raise NotImplementedError

    def smaller(self, found: Proposal) -> Iterator[Proposal]:
        """Yield proposals that are simpler than this one and like it, the simplest first."""
        raise NotImplementedError


Parts = TypeVar("Parts")
Way = Callable[[Parts, Callable[[], Parts], np.random.Generator], Parts | None]
"""Makes other parts of a pair out of its own and, if it likes, out of those of another of the best.

None where nothing is to be made.
"""


def varied(
    ways: Mapping[str, Way[Parts]],
    best: Sequence[Proposal],
    rng: np.random.Generator,
    parts: Callable[[Proposal], Parts],
    make: Callable[[Parts, str], Proposal | None],
) -> list[Iterator[Proposal]]:
    """Return a family for each way of varying the best proposals, in turns and for ever.

    `parts` says what a proposal is made of, `make` makes one of them, or None where it would be
    none of the space.
    """

    def family(name: str, way: Way[Parts]) -> Iterator[Proposal]:
        while best:
            for each in best:
                new = way(parts(each), lambda: parts(pick(rng, best)), rng)
                made = None if new is None else make(new, f"{root(each.family)}, {name}")
                yield each if made is None else made

    return [family(*each) for each in ways.items()]


def mixed(
    families: Iterable[Iterator[Proposal]], most: int, known: Iterable[Proposal] = ()
) -> list[Proposal]:
    """Take up to `most` proposals from the families in turns, whatever is not known yet.

    A family may go on for ever; one that repeats itself is left.
    """
    seen: set[Hashable] = {each.identity for each in known}
    found: list[Proposal] = []
    left = list(families)
    while left and len(found) < most:
        for family in tuple(left):
            new = _next_new(family, seen)
            if new is None:
                left.remove(family)
                continue
            found.append(new)
            if len(found) == most:
                break
    return found


def _next_new(family: Iterator[Proposal], seen: set[Hashable]) -> Proposal | None:
    for each in islice(family, REPEATS):
        if (identity := each.identity) not in seen:
            seen.add(identity)
            return each
    return None


@lru_cache(maxsize=64)
def spread(count: int, most: int) -> tuple[int, ...]:
    """Return up to `most` places out of `count`, spread over all, the first and the last first."""
    if count <= most:
        places = list(range(count))
    else:
        places = sorted({round(k * (count - 1) / max(1, most - 1)) for k in range(most)})
    return (places[0], places[-1], *places[1:-1]) if len(places) > 1 else tuple(places)


def pick(rng: np.random.Generator, choices: Sequence[Any] | Array) -> Any:
    """Draw one of several."""
    return choices[int(rng.integers(len(choices)))]


def root(family: str) -> str:
    """Return the kind of pair that a family was made from."""
    return family.partition(", ")[0]


def frozen(queries: Array) -> Array:
    """Return queries, read-only."""
    queries.flags.writeable = False
    return queries
