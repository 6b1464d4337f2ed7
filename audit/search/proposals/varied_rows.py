"""Pairs of rows of any kind that are made from the best so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from dpassay.search.proposals.families import frozen, varied
from dpassay.search.proposals.proposal import Proposal, pick, proposal, root
from dpassay.search.proposals.rows import Maker


def varied_rows(
    maker: Maker, best: Sequence[Proposal], rng: np.random.Generator
) -> list[Iterator[Proposal]]:
    """Return the families that are made from the best proposals so far."""
    ways = (_crossed, _stepped, _replaced_otherwise, _resized, _moved, _asked_elsewhere)
    return varied([partial(way, maker) for way in ways], best, rng)


def _crossed(
    maker: Maker, found: Proposal, best: Sequence[Proposal], rng: np.random.Generator
) -> Proposal | None:
    """Mix the rows of two datasets."""
    (values, place, new), (other, _, _) = map(maker.parts, (found, pick(rng, best)))
    if not len(other):
        return None
    taken = rng.random(len(values)) < 0.5
    taken[place : place + 1] = False
    values[taken] = other[np.resize(np.arange(len(other)), len(values))[taken]]
    return maker.make((values, place, new), f"{root(found.family)}, crossed")


def _stepped(
    maker: Maker, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
) -> Proposal | None:
    """Change one row of both datasets."""
    values, place, new = maker.parts(found)
    if not len(values):
        return None
    row = int(rng.integers(len(values)))
    values[row] = maker.drawn(rng, values[row])
    return maker.make((values, place, new), f"{root(found.family)}, one step")


def _replaced_otherwise(
    maker: Maker, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
) -> Proposal | None:
    """Replace another row, or by another one."""
    values, place, new = maker.parts(found)
    if rng.random() < 0.5 and len(values):
        place = int(rng.integers(len(values)))
    else:
        new = maker.drawn(rng, new)
    return maker.make((values, place, new), f"{root(found.family)}, replaced otherwise")


def _resized(
    maker: Maker, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
) -> Proposal | None:
    """Leave a row out, or put more like one of them in."""
    values, place, new = maker.parts(found)
    if not len(values):
        return None
    row = int(rng.integers(len(values)))
    if rng.random() < 0.5 and row != place:
        values = np.delete(values, row, axis=0)
        place -= row < place
    else:
        values = np.vstack([values, np.tile(values[row], (int(pick(rng, (1, 2, 5))), 1))])
    return maker.make((values, place, new), f"{root(found.family)}, resized")


def _moved(
    maker: Maker, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
) -> Proposal | None:
    """Put the rows in another order."""
    values, place, new = maker.parts(found)
    order = rng.permutation(len(values))
    place = int(np.flatnonzero(order == place)[0]) if place < len(values) else place
    return maker.make((values[order], place, new), f"{root(found.family)}, reordered")


def _asked_elsewhere(
    maker: Maker, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
) -> Proposal:
    """Ask the same pair at other rows, or with another cell."""
    asked = found.queries.copy()
    features = list(maker.form.features) or [0]
    for k in range(len(asked)) if rng.random() < 0.5 else [int(rng.integers(len(asked)))]:
        if rng.random() < 0.5:
            column = int(rng.integers(len(features)))
            asked[k, column] = pick(rng, maker.marks[features[column]])
        else:
            asked[k] = maker.drawn(rng, pick(rng, maker.typical))[features]
    family = f"{root(found.family)}, asked elsewhere"
    relation = maker.neighbours.relation
    return proposal(found.base, found.change, family, relation, frozen(asked))
