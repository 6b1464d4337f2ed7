"""Ranking: which cells of a screening come first, on their way to the certification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, xlogy

from dpassay.stats.regions import Region
from dpassay.stats.scales import Scale

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

CERTAIN = 5.0
"""A leak so many standard errors above the claim is refuted next to surely, at any confidence."""
CAUTION = 3.0
"""Standard errors that are taken off a leak where it is not the power that ranks."""
TABLE = 20_000
"""Limits are tabulated at so many counts, and at as many from the other end; all of them where
there are fewer."""


def ranked(above: Array, bound: Array, cells: int) -> Array:
    """Return ranks of cells in [-3, 7], the larger the sooner: by power, where it tells anything.

    There are three kinds of cells, the first ones first:

    * those that will be refuted next to surely, `CERTAIN` standard errors above the claim or more,
      by the bound to be expected: the largest leak is what the claim is worst wrong about;
    * those farther above the claim than chance alone lifts one of so many cells, by how many
      standard errors they are: the certification refutes the likelier the more they are;
    * all others, by the bound to be expected. What lifts them is chance, which lifts rare events
      most, and a bound on those is worth nothing.

    `above` counts the standard errors of a cell above the claim; `bound`, of the same shape, is the
    bound to be expected, with chance in the screening taken off.
    """
    squashed = bound / (1 + np.abs(bound))
    unclear = above < max(0.0, float(ndtri(1 - 1 / max(2, cells))))
    return np.where(above >= CERTAIN, 6 + squashed, np.where(unclear, squashed - 2, above))


STEPS = 4
"""Of Fisher's scoring, which is quadratic near its end and begins near it."""
INSIDE = 1e-12
"""Probabilities are kept so far from 0 and 1."""


def standing(x: ArrayLike, y: ArrayLike, n: int, *, allowed: Region) -> Array:
    """Return by how many standard errors counts exceed what a claim allows; 0 where they keep it.

    It is the root of the deviance: of twice the logarithm of the likelihood ratio of the observed
    shares and the most likely pair (p1, p0) on the edge of the claim (Wilks 1938). On the edge it
    is about the positive part of a standard normal variable. A difference in standard errors of the
    observed shares is about the same where counts are large; where y is 0 it hardly grows with x,
    as the standard error is then anybody's guess, and the root does.

    `x` and `y` count one event in `n` trials of each dataset and broadcast. `allowed` bounds p1 by
    a rising function of p0.
    """
    one, other = np.broadcast_arrays(np.asarray(x) / n, np.asarray(y) / n)
    found = np.zeros(one.shape)
    beyond = one > allowed.edge(other, both=False)
    found[beyond] = _root(one[beyond], other[beyond], n, allowed)
    return found


