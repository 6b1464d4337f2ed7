"""Codings: how answers become counts of finitely many symbols, or features to learn events from.

Coding answers is post-processing, so what is proven of the symbols is proven of the answers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import UNFORESEEN, TargetError
from dpassay.search.declared import fails
from dpassay.search.outputs import Encoder
from dpassay.search.patterns import Pattern
from dpassay.stats.betting import GRID, to_grid
from dpassay.targets.answer_set import as_bytes

LEVELS = np.unique(
    np.concatenate([[0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.04], np.arange(1, 17) / 32])
)
"""Levels of the quantiles that a pilot takes, up to the median; the others mirror them."""
MOST_ROWS = 2**16
"""More different rows than this are not told apart."""
MOST_KINDS = 16
"""Tables that are kept, one for each least and largest number and each width."""
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
    """Return whether counts of calls add up; else a block is measured as a whole."""
    rounds: ClassVar[bool] = False
    """Return whether it counts by `round`, with coins, and not by `count`."""

    @property
    def size(self) -> int:
        """Number of symbols."""
        raise NotImplementedError

    @property
    def key(self) -> str:
        """Return what counts depend on besides the answers."""
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


class Remembered:
    """Answers of a function of single outputs, each asked for once.

    The function takes n outputs, as `Encoder.view` does, and looks at each by itself; it
    returns an array whose first axis is theirs.
    """

    def __init__(self, function: Callable[[Any], NDArray[Any]]) -> None:
        self.function = function
        self.tables: dict[tuple[Any, ...], tuple[NDArray[Any], NDArray[np.bool_]]] = {}

    def __call__(self, draws: Any) -> NDArray[Any]:
        """Return what the function says."""
        found = _words(draws)
        if found is None:
            return self.function(draws)
        words, size, kind = found
        if kind not in self.tables:
            if len(self.tables) == MOST_KINDS or len(draws) == 0:
                return self.function(draws)
            one = self.function(draws[:1])
            self.tables[kind] = np.empty((size, *one.shape[1:]), one.dtype), np.zeros(size, bool)
        table, known = self.tables[kind]
        if not known[words].all():
            new, first = np.unique(words, return_index=True)
            first = first[~known[new]]
            table[words[first]] = self.function(draws[first])
            known[words[first]] = True
        return np.asarray(table[words])

    def __reduce__(self) -> tuple[type[Remembered], tuple[Callable[[Any], NDArray[Any]]]]:
        """Leave the tables behind: another process makes its own."""
        return Remembered, (self.function,)


def _words(draws: Any) -> tuple[NDArray[np.intp], int, tuple[Any, ...]] | None:
    """Return rows of whole numbers as one number each, how many there can be, and a kind.

    It is None where outputs are no such rows, or too many different ones.
    """
    if not isinstance(draws, np.ndarray) or draws.dtype.kind not in "biu" or draws.ndim > 2:
        return None
    if draws.size == 0 or draws.ndim == 0:
        return None
    width = 1 if draws.ndim == 1 else draws.shape[1]
    digits: NDArray[Any] = draws.view(np.uint8) if draws.dtype.kind == "b" else draws
    least, most = (0, 1) if draws.dtype.kind == "b" else (int(digits.min()), int(digits.max()))
    base = most - least + 1
    if width * np.log2(max(base, 2)) > np.log2(MOST_ROWS) or abs(least) > MOST_ROWS:
        return None
    size = base**width
    kind = (draws.dtype.str, draws.ndim, width, least, base)
    if draws.ndim == 1:
        words = digits.astype(np.intp)
        words -= least
        return words, size, kind
    places = float(base) ** np.arange(width)
    # floats of 24 bits hold these numbers exactly, all below 2^18, and their products are fast
    above = digits.astype(np.float32) - np.float32(least)
    return (above @ places.astype(np.float32)).astype(np.intp), size, kind


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FeatureCoding(Coding):
    """The features of every answer instead of counts."""

    encoder: Encoder
    by_query: bool  # answers of the queries are columns; else a row is one answer
    rows: int  # trials in a block
    remembered: Remembered = field(init=False)  # features of outputs that came before
    additive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Make the memory."""
        object.__setattr__(self, "remembered", Remembered(self.encoder.features))

    @property
    def size(self) -> int:
        """Features of a block."""
        return self.rows * len(self.encoder.names)

    @property
    def key(self) -> str:
        """Digest of the encoder."""
        return _digest([self.encoder.as_json(), self.by_query, self.rows])

    def count(self, draws: Draws) -> Counted:
        """Return the features of a block, row by row; NaN after the last of a shorter one.

        A run that raised an exception the encoder does not foresee raises `TargetError`.
        """
        if not self.encoder.foresees_failures and fails(draws):
            raise TargetError(f"{UNFORESEEN}a run raised one, which no pilot had shown")
        columns = draws.T if self.by_query else [draws]
        found = np.full((len(columns), self.size), np.nan)
        for row, column in zip(found, columns, strict=True):
            features = self.remembered(column).ravel()
            row[: features.size] = features
        return found, b""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matches(Coding):
    """Two symbols: 1 where the event of a pattern holds, 0 elsewhere."""

    pattern: Pattern
    by_query: bool  # see `FeatureCoding`
    remembered: Remembered = field(init=False)  # whether it holds for outputs that came before

    def __post_init__(self) -> None:
        """Make the memory."""
        object.__setattr__(self, "remembered", Remembered(self.pattern.holds))

    @property
    def size(self) -> int:
        """Two."""
        return 2

    @property
    def key(self) -> str:
        """Digest of the pattern."""
        return _digest([self.pattern.as_json(), self.by_query])

    def count(self, draws: Draws) -> Counted:
        """Count the answers for which the event holds."""
        columns = list(draws.T) if self.by_query else [draws]
        held = np.stack([self.remembered(column) for column in columns])
        hits = held.sum(axis=1, dtype=np.int64)
        digest = hashlib.blake2b(np.packbits(held).tobytes(), digest_size=16).digest()
        return np.stack([held.shape[1] - hits, hits], axis=1), digest


def _digest(told: Any) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
