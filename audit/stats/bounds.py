"""Certified bounds on the privacy loss from two binomial counts.

An estimate is another type and decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv

from dpassay.stats.methods import EXACT_LAW
from dpassay.stats.paired import Joint


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a cell has seen.

    x of n1 trials on one dataset fell into the event, y of n0 on its neighbour.
    """

    x: int
    n1: int
    y: int
    n0: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Histograms:
    """Counts of the answers of both sides at each grid point of their range, `limits`.

    Answers were rounded to the grid at random, which keeps their means. `spreads` are the standard
    deviations that were expected on the two sides, in units of the range; they sized the bets.
    """

    one: tuple[int, ...]
    other: tuple[int, ...]
    spreads: tuple[float, float]
    limits: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A number that is wrong with probability at most `alpha`, proven for finite samples.

    `alpha` is 0 for a number that was computed instead of sampled; then it has no counts. `method`
    is a key of `dpassay.stats.methods.METHODS`. An upper bound may be inf. `joint` is what pairs of
    runs from the same generator states showed, if the bound is made from them.
    """

    value: float
    alpha: float
    method: str
    counts: Counts | None = None
    histograms: Histograms | None = None
    joint: Joint | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """A number that was computed from an exact law, with a bound on its numerical error.

    `error` is inf where nothing is known (a probability that equals delta up to rounding), and 0
    where `value` is inf for certain. `least` is the smallest number of its kind: 0 for a leak, -inf
    for an error that may be an excess.
    """

    value: float
    error: float
    least: float = 0.0

    @property
    def lower(self) -> Bound:
        """The least it can be."""
        return Bound(value=max(self.least, self.value - self.error), alpha=0.0, method=EXACT_LAW)

    @property
    def upper(self) -> Bound:
        """The most it can be."""
        return Bound(value=self.value + self.error, alpha=0.0, method=EXACT_LAW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number without a proven error: good for ranking cells, never for a verdict."""

    value: float
    method: str


def clopper_pearson_lower(x: ArrayLike, n: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """Return the exact one-sided lower limit of a proportion (Clopper and Pearson 1934).

    That is the largest p0 with P[Bin(n, p) >= x] <= alpha for all p < p0; 0 where x = 0. Successes
    `x` and trials `n` broadcast.
    """
    x, n = np.asarray(x, dtype=float), np.asarray(n, dtype=float)
    return np.where(x == 0, 0.0, betaincinv(np.maximum(x, 1), n - np.maximum(x, 1) + 1, alpha))


def clopper_pearson_upper(x: ArrayLike, n: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """Return the exact upper confidence limit of a proportion, one-sided; 1 where x = n."""
    x, n = np.asarray(x, dtype=float), np.asarray(n, dtype=float)
    # the complemented inverse keeps the digits that 1 - alpha would lose
    inside = np.minimum(x, n - 1)
    return np.where(x == n, 1.0, betainccinv(inside + 1, n - inside, alpha))
