"""Gaussian noise on a prediction-stable predictor (Dwork and Feldman 2018, section 4.2).

"Addition of Laplace or Gaussian noise suffices to obtain a differentially private prediction
algorithm"; the paper gives no standard deviation and no claim for the Gaussian. Built is the
smallest that gives (epsilon, delta) for every epsilon > 0: sigma = gamma / s, where s solves
Phi(s/2 - epsilon/s) - e^epsilon Phi(-s/2 - epsilon/s) = delta (Balle and Wang 2018, Theorem 8). The
usual sigma = gamma sqrt(2 ln(1.25 / delta)) / epsilon (Dwork and Roth 2014, Theorem A.1) is proven
for epsilon < 1 only; `calibration="classic"` builds that, for larger epsilon too, where nobody has
printed it and it fails in the end (docs/findings.md, 'The classic Gaussian above 1').
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import scipy

from dpassay.claims import DP, Claim
from dpassay.mechanisms.dwork_feldman_2018.noisy import Noisy
from dpassay.mechanisms.shared.ranges import check_proportion, check_word
from dpassay.noise import Noise
from dpassay.promise import Status

PRINTED: Status = "printed"
OWN: Status = "own"
SAFE = 1 - 1e-12
"""The shift is made smaller by this, more than root finding can have made it too large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StableGaussian(Noisy):
    """A prediction-stable predictor plus Gaussian noise.

    Parameters
    ----------
    epsilon, r, learner, predictor, gamma
        See `Noisy`.
    delta : float
        Claimed additive slack; in (0, 1).
    calibration : {"analytic", "classic"}
        How the standard deviation follows from gamma, epsilon and delta.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or the predictor claims no rate.
    """

    delta: float = 1e-5
    calibration: Literal["analytic", "classic"] = "analytic"

    def __post_init__(self) -> None:
        super(StableGaussian, self).__post_init__()
        check_proportion(delta=self.delta)
        check_word("analytic", "classic", calibration=self.calibration)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the noise is made for; the paper prints no constants."""
        text = "Dwork and Feldman 2018, section 4.2, which prints no standard deviation: that of"
        source, status = f"{text} Balle and Wang 2018, Theorem 8", PRINTED
        if self.calibration == "classic":
            source = f"{text} Dwork and Roth 2014, Theorem A.1"
            if self.epsilon >= 1:
                source, status = f"{source}, which does not cover epsilon >= 1", OWN
        return (
            DP(
                epsilon=self.epsilon,
                delta=self.delta,
                coins=self.coins,
                source=self.cited(source),
                status=status,
            ),
        )

    @property
    def noise(self) -> Noise:
        """Gaussian noise."""
        if self.calibration == "classic":
            return Noise(
                kind="gaussian",
                scale=self.rate * math.sqrt(2 * math.log(1.25 / self.delta)) / self.epsilon,
            )
        return Noise(kind="gaussian", scale=self.rate / largest_shift(self.epsilon, self.delta))


@lru_cache(maxsize=1024)
def largest_shift(epsilon: float, delta: float) -> float:
    """Return the largest shift at which Gaussian noise is (epsilon, delta)-private.

    In standard deviations.
    """
    unit = Noise(kind="gaussian", scale=1.0)

    def excess(s: float) -> float:
        """How much more than delta the hockey stick may be, its numerical error added.

        Increasing in s.
        """
        shift, at = np.asarray(s), np.asarray(epsilon)
        return float(unit.hockey_stick(shift, at) + unit.doubt(shift, at)) - delta

    high = 1.0
    while excess(high) <= 0:
        high *= 2
    low = high
    while excess(low) > 0:
        low /= 2
    return float(scipy.optimize.brentq(excess, low, high, xtol=1e-300, rtol=8.9e-16)) * SAFE
