"""Comparison: the bounds of a record at another error probability.

So two records can be held against each other.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dpassay.claims import Claim
from dpassay.engine.kinds import kind_of
from dpassay.engine.testers.interface import Effort, Recorded
from dpassay.errors import InvalidInput, as_real, require
from dpassay.stats.bounds import Counts, Histograms
from dpassay.stats.lower_bounds import MOST_ALPHA
from dpassay.stats.power import Screening

Raw = Mapping[str, Any]


def require_alpha(alpha: float) -> None:
    """Raise `InvalidInput` unless every test behind a bound is proven at this error probability."""
    require(0 < as_real(alpha) <= MOST_ALPHA, "alpha", alpha, f"in (0, {MOST_ALPHA}]")


def bounds_at_alpha(
    result: Raw, claim: Claim, alpha: float, cells: Sequence[Raw] | None = None
) -> tuple[float, float]:
    """Bound the largest leak of some of the cells that a result lists, from both sides and anew.

    Parameters
    ----------
    result : mapping
        An entry of a record's `results` that has evidence.
    claim : Claim
        The result's.
    alpha : float
        Error probability of each of the two bounds, for all certified cells together (Bonferroni);
        in (0, 0.25].
    cells : sequence of mapping, optional
        Entries of its `per_query`; by default all, and where the law was computed all cells that
        were audited.

    Returns
    -------
    tuple of float
        Lower and upper bound, in the units of the claim; where the law was computed those of the
        record, which have no error probability. The upper one is about the event of every cell, its
        complement, and both directions.
    """
    require_alpha(alpha)
    if result["exact"] is not None:
        known = [result] if cells is None else cells
        return max(float(each["lower"]) for each in known), max(
            float(each["upper"]) for each in known
        )
    each = _each(result, alpha, cells)
    cells = result["per_query"] if cells is None else cells
    low, high = max(at_alpha(cell, claim, each) for cell in cells), 0.0
    for cell in cells:
        high = upper_at_alpha(cell, claim, each, floor=high)
    return low, high


def bounds_of_cell(
    result: Raw, claim: Claim, alpha: float, cells: Sequence[Raw], k: int
) -> tuple[float, float]:
    """Bound the leak of one of some cells from both sides, anew.

    The bounds of all of them hold together.

    Arguments and what is returned are those of `bounds_at_alpha`, but for the one cell.
    """
    cell = cells[k]
    if result["exact"] is not None:
        return float(cell["lower"]), float(cell["upper"])
    each = _each(result, alpha, cells)
    return at_alpha(cell, claim, each), upper_at_alpha(cell, claim, each)


def _each(result: Raw, alpha: float, cells: Sequence[Raw] | None = None) -> float:
    """Error probability of a cell.

    An equal part of alpha for every one that its cells were chosen from.

    Cells of a baseline were chosen before their trials; the others are the worst of those that were
    certified.
    """
    again = result.get("again", ())
    chosen_before = cells and all(any(cell is each for each in again) for cell in cells)
    number = len(again) if chosen_before else int(result["searched"]["certified_cells"])
    return alpha / max(1, number)


def in_common(old: Raw, new: Raw) -> tuple[tuple[Raw, ...], tuple[Raw, ...]]:
    """Return the cells that two results both list, as each lists them, in the same order.

    A cell is a pair of datasets, a query and an event; as the bounds from above are about the
    event's complement and both directions too, those are the same cell. The new record may have
    counted cells of the old one again.
    """
    listed = [(result, [*result["per_query"], *result.get("again", ())]) for result in (old, new)]
    here, there = ({_place(cell, result): cell for cell in cells} for result, cells in listed)
    both = [place for place in here if place in there]
    return tuple(here[place] for place in both), tuple(there[place] for place in both)


def _place(cell: Raw, result: Raw) -> Hashable:
    """Return what a cell is known by."""
    point = None if cell["point"] is None else tuple(cell["point"])
    event = cell["event"]
    if isinstance(event, Mapping):
        sides: Hashable = json.dumps(event.get("pattern", list(event.values())), sort_keys=True)
    else:
        labels = frozenset((result["witness"] or {}).get("labels", ()))
        sides = frozenset((frozenset(event), labels - frozenset(event)))
    return (
        cell.get("data"),
        cell["group"],
        cell["query"],
        point,
        cell["pair"],
        cell["pair_key"],
        sides,
    )


def detectable_at_alpha(
    result: Raw,
    claim: Claim,
    draws: int,
    alpha: float,
    above: float | None = None,
    cells: Sequence[Raw] | None = None,
) -> float:
    """Say what leak so many trials would show to be above a number, with probability 0.9.

    At the cells of a sampled result.

    Parameters
    ----------
    result : mapping
        Only the number of its certified cells counts, and the spreads of its answers where the
        claim is about their means.
    claim : Claim
        What kind of leak it is.
    draws : int
        Certification trials per side.
    alpha : float
        The common error probability, for all certified cells together; in (0, 0.25].
    above : float, optional
        The number, in the units of the claim; by default what is claimed, so that the leak would be
        refuted.
    cells : sequence of mapping, optional
        At which of its cells, see `in_common`, for a leak through the event of the first one at the
        frequency that was seen; by default at all that it lists, for a leak through the claim's
        worst face.

    Returns
    -------
    float
        In the units of the claim; inf where no leak would be seen with that probability.
    """
    require_alpha(alpha)
    limit = claim.promised if above is None else above
    effort = Effort(
        n=draws, alpha=_each(result, alpha, cells), screening=Screening(draws=draws, pairs=1)
    )
    cell = _recorded((cells or result["per_query"])[0])
    return kind_of(claim).detectable(cell, limit, effort, through=cells is not None)


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
        The lower bound, in the units of the claim. Bounds of two records at alpha each lie below
        their leaks together with probability at least 1 - 2 alpha, whatever they were certified at.

    Raises
    ------
    InvalidInput
        If the cell was not sampled, or alpha is out of range.
    """
    require_alpha(alpha)
    with _named(cell):
        return kind_of(claim).lower(_recorded(cell), alpha)


def upper_at_alpha(cell: Raw, claim: Claim, alpha: float, floor: float = 0.0) -> float:
    """Bound the leak of a certified cell's event or its complement from above.

    In both directions; the largest counts.

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
    with _named(cell):
        return kind_of(claim).upper(_recorded(cell), alpha, floor)


def _recorded(cell: Raw) -> Recorded:
    """Read the trials of a cell."""
    counts, found = cell.get("counts"), cell.get("histograms")
    return Recorded(
        method=cell.get("method", ""),
        counts=None if counts is None else Counts(**counts),
        histograms=None
        if found is None
        else Histograms(
            one=tuple(found["one"]),
            other=tuple(found["other"]),
            spreads=(float(found["spreads"][0]), float(found["spreads"][1])),
            limits=(float(found["limits"][0]), float(found["limits"][1])),
        ),
    )


@contextmanager
def _named(cell: Raw) -> Iterator[None]:
    """Say of which cell an error is."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"cell of query {cell['query']}: {error}") from None
