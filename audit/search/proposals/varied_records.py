"""Pairs of labelled records that are made from the best so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from dpassay.data import Labelled
from dpassay.pairs import Replace
from dpassay.search.proposals.families import frozen, varied
from dpassay.search.proposals.proposal import Proposal, pick, proposal, root
from dpassay.search.proposals.records import Maker


def varied_records(
    maker: Maker, best: Sequence[Proposal], rng: np.random.Generator
) -> list[Iterator[Proposal]]:
    """Return the families that are made from the best proposals so far."""
    ways = (_asked_elsewhere, _crossed, _stepped, _replaced_otherwise, _resized, _moved)
    return varied([partial(way, maker) for way in ways], best, rng)


def _asked_elsewhere(
    maker: Maker, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
) -> Proposal:
    """Ask the same pair at other points: of the dataset, between two, at a step from one."""
    base = found.base
    assert isinstance(base, Labelled)
    width = maker.high - maker.low
    asked = found.queries.copy()
    for k in range(len(asked)) if rng.random() < 0.5 else [int(rng.integers(len(asked)))]:
        kind, row = int(rng.integers(4)), base.X[int(rng.integers(len(base)))]
        if kind == 0:
            asked[k] = row
        elif kind == 1:
            asked[k] = maker.middle(asked[k], row)
        elif kind == 2:
            column = int(rng.integers(len(row)))
            asked[k, column] += pick(rng, (-1.0, -0.1, 0.1, 1.0)) * width[column]
        else:
            asked[k] = maker.data.X[int(rng.integers(len(maker.data)))]
        asked[k] = maker.fitted(asked[k])
    family = f"{root(found.family)}, asked elsewhere"
    return proposal(base, found.change, family, maker.relation, frozen(asked))


def _crossed(
    maker: Maker, found: Proposal, best: Sequence[Proposal], rng: np.random.Generator
) -> Proposal | None:
    """Mix the records of two datasets."""
    (X, y, place, record), (other, labels, _, _) = map(maker.parts, (found, pick(rng, best)))
    rows = np.resize(np.arange(len(labels)), len(y))
    taken = rng.random(len(y)) < 0.5
    taken[place] = False
    X[taken], y[taken] = other[rows[taken]], labels[rows[taken]]
    return maker.make((X, y, place, record), f"{root(found.family)}, crossed")


def _stepped(
    maker: Maker, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
) -> Proposal | None:
    """Change one record of both datasets: its label, one feature, or all of it."""
    X, y, place, record = maker.parts(found)
    row, kind = int(rng.integers(len(y))), int(rng.integers(4))
    if kind == 0:
        y[row] = maker.other(int(y[row]), int(rng.integers(1, len(maker.classes))))
    elif kind == 1:
        column = int(rng.integers(X.shape[1]))
        X[row, column] = pick(rng, (maker.low, maker.high))[column]
    elif kind == 2:
        X[row] = X[place]
    else:
        X[row], y[row] = maker.drawn(rng, X[row], int(y[row]))
    return maker.make((X, y, place, record), f"{root(found.family)}, one step")


def _replaced_otherwise(
    maker: Maker, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
) -> Proposal | None:
    """Replace another record, or by another one."""
    base, change = found.base, found.change
    assert isinstance(base, Labelled)
    if rng.random() < 0.5 and isinstance(change, Replace):
        place, record = int(rng.integers(len(base))), (change.x, int(change.y))
    else:
        place = change.index if rng.random() < 0.5 else int(rng.integers(len(base)))
        record = maker.drawn(rng, base.X[place], int(base.y[place]))
    return maker.changed(base, place, record, f"{root(found.family)}, replaced otherwise")


def _resized(
    maker: Maker, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
) -> Proposal | None:
    """Leave a record out, or put more like one of them in."""
    X, y, place, record = maker.parts(found)
    row = int(rng.integers(len(y)))
    if rng.random() < 0.5 and row != place:
        X, y = np.delete(X, row, axis=0), np.delete(y, row)
        place -= row < place
    else:
        copies = np.full(int(pick(rng, (1, 2, 5))), row)
        X, y = np.concatenate([X, X[copies]]), np.concatenate([y, y[copies]])
    return maker.make((X, y, place, record), f"{root(found.family)}, resized")


def _moved(
    maker: Maker, found: Proposal, _: Sequence[Proposal], rng: np.random.Generator
) -> Proposal | None:
    """Put the records in another order."""
    X, y, place, record = maker.parts(found)
    order = rng.permutation(len(y))
    place = int(np.flatnonzero(order == place)[0])
    return maker.make((X[order], y[order], place, record), f"{root(found.family)}, reordered")
