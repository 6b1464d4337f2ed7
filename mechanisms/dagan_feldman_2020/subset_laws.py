"""What a uniformly random subset does to a walk or a vote, by counting.

Laws that scale beyond enumeration.

Records are taken one after the other. If j of size were chosen among the first i of n, the next one
is chosen with probability (size - j) / (n - i): all sums below are of positive terms, so their
relative error is about that of a term.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, logsumexp

from dpassay.data import Labelled
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_overview import ProjectedWalkOverview
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.mechanisms.shared.linear import gamma
from dpassay.numerics import UNIT_ROUNDOFF


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Countable:
    """A base whose log-odds are a slope times a whole number v that can be counted.

    A walk, or a vote of single records.

    Parameters
    ----------
    slope : float
        Log-odds of label 1 per unit of v.
    size : int
        Records in a subset.
    walk : ProjectedWalk or None
        The walk that ends at v; None for a vote, where v is the number of ones less that of zeros.
    """

    slope: float
    size: int
    walk: ProjectedWalk | None

    def masses(self, data: Labelled) -> Masses:
        """Law of v for a random subset of the data."""
        if self.walk is None:
            return count_masses(len(data), int(data.y.sum()), self.size)
        return walk_masses(data.X[:, self.walk.feature], data.y, self.size, self.walk.T)

    def law(self, masses: Masses, queries: NDArray[np.float64]) -> FiniteLaw:
        """Law of the label at the queries."""
        return masses.law(
            np.zeros(len(queries)) if self.walk is None else queries[:, self.walk.feature],
            self.slope,
        )

    def logits(
        self, data: Labelled, rows: NDArray[np.int64], queries: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Log-odds of label 1 for each of many subsets, shape (m, q)."""
        if self.walk is None:
            ends: NDArray[np.int64] = np.tile(
                2 * data.y[rows].sum(axis=1, keepdims=True) - self.size, len(queries)
            )
        else:
            feature = self.walk.feature
            ends = walk_ends(data.X[:, feature], data.y, rows, self.walk.T, queries[:, feature])
        return np.asarray(self.slope * ends, dtype=float)


def countable(base: Mechanism, size: int) -> Countable | None:
    """Return how a base is counted on subsets of this size; None where that is not known."""
    if isinstance(base, SoftMajority) and base.r == size and base.partition == "fixed":
        return Countable(slope=float(base.logit(np.array([size]))[0]) / size, size=size, walk=None)
    if isinstance(base, ProjectedWalk) and base.ties == "sum":
        return Countable(slope=base.epsilon / 2, size=size, walk=base)
    return None


def indifferent(base: Mechanism, size: int) -> bool:
    """Whether a base is known not to depend on the order of its records."""
    walks = isinstance(base, (ProjectedWalk, ProjectedWalkOverview)) and base.ties == "sum"
    votes = isinstance(base, SoftMajority) and (base.r == size or base.partition == "fresh")
    return size == 1 or walks or votes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Masses:
    """Law of a whole number v in -T, ..., T at each of some places.

    Parameters
    ----------
    places : array (m,)
        Ascending points of the line; the law changes there.
    mass : array (m + 1, 2 T + 1)
        Probabilities before the first place, then from each place on.
    error : float
        Bound on the relative error of each of them that matters.
    """

    places: NDArray[np.float64]
    mass: NDArray[np.float64]
    error: float

    def law(self, line: NDArray[np.float64], slope: float) -> FiniteLaw:
        """Law of a label whose log-odds at a point of the line are slope times v."""
        T = self.mass.shape[1] // 2
        logits = slope * np.arange(-T, T + 1)
        here = self.mass[np.searchsorted(self.places, line, side="right")]
        with np.errstate(divide="ignore"):
            log_p = np.stack(
                [logsumexp(log_expit(sign * logits), b=here, axis=1) for sign in (-1, 1)], axis=1
            )
        rounding = (2 * T + 16) * UNIT_ROUNDOFF + 8 * UNIT_ROUNDOFF * max(1.0, slope * T)
        return FiniteLaw(log_p=np.minimum(log_p, 0.0), error=self.error + rounding)


