"""opendp/opendp 2922 (open): the threshold itself is released.

OpenDP 0.16.0. `make_laplace_threshold` releases keys whose noisy count is at least the threshold;
its delta leaves out the atom at the threshold. Claimed: epsilon = 1 and delta = .004926. True: at
epsilon = 1 delta is P[noise >= 4] = e^-4 / (1 + 1 / e) = .0134.

Data: a list of texts. Answer: counts by text, often none.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp

dp.enable_features("contrib")
COUNT = dp.t.make_count_by(dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance())
M = COUNT >> dp.m.then_laplace_threshold(scale=1.0, threshold=5)
FIXED = COUNT >> dp.m.then_laplace_threshold(scale=1.0, threshold=6)


def release(data: Any) -> Any:
    """Return the noisy counts that reach the threshold."""
    return M(data)


def control(data: Any) -> Any:
    """Take the threshold 6, which has exactly the delta that is printed for 5."""
    return FIXED(data)
