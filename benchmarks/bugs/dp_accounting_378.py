"""google/differential-privacy 378 (open): the RDP accountant under replace-one.

dp-accounting 0.6.0. `GaussianDpEvent` defines the noise multiplier as sigma over the norm C of a
record. Under REPLACE_ONE the RDP accountant takes it for sigma over the sensitivity, but the sum
can move by 2 C. Claimed: rho = .5, which is epsilon = 5.2 at delta = 1e-6 and 2.75 at .01. True:
rho = 2, epsilon = 11.0 at delta = 1e-6.

The control is the same release, held against what the accountant says of the multiplier 1/2. The
library is not called: it is the claim that is wrong.

Data: a list of ten numbers. Answer: a float.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SIGMA, CLIP = 1.0, 1.0
RNG = np.random.default_rng()


def release(data: Any) -> Any:
    """Return the sum of clipped numbers with noise: the mechanism of the event's docstring."""
    return float(np.clip(data, -CLIP, CLIP).sum() + SIGMA * RNG.normal())


control = release
