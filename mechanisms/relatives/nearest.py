"""The records nearest to each query, by (distance, place); of a neighbour from those of its base.

A replacement changes the key of one record. So whatever becomes of it, the k nearest of the
neighbour are among the k + 1 nearest of the base and the record itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from dpassay.data import Labelled
from dpassay.pairs import Change

Distances = NDArray[np.float64]
Places = NDArray[np.int64]

AT_ONCE = 1000
"""Queries whose distances are held together."""


@dataclass(slots=True, eq=False)
class NearestRecords:
    """Records of a dataset, which remember who is nearest to the queries that were asked last.

    Parameters
    ----------
    data : Labelled
    base : Records, optional
        Those from which these differ in one record.
    place : int
        Of that record.
    """

    data: Labelled
    base: NearestRecords | None = None
    place: int = 0
    _asked: tuple[NDArray[np.float64], int, Distances, Places] | None = field(
        default=None, init=False, repr=False
    )

    def changed(self, change: Change) -> Self:
        """Return the records of a neighbour."""
        base = self if self.base is None else None
        return type(self)(change.apply(self.data), base, change.index)

    def nearest(self, queries: NDArray[np.float64], k: int) -> Places:
        """Places of the k nearest to each query, shape (q, k); equally near ones by their place."""
        if self.base is None:
            return self.among_all(queries, min(k + 1, len(self.data)))[1][:, :k]
        distance, place = self.base.among_all(queries, min(k + 1, len(self.data)))
        own = cdist(queries, self.data.X[[self.place]], "sqeuclidean")
        gone = place == self.place
        distance = np.append(np.where(gone, np.inf, distance), own, axis=1)
        place = np.append(np.where(gone, len(self.data), place), np.full_like(own, self.place), 1)
        return _by_key(distance, place.astype(np.int64))[1][:, :k]

    def among_all(self, queries: NDArray[np.float64], k: int) -> tuple[Distances, Places]:
        """Squared distances and places of the k nearest records, looked for among all."""
        asked = self._asked
        if asked is None or k != asked[1] or not np.array_equal(queries, asked[0]):
            lots = [queries[i : i + AT_ONCE] for i in range(0, len(queries), AT_ONCE)]
            distance, place = zip(*(_nearest(self.data.X, lot, k) for lot in lots), strict=True)
            asked = queries.copy(), k, np.concatenate(distance), np.concatenate(place)
            self._asked = asked
        return asked[2], asked[3]


def _nearest(
    X: NDArray[np.float64], queries: NDArray[np.float64], k: int
) -> tuple[Distances, Places]:
    distance = cdist(queries, X, "sqeuclidean")
    farthest = np.partition(distance, k - 1, axis=1)[:, [k - 1]]
    chosen = distance <= farthest
    for row in np.flatnonzero(np.count_nonzero(chosen, axis=1) > k):
        tied = np.flatnonzero(distance[row] == farthest[row])
        room = k - np.count_nonzero(distance[row] < farthest[row])
        chosen[row, tied[room:]] = False
    place = chosen.nonzero()[1].reshape(-1, k)
    return _by_key(np.take_along_axis(distance, place, axis=1), place)


def _by_key(distance: Distances, place: Places) -> tuple[Distances, Places]:
    """Sort each row by distance, and where it is the same by place."""
    order = np.lexsort((place, distance), axis=1)
    return np.take_along_axis(distance, order, axis=1), np.take_along_axis(place, order, axis=1)
