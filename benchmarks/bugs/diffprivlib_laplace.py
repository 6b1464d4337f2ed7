"""Low bits of floats, Haney et al. 2022 (arXiv 2207.13793).

diffprivlib 0.6.6 and 0.3.0; IBM/differential-privacy-library 19 (closed for 0.3.0) and 94 (open).
Value and noise, added in floating point, have fewer bits below the point where the value is 1 than
where it is 0. Claimed: epsilon = 1. True: without limit; an answer that is no multiple of 2^-54
cannot come from the value 1.

Data: a list of one number. Answer: a float.
"""

from __future__ import annotations

import math
from typing import Any

from diffprivlib.mechanisms import Laplace

try:
    LAPLACE = Laplace(epsilon=1.0, sensitivity=1.0)
except TypeError:  # 0.3.0
    LAPLACE = Laplace().set_epsilon(1.0).set_sensitivity(1.0)


def release(data: Any) -> Any:
    """Return the number with noise."""
    return float(LAPLACE.randomise(float(data[0])))


def control(data: Any) -> Any:
    """Round to a grid far coarser than the bits that leak."""
    return math.floor(release(data) * 2.0**20 + 0.5) / 2.0**20
