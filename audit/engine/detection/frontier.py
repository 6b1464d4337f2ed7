"""The frontier of a test: for each count of the likelier side, the largest other that refutes."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpassay.stats.lower_bounds import COMBINED, Method, largest_rejecting
from dpassay.stats.regions import Region

KNOTS = 1.08
"""The frontier of a combined test is found at counts that grow by this factor, interpolated between
them."""
Counts = NDArray[np.int64]


class Frontier:
    """For each count x of the likelier side, the largest y that still refutes, kept once found."""

    def __init__(self, method: Method, allowed: Region, n: int, alpha: float) -> None:
        self.method, self.allowed, self.n, self.alpha = method, allowed, n, alpha
        steps = np.unique(
            np.geomspace(1, n, max(2, math.ceil(math.log(n) / math.log(KNOTS))))
            .round()
            .astype(np.int64)
        )
        self.knots = np.union1d(np.concatenate([[0], steps]), n - steps)
        self.found: dict[int, int] = {}

    @staticmethod
    @lru_cache(maxsize=64)
    def of(method: Method, allowed: Region, n: int, alpha: float) -> Frontier:
        """Return that of a test; one and the same each time."""
        return Frontier(method, allowed, n, alpha)

    def at(self, x: Counts) -> Counts:
        """Return the largest y for counts in ascending order; -1 where none refutes.

        Combined tests are interpolated.
        """
        if self.method not in COMBINED:
            return self._largest(x)
        first, last = (
            np.searchsorted(self.knots, x[0], side="right") - 1,
            np.searchsorted(self.knots, x[-1]),
        )
        knots = self.knots[first : last + 1]
        for knot in knots.tolist():
            if knot not in self.found:
                self.found[knot] = int(self._largest(np.array([knot]))[0])
        values: Counts = np.floor(
            np.interp(x, knots, [self.found[knot] for knot in knots.tolist()])
        ).astype(np.int64)
        return values

    def _largest(self, x: Counts) -> Counts:
        return largest_rejecting(self.method, x, self.n, allowed=self.allowed, alpha=self.alpha)
