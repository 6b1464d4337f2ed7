"""Comparison: the bounds of a record at another error probability, so that two records can be held against each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpassay.bounds import Counts
from dpassay.claims import Claim, PredictionStability
from dpassay.errors import InvalidInput
from dpassay.lower_bounds import NAMES, lower_bound
from dpassay.means import difference_lower
from dpassay.scales import scale_of


def at_alpha(cell: Mapping[str, Any], claim: Claim, alpha: float) -> float:
    """Bound a certified cell of a record anew, by the same test on the same trials.

    Parameters
    ----------
    cell : mapping
        An entry of `per_query` of a sampled result.
    claim : Claim
        The result's.
    alpha : float
        The common error probability.

    Returns
    -------
    float
        The lower bound, in the units of the claim. Bounds of two records at alpha each lie below their leaks together with
        probability at least 1 - 2 alpha, whatever they were certified at.

    Raises
    ------
    InvalidInput
        If the cell was not sampled.
    """
    if isinstance(claim, PredictionStability) and cell["histograms"] is not None:
        found = cell["histograms"]
        low, high = found["limits"]
        one, other = (np.asarray(found[side], dtype=np.int64) for side in ("one", "other"))
        spreads = (float(found["spreads"][0]), float(found["spreads"][1]))
        return float((high - low) * max(0.0, difference_lower(one, other, alpha=alpha, spreads=spreads)))
    methods = [method for method, name in NAMES.items() if name == cell["method"]]
    if cell["counts"] is None or not methods:
        raise InvalidInput(f"cell of query {cell['query']}: was not sampled; only sampled bounds have an error probability")
    return lower_bound(methods[0], Counts(**cell["counts"]), scale=scale_of(claim), alpha=alpha).value
