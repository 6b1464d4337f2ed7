"""Certified bounds on the privacy loss from two binomial counts. An estimate is another type and decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv

EXACT_LAW = "exact law"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a cell has seen: x of n1 trials on one dataset fell into the event, y of n0 on its neighbour."""

    x: int
    n1: int
    y: int
    n0: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A number that is wrong with probability at most `alpha`, proven for finite samples.

    Parameters
    ----------
    value : float
        The bound, in nats; may be inf for an upper bound.
    alpha : float
        Its error probability; 0 for a number that was computed instead of sampled.
    method : str
        How it was made.
    counts : Counts or None
        What it was made from; None for a computed number.
    """

    value: float
    alpha: float
    method: str
    counts: Counts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """A number that was computed from an exact law, with a bound on its numerical error.

    Parameters
    ----------
    value : float
        In nats; may be inf.
    error : float
        The true number is within this of `value`; inf where nothing is known (a probability that equals delta up to
        rounding), 0 where `value` is inf for certain.
    """

    value: float
    error: float

    @property
    def lower(self) -> Bound:
        """The least it can be."""
        return Bound(value=max(0.0, self.value - self.error), alpha=0.0, method=EXACT_LAW)

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

    Parameters
    ----------
    x, n : array
        Successes and trials, 0 <= x <= n; broadcast.
    alpha : float
        Error probability in (0, 1): the largest p0 with P[Bin(n, p) >= x] <= alpha for all p < p0.

    Returns
    -------
    array
        0 where x = 0.
    """
    x, n = np.asarray(x, dtype=float), np.asarray(n, dtype=float)
    return np.where(x == 0, 0.0, betaincinv(np.maximum(x, 1), n - np.maximum(x, 1) + 1, alpha))


def clopper_pearson_upper(x: ArrayLike, n: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """Exact upper confidence limit of a binomial proportion, one-sided: the mirror image of the lower one.

    Returns
    -------
    array
        1 where x = n.
    """
    x, n = np.asarray(x, dtype=float), np.asarray(n, dtype=float)
    inside = np.minimum(x, n - 1)  # the complemented inverse keeps the digits that 1 - alpha would lose
    return np.where(x == n, 1.0, betainccinv(inside + 1, n - inside, alpha))


def loss_lower(x: ArrayLike, n1: int, y: ArrayLike, n0: int, *, delta: float, alpha: float) -> NDArray[np.float64]:
    """Lower confidence bound on ln((p1 - delta) / p0) for x ~ Bin(n1, p1) and y ~ Bin(n0, p0) independent.

    Parameters
    ----------
    x, y : int array
        Counts of one event on the two datasets; broadcast. The event must be chosen before these draws.
    n1, n0 : int
        Trials on the two datasets.
    delta : float
        In [0, 1).
    alpha : float
        Error probability in (0, 1); each of the two Clopper-Pearson limits takes half of it.

    Returns
    -------
    array
        In nats, at least 0 (a loss is never negative). y = 0 gives a finite number: the loss is at least that.
    """
    return np.maximum(0.0, ranking_bound(x, n1, y, n0, delta=delta, alpha=alpha))


def ranking_bound(x: ArrayLike, n1: int, y: ArrayLike, n0: int, *, delta: float, alpha: float) -> NDArray[np.float64]:
    """Return `loss_lower` before it is cut off at 0, so that cells which show nothing yet can still be ranked.

    Returns
    -------
    array
        In nats; -inf where p1 may be no larger than delta.
    """
    p1, p0 = clopper_pearson_lower(x, n1, alpha / 2), clopper_pearson_upper(y, n0, alpha / 2)
    excess = p1 - delta
    return np.where(excess > 0, np.log(np.where(excess > 0, excess, 1.0)) - np.log(p0), -np.inf)


def loss_upper(x: ArrayLike, n1: int, y: ArrayLike, n0: int, *, delta: float, alpha: float) -> NDArray[np.float64]:
    """Upper confidence bound on ln((p1 - delta) / p0) of one event; see `loss_lower`.

    The largest of these over all events, both directions and all audited cells bounds the largest loss among them at the
    same `alpha`, without a correction: it is an intersection-union test (Berger 1982).

    Returns
    -------
    array
        In nats, at least 0; inf where y = 0 and the event may exceed delta.
    """
    p1, p0 = clopper_pearson_upper(x, n1, alpha / 2), clopper_pearson_lower(y, n0, alpha / 2)
    excess = p1 - delta
    with np.errstate(divide="ignore"):
        return np.maximum(0.0, np.where(excess > 0, np.log(np.where(excess > 0, excess, 1.0)) - np.log(p0), 0.0))


def plug_in(counts: Counts, delta: float) -> Estimate:
    """Loss of the event if the observed frequencies were the probabilities: an estimate, biased upwards by every choice made."""
    p1, p0 = counts.x / counts.n1, counts.y / counts.n0
    with np.errstate(divide="ignore"):
        value = float(max(0.0, np.log(p1 - delta) - np.log(p0))) if p1 > delta else 0.0
    return Estimate(value=value, method="plug-in")
