"""Query generating algorithms: where the next query lies, given the answers so far."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

BATCH = "batch"
ADVERSARIES: dict[str, Callable[[tuple[int, ...]], int]] = {
    "repeat": lambda answers: 0,  # noqa: ARG005  (every adversary is shown the answers)
    "sweep": len,
    BATCH: len,
    "adaptive": lambda answers: answers.count(0) - answers.count(1),
}
"""The next query, as a number of steps from the first one, given the answers so far."""


class Itinerary:
    """All the points at which an adversary may ask, for given first queries.

    It remembers the last ones, which it knows again by identity, and returns the same array: so
    does the base's learner.

    Parameters
    ----------
    steps : int array (s,)
        How many steps each is away from the first query.
    step : float
        What one step adds to each feature.
    """

    __slots__ = ("_asked", "_moves", "_queries")

    def __init__(self, steps: NDArray[np.int64], step: float) -> None:
        self._moves = steps * step
        self._queries: NDArray[np.float64] | None = None
        self._asked: NDArray[np.float64] | None = None

    def of(self, queries: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the points, shape (s q, d).

        All those of the first number of steps, then of the second, and so on.
        """
        if not self._moves.any():
            return queries
        if self._asked is None or self._queries is not queries:
            asked = (queries + self._moves[:, None, None]).reshape(-1, queries.shape[1])
            asked.flags.writeable = False
            if queries.flags.writeable:  # somebody may change them in place and ask again
                return asked
            self._queries, self._asked = queries, asked
        return self._asked
