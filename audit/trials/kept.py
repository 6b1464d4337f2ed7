"""Kept: what is counted while events are learned, and once they are.

Learning needs the answers themselves, as features; certification counts one event.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import UNFORESEEN, TargetError
from dpassay.search.declared import fails
from dpassay.search.outputs import Encoder
from dpassay.search.patterns import Pattern
from dpassay.trials.remembered import Remembered


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kept:
    """The features of every answer instead of counts."""

    encoder: Encoder
    by_query: bool  # answers of the queries are columns; else a row is one answer
    rows: int  # trials in a block
    remembered: Remembered = field(init=False)  # features of outputs that came before
    additive: ClassVar[bool] = False
    rounds: ClassVar[bool] = False

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

    def count(
        self,
        draws: NDArray[np.generic],
        rng: np.random.Generator,  # noqa: ARG002
    ) -> tuple[NDArray[np.float64], bytes]:
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
class Matches:
    """Two symbols: 1 where the event of a pattern holds, 0 elsewhere."""

    pattern: Pattern
    by_query: bool  # see `Kept`
    remembered: Remembered = field(init=False)  # whether it holds for outputs that came before
    additive: ClassVar[bool] = True
    rounds: ClassVar[bool] = False

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

    def count(
        self,
        draws: NDArray[np.generic],
        rng: np.random.Generator,  # noqa: ARG002
    ) -> tuple[NDArray[np.int64], bytes]:
        """Count the answers for which the event holds."""
        columns = list(draws.T) if self.by_query else [draws]
        held = np.stack([self.remembered(column) for column in columns])
        hits = held.sum(axis=1, dtype=np.int64)
        digest = hashlib.blake2b(np.packbits(held).tobytes(), digest_size=16).digest()
        return np.stack([held.shape[1] - hits, hits], axis=1), digest


def _digest(told: Any) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
