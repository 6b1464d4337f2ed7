"""The leaks of an entry in two records: whether they moved beyond chance and the tolerance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpassay.claims import Claim
from dpassay.numerics import DOWN, UP, written
from dpassay.record.comparison.changes import Change
from dpassay.record.comparison.entries import change_of, claim_of
from dpassay.record.rebound import bounds_at_alpha, bounds_of_cell, in_common

Raw = Mapping[str, Any]
Span = tuple[float, float]
"""Lower and upper bound, in the units of the claim."""


def leak_moved(old: Raw, new: Raw, tolerance: float, alpha: float) -> Iterable[Change]:
    """Say that a leak moved, by more than the tolerance and so that the two intervals do not meet.

    Which cells are certified is chosen by the screening, from noise: only the very same cell tells
    whether the mechanism has changed, or any cell where the law was computed for all of them.
    """
    claim, shared, alike = claim_of(new), in_common(old, new), _sought_alike(old, new)
    all_shared = len(shared[0]) == len(old["per_query"]) == len(new["per_query"])
    margin = tolerance * claim.promised
    everywhere = before, after = _both(old, new, claim, alpha)

    def spans(*, known: bool) -> tuple[Span, Span] | None:
        """Return old and new bounds at cells whose leaks may be held against each other."""
        if all_shared or (alike and known):
            return everywhere
        return _both(old, new, claim, alpha, shared) if shared[0] else None

    rise, fall = spans(known=old["exact"] is not None), spans(known=new["exact"] is not None)
    one_by_one = [
        (
            bounds_of_cell(old, claim, alpha, shared[0], k),
            bounds_of_cell(new, claim, alpha, shared[1], k),
        )
        for k in range(len(shared[0]))
    ]
    rises = [
        each
        for each in (*one_by_one, rise)
        if each is not None and _above(each[1], each[0], margin)
    ]
    if rises:
        most = max(rises, key=lambda both: both[1][0] - both[0][1])
        yield change_of(new, "rose", _moved(most, old, new, claim), max(after[0], most[1][0]))
    elif _above(after, before, margin):
        words = (
            f"the {claim.quantity} is at least {written(after[0], way=DOWN)} at a cell that the "
            f"old record had not certified, and was at most {written(before[1], way=UP)} at those "
            f"it lists; whether it rose there is not known; the claim allows {claim.promised:g}"
        )
        yield change_of(new, "elsewhere", words)
    elif fall is not None and _above(fall[0], fall[1], margin):
        yield change_of(new, "fell", _moved(fall, old, new, claim))


def _both(
    old: Raw,
    new: Raw,
    claim: Claim,
    alpha: float,
    cells: tuple[Sequence[Raw] | None, Sequence[Raw] | None] = (None, None),
) -> tuple[Span, Span]:
    """Return the bounds of both records at some of their cells, by default at all they list."""
    return bounds_at_alpha(old, claim, alpha, cells[0]), bounds_at_alpha(
        new, claim, alpha, cells[1]
    )


def _above(one: Span, other: Span, margin: float) -> bool:
    """Return whether an interval lies above another, and starts by more than the margin higher."""
    return one[0] > other[1] and one[0] - other[0] > margin


def _sought_alike(old: Raw, new: Raw) -> bool:
    """Return whether two records have audited the same cells, if the data are the same."""
    here, there = (
        (
            *(result["searched"][name] for name in ("pairs", "queries", "keys")),
            {cell.get("data") for cell in result["per_query"]},
        )
        for result in (new, old)
    )
    return here == there


def _moved(bounds: tuple[Span, Span], old: Raw, new: Raw, claim: Claim) -> str:
    before, after = bounds
    return (
        f"the {claim.quantity} is {_span(after, new)} and was {_span(before, old)}; the claim "
        f"allows {claim.promised:g}"
    )


def _span(bounds: Span, result: Raw) -> str:
    if result["exact"] is not None:
        return written(bounds[1])
    return (
        f"between {written(bounds[0], way=DOWN)} and {written(bounds[1], way=UP)} at the cells "
        "that both certified"
    )
