"""Reads the leak of pairs of laws that stand in rows, of each pair once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.domains.symmetries import AT_ONCE
from dpassay.engine.readings import Leaks

FEW_LAWS = 2_500
"""Of so few different rows every leak that was read is kept."""

Ids = NDArray[np.int64]


@dataclass(slots=True, eq=False)
class Reader:
    """Reads the leak of pairs of rows; with few rows, of every pair once."""

    leaks: Leaks
    rows: NDArray[np.float64]
    error: float
    highest: float = -np.inf
    compared: int = 0
    _kept: NDArray[np.float64] | None = None

    @property
    def seen(self) -> tuple[float, int]:
        """The most that a leak can be, and how many were read."""
        return self.highest, self.compared

    def certain(self, one: Ids, other: Ids) -> NDArray[np.float64]:
        """Return the leaks from rows to rows, by their numbers, less the numerical error."""
        keys = one * len(self.rows) + other
        if len(self.rows) > FEW_LAWS:
            different, places = np.unique(keys, return_inverse=True)
            read: NDArray[np.float64] = self._read(different)[places.reshape(keys.shape)]
            return read
        if self._kept is None:
            self._kept = np.full(len(self.rows) ** 2, np.nan)
        new = keys[np.isnan(self._kept[keys])]
        if new.size:
            different = np.unique(new)
            self._kept[different] = self._read(different)
        kept: NDArray[np.float64] = self._kept[keys]
        return kept

    def _read(self, keys: Ids) -> NDArray[np.float64]:
        found = np.empty(len(keys))
        for part in _portions(len(keys), self.rows.shape[1] * len(keys)):
            one, other = np.divmod(keys[part], len(self.rows))
            loss = self.leaks.loss(self.rows[one], self.rows[other], self.error)
            self.highest = max(self.highest, float(np.max(loss.value + loss.error)))
            found[part] = loss.certain
        self.compared += len(keys)
        return found


def outermost(ids: Ids, outwards: NDArray[np.float64]) -> Iterator[tuple[Ids, Ids]]:
    """Yield the fillings with the least and the greatest law of each core at each query.

    Both ways, shape (cores, 2, points). Where all laws are equal these are two fillings all the
    same.
    """
    places = outwards[ids]
    least, greatest = places.argmin(axis=1), places.argmax(axis=1)
    greatest = np.where(least == greatest, ids.shape[1] - 1, greatest)
    yield np.stack([least, greatest], axis=1), np.stack([greatest, least], axis=1)


def every_pair(ids: Ids) -> Iterator[tuple[Ids, Ids]]:
    """Yield all pairs of fillings, a portion at a time, shape (1, pairs, 1)."""
    ways = ids.shape[1]
    for part in _portions(ways**2, ids.size * ways):
        one, other = np.divmod(np.arange(part.start, part.stop), ways)
        yield one[None, :, None], other[None, :, None]


def _portions(length: int, numbers: int) -> Iterator[slice]:
    """Cut a length so that the numbers that go with it are at most about `AT_ONCE` at a time."""
    width = max(1, length * AT_ONCE // max(1, numbers))
    for start in range(0, length, width):
        yield slice(start, min(length, start + width))
