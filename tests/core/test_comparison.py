"""Bounds of a record at another error probability."""

from __future__ import annotations

from typing import Any

import pytest

from dpassay.bounds import Counts
from dpassay.claims import DP, Claim, PredictionStability, Stability
from dpassay.comparison import at_alpha
from dpassay.errors import InvalidInput
from dpassay.lower_bounds import NAMES, Method, lower_bound
from dpassay.scales import scale_of

COUNTS = {"x": 700, "n1": 1000, "y": 200, "n0": 1000}


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize("claim", [DP(epsilon=1.0), DP(epsilon=1.0, delta=0.05), Stability(gamma=0.1)], ids=str)
def test_the_same_test_on_the_same_counts(method: Method, claim: Claim) -> None:
    cell: dict[str, Any] = {"query": 0, "method": NAMES[method], "counts": COUNTS, "histograms": None}
    found = [at_alpha(cell, claim, alpha) for alpha in (1e-6, 1e-3, 0.05)]
    assert found == sorted(found)
    assert found[1] == lower_bound(method, Counts(**COUNTS), scale=scale_of(claim), alpha=1e-3).value


def test_a_cell_that_was_computed_has_no_error_probability() -> None:
    cell: dict[str, Any] = {"query": 3, "method": "exact law", "counts": None, "histograms": None}
    for claim in (DP(epsilon=1.0), PredictionStability(gamma=0.1)):
        with pytest.raises(InvalidInput, match="cell of query 3: was not sampled"):
            at_alpha(cell, claim, 0.05)
