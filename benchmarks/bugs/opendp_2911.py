"""No bug: opendp/opendp 2911 (closed).

OpenDP 0.14.2 to 0.16.0. Under zCDP `make_noisy_max` was said to be permute-and-flip, charged like
the exponential mechanism. Claimed: rho = .5 at scale 1, scores at L-infinity distance 1. True: the
samples match the exponential mechanism, for which the claim holds. There is no control.

Data: two scores. Answer: the index of one.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp

dp.enable_features("contrib")
SCORES = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
M = dp.m.make_noisy_max(*SCORES, dp.zero_concentrated_divergence(), scale=1.0)


def release(data: Any) -> Any:
    """Return the index of a noisy maximum."""
    return M([int(each // 1) for each in data])
