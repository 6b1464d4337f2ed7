"""Worth: the lower bound that is to be expected of an event, in a closed form.

It ranks events before they are certified, and certifies nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from dpassay.search.views import Array
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

    Parameters
    ----------
    scale : Scale
        How a leak is measured.
    promised : float
        The claimed leak.
    n : int
        Certification trials on each side.
    alpha : float
        Error probability of the bound to come.
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

        Parameters
        ----------
        x, y : array
            Counts of events out of `m1` on the side on which they are likelier, and of `m0` on the
            other.
        m1, m0 : int or array
        caution : float
            So many standard errors of the pilot are taken off too.

        Returns
        -------
        array
            On the scale; -inf where nothing is to be expected.
        """
        m1, m0 = np.asarray(m1), np.asarray(m0)
        p1 = (np.asarray(x, dtype=float) + 0.5) / (m1 + 1)
        p0 = (np.asarray(y, dtype=float) + 0.5) / (m0 + 1)
        z = max(LEAST_Z, -float(ndtri(self.alpha)))
        rows = (z / (z / math.sqrt(self.n) + caution / np.sqrt(np.minimum(m1, m0)))) ** 2
        gain, loss = self.scale.gain, self.scale.loss
        with np.errstate(invalid="ignore", divide="ignore"):
            up, down = gain(p1), loss(p0)
            less = up - gain(np.asarray(_wilson(p1, rows, -z)))
            more = loss(np.asarray(_wilson(p0, rows, z))) - down
            found = up - down - np.hypot(less, more)
        return np.where(np.isnan(found), -np.inf, found)

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

        (plug-in leak - claim) / (S sqrt(1/n + 1/m)): its distance to z_{1 - alpha} says how likely
        the certification is to refute, given what the pilot has shown.
        """
        p1, p0 = self.share(x, m1), self.share(y, m0)
        leak = float(self.scale.between(p1, p0))
        spread = self.scale.spread(p1, p0) * math.sqrt(1 / self.n + 1 / min(m1, m0))
        if not math.isfinite(leak) or not 0 < spread < math.inf:
            return -math.inf
        return (leak - self.promised) / spread

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


def _wilson(p: Array, n: ArrayLike, z: float) -> NDArray[np.float64]:
    """Wilson's limit of a probability from a share of n trials, the lower one for negative z."""
    n = np.asarray(n)
    middle = p + z * z / (2 * n)
    found: NDArray[np.float64] = (middle + z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (
        1 + z * z / n
    )
    return found
