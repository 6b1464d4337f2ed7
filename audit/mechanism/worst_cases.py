"""What the author of a mechanism knows: its worst cases, and the states that can be reached."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.data import Labelled, points
from dpassay.laws import Law
from dpassay.pairs import Change, Pairs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorstCase:
    """Pairs and queries (q, d) that the author of a mechanism knows to be bad, and why.

    The pairs have a dataset of their own, not the user's; `reason` is one sentence.
    """

    pairs: Pairs
    queries: NDArray[np.float64]
    reason: str

    @classmethod
    def of(
        cls,
        data: Labelled,
        change: Change,
        *,
        how: str,
        reason: str,
        query: ArrayLike | None = None,
    ) -> WorstCase:
        """Return the worst case with one change of a dataset S, asked at one point (1, d).

        `how` says dataset and change in words; the first record is asked at by default.
        """
        asked = points(data.X[:1] if query is None else query, "queries")
        return cls(pairs=Pairs(base=data, changes=(change,), how=how), queries=asked, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reachable:
    """All states in which datasets of any size can leave the mechanism at a query, and their moves.

    The rows of `law` are the s states; `moves` (m, 2) are pairs of states that one change can turn
    into each other, each once; both directions are meant. `argument` says why there are no other
    states and no other moves, and why each of these occurs. `several` says why k changed records
    make just the moves of up to k steps, which claims about `replace-k` need; it is empty if that
    is not known. `of` says what the states are of where that is not quite what is released (exact
    minimisers, where a solver comes near them), in words that go on 'of all datasets, of'.
    """

    states: tuple[str, ...]
    law: Law
    moves: NDArray[np.int64]
    argument: str
    several: str = ""
    of: str = ""
