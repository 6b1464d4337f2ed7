"""Curves of Gaussian differential privacy, without SciPy, which pages need not import."""

from __future__ import annotations

import math
from statistics import NormalDist


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return delta(epsilon) of mu-Gaussian differential privacy.

    It is that of normal noise at a shift of mu deviations.

    Phi(-epsilon / mu + mu / 2) - e^epsilon Phi(-epsilon / mu - mu / 2), never below 0: Dong, Roth
    and Su (2022), section 2, and Theorem 8 of Balle and Wang (2018).
    """
    far = epsilon / mu
    first, second = normal_below(mu / 2 - far), normal_below(-mu / 2 - far)
    return max(0.0, first - math.exp(min(epsilon, 700.0)) * second)


def normal_below(z: float) -> float:
    """Return the probability that a standard normal variable is below z."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def normal_quantile(p: float) -> float:
    """Return what a standard normal variable is below with probability p; infinite at 0 and 1."""
    return -math.inf if p <= 0 else math.inf if p >= 1 else NormalDist().inv_cdf(p)
