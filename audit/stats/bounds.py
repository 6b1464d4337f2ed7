"""Certified bounds on the privacy loss from two binomial counts.

An estimate is another type and decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv

from dpassay.stats.methods import EXACT_LAW


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
    """How often the answers on both sides came to each grid point of their range.

    Parameters
    ----------
    one, other : tuple of int
        Counts; the answers were rounded to the grid at random, so that their means stayed what they
        are.
    spreads : tuple of float
        Standard deviations that were expected on the two sides, in units of the range; they sized
        the bets.
    limits : tuple of float
        Least and greatest answer.
    """

    one: tuple[int, ...]
    other: tuple[int, ...]
    spreads: tuple[float, float]
    limits: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A number that is wrong with probability at most `alpha`, proven for finite samples.

    Parameters
    ----------
    value : float
        The bound, in the units of the claim; may be inf for an upper bound.
    alpha : float
        Its error probability; 0 for a number that was computed instead of sampled.
    method : str
        How it was made: a key of `dpassay.stats.methods.METHODS`.
    counts : Counts or None
        What it was made from; None for a computed number.
    histograms : Histograms or None
        The same for a bound on the difference of two means.
    """

    value: float
    alpha: float
    method: str
    counts: Counts | None = None
    histograms: Histograms | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """A number that was computed from an exact law, with a bound on its numerical error.

    Parameters
    ----------
    value : float
        In the units of the claim; may be inf.
    error : float
        The true number is within this of `value`; inf where nothing is known (a probability that
        equals delta up to rounding), 0 where `value` is inf for certain.
    least : float
        No number of its kind is below this: 0 for a leak, -inf for an error that may be an excess.
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
    """Exact lower confidence limit of a binomial proportion (Clopper and Pearson 1934), one-sided.

    `x`, `n`: successes and trials, 0 <= x <= n; broadcast. `alpha`: error probability in (0, 1):
    the largest p0 with P[Bin(n, p) >= x] <= alpha for all p < p0.

    Returns
    -------
    array
        0 where x = 0.
    """
    x, n = np.asarray(x, dtype=float), np.asarray(n, dtype=float)
    return np.where(x == 0, 0.0, betaincinv(np.maximum(x, 1), n - np.maximum(x, 1) + 1, alpha))


def clopper_pearson_upper(x: ArrayLike, n: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """Exact upper confidence limit of a binomial proportion, one-sided.

    The mirror image of the lower one.

    Returns
    -------
    array
        1 where x = n.
    """
    x, n = np.asarray(x, dtype=float), np.asarray(n, dtype=float)
    # the complemented inverse keeps the digits that 1 - alpha would lose
    inside = np.minimum(x, n - 1)
    return np.where(x == n, 1.0, betainccinv(inside + 1, n - inside, alpha))
