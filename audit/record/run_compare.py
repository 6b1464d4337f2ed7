"""Regression of a run: what has become worse, or better, from one record to another.

Nothing about one entry depends on which others there are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from dpassay.claims import Claim
from dpassay.numerics import DOWN, UP, written
from dpassay.record.comparer import Comparer, Difference, RiseLimit
from dpassay.record.entries import (
    change_of,
    claim_of,
    entry_keys,
    own,
    promises,
    recovered,
    renamings,
    restated,
    retargeted,
    vanished,
)
from dpassay.record.rebound import (
    Span,
    bounds_at_alpha,
    bounds_of_cells,
    detectable_at_alpha,
    in_common,
    worst,
)

Raw = Mapping[str, Any]


class RunComparer(Comparer):
    """Holds the results of a record of a run against those of an older one.

    `alpha` is that of each bound that is made anew from the counts of either record; the leaks at
    the cells that both have certified are then ordered as is said with probability at least
    1 - 2 alpha.
    """

    def entries(self, record: Raw) -> dict[str, Raw]:
        """Return results by what they are about."""
        return dict(zip(entry_keys(record["results"]), record["results"], strict=True))

    def came(self, entry: Raw) -> Iterable[Difference]:
        """Say that a result is new."""
        yield from own(entry)
        words = f"was not audited before: {claim_of(entry)}, {entry['verdict']}"
        yield change_of(entry, "new", words)

    def went(self, entry: Raw) -> Difference:
        """Say that a result is gone, and under which other name it may be there."""
        names = renamings(self.old["results"], self.new["results"])
        return vanished(entry, self.after.values(), names)

    def both(self, old: Raw, new: Raw) -> Iterable[Difference]:
        """Say what is different of a result."""
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
        yield from blinder(old, new, self.tolerance, self.alpha)
        if held:
            yield from leak_moved(old, new, self.tolerance, self.alpha)

    def rise_limits(self) -> Iterable[RiseLimit]:
        """Say which rise of each sampled leak would have been seen."""
        for key, result in self.after.items():
            old = self.before.get(key)
            if old is not None and is_watched(old) and is_watched(result):
                yield rise_limit(old, result, self.tolerance, self.alpha)


PLACES = {"pairs": "pairs", "queries": "query points"}
"""Fields of `searched` that say where an audit looked."""


def blinder(old: Raw, new: Raw, tolerance: float, alpha: float) -> Iterable[Difference]:
    """Say what an audit has lost, judged by what does not move when alpha is shared.

    Shared with another mechanism, that is.

    So for trials neither the recorded detectable leak nor `inconclusive` says anything: what so
    many trials can detect is worked out anew, at the common alpha and at the cells of the old
    record.
    """
    claim, here, there = claim_of(new), new["searched"], old["searched"]
    draws, before = (draws_of(result["per_query"][0]) for result in (new, old))
    # where nothing depends on a query, one will do
    places = PLACES if here.get("asked", True) else {"pairs": PLACES["pairs"]}
    lost = [
        f"{words} {here[name]:,} instead of {there[name]:,}"
        for name, words in places.items()
        if here[name] < there[name]
    ]
    gone, found = _elsewhere(there, here), _elsewhere(here, there)
    if gone:
        lost.append(f"looked elsewhere: {_list(found)} instead of {_list(gone)}")
    if new["exact"] is None and old["exact"] is not None:
        lost.append("sampled, and was computed")
    if 0 < draws < before:
        seen, could = (detectable_at_alpha(old, claim, each, alpha) for each in (draws, before))
        if seen - could > tolerance * claim.promised:
            trials = f"{draws:,} instead of {before:,} trials a side"
            lost.append(
                f"{trials}: detectable {written(seen, 4, UP)} instead of {written(could, 4, UP)} "
                "at one error probability"
            )
    if new["exact"] is not None and new["verdict"] == "inconclusive" != old["verdict"]:
        lost.append(f"inconclusive: {new['reason']}")
    if lost:
        sampled = new["exact"] is None
        size = (
            detectable_at_alpha(new, claim, draws, alpha) if sampled else float(new["detectable"])
        )
        yield change_of(new, "blinder", "; ".join(lost), size)


def _elsewhere(one: Raw, other: Raw) -> list[str]:
    """Say, in words, which searches of one record the other has not made."""
    left: Counter[str] = Counter(other["keys"])
    missing = []
    for key, how in zip(one["keys"], one["how"], strict=True):
        left[key] -= 1
        if left[key] < 0:
            missing.append(how)
    return missing


def _list(how: Iterable[str]) -> str:
    return ", ".join(f"'{each}'" for each in how) or "nowhere"


def draws_of(cell: Raw) -> int:
    """Return the certification trials per side of a cell; 0 where the law was computed."""
    if cell["counts"] is not None:
        return int(cell["counts"]["n1"])
    return 0 if cell["histograms"] is None else sum(cell["histograms"]["one"])


def leak_moved(old: Raw, new: Raw, tolerance: float, alpha: float) -> Iterable[Difference]:
    """Say that a leak moved, by more than the tolerance and so that the two intervals do not meet.

    Which cells are certified is chosen by the screening, from noise: only the very same cell tells
    whether the mechanism has changed, or any cell where the law was computed for all of them.
    """
    claim, (here, there) = claim_of(new), in_common(old, new)
    margin, alike = tolerance * claim.promised, _sought_alike(old, new)
    before, after = (bounds_at_alpha(each, claim, alpha) for each in (old, new))
    one_by_one = [
        *zip(
            bounds_of_cells(old, claim, alpha, here),
            bounds_of_cells(new, claim, alpha, there),
            strict=True,
        )
    ]

    def spans(*, known: bool) -> tuple[Span, Span] | None:
        """Return old and new bounds at cells whose leaks may be held against each other."""
        if len(here) == len(old["per_query"]) == len(new["per_query"]) or (alike and known):
            return before, after
        if not one_by_one:
            return None
        return worst(one for one, _ in one_by_one), worst(other for _, other in one_by_one)

    rise, fall = spans(known=old["exact"] is not None), spans(known=new["exact"] is not None)
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


def is_watched(result: Raw) -> bool:
    """Return whether a result has trials that a rise could be seen in.

    A claim that is known to be wrong is not watched.
    """
    return bool(
        result["verdict"] != "error" and result["exact"] is None and result["expected"] != "refuted"
    )


def rise_limit(old: Raw, new: Raw, tolerance: float, alpha: float) -> RiseLimit:
    """Say which rise would have been seen at the cells that both records have counted."""
    claim, (here, there) = claim_of(new), in_common(old, new)
    before, least = (0.0, math.inf), math.inf
    if here:
        every = bounds_of_cells(old, claim, alpha, here)
        most = max(range(len(here)), key=lambda k: every[k][0])
        before, cells = every[most], (there[most], *there[:most], *there[most + 1 :])
        must_exceed = max(before[1], before[0] + tolerance * claim.promised)
        draws = draws_of(there[most])
        least = detectable_at_alpha(new, claim, draws, alpha, must_exceed, cells)
    return RiseLimit(
        id=new["id"],
        quantity=claim.quantity,
        cells=len(here),
        of=len(old["per_query"]),
        before=before,
        least=least,
        searched="search" in new["searched"],
    )
