"""opendp/opendp 2923 (open): the rounding of the mean is left out.

OpenDP 0.16.0. The stability of `make_sum_of_squared_deviations` allows for the rounding of the sum,
not for that of the mean. Claimed: epsilon = 2, by its own map. True: at least 3.15.

Data: 1,024 floats from 2^50 to 2^50 + 1, which are .25 apart. Answer: a float.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp

dp.enable_features("contrib")
LOW, SIZE = 2.0**50, 1024


def deviations(low: float) -> Any:
    """Return the transformation for numbers in [low, low + 1]."""
    numbers = dp.atom_domain(bounds=(low, low + 1), nan=False)
    space = dp.vector_domain(numbers, size=SIZE), dp.symmetric_distance()
    return dp.t.make_sum_of_squared_deviations(*space)


SSD, UNIT = deviations(LOW), deviations(0.0)
M = SSD >> dp.m.then_laplace(scale=SSD.map(2) / 2)
FIXED = UNIT >> dp.m.then_laplace(scale=UNIT.map(2) / 2)


def release(data: Any) -> Any:
    """Return the noisy sum of squared deviations."""
    return M(data)


def control(data: Any) -> Any:
    """Take the offset away first, which is exact; the deviations are the same."""
    return FIXED([each - LOW for each in data])
