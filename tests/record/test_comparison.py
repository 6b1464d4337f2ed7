"""Bounds of a record at another error probability."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.claims import DP, Claim, PredictionStability, Stability
from dpassay.errors import InvalidInput
from dpassay.record.compare import compare
from dpassay.record.rebound import at_alpha, bounds_at_alpha, detectable_at_alpha, upper_at_alpha
from dpassay.stats.bounds import Counts
from dpassay.stats.lower_bounds import NAMES, Method, lower_bound
from dpassay.stats.scales import scale_of

COUNTS = {"x": 700, "n1": 1000, "y": 200, "n0": 1000}


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize(
    "claim", [DP(epsilon=1.0), DP(epsilon=1.0, delta=0.05), Stability(gamma=0.1)], ids=str
)
def test_the_same_test_on_the_same_counts(method: Method, claim: Claim) -> None:
    cell: dict[str, Any] = {"query": 0, "method": method, "counts": COUNTS, "histograms": None}
    found = [at_alpha(cell, claim, alpha) for alpha in (1e-6, 1e-3, 0.05)]
    assert found == sorted(found)
    assert (
        found[1] == lower_bound(method, Counts(**COUNTS), scale=scale_of(claim), alpha=1e-3).value
    )


def test_a_cell_that_was_computed_has_no_error_probability() -> None:
    cell: dict[str, Any] = {"query": 3, "method": "exact", "counts": None, "histograms": None}
    for claim in (DP(epsilon=1.0), PredictionStability(gamma=0.1)):
        with pytest.raises(InvalidInput, match="cell of query 3: was not sampled"):
            at_alpha(cell, claim, 0.05)


@pytest.mark.parametrize("alpha", [0.0, 0.26, 0.6, 1.0, -1.0, math.nan])
@pytest.mark.parametrize("method", NAMES)
def test_an_error_probability_that_not_every_test_is_proven_at(
    alpha: float, method: Method
) -> None:
    cell: dict[str, Any] = {"query": 0, "method": method, "counts": COUNTS, "histograms": None}
    result = {"exact": None, "per_query": [cell], "searched": {"certified_cells": 4}}
    claim = DP(epsilon=1.0)
    empty: dict[str, Any] = {"results": []}
    for bound in (
        lambda: at_alpha(cell, claim, alpha),
        lambda: upper_at_alpha(cell, claim, alpha),
        lambda: bounds_at_alpha(result, claim, alpha),
        lambda: compare(empty, empty, alpha=alpha),
    ):
        with pytest.raises(InvalidInput, match=r"^alpha = .*: must be in \(0, 0\.25\]$"):
            bound()


@pytest.mark.parametrize(
    "claim", [DP(epsilon=1.0), Stability(gamma=0.1), PredictionStability(gamma=0.1)], ids=str
)
def test_fewer_trials_see_less(claim: Claim) -> None:
    answers = {"one": [1], "other": [1], "spreads": [0.1, 0.1], "limits": [0.0, 1.0]}
    cell = {"histograms": answers if isinstance(claim, PredictionStability) else None}
    result = {"per_query": [cell], "searched": {"certified_cells": 4}}
    found = [detectable_at_alpha(result, claim, draws, 1e-4) for draws in (100_000, 10_000, 1_000)]
    assert claim.promised < found[0] < found[1] < found[2]


@pytest.mark.parametrize("method", NAMES)
def test_the_largest_error_probability_gives_bounds(method: Method) -> None:
    cell: dict[str, Any] = {"query": 0, "method": method, "counts": COUNTS, "histograms": None}
    assert (
        at_alpha(cell, DP(epsilon=1.0), 0.25)
        < math.log(3.5)
        < upper_at_alpha(cell, DP(epsilon=1.0), 0.25)
    )


def test_the_upper_bound_covers_event_complement_and_both_directions() -> None:
    """Non-coverage of the largest of the four leaks, counted exactly for a small n.

    Over all count pairs.
    """
    n, alpha, p1, p0 = 30, 0.05, 0.7, 0.2
    true = max(np.log(p1 / p0), np.log((1 - p0) / (1 - p1)))
    weights = np.outer(binom.pmf(range(n + 1), n, p1), binom.pmf(range(n + 1), n, p0))
    missed = 0.0
    for x, y in np.argwhere(weights > 1e-5).tolist():
        cell = {
            "query": 0,
            "method": "fisher",
            "counts": {"x": x, "n1": n, "y": y, "n0": n},
            "histograms": None,
        }
        missed += weights[x, y] * (upper_at_alpha(cell, DP(epsilon=1.0), alpha) < true)
    assert missed + 1e-5 * (n + 1) ** 2 <= alpha
