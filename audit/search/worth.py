"""Worth: the lower bound that is to be expected of an event, in a closed form.

It ranks events before they are certified, and certifies nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from dpassay.search.columns import Array
from dpassay.stats.lower_bounds import expected_bounds
from dpassay.stats.scales import Scale

CAUTION = 1.0
"""So many standard errors of the pilot are taken off too, since events that look better than they
are come first."""
LEAST_Z = 0.5
"""The quantile of no error probability counts as less."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a chosen event is for.

    A leak is measured on `scale` and claimed to be at most `promised`; `n` certification trials on
    each side will bound it, with error probability `alpha`.
    """

    scale: Scale
    promised: float
    n: int
    alpha: float

    @staticmethod
    def share(count: float, trials: int) -> float:
        """Return the probability that a count is taken for."""
        return (count + 0.5) / (trials + 1)

    def worth(
        self, x: ArrayLike, y: ArrayLike, m1: ArrayLike, m0: ArrayLike, *, caution: float = CAUTION
    ) -> Array:
        """Return about the bound that n trials will give, less a caution for chance in the pilot.

        The limits of the two probabilities (Wilson 1927) are combined by the method of variance
        recovery (Zou and Donner 2008), which comes to the asymptotic bound where counts are large.

        `x` and `y` count events out of `m1` on the side on which they are likelier, and out of `m0`
        on the other; so many standard errors of the pilot are taken off too as `caution` says. What
        comes out is on the scale, -inf where nothing is to be expected.
        """
        m1, m0 = np.asarray(m1), np.asarray(m0)
        fewest = np.minimum(m1, m0)
        with np.errstate(invalid="ignore", divide="ignore"):
            up, less = self._gains(x, m1, fewest, caution)
            down, more = self._losses(y, m0, fewest, caution)
            found = up - down - np.hypot(less, more)
        return np.where(np.isnan(found), -np.inf, found)

    def _gains(
        self, x: ArrayLike, m: ArrayLike, fewest: ArrayLike, caution: float
    ) -> tuple[Array, Array]:
        """Return what counts on the likelier side add to the leak, and what chance takes off."""
        p, (z, rows) = self._shares(x, m), self._rows(fewest, caution)
        up = self.scale.gain(p)
        return up, up - self.scale.gain(_wilson(p, rows, -z))

    def _losses(
        self, y: ArrayLike, m: ArrayLike, fewest: ArrayLike, caution: float
    ) -> tuple[Array, Array]:
        """Return what counts on the other side take off the leak, and what chance takes off."""
        p, (z, rows) = self._shares(y, m), self._rows(fewest, caution)
        down = self.scale.loss(p)
        return down, self.scale.loss(_wilson(p, rows, z)) - down

    def _rows(self, fewest: ArrayLike, caution: float) -> tuple[float, Array]:
        """Return a quantile, and the trials whose limits allow for chance in the pilot too."""
        z = max(LEAST_Z, -float(ndtri(self.alpha)))
        return z, (z / (z / math.sqrt(self.n) + caution / np.sqrt(fewest))) ** 2

    @staticmethod
    def _shares(count: ArrayLike, m: ArrayLike) -> Array:
        return np.asarray((np.asarray(count, dtype=float) + 0.5) / (np.asarray(m) + 1))

    def worths(self, m: int) -> Worths:
        """Return `worth` of all counts out of m on both sides, as a table of two parts."""
        return _worths(self, m)

    def both_ways(
        self, x: NDArray[np.intp], y: NDArray[np.intp], m1: int, m0: int
    ) -> tuple[Array, Array]:
        """Return `worth` of events that are likelier on the first side, and on the other."""
        if m1 == m0:
            table = self.worths(m1)
            return table(x, y), table(y, x)
        return self.worth(x, y, m1, m0), self.worth(y, x, m0, m1)

    def parts(self, m: int) -> Worths:
        """Work the table out."""
        counts = np.arange(m + 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            up, less = self._gains(counts, m, m, CAUTION)
            down, more = self._losses(counts, m, m, CAUTION)
        # what leaks nothing whatever the other side is
        never = ~np.isfinite(up) | ~np.isfinite(less)
        up, less = np.where(never, -np.inf, up), np.where(never, 0.0, less**2)
        return Worths(up=up, less=less, down=down, more=more**2)

    def slopes(self, x: float, y: float, m1: int, m0: int) -> tuple[float, float]:
        """Return by how much the plug-in leak moves with each of the two shares."""
        p1, p0 = self.share(x, m1), self.share(y, m0)
        step = 1e-3
        near = np.array([1 - step, 1 + step])
        with np.errstate(invalid="ignore", divide="ignore"):
            up = np.diff(self.scale.gain(np.minimum(near * p1, 1.0)))[0] / (2 * step * p1)
            down = np.diff(self.scale.loss(np.minimum(near * p0, 1.0)))[0] / (2 * step * p0)
        up, down = np.nan_to_num([up, down], nan=0.0, posinf=0.0, neginf=0.0).tolist()
        return up, down

    def power_z(self, x: float, y: float, m1: int, m0: int) -> float:
        """Return by how many standard errors the leak exceeds the claim, chance in both included.

        (plug-in leak - claim) / (S sqrt(1/n + 1/m)): by how much it exceeds `margin` says how
        likely the certification is to refute, given what the pilot has shown.
        """
        leak = float(self.scale.between(self.share(x, m1), self.share(y, m0)))
        error = self.error(x, y, m1, m0)
        if not math.isfinite(leak) or not 0 < error < math.inf:
            return -math.inf
        return (leak - self.promised) / error

    def error(self, x: float, y: float, m1: int, m0: int) -> float:
        """Return the standard error of a leak by chance in the pilot and in n trials to come."""
        spread = self.scale.spread(self.share(x, m1), self.share(y, m0))
        return spread * math.sqrt(1 / self.n + 1 / min(m1, m0))

    def margin(self, m: float) -> float:
        """Return by how much `power_z` must exceed 0 for an even chance to refute, m outputs seen.

        The certification's own quantile, in standard errors that include chance in the pilot.
        """
        return -float(ndtri(self.alpha)) / math.sqrt(1 + self.n / m)

    def promise(self, x: float, y: float, m1: int, m0: int) -> float:
        """Return about the bound that n trials will give if the pilot's shares are right."""
        p1, p0 = self.share(x, m1), self.share(y, m0)
        error = self.scale.spread(p1, p0) / math.sqrt(self.n)
        return float(self.scale.between(p1, p0) + ndtri(self.alpha) * error)

    def doubled(self, m: int) -> float:
        """Return by what factor `power_z` grows when the same shares are seen in 2 m outputs."""
        return math.sqrt((1 / self.n + 1 / m) / (1 / self.n + 1 / (2 * m)))

    def expected(self, x: float, y: float, m1: int, m0: int) -> float:
        """Return the bound of n trials in which the pilot's shares are seen again."""
        p1, p0 = self.share(x, m1), self.share(y, m0)
        values = expected_bounds(
            p1, p0, self.n, labels=3, scale=self.scale, alpha=self.alpha
        ).values()
        return max(values)


@dataclass(frozen=True, slots=True, eq=False)
class Worths:
    """Worths of counts out of so many outputs on both sides, by table.

    What a count (m + 1,) on the likelier side adds, and what chance takes off, squared; and the
    same of the other side.
    """

    up: Array
    less: Array
    down: Array
    more: Array

    def __call__(self, x: NDArray[np.intp], y: NDArray[np.intp]) -> Array:
        """Return `Goal.worth` of counts."""
        found: Array = self.up[x] - self.down[y] - np.sqrt(self.less[x] + self.more[y])
        return found


@lru_cache(maxsize=64)
def _worths(goal: Goal, m: int) -> Worths:
    return goal.parts(m)


def _wilson(p: Array, n: ArrayLike, z: float) -> Array:
    """Wilson's limit of a probability from a share of n trials, the lower one for negative z."""
    n = np.asarray(n)
    middle = p + z * z / (2 * n)
    found: Array = (middle + z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)
    return found
