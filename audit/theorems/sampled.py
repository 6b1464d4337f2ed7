"""What trials say of a probability that a statement bounds."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.theorems.row import Measured

POWER = 0.9


def frequency(claimed: float, x: int, n: int, *, alpha: float) -> Measured:
    """Bound a probability by how often something happened, for a claim that it is at most so much.

    It happened `x` times in `n` independent trials. Each of the two Clopper-Pearson limits
    takes half of alpha.
    """
    counts = np.arange(n + 1)
    least = int(np.argmax(clopper_pearson_lower(counts, n, alpha / 2) > claimed))
    seen = float(betaincinv(least, n - least + 1, POWER)) if least else None
    return Measured(
        claimed=claimed,
        lower=float(clopper_pearson_lower(x, n, alpha / 2)),
        upper=float(clopper_pearson_upper(x, n, alpha / 2)),
        alpha=alpha,
        detectable=seen,
    )
