"""Of many queries, guards look at those that are bounded and at some others."""

from __future__ import annotations

import numpy as np

from dpassay.engine.guards import SPREAD, _looked_at


def test_few_queries_are_all_looked_at() -> None:
    for queries in (1, 2, SPREAD):
        assert _looked_at(queries, (0,)).tolist() == list(range(queries))


def test_of_many_the_bounded_ones_and_an_even_spread() -> None:
    found = _looked_at(10_000, {17, 9_000, 9_999})
    assert {17, 9_000, 0, 9_999} <= set(found.tolist())
    assert SPREAD <= len(found) <= SPREAD + 3
    assert np.diff(found).max() <= 10_000 / (SPREAD - 1) + 1
