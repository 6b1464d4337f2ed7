"""Multisets of records, numbered in the order of their sorted records.

A multiset of m records of R kinds is a row of R counts that sum to m. Its number is the number of
multisets that come before it when each is written as its records in ascending order: the
combinatorial number system. Numbers are all that has to be kept of a million of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

MOST_NUMBERED = 2**62
"""More multisets than this have no number."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbering:
    """Numbers of the multisets of up to `most` records of R kinds.

    Entry (j, l) of the table (R, most + 1) says how many multisets of l - 1 records there are
    of the kinds j, ..., R - 1; 0 for l = 0. So many come before a multiset that leaves l
    records for the kinds behind j, of those that agree with it before j.
    """

    table: NDArray[np.int64]

    @classmethod
    def of(cls, kinds: int, most: int) -> Numbering:
        """Return the numbering of multisets of up to `most` records of so many kinds, >= 1.

        There are fewer than 2^62 of these.
        """
        rows = [
            [0, *(multisets(kinds - kind, left - 1) for left in range(1, most + 1))]
            for kind in range(kinds)
        ]
        return cls(np.array(rows, dtype=np.int64))

    def number(self, counts: Counts) -> NDArray[np.int64]:
        """Return the number of each multiset, for counts (M, R)."""
        left = counts.sum(axis=1, keepdims=True) - np.cumsum(counts, axis=1)
        found = np.zeros(len(counts), dtype=np.int64)
        for kind, row in enumerate(self.table):
            found += row[left[:, kind]]
        return found

    def counts(self, numbers: NDArray[np.int64], size: int) -> Counts:
        """Return the counts (M, R) of the multisets of `size` records with these numbers."""
        found = np.empty((len(numbers), len(self.table)), dtype=np.int64)
        numbers, left = numbers.copy(), np.full(len(numbers), size)
        for kind, row in enumerate(self.table):
            after = np.searchsorted(row, numbers, side="right") - 1
            if kind == len(self.table) - 1:
                after = np.zeros_like(left)
            found[:, kind] = left - after
            numbers -= row[after]
            left = after
        return found


def multisets(kinds: int, size: int) -> int:
    """Return how many multisets of `size` records there are of so many kinds, >= 1."""
    return math.comb(size + kinds - 1, size)


def sorted_records(counts: Counts) -> list[int]:
    """Return the records of one multiset, ascending."""
    found: list[int] = np.repeat(np.arange(len(counts)), counts).tolist()
    return found
