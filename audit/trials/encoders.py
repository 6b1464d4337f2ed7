"""Codings: how answers become counts of finitely many symbols.

What is kept of a trial for a bound is a count.

Coding answers is post-processing, so what is proven of the symbols is proven of the answers.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpassay.stats.betting import GRID, to_grid
from dpassay.targets.draws import as_bytes

LEVELS = np.unique(
    np.concatenate([[0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.04], np.arange(1, 17) / 32])
)
"""Levels of the quantiles that a pilot takes, up to the median; the others mirror them."""
BYTE = 255
"""A byte counts so far."""
WIDE = 1024
"""Answers in a row that is long."""


Draws = NDArray[np.generic]
Counted = tuple[NDArray[Any], bytes]
"""Counts (q, size) of answers (trials, q), and a digest of the answers.

Whole numbers where a coding counts, floats where it measures; no digest where nobody compares."""


class Coding:
    """Turns answers into symbols 0, ..., size - 1 and counts them."""

    __slots__ = ()
    additive: ClassVar[bool] = True
    """Whether calls add up; if not, it measures the answers of a block together."""
    rounds: ClassVar[bool] = False
    """Whether it counts by `round`, with coins, and not by `count`."""

    @property
    def size(self) -> int:
        """Number of symbols."""
        raise NotImplementedError

    @property
    def key(self) -> str:
        """What counts depend on besides the answers."""
        raise NotImplementedError

    def count(self, draws: Draws) -> Counted:
        """Count answers."""
        raise NotImplementedError

    def round(self, draws: Draws, rng: np.random.Generator) -> Counted:
        """Count answers that are rounded at random."""
        raise NotImplementedError


ONE_BY_ONE = 64
"""So many labels are looked for one by one, which is faster; more are sorted."""


@dataclass(frozen=True, slots=True)
class Labels(Coding):
    """Each label is a symbol."""

    labels: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @property
    def key(self) -> str:
        """The labels."""
        return repr(self.labels)

    def count(self, draws: Draws) -> Counted:
        """Count the labels; what is none of the others is the first, as there is nothing else."""
        if self.size > ONE_BY_ONE:
            order = np.argsort(self.labels, kind="stable")
            symbols = order[np.searchsorted(self.labels, draws, sorter=order)]
            places = symbols + self.size * np.arange(draws.shape[1])
            counts = np.bincount(places.ravel(), minlength=draws.shape[1] * self.size)
            return counts.reshape(-1, self.size), _mark(symbols)
        seen = np.empty((draws.shape[1], self.size), dtype=np.int64)
        digest = hashlib.blake2b(str(draws.shape).encode(), digest_size=16)
        for symbol, label in enumerate(self.labels[1:], 1):
            answer = as_bytes(draws) == label
            seen[:, symbol] = _true_in_columns(answer)
            digest.update(np.packbits(answer).data)
        seen[:, 0] = len(draws) - seen[:, 1:].sum(axis=1)
        return seen, digest.digest()


@dataclass(frozen=True, slots=True, eq=False)
class Bins(Coding):
    """Symbol k says that an answer is in [edge k, edge k + 1); the outermost are infinite."""

    edges: NDArray[np.float64]  # (q, m), ascending in each row

    @property
    def size(self) -> int:
        """One more than there are edges."""
        return int(self.edges.shape[1]) + 1

    @property
    def key(self) -> str:
        """Digest of the edges."""
        return hashlib.sha256(np.ascontiguousarray(self.edges).tobytes()).hexdigest()

    def count(self, draws: Draws) -> Counted:
        """Count the answers in each bin."""
        seen = np.empty((draws.shape[1], self.size), dtype=np.int64)
        for query, edges in enumerate(self.edges):
            symbols = np.searchsorted(edges, draws[:, query].astype(float), side="right")
            seen[query] = np.bincount(symbols, minlength=self.size)
        return seen, _mark(draws)


@dataclass(frozen=True, slots=True)
class Rounded(Coding):
    """Answers in [low, high] rounded to a grid at random, so that the mean stays what it is."""

    low: float
    high: float
    rounds: ClassVar[bool] = True

    @property
    def size(self) -> int:
        """Points of the grid."""
        return GRID + 1

    @property
    def key(self) -> str:
        """The range."""
        return repr((self.low, self.high, GRID))

    def round(self, draws: Draws, rng: np.random.Generator) -> Counted:
        """Count the answers at each point of the grid."""
        unit = np.clip((draws.astype(float) - self.low) / (self.high - self.low), 0.0, 1.0)
        symbols = to_grid(unit, rng)
        counts = [np.bincount(column, minlength=self.size) for column in symbols.T]
        return np.stack(counts), _mark(draws)


@dataclass(frozen=True, slots=True)
class Pilot(Coding):
    """The quantiles of one block instead of counts."""

    additive: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """Number of quantiles."""
        return 2 * len(LEVELS) - 1

    @property
    def key(self) -> str:
        """The levels."""
        return repr(LEVELS.tolist())

    def count(self, draws: Draws) -> Counted:
        """Return the quantiles of a block."""
        levels = np.concatenate([LEVELS, 1 - LEVELS[-2::-1]])
        quantiles = np.quantile(draws.astype(float), levels, axis=0, method="inverted_cdf").T
        return np.ascontiguousarray(quantiles), b""


def bins_from(pilot: NDArray[np.float64]) -> Bins:
    """Make bins from what a `Pilot` measured.

    Edges at the quantiles, just above each repeated one, and above the greatest.

    A value that several quantiles share has a probability of its own: the edge just above it parts
    it from what follows.
    """
    edges = np.concatenate([pilot, pilot[:, -1:]], axis=1)
    repeated = edges[:, 1:] == edges[:, :-1]
    edges[:, 1:][repeated] = np.nextafter(edges[:, 1:], np.inf)[repeated]
    return Bins(edges)


def _true_in_columns(answers: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count what is true in each column.

    Bytes are added up fast where rows are long: short rows are put side by side, and a byte counts
    so far only.
    """
    rows, columns = answers.shape
    beside = max(1, WIDE // columns)
    most = rows - rows % beside
    wide = as_bytes(answers[:most]).reshape(-1, beside * columns)
    found: NDArray[np.int64] = answers[most:].sum(axis=0, dtype=np.int64)
    for first in range(0, len(wide), BYTE):
        counted = wide[first : first + BYTE].sum(axis=0, dtype=np.uint8)
        found += counted.reshape(beside, columns).sum(axis=0, dtype=np.int64)
    return found


def _mark(draws: NDArray[np.generic]) -> bytes:
    """Digest of numbers."""
    return hashlib.blake2b(np.ascontiguousarray(draws).tobytes(), digest_size=16).digest()
