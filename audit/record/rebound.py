"""Comparison: the bounds of a record at another error probability, so that two records can be held against each other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, PredictionStability, ScoreStability
from dpassay.engine.testers.means import detectable_difference
from dpassay.engine.testers.proportions import detectable_share, share_lower
from dpassay.errors import InvalidInput, as_real, require
from dpassay.stats.betting import Spreads, difference_lower, difference_upper
from dpassay.stats.binomial import leak_upper
from dpassay.stats.bounds import Counts, clopper_pearson_upper
from dpassay.stats.inversion import upper
from dpassay.stats.lower_bounds import MOST_ALPHA, NAMES, Method, lower_bound
from dpassay.stats.methods import method_key
from dpassay.stats.power import Screening, detectable
from dpassay.stats.scales import Ratio, scale_of
from dpassay.stats.stouffer import STOUFFER
from dpassay.stats.upper_bounds import accuracy_upper

Array = NDArray[np.int64]
Raw = Mapping[str, Any]


def require_alpha(alpha: float) -> None:
    """Raise `InvalidInput` unless every test behind a bound is proven at this error probability."""
    require(0 < as_real(alpha) <= MOST_ALPHA, "alpha", alpha, f"in (0, {MOST_ALPHA}]")


def bounds_at_alpha(result: Raw, claim: Claim, alpha: float, cells: Sequence[Raw] | None = None) -> tuple[float, float]:
    """Bound the largest leak of some of the cells that a result lists, from both sides and anew.

    Parameters
    ----------
    result : mapping
        An entry of a record's `results` that has evidence.
    claim : Claim
        The result's.
    alpha : float
        Error probability of each of the two bounds, for all certified cells together (Bonferroni); in (0, 0.25].
    cells : sequence of mapping, optional
        Entries of its `per_query`; by default all, and where the law was computed all cells that were audited.

    Returns
    -------
    tuple of float
        Lower and upper bound, in the units of the claim; where the law was computed those of the record, which have no error
        probability. The upper one is about the event of every cell, its complement, and both directions.
    """
    require_alpha(alpha)
    if result["exact"] is not None:
        known = [result] if cells is None else cells
        return max(float(each["lower"]) for each in known), max(float(each["upper"]) for each in known)
    each = _each(result, alpha, cells)
    cells = result["per_query"] if cells is None else cells
    low, high = max(at_alpha(cell, claim, each) for cell in cells), 0.0
    for cell in cells:
        high = upper_at_alpha(cell, claim, each, floor=high)
    return low, high


def bounds_of_cell(result: Raw, claim: Claim, alpha: float, cells: Sequence[Raw], k: int) -> tuple[float, float]:
    """Bound the leak of one of some cells from both sides, anew; the bounds of all of them hold together.

    Arguments and what is returned are those of `bounds_at_alpha`, but for the one cell.
    """
    cell = cells[k]
    if result["exact"] is not None:
        return float(cell["lower"]), float(cell["upper"])
    each = _each(result, alpha, cells)
    return at_alpha(cell, claim, each), upper_at_alpha(cell, claim, each)


def _each(result: Raw, alpha: float, cells: Sequence[Raw] | None = None) -> float:
    """Error probability of a cell: an equal part of alpha for every one that its cells were chosen from.

    Cells of a baseline were chosen before their trials; the others are the worst of those that were certified.
    """
    again = result.get("again", ())
    chosen_before = cells and all(any(cell is each for each in again) for cell in cells)
    number = len(again) if chosen_before else int(result["searched"]["certified_cells"])
    return alpha / max(1, number)


def in_common(old: Raw, new: Raw) -> tuple[tuple[Raw, ...], tuple[Raw, ...]]:
    """Return the cells that two results both list, as each lists them, in the same order.

    A cell is a pair of datasets, a query and an event; as the bounds from above are about the event's complement and both
    directions too, those are the same cell. The new record may have counted cells of the old one again.
    """
    listed = [(result, [*result["per_query"], *result.get("again", ())]) for result in (old, new)]
    named = "pair_key" if all("pair_key" in cell for _, cells in listed for cell in cells) else "change"
    here, there = ({_place(cell, result, named): cell for cell in cells} for result, cells in listed)
    both = [place for place in here if place in there]
    return tuple(here[place] for place in both), tuple(there[place] for place in both)


def _place(cell: Raw, result: Raw, named: str) -> Hashable:
    """Return what a cell is known by; `named` is the field that says which pair it is of."""
    point = None if cell["point"] is None else tuple(cell["point"])
    event = cell["event"]
    if isinstance(event, Mapping):
        sides: Hashable = tuple(event.values())
    else:
        labels = frozenset((result["witness"] or {}).get("labels", ()))
        sides = frozenset((frozenset(event), labels - frozenset(event)))
    return cell.get("data"), cell["group"], cell["query"], point, cell["pair"], cell[named], sides


def detectable_at_alpha(
    result: Raw, claim: Claim, draws: int, alpha: float, above: float | None = None, cells: Sequence[Raw] | None = None
) -> float:
    """Say what leak so many trials would show, with probability 0.9, to be above a number, at the cells of a sampled result.

    Parameters
    ----------
    result : mapping
        Only the number of its certified cells counts, and the spreads of its answers where the claim is about their means.
    claim : Claim
        What kind of leak it is.
    draws : int
        Certification trials per side.
    alpha : float
        The common error probability, for all certified cells together; in (0, 0.25].
    above : float, optional
        The number, in the units of the claim; by default what is claimed, so that the leak would be refuted.
    cells : sequence of mapping, optional
        At which of its cells, see `in_common`, for a leak through the event of the first one at the frequency that was seen; by
        default at all that it lists, for a leak through the claim's worst face.

    Returns
    -------
    float
        In the units of the claim; inf where no leak would be seen with that probability.
    """
    require_alpha(alpha)
    limit = claim.promised if above is None else above
    each, answers = _each(result, alpha, cells), (cells or result["per_query"])[0]
    if isinstance(claim, PredictionStability) and answers["histograms"] is not None:
        width, _, _, spreads = _answers(answers)
        alone = Screening(draws=draws, pairs=1)
        seen = detectable_difference(gamma=limit / width, n=draws, alpha=each, spreads=spreads, screening=alone)
        return width * seen
    if isinstance(claim, ScoreStability):
        return detectable_share(promised=limit, n=draws, alpha=each, screening=Screening(draws=draws, pairs=1))
    frequency = 1.0 if cells is None or answers["counts"] is None else answers["counts"]["x"] / answers["counts"]["n1"]
    return detectable(scale=scale_of(claim), promised=limit, n=draws, alpha=each, frequency=frequency)


def at_alpha(cell: Raw, claim: Claim, alpha: float) -> float:
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
    if isinstance(claim, ScoreStability) and cell["counts"] is not None:
        return share_lower(Counts(**cell["counts"]), alpha)
    method, counts = _counted(cell)
    return lower_bound(method, counts, scale=scale_of(claim), alpha=alpha).value


def upper_at_alpha(cell: Raw, claim: Claim, alpha: float, floor: float = 0.0) -> float:
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
    if isinstance(claim, ScoreStability) and cell["counts"] is not None:
        return max(floor, float(clopper_pearson_upper(cell["counts"]["x"], cell["counts"]["n1"], alpha)))
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


def _counted(cell: Raw) -> tuple[Method, Counts]:
    methods = [method for method in NAMES if method == method_key(cell["method"])]
    if cell["counts"] is None or not methods:
        raise InvalidInput(f"cell of query {cell['query']}: was not sampled; only sampled bounds have an error probability")
    return methods[0], Counts(**cell["counts"])


def _answers(cell: Raw) -> tuple[float, Array, Array, Spreads]:
    found = cell["histograms"]
    low, high = found["limits"]
    one, other = (np.asarray(found[side], dtype=np.int64) for side in ("one", "other"))
    return float(high - low), one, other, (float(found["spreads"][0]), float(found["spreads"][1]))
