"""E against (epsilon, delta), and the exact probability that it ever refutes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.stats.eprocess import PAIRS, log_e_of, threshold
from dpassay.stats.regions import LineRegion


def log_e(counts: ArrayLike, epsilon: float, delta: float) -> NDArray[np.float64]:
    """Return ln E against the claim of (epsilon, delta)-differential privacy."""
    return log_e_of(counts, LineRegion(epsilon, delta))


def crossing(
    epsilon: float, delta: float, p1: float, p0: float, *, pairs: int, alpha: float
) -> float:
    """Return the exact probability that E reaches 1 / alpha within so many pairs.

    Every pair is a look. By dynamic programming over the four counts; nothing is simulated.

    `epsilon`, `delta`: what is claimed. `p1`, `p0`: true probabilities of the event on the two
    sides, independent. `pairs`: few: time grows with the fourth power. `alpha`: in (0, 1).
    """
    likely = np.array([(p1 if a else 1 - p1) * (p0 if b else 1 - p0) for a, b in PAIRS])
    steps = np.eye(4, dtype=np.int64)[:, 1:]
    side, at_least, crossed = pairs + 1, threshold(alpha), 0.0
    mass = np.zeros((side, side, side))
    mass[0, 0, 0] = 1.0
    places = np.moveaxis(np.indices(mass.shape), 0, -1)
    total = places.sum(axis=-1)
    for done in range(1, pairs + 1):
        moved = np.zeros_like(mass)
        for chance, (i, j, k) in zip(likely, steps, strict=True):
            moved[i:, j:, k:] += chance * mass[: side - i, : side - j, : side - k]
        alive = np.nonzero((moved > 0) & (total <= done))
        counts = places[alive]
        counts = np.column_stack([done - counts.sum(axis=1), counts])
        out = log_e(counts, epsilon, delta) >= at_least
        gone = tuple(axis[out] for axis in alive)
        crossed += float(moved[gone].sum())
        moved[gone] = 0.0
        mass = moved
    return crossed
