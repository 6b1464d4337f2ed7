"""Regression: what has become worse, or better, from one record to another, entry by entry.

An entry is a mechanism, its parameters and a claim about it. Nothing about one entry depends on
which others there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from dpassay.record.comparison.changes import (
    ALPHA,
    TOLERANCE,
    Change,
    Comparison,
    entry_by_entry,
    require_tolerance,
)
from dpassay.record.comparison.entries import entry_keys, promises, renamings
from dpassay.record.comparison.leaks import leak_moved
from dpassay.record.comparison.limits import is_watched, rise_limit
from dpassay.record.comparison.power import blinder
from dpassay.record.comparison.standing import (
    came,
    own,
    recovered,
    restated,
    retargeted,
    went,
)
from dpassay.record.rebound import require_alpha

Raw = Mapping[str, Any]


def compare(
    old: Raw, new: Raw, *, tolerance: float = TOLERANCE, alpha: float = ALPHA
) -> Comparison:
    """Hold a record against an older one.

    A bound may move by the part `tolerance` of the claim before anything is said. `alpha`, in
    (0, 0.25], is that of each bound that is made anew from the counts of either record; the
    leaks at the cells that both have certified are then ordered as is said with probability at
    least 1 - 2 alpha.
    """
    require_tolerance(tolerance)
    require_alpha(alpha)
    before, after = _entries(old["results"]), _entries(new["results"])
    names = renamings(old["results"], new["results"])
    changes, unchanged = entry_by_entry(
        before,
        after,
        both=partial(_changes, tolerance=tolerance, alpha=alpha),
        new=came,
        gone=lambda result: went(result, after.values(), names),
    )
    watched = [
        (before[key], result)
        for key, result in after.items()
        if key in before and is_watched(before[key]) and is_watched(result)
    ]
    return Comparison(
        changes=changes,
        unchanged=tuple(after[key]["id"] for key in unchanged),
        tolerance=tolerance,
        alpha=alpha,
        rise_limits=tuple(rise_limit(*both, tolerance, alpha) for both in watched),
    )


def _entries(results: Sequence[Raw]) -> dict[str, Raw]:
    """Return results by what they are about."""
    return dict(zip(entry_keys(results), results, strict=True))


def _changes(old: Raw, new: Raw, tolerance: float, alpha: float) -> Iterable[Change]:
    said = list(own(new))
    yield from said
    if not said:
        yield from recovered(old, new)
    # from counts a leak at another delta can be made anew
    held = promises(new)[1:] == promises(old)[1:] or old["exact"] is None
    yield from restated(old, new, held=held)
    if "error" in (old["verdict"], new["verdict"]):
        return
    yield from retargeted(old, new)
    if new["expected"] == "refuted":
        return
    yield from blinder(old, new, tolerance, alpha)
    if held:
        yield from leak_moved(old, new, tolerance, alpha)
