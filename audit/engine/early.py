"""Early stopping: trials come in lots, and between two lots a claim may be refuted.

The e-process of `dpassay.stats.eprocess` looks at every finalist after each lot but the last, at a
share of alpha of its own. Once it refutes one, the trials end. Where it refutes none, all lots
together are the trials that the audit would have drawn anyway, and the tests with a fixed number of
trials judge them.

The number of trials at which an e-process stops depends on what it saw, so no bound with a fixed
number of trials may be made of them. Bounds come from fresh trials instead, as many as the next lot
would have had: an audit that stops takes no more trials than one look more would have taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.stats.regions import Region

LEAST = 50
"""Trials per side before the first look, at least."""
FACTOR = 4
"""So many times the trials of a look are drawn before the next one."""
TEST = "e-process"
"""Key of the test that ends trials early."""
MOST_E = 1e300
"""Larger values are written down as this one; they are at least as large."""


Lot = tuple[str, int, int]
"""Trials of one phase: its name, how many, and which lot of that phase."""


def parts(drawn: Sequence[Lot]) -> tuple[tuple[str, int], ...]:
    """Return the names of the random streams of some lots, and how many trials are of each."""
    return tuple((f"{phase} {lot}" if lot else phase, size) for phase, size, lot in drawn)


def lots(draws: int, *, early: bool = True) -> tuple[int, ...]:
    """Return the lots that so many trials per side are cut into; a look follows each but the last.

    There is one lot where there is nothing to look at in between, or not `early`.
    """
    looks = [draws]
    while early and -(-looks[0] // FACTOR) >= LEAST:
        looks.insert(0, -(-looks[0] // FACTOR))
    return tuple(int(size) for size in np.diff([0, *looks]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gamble:
    """What an e-process is about: an event (K,), 1 for its symbols.

    `allowed` is what the claim allows for the event and, the sides exchanged, for its complement.
    """

    event: NDArray[np.int64]
    allowed: Region


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """How an e-process refuted a claim, after `trials` of `of` per side.

    `log_e` is the natural logarithm of E at the worst cell (group, pair, query; see
    `dpassay.engine.evidence.Cell`), `log_threshold` that of what refutes. `pairs` count each pair
    of `dpassay.stats.eprocess.PAIRS` at that cell; `parts` are phase and number of the trials of
    each lot.
    """

    trials: int
    of: int
    log_e: float
    log_threshold: float
    pairs: tuple[int, int, int, int]
    group: int
    pair: int
    query: int
    parts: tuple[tuple[str, int], ...]

    @property
    def test(self) -> str:
        """Key of the test."""
        return TEST

    @property
    def numbers(self) -> tuple[int, int, float, float]:
        """Return what a sentence about it tells: see `dpassay.engine.wording.stopped_words`."""
        return self.trials, self.of, self.e_value, self.threshold

    @property
    def e_value(self) -> float:
        """E, at most `MOST_E`."""
        return math.exp(min(self.log_e, math.log(MOST_E)))

    @property
    def threshold(self) -> float:
        """Return what refutes: the number of cells over the e-process's share of alpha."""
        return math.exp(self.log_threshold)
