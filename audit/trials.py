"""Trials in fixed blocks, kept as counts: the only place where a mechanism is sampled."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from dpassay.auditee import Auditee
from dpassay.errors import AuditeeError
from dpassay.pairs import Change
from dpassay.plan import Group
from dpassay.seeds import stream

BLOCK = 1000
"""Trials in a block; a block has its own random stream, so that blocks can be drawn in any order."""

STICKY = 10
"""Two blocks that agree in every trial, though the rarer answer came at least so often, were not drawn independently."""


def draw(
    auditee: Auditee, state: object, group: Group, change: Change | None, size: int, *, phase: str, seed: int
) -> NDArray[np.int64]:
    """Run `size` trials on one side of a pair and count the labels.

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
    phase : str
        `screen`, `certify` or `fit`: what the trials are for; they are never used for anything else.
    seed : int
        Root seed.

    Returns
    -------
    int array (q, K)
        How often each label was answered at each query. Counts of disjoint blocks add up.
    """
    where = "the base dataset" if change is None else f"the neighbour with {change}"
    side = "base" if change is None else json.dumps(change.as_json(by_value=True), sort_keys=True)
    key = (seed, auditee.name, json.dumps(auditee.parameters, sort_keys=True), group.pairs.base.digest, side, phase)
    counts = np.zeros((len(group.queries), len(auditee.labels)), dtype=np.int64)
    last: NDArray[np.generic] | None = None
    for block in range(-(-size // BLOCK)):
        trials = min(BLOCK, size - block * BLOCK)
        draws = auditee.sample(state, group.queries, trials, stream(*key, block), where)
        seen = np.stack([np.count_nonzero(draws == label, axis=0) for label in auditee.labels], axis=1)
        if last is not None and np.array_equal(draws, last) and (np.sort(seen, axis=1)[:, -2] >= STICKY).any():
            raise AuditeeError(
                f"sample on {where} is sticky: blocks {block - 1} and {block} are equal, it does not draw from rng"
            )
        counts, last = counts + seen, draws
    return counts