def _root(p1: Array, p0: Array, n: int, allowed: Region) -> Array:
    """Return the root of the deviance of shares that break the claim."""
    low, high = INSIDE, float(np.clip(allowed.inverse(1 - INSIDE), 2 * INSIDE, 1 - INSIDE))
    # the edge above p0 is the one end, that beside p1 the other
    p = np.clip((p0 + allowed.inverse(np.clip(p1, INSIDE, 1 - INSIDE))) / 2, low, high)
    for _ in range(STEPS):
        q = np.clip(allowed.edge(p, both=False), INSIDE, 1 - INSIDE)
        steep, noise = allowed.steepness(p), p * (1 - p)
        weight = steep / (q * (1 - q))
        p = np.clip(
            p + (weight * (p1 - q) + (p0 - p) / noise) / (weight * steep + 1 / noise), low, high
        )
    q = np.clip(allowed.edge(p, both=False), INSIDE, 1 - INSIDE)
    gained = xlogy(p1, p1 / q) + xlogy(1 - p1, (1 - p1) / (1 - q))
    gained += xlogy(p0, p0 / p) + xlogy(1 - p0, (1 - p0) / (1 - p))
    found: Array = np.sqrt(2 * n * np.maximum(gained, 0.0))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """How events are ranked by their counts in a screening of `draws` trials on each dataset.

    `up` and `down` make of counts an interval of what they add to a leak, and of what they take
    off: what is seen, and the end that is less.
    """

    scale: Scale
    promised: float
    draws: int
    up: Callable[[Counts], tuple[Array, Array]]
    down: Callable[[Counts], tuple[Array, Array]]

    @staticmethod
    @lru_cache(maxsize=64)
    def of(scale: Scale, promised: float, draws: int) -> Ranking:
        """Tabulate the limits (Wilson 1927) at the shares, half a count off 0 and 1."""
        counts = _tabulated(draws)
        shares = (counts + 0.5) / (draws + 1)
        low, high = (_wilson(shares, draws, z) for z in (-CAUTION, CAUTION))
        up, down = (scale.gain(shares), scale.gain(low)), (scale.loss(shares), scale.loss(high))
        return Ranking(
            scale, promised, draws, _looked_up(counts, draws, up), _looked_up(counts, draws, down)
        )

    def scores(self, x: Counts, y: Counts, cells: int) -> Array:
        """Rank events by their counts on the likelier side and on the other; see `ranked`.

        The two intervals are combined by the method of variance recovery (Zou and Donner 2008).
        """
        above = standing(x, y, self.draws, allowed=self.scale.allowed(self.promised))
        (up, least), (down, most) = self.up(x), self.down(y)
        with np.errstate(invalid="ignore"):
            bound = up - down - np.hypot(up - least, most - down)
        return ranked(above, np.where(np.isfinite(bound), bound, -FARTHEST), cells)

    def highest(self, x: Counts, y: Counts, cells: int) -> Array:
        """Return ranks (R, M) of pairs by their highest event in either direction.

        `x` (R, 1, E) counts E events on R datasets, `y` (R, M, E) on M neighbours of each. Where
        the counts of an event are few different ones, each is ranked once.
        """
        found = np.full(y.shape[:2], -np.inf)
        for event in range(y.shape[2]):
            higher = _once(self._of_both, x[..., event], y[..., event], cells)
            np.maximum(found, higher, out=found)
        return found

    def of_rare(self, x: Counts, y: Counts, cells: int) -> Array:
        """Return `scores`, of counts (R, E); those of rare events, as of many labels, once each."""
        found, rare = np.empty(x.shape), np.maximum(x, y).max(axis=0) < RARE
        for those, of in ((rare, partial(_once, self.scores)), (~rare, self.scores)):
            if those.any():
                found[:, those] = of(x[:, those], y[:, those], cells)
        return found

    def _of_both(self, x: Counts, y: Counts, cells: int) -> Array:
        one, other = np.broadcast_arrays(x, y)
        return np.maximum(self.scores(one, other, cells), self.scores(other, one, cells))


def _once(of: Callable[..., Array], x: Counts, y: Counts, cells: int) -> Array:
    """Rank counts; where they are few different ones, each pair of them once."""
    left, low = int(x.min()), int(y.min())
    wide, high = int(x.max()) - left + 1, int(y.max()) - low + 1
    if wide * high >= y.size:
        return of(x, y, cells)
    table = of(np.arange(left, left + wide)[:, None], np.arange(low, low + high), cells)
    return np.take(table, (x - left) * high + (y - low))


RARE = 200
"""Events that were never counted so often are rare."""
FARTHEST = 1e9
"""Stands for a bound of minus infinity: the event may be no likelier than delta."""


def _tabulated(draws: int) -> Counts:
    if draws <= TABLE:
        return np.arange(draws + 1)
    steps = np.unique(np.geomspace(1, draws, TABLE).round().astype(np.int64))
    return np.union1d(np.concatenate([[0], steps]), draws - steps)


def _looked_up(
    counts: Counts, draws: int, values: tuple[Array, Array]
) -> Callable[[Counts], tuple[Array, Array]]:
    """Return the two values at counts, interpolated where not all are tabulated."""
    seen, end = (np.clip(each, -FARTHEST, FARTHEST) for each in values)
    if draws <= TABLE:
        return lambda x: (seen[x], end[x])
    return lambda x: (np.interp(x, counts, seen), np.interp(x, counts, end))


def _wilson(p: ArrayLike, n: int, z: float) -> Array:
    """Wilson's limit of a probability from a share of n trials, the lower one for negative z."""
    share = np.asarray(p)
    middle = share + z * z / (2 * n)
    found: Array = (middle + z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (
        1 + z * z / n
    )
    return found
