"""Trials in fixed blocks, kept as counts: the only place where a mechanism is sampled."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.auditee import Auditee
from dpassay.codings import Coding
from dpassay.errors import AuditeeError
from dpassay.pairs import Change
from dpassay.plan import Group
from dpassay.seeds import stream

BLOCK = 1000
"""Trials in a block; a block has its own random stream, so that blocks can be drawn in any order."""
MOST_BUDGET = 10**10
"""Nobody can wait for more certification trials per side."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """Counts of some blocks, and what tells whether two blocks were the same.

    Parameters
    ----------
    symbols : int array (q, K)
        How often each symbol of the coding (each label, say) came at each query. Counts of disjoint blocks add up.
    marks : tuple of bytes
        Per block: a digest of its answers; empty where they varied so little that two blocks may well agree.
    """

    symbols: NDArray[np.int64]
    marks: tuple[bytes, ...]


def draw(
    auditee: Auditee, state: object, group: Group, change: Change | None, size: int, coding: Coding, *, phase: str, seed: int
) -> NDArray[np.int64]:
    """Run `size` trials on one side of a pair and count the symbols.

    Parameters
    ----------
    auditee
        Whose `sample` is called.
    state
        State of the base dataset (`change` None) or of the changed one.
    group, change
        Name the dataset: the stream depends on its contents, so all pairs that share a base share its trials, and the
        streams of a dataset and its neighbour are independent.
    size : int
        Trials, >= 1.
    coding : Coding
        What is counted.
    phase : str
        `pilot`, `learn`, `screen`, `certify` or `fit`: what the trials are for; they are never used for anything else.
    seed : int
        Root seed.

    Returns
    -------
    int array (q, K)
        How often each symbol came at each query. Counts of disjoint blocks add up.
    """
    key = stream_key(auditee, group, change, phase=phase, seed=seed)
    pieces = ((k, draw_blocks(auditee, state, group, change, size, range(k, k + 1), key, coding)) for k in blocks(size))
    return add_up(pieces, len(group.queries), coding.size, change)


def draw_blocks(
    auditee: Auditee,
    state: object,
    group: Group,
    change: Change | None,
    size: int,
    which: range,
    key: tuple[str | float, ...],
    coding: Coding,
) -> Counts:
    """Run some of the blocks that `size` trials are cut into; `key` is that of `stream_key`."""
    total, marks = np.zeros((len(group.queries), coding.size), dtype=np.int64), []
    for block in which:
        trials = min(BLOCK, size - block * BLOCK)
        draws = auditee.sample(state, group.queries, trials, stream(*key, block), where(change))
        seen, mark = coding.count(draws, stream(*key, block, "rounding"))
        marks.append(mark)
        total += seen
    return Counts(symbols=total, marks=tuple(marks))


def add_up(pieces: Iterable[tuple[int, Counts]], queries: int, symbols: int, change: Change | None) -> NDArray[np.int64]:
    """Add the counts of pieces that follow one another, each with its first block.

    Raises
    ------
    AuditeeError
        If two successive blocks gave the same answers, which were not always the same: the mechanism does not draw afresh.
    """
    total, last = np.zeros((queries, symbols), dtype=np.int64), b""
    for first, counts in pieces:
        for block, mark in enumerate(counts.marks, start=first):
            if mark and mark == last:
                raise AuditeeError(
                    f"sample on {where(change)} is sticky: blocks {block - 1} and {block} are equal, it does not draw from rng"
                )
            last = mark
        total += counts.symbols
    return total


def blocks(size: int) -> range:
    """Return the numbers of the blocks that `size` trials are cut into."""
    return range(-(-size // BLOCK))


def stream_key(auditee: Auditee, group: Group, change: Change | None, *, phase: str, seed: int) -> tuple[str | float, ...]:
    """Return what the random streams of a dataset's trials are derived from, all but the block."""
    side = "base" if change is None else json.dumps(change.as_json(by_value=True), sort_keys=True)
    return (seed, auditee.name, json.dumps(auditee.parameters, sort_keys=True), group.digest, side, phase)


def where(change: Change | None) -> str:
    """Name a dataset of a group in a message."""
    return "the base dataset" if change is None else f"the neighbour with {change}"
