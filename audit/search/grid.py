"""A grid of quantiles: between which of them numbers lie becomes a code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpassay.search.views import Array

Codes = NDArray[np.intp]

EDGES = np.array([0.004, 0.011, *np.arange(1, 34) / 34, 0.989, 0.996, 1.0])
"""Numbers are told apart by these quantiles, and by whether they exceed them all."""
POINTS = 1024
"""Points of the grid on which numbers are told apart."""
NUDGE = 1e-6
"""Numbers that lie so little before a point of it, in steps, count as the point."""
MISSING = len(EDGES) + 1
"""The code of a number that is not there."""
CODES = MISSING + 1
"""Codes of a number."""


def quantiles_of(outputs: Array) -> Array:
    """Return quantiles of numbers (m, F), and what exceeds all of them: (F, E)."""
    ordered = np.sort(outputs, axis=0)
    last = np.count_nonzero(~np.isnan(ordered), axis=0) - 1
    ranks = np.maximum(0, (EDGES[:, None] * last).astype(np.intp))
    edges = np.take_along_axis(ordered, ranks, axis=0).T
    edges[:, -1] = np.nextafter(edges[:, -1], np.inf)
    edges[last < 0] = np.inf
    return np.ascontiguousarray(edges)


class Grid:
    """Finds between which edges numbers lie: by a fine grid, which is faster than to search.

    An edge counts as the next point of the grid. Where that would make one of several edges, they
    are searched. The edges (F, E) ascend.
    """

    def __init__(self, edges: Array) -> None:
        self.edges, last = edges, POINTS - 1
        with np.errstate(all="ignore"):
            self.high, self.steps = edges[:, -1:], (last - 1) / (edges[:, -1:] - edges[:, :1])
            self.low = edges[:, :1] - 1 / self.steps  # where all lies that is below the first edge
            points = self.low + np.arange(POINTS) / self.steps
            cells = np.ceil((edges - self.low) * self.steps - NUDGE)
            merged = (np.diff(cells) == 0) & (np.diff(edges) > 0)
            usable = np.isfinite(points + self.steps).all(axis=1) & ~merged.any(axis=1)
        self.searched = np.flatnonzero(~usable)
        self.low, self.high, self.steps = (
            np.where(usable[:, None], each, 0.0) for each in (self.low, self.high, self.steps)
        )
        self.table = np.array(
            [e.searchsorted(p, side="right") for e, p in zip(edges, points, strict=True)],
            dtype=np.intp,
        ).reshape(-1, POINTS)
        # as they should be where rounding errors move these points
        first = np.count_nonzero(edges == edges[:, :1], axis=1)
        self.table[:, 1] = np.maximum(self.table[:, 1], first)
        self.table[:, last] = len(EDGES)
        self.rows = POINTS * np.arange(len(edges))[:, None]

    def codes(self, numbers: Array) -> Codes:
        """Return the codes of numbers (F, m)."""
        found = np.fmin(np.fmax(numbers, self.low), self.high)  # not NaN
        found -= self.low
        found *= self.steps
        found += NUDGE
        places = found.astype(np.intp)
        places += self.rows
        codes: Codes = self.table.ravel()[places]
        for j in self.searched.tolist():
            codes[j] = self.edges[j].searchsorted(numbers[j], side="right")
        codes[np.isnan(numbers)] = MISSING
        return codes
