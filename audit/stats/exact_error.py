"""Exact probabilities of a certified test, from the two binomial laws of its counts.

Nothing is simulated or interpolated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dpassay.stats import lower_bounds, power
from dpassay.stats.bounds import Counts
from dpassay.stats.lower_bounds import Method
from dpassay.stats.regions import Array, Region
from dpassay.stats.scales import Scale

GRIDS = (500, 1000, 2000, 8000)
"""Null points that the worst case is looked for at; the next size is taken where the proof between
the points falls short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstError:
    """Largest probability of refuting a claim that holds, over all pairs (p1, p0) that keep it.

    `attained` is the largest at a point (p1, p0) of the grid, `at_most` what it cannot exceed
    anywhere: on a cell of the grid the probability is at most that of p1 at the upper end with p0
    at the lower end, because the test rejects more for larger x and for smaller y.
    """

    attained: float
    at_most: float
    p1: float
    p0: float


def frontier(method: Method, n: int, *, allowed: Region, alpha: float) -> NDArray[np.int64]:
    """Largest y that refutes the claim for each count x = 0, ..., n of n trials.

    -1 where there is none.

    `largest_rejecting` interpolates between `KNOTS` counts, so it is asked for no more than that
    many at a time.
    """
    counts, portion = np.arange(n + 1), max(2, power.KNOTS)
    parts = [
        power.largest_rejecting(method, counts[k : k + portion], n, allowed=allowed, alpha=alpha)
        for k in range(0, n + 1, portion)
    ]
    return np.minimum(np.maximum.accumulate(np.concatenate(parts)), n)


def probability(largest: NDArray[np.int64], p1: Array, p0: Array) -> Array:
    """P[Y <= largest[X]], X ~ Bin(n, p1) and Y ~ Bin(n, p0) independent, at each pair."""
    n = len(largest) - 1
    refuted = np.where(largest >= 0, scipy.stats.binom.cdf(largest, n, p0[:, None]), 0.0)
    found: Array = np.sum(scipy.stats.binom.pmf(np.arange(n + 1), n, p1[:, None]) * refuted, axis=1)
    return found


def worst_error(
    method: Method, largest: NDArray[np.int64], *, allowed: Region, alpha: float
) -> WorstError:
    """Enumerate the error probability of a test over the whole boundary of a claim that holds.

    `method`: a key of `lower_bounds.NAMES`. `largest` (n + 1,): its `frontier`. `allowed`: what the
    claim allows. `alpha`: the error probability that the test promises.
    """
    for size in GRIDS:
        # evenly spaced in standard errors of either side's count
        even = np.sin(np.linspace(0, np.pi / 2, size)) ** 2
        p0 = np.unique(np.concatenate([even, np.clip(allowed.inverse(even), 0.0, 1.0)]))
        p1 = most_allowed(method, p0, allowed)
        error = probability(largest, p1, p0)
        at_most = float(probability(largest, p1[1:], p0[:-1]).max())
        worst = int(np.argmax(error))
        if at_most <= alpha or error[worst] > alpha:
            break
    return WorstError(
        attained=float(error[worst]), at_most=at_most, p1=float(p1[worst]), p0=float(p0[worst])
    )


def most_allowed(method: Method, p0: Array, allowed: Region) -> Array:
    """Largest p1 that the null hypothesis of a test allows beside p0; it rises with p0.

    The claim on the event itself; the accuracy test speaks of both labels, and so its null
    hypothesis holds the other one to the claim as well.
    """
    return allowed.edge(p0, both=method == "accuracy")


def bolder_than_enumerated(
    method: Method,
    largest: NDArray[np.int64],
    *,
    scale: Scale,
    promised: float,
    alpha: float,
    step: int,
) -> int:
    """Count the x, of every `step`-th, at which the printed bound refutes more than the frontier.

    Verdicts are made from `lower_bound`; the enumeration is of `largest_rejecting`. This holds the
    two together.
    """
    found, n = 0, len(largest) - 1
    for x, y in list(enumerate(largest.tolist()))[::step]:
        if y < n:
            counts = Counts(x=x, n1=n, y=y + 1, n0=n)
            found += (
                lower_bounds.lower_bound(method, counts, scale=scale, alpha=alpha).value > promised
            )
    return found
