"""Trials in fixed blocks, kept as counts: the only place where a mechanism is sampled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.pairs import Change
from dpassay.seeds import stream
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.trials.encoders import Coding
from dpassay.trials.wire import Mark

BLOCK = 1000
"""Trials in a block; a block has its own random stream, so that blocks can be drawn in any
order."""
WIDER = ((1_000_000, 100_000), (100_000, 10_000))
"""Of more trials than the first, a block holds as many as the second: what a block costs besides
its trials is then next to nothing."""
ROWS = 10_000
"""Trials of a call of `sample`, at most: arrays of more leave the processor's cache."""
BASE = "base"
COUPLED = ("race", "paired")
"""Phases whose runs start from the same generator states on all datasets of a group."""
ONE_BY_ONE = ("single", "paired", "apart")
"""Phases whose runs are asked for one by one, each from a generator state of its own."""
CALLS = {"pilot": 20, "certify": 20, "fresh": 20, "confirm": 16}
"""Calls of `sample` that the trials of a task are spread over at least, so that calls can be held
against one another."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockCounts:
    """Counts of some blocks, and what tells whether two blocks were the same.

    `calls` (c, q, K) says how often each symbol of the coding (each label, say) came at each
    query, call by call of `sample`. It is float64, block by block, if the coding measures
    instead: quantiles, moments.
    """

    calls: NDArray[Any]
    marks: tuple[Mark, ...]  # per block a digest of its answers; empty if the coding has none


def draw(
    target: AuditTarget,
    state: object,
    group: PairGroup,
    change: Change | None,
    size: int,
    coding: Coding,
    *,
    phase: str,
    seed: int,
) -> NDArray[np.int64]:
    """Run `size` trials on one side of a pair and count the symbols at each query, (q, K).

    `state` is that of the base dataset (`change` None) or of the changed one. Counts of
    disjoint blocks add up. The stream depends on the contents of the dataset, so all pairs that
    share a base share its trials, and the streams of a dataset and its neighbour are
    independent but in a `COUPLED` phase. `phase` is one of these, `apart`, `pilot`, `learn`,
    `screen`, `certify`, `fresh`, `single`, `confirm` or `fit`, with the number of a lot but the
    first: trials of one phase are never used for another.
    """
    key = stream_key(target, group, change, phase=phase, seed=seed)
    drawn = draw_blocks(
        target, state, group, change, size, blocks(size), key, coding, rows_of(phase, size)
    )
    total: NDArray[np.int64] = drawn.calls.sum(axis=0)
    return total


def draw_blocks(
    target: AuditTarget,
    state: object,
    group: PairGroup,
    change: Change | None,
    size: int,
    which: range,
    key: tuple[str | float, ...],
    coding: Coding,
    rows: int,
) -> BlockCounts:
    """Run some blocks of `size` trials by calls of `rows` trials; `key` is that of `stream_key`."""
    calls, marks, phase = [], [], phase_of(str(key[-1]))
    coins = (*key[:-2], BASE, key[-1]) if phase in COUPLED else key
    for block in which:
        shared, seen = stream(*coins, block), []
        # making a stream takes as long as drawing some thousand numbers from it
        rounding = stream(*coins, block, "rounding") if coding.rounds else None
        asked = rows_of_calls(size, range(block, block + 1), rows)
        drawn = [
            target.sample(
                state,
                group.queries,
                trials,
                stream(*coins, block, call) if phase in ONE_BY_ONE else shared,
                where(change),
            )
            for call, trials in enumerate(asked)
        ]
        for draws in drawn if coding.additive else [np.concatenate(drawn)]:
            counts, mark = coding.round(draws, rounding) if rounding else coding.count(draws)
            calls.append(counts)
            seen.append(mark)
        marks.append(
            seen[0] if len(seen) == 1 else hashlib.blake2b(b"".join(seen), digest_size=16).digest()
        )
    return BlockCounts(calls=np.stack(calls), marks=tuple(marks))


def joined(pieces: Iterable[BlockCounts]) -> BlockCounts:
    """Put the counts of pieces that follow one another together."""
    found = list(pieces)
    if len(found) == 1:
        return found[0]
    marks = tuple(mark for each in found for mark in each.marks)
    return BlockCounts(calls=np.concatenate([each.calls for each in found]), marks=marks)


def rows_of(phase: str, size: int) -> int:
    """Return how many of `size` trials a call of `sample` is asked for at most.

    A phase may name its lot: `certify 2`.
    """
    name = phase_of(phase)
    calls = CALLS.get(name, 1)
    return 1 if name in ONE_BY_ONE else min(ROWS, block_of(size), max(1, size // calls))


def phase_of(phase: str) -> str:
    """Return a phase without the number of its lot."""
    return phase.partition(" ")[0]


def rows_of_calls(size: int, which: range, rows: int) -> list[int]:
    """Return how many rows each call of `sample` makes, in some blocks of `size` trials."""
    length = block_of(size)
    trials = [min(length, size - block * length) for block in which]
    return [min(rows, each - first) for each in trials for first in range(0, each, rows)]


def block_of(size: int) -> int:
    """Return how many of `size` trials are in a block."""
    return next((rows for most, rows in WIDER if size > most), BLOCK)


def blocks(size: int) -> range:
    """Return the numbers of the blocks that `size` trials are cut into."""
    return range(-(-size // block_of(size)))


def stream_key(
    target: AuditTarget, group: PairGroup, change: Change | None, *, phase: str, seed: int
) -> tuple[str | float, ...]:
    """Return what the random streams of a dataset's trials are derived from, all but the block.

    The last two are the dataset and the phase.
    """
    side = BASE if change is None else json.dumps(change.as_json(by_value=True), sort_keys=True)
    return (
        seed,
        target.name,
        json.dumps(target.parameters, sort_keys=True),
        group.digest,
        side,
        phase,
    )


def where(change: Change | None) -> str:
    """Name a dataset of a group in a message."""
    return "the base dataset" if change is None else f"the neighbour with {change}"
