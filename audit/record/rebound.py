"""Bounds of a record made anew at another error probability, so that two can be compared."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpassay.claims import Claim
from dpassay.engine.kinds import kind_of
from dpassay.engine.testers.tester import CellEffort, Recorded
from dpassay.errors import InvalidInput, as_real, require
from dpassay.record.comparer import Span
from dpassay.stats.bounds import Counts, Histograms
from dpassay.stats.lower_bounds import MOST_ALPHA
from dpassay.stats.paired import Joint
from dpassay.stats.power import Screening

Raw = Mapping[str, Any]


def bounds_at_alpha(
    result: Raw, claim: Claim, alpha: float, cells: Sequence[Raw] | None = None
) -> Span:
    """Bound the largest leak of some of the cells that a result lists, from both sides and anew.

    `alpha`, in (0, 0.25], is the error probability of each of the two bounds, for all certified
    cells together (Bonferroni). By default all cells of `per_query` count, and where the law was
    computed all cells that were audited: the bounds are those of the record then. The upper one
    is about the event of every cell, its complement, and both directions.
    """
    if cells is None:
        cells = result["per_query"] if result["exact"] is None else [result]
    return worst(bounds_of_cells(result, claim, cells, alpha))


def bounds_of_cells(result: Raw, claim: Claim, cells: Sequence[Raw], alpha: float) -> list[Span]:
    """Bound the leak of each of some cells from both sides; all bounds of a side hold together."""
    _require(alpha)
    if result["exact"] is not None:
        return [(float(cell["lower"]), float(cell["upper"])) for cell in cells]
    each = _share(result, alpha, cells)
    return [(at_alpha(cell, claim, each), upper_at_alpha(cell, claim, each)) for cell in cells]


def worst(bounds: Iterable[Span]) -> Span:
    """Return bounds on the largest of several leaks."""
    lower, upper = zip(*bounds, strict=True)
    return max(lower), max(upper)


def at_alpha(cell: Raw, claim: Claim, alpha: float) -> float:
    """Bound a certified cell of a sampled result from below anew, by the same test and trials."""
    _require(alpha)
    tester = kind_of(claim)
    if joint := cell.get("joint"):
        if answers := cell["histograms"]:
            tester = replace(tester, numbers=tuple(answers["limits"]))
        return Joint.from_json(joint).lower(tester.lines, claim.promised, alpha)
    try:
        return tester.lower_again(recorded_trials(cell), alpha)
    except InvalidInput as error:
        raise InvalidInput(f"cell of query {cell['query']}: {error}") from None


def upper_at_alpha(cell: Raw, claim: Claim, alpha: float) -> float:
    """Bound the leak of a certified cell's event or its complement, in both directions, from above.

    It is inf where nothing bounds the leak.
    """
    _require(alpha)
    return math.inf if "joint" in cell else kind_of(claim).upper_again(recorded_trials(cell), alpha)


def detectable_at_alpha(
    result: Raw,
    claim: Claim,
    draws: int,
    alpha: float,
    above: float | None = None,
    cells: Sequence[Raw] | None = None,
) -> float:
    """Return the leak above a number that `draws` trials a side would show with probability 0.9.

    It is that of a sampled result, in the units of the claim, or inf. `alpha` is shared by all
    certified cells. `above` is by default what is claimed, so that the leak would be refuted. The
    `cells` (see `in_common`) stand for a leak through the event of the first one at the frequency
    that was seen; by default the leak is at all listed cells, through the claim's worst face.
    """
    _require(alpha)
    limit = claim.promised if above is None else above
    each = _share(result, alpha, cells)
    effort = CellEffort(n=draws, alpha=each, screening=Screening(draws=draws, pairs=1))
    cell = recorded_trials((cells or result["per_query"])[0])
    return kind_of(claim).detectable_again(cell, limit, effort, through=cells is not None)


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
    named = (cell[name] for name in ("group", "query", "pair", "pair_key"))
    return cell.get("data"), *named, point, sides


def _share(result: Raw, alpha: float, cells: Sequence[Raw] | None) -> float:
    """Return the error probability of a cell: an equal part for every one it was chosen from.

    Cells of a baseline were chosen before their trials; the others are the worst of those that were
    certified.
    """
    again = result.get("again", ())
    chosen_before = cells and all(any(cell is each for each in again) for cell in cells)
    number = len(again) if chosen_before else int(result["searched"]["certified_cells"])
    return alpha / max(1, number)


def recorded_trials(cell: Raw) -> Recorded:
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


def _require(alpha: float) -> None:
    """Raise `InvalidInput` unless every test behind a bound is proven at this error probability."""
    require(0 < as_real(alpha) <= MOST_ALPHA, "alpha", alpha, f"in (0, {MOST_ALPHA}]")
