"""Unions of intervals with k ends, Thr_(N,k) of Dwork and Feldman (2018), section 5.

The least error of one of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def in_words(k: int) -> str:
    """Name the functions of Thr_(N,k) for a claim's unit.

    k counts the ends of the intervals, not the intervals.
    """
    ends = f"at most {k} end{'s' * (k > 1)}"
    return f"union of intervals with {ends}, 0 left of the first"


def least_error(ones: ArrayLike, zeros: ArrayLike, k: int) -> float:
    """Return the weight that the best function with at most k interval ends labels wrongly.

    A function is 0 before its first end and changes at each. Thr_(N,k) has those with exactly k
    ends in [N + 1]. Where the points are so far apart that there is room between them and beyond
    the last, it is the same: two ends between the same points do nothing, and neither does one
    beyond the last.

    Parameters
    ----------
    ones, zeros : array (m,)
        Weight, or number, of the examples labelled 1, and 0, at each of m points, in ascending
        order of the points; whole numbers are added without rounding.
    k : int
        Number of ends, >= 1.
    """
    is_one = np.arange(k + 1) % 2 == 1
    least = np.zeros(k + 1)  # by the number of ends so far
    for one, zero in zip(
        np.asarray(ones, dtype=float), np.asarray(zeros, dtype=float), strict=True
    ):
        # any number of ends may lie before this point
        least = np.minimum.accumulate(least) + np.where(is_one, zero, one)
    return float(least.min())
