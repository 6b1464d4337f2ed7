"""Planted canaries and their exposure (Carlini, Liu, Erlingsson, Kos and Song 2019).

A canary is a record that nothing but memory explains: a flipped label, or features that never
occurred together. Canaries are put in by the coins of the experiment like every other record, so
that claims about a replaced record hold for them unchanged. The exposure of one that is in is
log2(candidates) - log2(rank of its score among the candidates): the other candidates are the
canaries that are out. A model without memory, or an attack that only guesses, has about 1 / ln
2 = 1.44 bits on average; ties count against the canary, so that constant scores have 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.coins import one_a_pair
from dpassay.attacks.observed import Array, Flags
from dpassay.data import Labelled
from dpassay.errors import require
from dpassay.seeds import stream

KINDS = ("labels", "features")
"""What of a canary is random: its label, always another one than its own; or each of its features,
drawn apart."""


def plant(
    records: Labelled, number: int, *, kind: str = "labels", seed: int
) -> tuple[Labelled, NDArray[np.int64]]:
    """Replace some of e records by canaries and return the records and the canaries' indices.

    At most one record of each pair is replaced, so `number` is at most e / 2. `kind` is one of
    `KINDS`; with features, every column is taken from a record of its own.
    """
    rng = stream(seed, "canaries", kind, records.digest)
    places = one_a_pair(len(records), number, "--canaries", rng)
    X, y = records.X.copy(), records.y.copy()
    require(kind in KINDS, "kind", kind, f"one of {', '.join(KINDS)}")
    if kind == "labels":
        y[places] = other_labels(records.y, rng)[places]
    else:
        donors = rng.integers(len(records), size=(number, X.shape[1]))
        X[places] = records.X[donors, np.arange(X.shape[1])]
    return Labelled(X, y), places


def other_labels(y: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return another label than its own for each, uniformly of those that occur."""
    labels, codes = np.unique(y, return_inverse=True)
    require(
        len(labels) >= 2, "labels", f"{len(labels)} label", "at least two, to flip one into another"
    )
    found: NDArray[np.int64] = labels[
        (codes + rng.integers(1, len(labels), size=len(y))) % len(labels)
    ]
    return found


def exposure(scores: Array, membership: Flags, canaries: Flags) -> Array:
    """Return the exposure of each canary in each target in bits; NaN where the canary is out.

    It lies between 0 and log2(canaries that are out + 1). Scores and membership are (models,
    e).
    """
    own, inside = scores[:, canaries], membership[:, canaries]
    found = np.full(own.shape, np.nan)
    for row, flags, into in zip(own, inside, found, strict=True):
        others = np.sort(row[~flags])
        not_below = others.size - np.searchsorted(others, row[flags], side="left")
        into[flags] = np.log2(others.size + 1) - np.log2(1 + not_below)
    return found
