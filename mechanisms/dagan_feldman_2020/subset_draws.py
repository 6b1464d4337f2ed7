"""Uniformly random subsets of records: drawn for many trials at once, counted and enumerated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.laws import FiniteLaw
from dpassay.mechanism import WorstCase
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import FlipLabel, Pairs

MOST_SUBSETS = 10_000
"""Subsets are enumerated up to this number; beyond it there is an exact law only where counting
gives one."""
CHUNK = 1 << 21
"""Random numbers that are drawn at a time."""


def draw_subsets(
    n: int, size: int, trials: int, rng: np.random.Generator, *, kept: bool
) -> Iterator[NDArray[np.int64]]:
    """Yield `trials` subsets of `size` of n records, uniformly.

    Parameters
    ----------
    n, size, trials : int
        Records, records in a subset, and subsets.
    rng : numpy.random.Generator
        Where the coins come from.
    kept : bool
        Whether the records of a subset keep their order; if not, it is uniformly random.

    Yields
    ------
    int array (some trials, size)
        Indices of the records, a row for each trial.
    """
    at_once = max(1, CHUNK // n)
    for start in range(0, trials, at_once):
        order = rng.permuted(np.tile(np.arange(n), (min(at_once, trials - start), 1)), axis=1)[
            :, :size
        ]
        yield np.sort(order, axis=1) if kept else order


def subset_count(n: int, size: int, *, kept: bool) -> int:
    """Number of subsets, or of sequences without repetition where their order is random."""
    return math.comb(n, size) if kept else math.perm(n, size)


def subsets(n: int, size: int, *, kept: bool) -> NDArray[np.int64]:
    """All that `subset_count` counts, shape (count, size), in the order of counting.

    Each is equally likely.
    """
    return np.array(list(combinations(range(n), size) if kept else permutations(range(n), size)))


def share_law(answers: NDArray[np.int64]) -> FiniteLaw:
    """Law of a label when each of m models answers with the same probability.

    A quotient of integers has a relative error of one unit of rounding, a logarithm one of its own
    size.

    Parameters
    ----------
    answers : int array (m, q)
        What each model answers at each query, 0 or 1.
    """
    m, ones = len(answers), answers.sum(axis=0)
    with np.errstate(divide="ignore"):
        log_p = np.log(np.stack([m - ones, ones], axis=1) / m)
    return FiniteLaw(log_p=log_p, error=2 * UNIT_ROUNDOFF * (1 + math.log(m)))


def of_equal_records(case: WorstCase) -> bool:
    """Whether all records of a case are equal, and what changes is a label."""
    data, flips = (
        case.pairs.base,
        all(isinstance(change, FlipLabel) for change in case.pairs.changes),
    )
    return flips and len(np.unique(data.X, axis=0)) == len(np.unique(data.y)) == 1


def enlarged(case: WorstCase, n: int, size: int, m: int) -> WorstCase:
    """Return a case of n equal records, m at its point and the others beyond.

    For subsets of `size`.
    """
    old = case.pairs.base
    X, y = np.tile(old.X[:1], (n, 1)), np.tile(old.y[:1], n)
    X[m:] += 1.0
    how = f"{n} records with one label, {m} of them at the query, one label flipped"
    pair = Pairs(base=Labelled(X, y), changes=(FlipLabel(0),), how=how)
    reason = (
        f"the record is drawn with probability {size}/{n}; all other labels drawn are equal, and "
        "without the flip its own too"
    )
    return WorstCase(pairs=pair, queries=case.queries, reason=reason)
