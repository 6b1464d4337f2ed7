"""Comparison: the bounds of a record at another error probability, so that two records can be held against each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.bounds import Counts
from dpassay.claims import Claim, PredictionStability
from dpassay.combined import upper
from dpassay.errors import InvalidInput, as_real, require
from dpassay.limits import leak_upper
from dpassay.lower_bounds import MOST_ALPHA, NAMES, Method, lower_bound
from dpassay.means import Spreads, difference_lower, difference_upper
from dpassay.scales import Ratio, scale_of
from dpassay.stouffer import STOUFFER
from dpassay.upper_bounds import accuracy_upper

Array = NDArray[np.int64]


def require_alpha(alpha: float) -> None:
    """Raise `InvalidInput` unless every test behind a bound is proven at this error probability."""
    require(0 < as_real(alpha) <= MOST_ALPHA, "alpha", alpha, f"in (0, {MOST_ALPHA}]")


def bounds_at_alpha(result: Mapping[str, Any], claim: Claim, alpha: float) -> tuple[float, float]:
    """Bound the largest leak of the cells that a result lists, from both sides and anew.

    Parameters
    ----------
    result : mapping
        An entry of a record's `results` that has evidence.
    claim : Claim
        The result's.
    alpha : float
        Error probability of each of the two bounds, for all certified cells together (Bonferroni); in (0, 0.25].

    Returns
    -------
    tuple of float
        Lower and upper bound, in the units of the claim; where the law was computed those of the record, which have no error
        probability. The upper one is about the event of every cell, its complement, and both directions.
    """
    require_alpha(alpha)
    if result["exact"] is not None:
        return float(result["lower"]), float(result["upper"])
    each = alpha / max(1, result["searched"]["certified_cells"])
    cells = result["per_query"]
    low, high = max(at_alpha(cell, claim, each) for cell in cells), 0.0
    for cell in cells:
        high = upper_at_alpha(cell, claim, each, floor=high)
    return low, high


def at_alpha(cell: Mapping[str, Any], claim: Claim, alpha: float) -> float:
    """Bound a certified cell of a record anew, by the same test on the same trials.

    Parameters
    ----------
    cell : mapping
        An entry of `per_query` of a sampled result.
    claim : Claim
        The result's.
    alpha : float
        The common error probability; in (0, 0.25].

    Returns
    -------
    float
        The lower bound, in the units of the claim. Bounds of two records at alpha each lie below their leaks together with
        probability at least 1 - 2 alpha, whatever they were certified at.

    Raises
    ------
    InvalidInput
        If the cell was not sampled, or alpha is out of range.
    """
    require_alpha(alpha)
    if isinstance(claim, PredictionStability) and cell["histograms"] is not None:
        width, one, other, spreads = _answers(cell)
        return width * max(0.0, difference_lower(one, other, alpha=alpha, spreads=spreads))
    method, counts = _counted(cell)
    return lower_bound(method, counts, scale=scale_of(claim), alpha=alpha).value


def upper_at_alpha(cell: Mapping[str, Any], claim: Claim, alpha: float, floor: float = 0.0) -> float:
    """Bound the leak of a certified cell's event from above, or of its complement, or the other way round, whichever is most.

    Parameters
    ----------
    cell, claim, alpha
        As for `at_alpha`.
    floor : float
        What the bound need not go below: another cell's, say.

    Returns
    -------
    float
        In the units of the claim; inf where nothing bounds it.
    """
    require_alpha(alpha)
    if isinstance(claim, PredictionStability) and cell["histograms"] is not None:
        width, one, other, spreads = _answers(cell)
        return max(floor, width * difference_upper(one, other, alpha=alpha, spreads=spreads))
    counts = _counted(cell)[1]
    scale = scale_of(claim)
    if not isinstance(scale, Ratio):
        return max(floor, accuracy_upper(counts.x, counts.y, counts.n1, alpha=alpha))
    highest = floor
    for x, n1, y, n0 in _faces(counts):
        plain = float(leak_upper(x, n1, y, n0, scale=scale, alpha=alpha / 2))
        if plain > highest:
            highest = min(plain, upper(STOUFFER, x, n1, y, n0, scale=scale, alpha=alpha / 2, floor=highest))
    return highest


def _faces(counts: Counts) -> tuple[tuple[int, int, int, int], ...]:
    """Return the counts of an event and of its complement, in both directions."""
    one, other = (counts.x, counts.n1), (counts.y, counts.n0)
    rest, other_rest = (counts.n1 - counts.x, counts.n1), (counts.n0 - counts.y, counts.n0)
    return (*one, *other), (*other, *one), (*rest, *other_rest), (*other_rest, *rest)


def _counted(cell: Mapping[str, Any]) -> tuple[Method, Counts]:
    methods = [method for method, name in NAMES.items() if name == cell["method"]]
    if cell["counts"] is None or not methods:
        raise InvalidInput(f"cell of query {cell['query']}: was not sampled; only sampled bounds have an error probability")
    return methods[0], Counts(**cell["counts"])


def _answers(cell: Mapping[str, Any]) -> tuple[float, Array, Array, Spreads]:
    found = cell["histograms"]
    low, high = found["limits"]
    one, other = (np.asarray(found[side], dtype=np.int64) for side in ("one", "other"))
    return float(high - low), one, other, (float(found["spreads"][0]), float(found["spreads"][1]))
