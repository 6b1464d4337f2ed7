"""opendp/opendp 2924 (open): a change of many leaves adds up in the inner nodes.

OpenDP 0.16.0. The stability map of `make_b_ary_tree` under the L2 metric is height * d_in. Claimed:
rho = .32, by its own map, for integers at L2 distance 4. True: 1.36, as 16 leaves moved by 1 each
move their sum by 16.

Data: 16 integers. Answer: 17 integers, the sum first.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp

dp.enable_features("contrib")
LEAVES, SCALE = 16, 10.0
VECTORS = dp.vector_domain(dp.atom_domain(T=int), size=LEAVES), dp.l2_distance(T=int)
TREE = dp.t.make_b_ary_tree(*VECTORS, leaf_count=LEAVES, branching_factor=LEAVES)
M = TREE >> dp.m.then_gaussian(scale=SCALE)
FIXED = TREE >> dp.m.then_gaussian(scale=SCALE * (LEAVES + 1) ** 0.5 / 2)


def integers(data: Any) -> Any:
    """Return the integers below; two numbers 1 apart at most stay so."""
    return [int(each // 1) for each in data]


def release(data: Any) -> Any:
    """Return the noisy tree."""
    return M(integers(data))


def control(data: Any) -> Any:
    """Add the noise that the true sensitivity needs for the same rho."""
    return FIXED(integers(data))
