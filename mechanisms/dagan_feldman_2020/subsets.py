"""A uniformly random subset T of the records.

Which points it hits, exactly and by drawing (Dagan and Feldman 2020, section 3.1).

H_T depends on T only through the points in it, so the law is a sum over the sets of different
points that T may hit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.laws import FiniteLaw
from dpassay.mechanisms.shared.function_class import Functions
from dpassay.mechanisms.shared.hypothesis_class import HypothesisClass, Points
from dpassay.mechanisms.shared.line_classes import Intervals, Thresholds
from dpassay.mechanisms.shared.plane_classes import Corners, Halfspaces
from dpassay.numerics import UNIT_ROUNDOFF

MOST_SETS = 10_000
"""Sets are enumerated up to this number; beyond it there is no such law."""
MOST_SUBSETS = 10**300
"""With more subsets than this their probabilities would underflow."""
MOST_HYPOTHESES = 1_000_000
"""Hypotheses that are weighed at most, those of all sets together."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gathered:
    """A dataset as its different points.

    Parameters
    ----------
    X : array (k, columns)
        One record's features for each point that differs in the columns that count, these in
        ascending order.
    ones, zeros : int array (k,)
        Records there with label 1, and with label 0.
    place : int array (n,)
        Which point each record is at.
    """

    X: Points
    ones: NDArray[np.int64]
    zeros: NDArray[np.int64]
    place: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Records at each point."""
        return self.ones + self.zeros


def columns_of(H: HypothesisClass, columns: int) -> list[int]:
    """Columns that a class looks at; all of them for a class that is not one of ours."""
    if type(H) is Corners or type(H) is Halfspaces:
        return [H.feature, H.feature2]
    if type(H) is Thresholds or type(H) is Intervals or type(H) is Functions:
        return [H.feature]
    return list(range(columns))


def gather(data: Labelled, columns: list[int]) -> Gathered:
    """Gather records that agree in the columns named."""
    seen = data.X[:, columns[0]] if len(columns) == 1 else data.X[:, columns]
    _, first, place = np.unique(seen, axis=0, return_index=True, return_inverse=True)
    place = place.ravel()
    ones = np.bincount(place, weights=data.y, minlength=len(first)).astype(np.int64)
    sizes = np.bincount(place, minlength=len(first))
    return Gathered(X=data.X[first], ones=ones, zeros=sizes - ones, place=place)


def hits(
    sizes: NDArray[np.int64], m: int, *, often: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """What a uniform subset of m records hits, with `sizes` records at each of k points.

    Parameters
    ----------
    sizes : int array (k,)
    m : int
        1 <= m <= number of records.
    often : bool
        Tell apart how often a point is hit; else only whether.

    Returns
    -------
    hit : int array (r, k)
        How often each point is hit, or 0 and 1.
    p : array (r,)
        Probabilities, > 0; each is a product of k hypergeometric ones, summed over what `often`
        does not tell apart, so that its relative error is at most k (m + 3) units of rounding. None
        where there are more than 10,000 rows.
    """
    left = int(sizes.sum())
    if math.comb(left, m) > MOST_SUBSETS:
        return None
    hit, mass = np.zeros((1, 0), dtype=np.int64), np.zeros((1, m + 1))
    mass[0, 0] = 1.0  # the second index: records of T at the points so far
    for size in sizes.tolist():
        table = drawn(left, size, m)
        most = min(size, m)
        ways = (
            [range(i, i + 1) for i in range(most + 1)] if often else [range(1), range(1, most + 1)]
        )
        rows, masses = [], []
        for value, way in enumerate(ways):
            moved = np.zeros_like(mass)
            for i in way:
                moved[:, i:] += mass[:, : m + 1 - i] * table[: m + 1 - i, i]
            some = moved.any(axis=1)
            rows.append(np.column_stack([hit[some], np.full(int(some.sum()), value)]))
            masses.append(moved[some])
        hit, mass = np.concatenate(rows), np.concatenate(masses)
        if len(hit) > MOST_SETS:
            return None
        left -= size
    return hit, mass[:, m]


@lru_cache(maxsize=4096)
def drawn(left: int, size: int, m: int) -> NDArray[np.float64]:
    """P[i of the m - j records to be drawn from `left` are among `size` of them], at (j, i).

    Correctly rounded.
    """
    table = np.zeros((m + 1, m + 1))
    here, behind = ([math.comb(each, i) for i in range(m + 1)] for each in (size, left - size))
    for j in range(max(0, m - left), m + 1):
        ways = math.comb(left, m - j)
        for i in range(max(0, m - j - (left - size)), min(size, m - j) + 1):
            table[j, i] = here[i] * behind[m - j - i] / ways
    table.flags.writeable = False
    return table


def law_by_sets(
    H: HypothesisClass,
    hypotheses: Callable[[NDArray[np.int64]], Points],
    data: Gathered,
    queries: Points,
    *,
    epsilon: float,
    m: int,
    often: bool,
) -> FiniteLaw | None:
    """Law of h(x), h drawn from H_T by the exponential mechanism.

    T is a uniformly random subset of m records.

    Parameters
    ----------
    H : HypothesisClass
    hypotheses : callable
        From a row of `hits` to H_T, shape (parameters of each).
    data : Gathered
    queries : array (q, columns)
    epsilon : float
        Of the exponential mechanism: weights exp(-epsilon e / 2), e the number of errors on all
        records.
    m : int
        |T|.
    often : bool
        Whether H_T depends on how often T hits a point.

    Returns
    -------
    FiniteLaw or None
        None where T may hit more than 10,000 different sets, or these have more than a million
        hypotheses. All sums are of positive terms, so the error of a logarithm is that of the
        terms, in logarithms, and a unit of rounding for each term.
    """
    found = hits(data.sizes, m, often=often)
    if found is None or len(found[1]) * H.growth(min(m, len(data.sizes))) > MOST_HYPOTHESES:
        return None
    hit, p = found
    H_T = [hypotheses(row) for row in hit]
    starts = np.cumsum([0, *map(len, H_T)])[:-1]
    every = np.concatenate(H_T)
    on_data = H.predict(every, data.X)
    errors = on_data @ (data.zeros - data.ones) + data.ones.sum()
    log_w = -epsilon / 2 * errors
    best = np.repeat(np.maximum.reduceat(log_w, starts), np.diff([*starts, len(every)]))
    log_Z = np.log(np.add.reduceat(np.exp(log_w - best), starts))
    log_terms = log_w - best + np.repeat(np.log(p) - log_Z, np.diff([*starts, len(every)]))
    answers = H.predict(every, queries)
    log_p = np.stack([log_sum(log_terms, ~answers), log_sum(log_terms, answers)], axis=1)
    terms = len(every) + len(data.sizes) * (m + 3) + 32
    largest = float(np.abs(log_terms).max(initial=1.0)) + epsilon * len(data.place)
    return FiniteLaw(log_p=np.minimum(log_p, 0.0), error=UNIT_ROUNDOFF * (terms + 16 * largest))


def log_sum(log_terms: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Logarithm of the sum of the chosen terms, for each column of `chosen` (terms, q).

    -inf where there is none.
    """
    kept = np.where(chosen, log_terms[:, None], -np.inf)
    top = kept.max(axis=0)
    shift = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        found: NDArray[np.float64] = np.log(np.exp(kept - shift).sum(axis=0)) + shift
    return found


def random_subsets(n: int, m: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `size` uniformly random subsets of m of n indices, shape (size, m), in no order."""
    chosen: NDArray[np.int64] = np.argpartition(rng.random((size, n)), m - 1, axis=1)[:, :m]
    return chosen
