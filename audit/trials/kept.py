"""Kept: what is counted while events are learned, and once they are.

Learning needs the answers themselves, as features; certification counts one event. What is found
out about an output once is not asked again where there are few different ones: rows of a few small
whole numbers are numbers in a small base.
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
from dpassay.trials.encoders import Coding, Counted, Draws

MOST_ROWS = 2**16
"""More different rows than this are not told apart."""
MOST_KINDS = 16
"""Tables that are kept, one for each least and largest number and each width."""


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
