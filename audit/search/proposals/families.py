"""Families of proposals: what those of all kinds of data share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpassay.search.proposals.proposal import Proposal

Parts = TypeVar("Parts")
Vary = Callable[[Proposal, Sequence[Proposal], np.random.Generator], Proposal | None]
"""Makes another proposal out of one of the best; None where it would be none of the space."""


def made(make: Callable[[Parts], Proposal | None], parts: Iterable[Parts]) -> Iterator[Proposal]:
    """Make proposals out of what each consists of, of those that are any."""
    for each in parts:
        if (found := make(each)) is not None:
            yield found


def varied(
    ways: Sequence[Vary], best: Sequence[Proposal], rng: np.random.Generator
) -> list[Iterator[Proposal]]:
    """Return a family for each way of varying the best proposals, in turns and for ever."""
    return [_varied(vary, best, rng) for vary in ways]


def _varied(vary: Vary, best: Sequence[Proposal], rng: np.random.Generator) -> Iterator[Proposal]:
    while best:
        for each in best:
            found = vary(each, best, rng)
            yield each if found is None else found


def in_turns(*choices: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield all combinations, those first that consist of the first choices of each kind."""
    places = product(*(range(len(each)) for each in choices))
    for combination in sorted(places, key=sum):
        yield tuple(each[k] for each, k in zip(choices, combination, strict=True))


def different(asked: NDArray[np.float64], again: int, most: int) -> NDArray[np.float64]:
    """Return up to `most` query points without those that are there twice, read-only.

    The one at the place `again` stays: it is meant to be asked twice.
    """
    alike = (asked[:, None] == asked).all(axis=2)
    kept = np.argmax(alike, axis=1) == np.arange(len(asked))
    kept[again] = True
    return frozen(asked[kept][:most])


def frozen(queries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return queries, read-only."""
    queries.flags.writeable = False
    return queries
