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
    ways = [_crossed, _stepped, _replaced_otherwise, _resized, _moved]
    ways += [_asked_elsewhere] if maker.asked else []
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
        more = min(int(pick(rng, (1, 2, 5, 20))), max(0, maker.sizes[1] - len(values)))
        values = np.vstack([values, np.tile(values[row], (more, 1))])
    return maker.make((values, place, new), f"{root(found.family)}, resized")


def _moved(
    maker: Maker, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
) -> Proposal | None:
    """Put the rows in another order."""
    values, place, new = maker.parts(found)
    order = rng.permutation(len(values))
    if rng.random() < 0.3:
        order = np.argsort(values[:, int(rng.integers(values.shape[1]))], kind="stable")
    place = int(np.flatnonzero(order == place)[0]) if place < len(values) else place
    return maker.make((values[order], place, new), f"{root(found.family)}, reordered")


def _asked_elsewhere(
    maker: Maker, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
) -> Proposal:
    """Ask the same pair at other rows, or with another cell."""
    asked = found.queries.copy()
    features = list(maker.form.features) or [0]
    for k in range(len(asked)) if rng.random() < 0.5 else [int(rng.integers(len(asked)))]:
        row = asked[k].copy()
        column, kind = int(rng.integers(len(features))), int(rng.integers(3))
        if kind == 0:
            row[column] = pick(rng, maker.marks[features[column]])
        elif kind == 1 and maker.form.columns[features[column]].kind == "number":
            row[column] = row[column] / 2 + pick(rng, maker.marks[features[column]]) / 2
        else:
            row = maker.drawn(rng, pick(rng, maker.typical))[features]
        if maker.holds(np.append(row, 0.0)[None, :]):
            asked[k] = row
    family = f"{root(found.family)}, asked elsewhere"
    relation = maker.neighbours.relation
    return proposal(found.base, found.change, family, relation, frozen(asked))
