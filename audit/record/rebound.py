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

    `alpha`, in (0, 0.25], is the error probability of each of the two bounds, for all certified
    cells together (Bonferroni). By default all cells of `per_query` count, and where the law
    was computed all cells that were audited: the bounds are those of the record then, which
    have no error probability. The bounds are in the units of the claim; the upper one is about
    the event of every cell, its complement, and both directions.
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
    """Return the leak above a number that `draws` trials a side would show with probability 0.9.

    It is that of a sampled result, in the units of the claim, or inf. Only the number of the
    result's certified cells counts, and the spreads of its answers if the claim is about their
    means. `alpha`, in (0, 0.25], is shared by all certified cells. `above` is by default what
    is claimed, so that the leak would be refuted. The `cells` (see `in_common`) stand for a
    leak through the event of the first one at the frequency that was seen; by default the leak
    is at all listed cells, through the claim's worst face.
    """
    require_alpha(alpha)
    limit = claim.promised if above is None else above
    effort = Effort(
        n=draws, alpha=_each(result, alpha, cells), screening=Screening(draws=draws, pairs=1)
    )
    cell = _recorded((cells or result["per_query"])[0])
    return kind_of(claim).detectable(cell, limit, effort, through=cells is not None)


def at_alpha(cell: Raw, claim: Claim, alpha: float) -> float:
    """Bound a certified cell of a sampled result from below anew, by the same test and trials.

    Bounds of two records at alpha each lie below their leaks together with probability at least
    1 - 2 alpha, whatever they were certified at.
    """
    require_alpha(alpha)
    with _named(cell):
        return kind_of(claim).lower(_recorded(cell), alpha)


def upper_at_alpha(cell: Raw, claim: Claim, alpha: float, floor: float = 0.0) -> float:
    """Bound the leak of a certified cell's event or its complement from above.

    The larger of both directions counts. The bound need not go below `floor`, another cell's
    bound say; it is inf where nothing bounds the leak.
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