def count_masses(n: int, ones: int, size: int) -> Masses:
    """Law of v = 2 k - size, k the ones in a subset of `size` of n records.

    Quotients of whole numbers, rounded once.
    """
    ways, every = math.comb, math.comb(n, size)
    mass = np.zeros((1, 2 * size + 1))
    mass[0, ::2] = [ways(ones, k) * ways(n - ones, size - k) / every for k in range(size + 1)]
    return Masses(places=np.empty(0), mass=mass, error=UNIT_ROUNDOFF)


def walk_masses(line: NDArray[np.float64], y: NDArray[np.int64], size: int, T: int) -> Masses:
    """Law of the end of the projected walk, ties "sum", of a random subset; see `ProjectedWalk`.

    Parameters
    ----------
    line, y : array (n,)
        Points and labels of all records.
    size : int
        Records in the subset.
    T : int
        The walk stays in [-T, T].

    Returns
    -------
    Masses
        With each record three roundings, and as many additions when the walk is projected.
    """
    n, order = len(y), np.argsort(line, kind="stable")
    line, up = line[order], (y[order] == 1).tolist()
    starts = [*np.flatnonzero(np.concatenate([[True], line[1:] != line[:-1]])).tolist(), n]
    T = min(T, size)
    most = max(b - a for a, b in pairwise(starts))
    beyond = min(most, size - T) if most > 1 else 0
    low, high = beyond, beyond + 2 * T
    take, leave = chances(n, size)
    state = np.zeros((size + 1, high + beyond + 1))
    state[0, low + T] = 1.0
    taken = np.empty_like(state)
    mass = np.empty((len(starts), 2 * T + 1))
    mass[0] = state[0, low : high + 1]
    for place, (start, end) in enumerate(pairwise(starts)):
        alone = end == start + 1
        for i in range(start, end):
            np.multiply(state, take[i], out=taken)
            state *= leave[i]
            if up[i]:
                state[1:, 1:] += taken[:-1, :-1]
            else:
                state[1:, :-1] += taken[:-1, 1:]
            if alone and not beyond:
                edge = high if up[i] else low
                state[1:, edge] += taken[:-1, edge]
        if beyond:
            state[:, low] += state[:, :low].sum(axis=1)
            state[:, high] += state[:, high + 1 :].sum(axis=1)
            state[:, :low] = state[:, high + 1 :] = 0.0
        np.add.reduce(state[:, low : high + 1], axis=0, out=mass[place + 1])
    return Masses(places=line[starts[:-1]], mass=mass, error=gamma(4 * n + size + 4))


@lru_cache(maxsize=8)
def chances(n: int, size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probability that the next record is chosen, and that it is not, shape (n, size + 1, 1).

    After i records of which j were chosen.
    """
    i, j = np.arange(n)[:, None, None], np.arange(size + 1)[:, None]
    return (size - j) / (n - i), np.maximum(n - i - size + j, 0) / (n - i)


def walk_ends(
    line: NDArray[np.float64],
    y: NDArray[np.int64],
    rows: NDArray[np.int64],
    T: int,
    queries: NDArray[np.float64],
) -> NDArray[np.int64]:
    """End of the walk, ties "sum", at each query on the line, for many subsets, shape (m, q).

    Parameters
    ----------
    line, y : array (n,)
        Points and labels of all records.
    rows : int array (m, size)
        Indices of the records of each subset.
    T : int
        The walk stays in [-T, T].
    queries : array (q,)
        Points of the line.
    """
    order = np.argsort(line[rows], axis=1, kind="stable")
    rows = np.take_along_axis(rows, order, axis=1)
    xs, steps = line[rows], 2 * y[rows] - 1
    m, size = rows.shape
    last = np.ones((m, size), dtype=bool)
    last[:, :-1] = xs[:, 1:] != xs[:, :-1]
    ends = np.zeros((m, size + 1), dtype=np.int64)
    for k in range(size):
        v = ends[:, k] + steps[:, k]
        ends[:, k + 1] = np.where(last[:, k], np.clip(v, -T, T), v)
    passed = np.stack([(xs <= query).sum(axis=1) for query in queries], axis=1)
    return np.take_along_axis(ends, passed, axis=1)
