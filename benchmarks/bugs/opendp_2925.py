"""opendp/opendp 2925 (open): inner sums wrap around.

OpenDP 0.16.0. The inner sums of `make_b_ary_tree` wrap around at the limit of i32. Claimed:
epsilon = 1 (two layers, scale 2, integers at L1 distance 1). True: without limit, a root of
2^31 - 1 against one of -2^31.

Data: two integers. Answer: three, their sum first.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp

dp.enable_features("contrib")
SPACE = dp.vector_domain(dp.atom_domain(T=int), size=2), dp.l1_distance(T=int)
TREE = dp.t.make_b_ary_tree(*SPACE, leaf_count=2, branching_factor=2)
M = TREE >> dp.m.then_laplace(scale=2.0)
WIDE = dp.vector_domain(dp.atom_domain(T="i64"), size=3), dp.l1_distance(T="i64")
NOISE = dp.m.make_laplace(*WIDE, scale=2.0)


def integers(data: Any) -> Any:
    """Return the integers below; two numbers 1 apart at most stay so."""
    return [int(each // 1) for each in data]


def release(data: Any) -> Any:
    """Return the noisy tree."""
    return M(integers(data))


def control(data: Any) -> Any:
    """Sum in integers that do not wrap around here."""
    a, b = integers(data)
    return NOISE([a + b, a, b])
