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
    """Pairs and queries that the author of a mechanism knows to be bad.

    Parameters
    ----------
    pairs : Pairs
        A dataset of their own, not the user's.
    queries : array (q, d)
        Where to ask.
    reason : str
        Why this is bad, in one sentence.
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
        """Return the worst case with one change of a dataset, asked at one point.

        Parameters
        ----------
        data : Labelled
            The dataset S.
        change : Change
            Makes the neighbour S'.
        how : str
            Dataset and change in words.
        reason : str
            Why this is bad.
        query : array (1, d), optional
            Where to ask; at the first record by default.
        """
        asked = points(data.X[:1] if query is None else query, "queries")
        return cls(pairs=Pairs(base=data, changes=(change,), how=how), queries=asked, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reachable:
    """All states in which datasets of any size can leave the mechanism at a query.

    And which of them can be neighbours.

    Parameters
    ----------
    states : tuple of str
        Names of the s states.
    law : FiniteLaw or NoiseLaw
        The law of the answer in each state; its rows are the states.
    moves : int array (m, 2)
        Pairs of states that one change can turn into each other, each once; both directions are
        meant.
    argument : str
        Why there are no other states and no other moves, and why each of these occurs.
    several : str
        Why k changed records make just the moves of up to k steps; empty if that is not known.
        Claims about `replace-k` need it.
    of : str
        What the states are of, in words that go on 'of all datasets, of', where that is not quite
        what is released: exact minimisers, where a solver comes near them. Empty where it is.
    """

    states: tuple[str, ...]
    law: Law
    moves: NDArray[np.int64]
    argument: str
    several: str = ""
    of: str = ""
