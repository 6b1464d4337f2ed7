"""Auditees of `bench_scale`: ordinary ones that answer a label, from what is near.

What their samplers take is added to the file that the variable `SAMPLER_CLOCK` names, so that it is
known also where they run in another process.
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism
from dpassay.pairs import Change, FlipLabel

CLOCK = "SAMPLER_CLOCK"


@cache
def clock() -> NDArray[np.float64]:
    """Return the file of the clock as an array of one number."""
    return np.memmap(os.environ[CLOCK], float, "r+", shape=(1,))


class Timed(Mechanism):
    """Adds the processor time of `draw` to the clock."""

    def sample(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Return what `draw` does."""
        start = time.process_time()
        found = self.draw(state, queries, size, rng)
        clock()[0] += time.process_time() - start
        return found

    def draw(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Return the answers of `size` runs, shape (size, q)."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomisedResponse(Timed):
    """Label of the nearest record, told the other way round with probability 1/(1 + e^epsilon).

    Parameters
    ----------
    epsilon : float
        Its loss in nats, > 0, at a query whose nearest record changes its label.
    """

    epsilon: float = 1.0

    @property
    def claims(self) -> tuple[DP, ...]:
        """One, which is tight."""
        return (DP(epsilon=self.epsilon, source="Warner 1965"),)

    def prepare(self, data: Labelled) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Sort the records."""
        order = np.argsort(data.X[:, 0])
        return data.X[order, 0], data.y[order]

    def draw(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Draw who lies."""
        lies = rng.random((size, len(queries))) < 1 / (1 + math.exp(self.epsilon))
        return lies ^ nearest_labels(state, queries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote(Timed):
    """The majority of teachers with Laplace noise; a record belongs to one of them.

    Each teacher answers the label of the nearest of its records.

    Parameters
    ----------
    teachers : int
        How many, >= 1.
    scale : float
        Of the noise; one teacher moves the difference of the votes by 2.
    """

    teachers: int = 25
    scale: float = 2.0

    @property
    def claims(self) -> tuple[DP, ...]:
        """One, from the noise."""
        return (DP(epsilon=2 / self.scale, source="Papernot et al. 2017, the noise of a vote"),)

    def prepare(self, data: Labelled) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
        """Give every so manieth record to a teacher, and sort what each has."""
        found = []
        for teacher in range(self.teachers):
            X, y = data.X[teacher :: self.teachers, 0], data.y[teacher :: self.teachers]
            order = np.argsort(X)
            found.append((X[order], y[order]))
        return found

    def draw(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Draw the noise of every vote."""
        ahead = sum(2.0 * nearest_labels(each, queries) - 1.0 for each in state)
        return ahead + rng.laplace(0.0, self.scale, (size, len(queries))) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelDraw(Timed):
    """A label drawn with its share among the records, the nearer ones counting more.

    Every record moves every answer, and the law is known: in mode `exact` every cell leaks.

    Parameters
    ----------
    width : float
        Of the kernel.
    """

    width: float = 1.0

    @property
    def claims(self) -> tuple[DP, ...]:
        """One, of a round number."""
        return (DP(epsilon=1.0, source="none, a number to compare with"),)

    def prepare(self, data: Labelled) -> Labelled:
        """Keep the records."""
        return data

    def draw(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Draw the labels."""
        return rng.random((size, len(queries))) < self._share(state, queries)

    def distribution(self, state: Any, queries: NDArray[np.float64]) -> FiniteLaw:
        """Return the law."""
        share = self._share(state, queries)
        return FiniteLaw(log_p=np.log(np.stack([1 - share, share], axis=1)), error=1e-12)

    def _share(self, data: Labelled, queries: NDArray[np.float64]) -> NDArray[np.float64]:
        near = np.exp(-((queries[:, :1] - data.X[:, 0]) ** 2) / self.width**2)
        share: NDArray[np.float64] = 0.1 + 0.8 * (near @ data.y) / near.sum(axis=1)
        return share


@dataclass(frozen=True, slots=True, kw_only=True)
class BinDraw(Timed):
    """A label drawn with its share among the records of the query's bin.

    Counts are all that it keeps, so a neighbour costs the same whatever the number of records; the
    law is known.

    Parameters
    ----------
    bins : int
        Equal parts of [0, 1].
    """

    bins: int = 10

    @property
    def claims(self) -> tuple[DP, ...]:
        """One, of a round number."""
        return (DP(epsilon=1.0, source="none, a number to compare with"),)

    def prepare(self, data: Labelled) -> Binned:
        """Count the labels of each bin."""
        places, counts = self._places(data.X), np.zeros((self.bins, 2))
        np.add.at(counts, (places, data.y), 1)
        return Binned(places, data.y, counts)

    def update(self, state: Binned, change: Change) -> Binned:
        """Count one record on the other side."""
        if not isinstance(change, FlipLabel):
            raise TypeError(f"flips only, not {change}")
        place, label, counts = (
            state.places[change.index],
            state.y[change.index],
            state.counts.copy(),
        )
        counts[place, label] -= 1
        counts[place, 1 - label] += 1
        return replace(state, counts=counts)

    def draw(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Draw the labels."""
        return rng.random((size, len(queries))) < self._shares(state, queries)[:, 1]

    def distribution(self, state: Binned, queries: NDArray[np.float64]) -> FiniteLaw:
        """Return the law."""
        return FiniteLaw(log_p=np.log(self._shares(state, queries)), error=1e-12)

    def _places(self, points: NDArray[np.float64]) -> NDArray[np.intp]:
        return np.minimum(points[:, 0] * self.bins, self.bins - 1).astype(np.intp)

    def _shares(self, state: Binned, queries: NDArray[np.float64]) -> NDArray[np.float64]:
        shares = 0.1 + 0.8 * (state.counts + 1) / (state.counts + 1).sum(axis=1, keepdims=True)
        found: NDArray[np.float64] = shares[self._places(queries)]
        return found


@dataclass(frozen=True, slots=True)
class Binned:
    """Records by their bins; y as it is in the base dataset, which `counts` may be a flip from."""

    places: NDArray[np.intp]
    y: NDArray[np.int64]
    counts: NDArray[np.float64]


def nearest_labels(
    records: tuple[NDArray[np.float64], NDArray[np.int64]], queries: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return the label of the nearest of sorted records at each query."""
    X, y = records
    middles = (X[1:] + X[:-1]) / 2
    found: NDArray[np.bool_] = y[np.searchsorted(middles, queries[:, 0])].astype(bool)
    return found
