"""What has become worse from one record of a run to another, result by result.

Nothing about one entry depends on which others there are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dpassay.claims import Claim, claim_from_json
from dpassay.numerics import DOWN, UP, lower_number, percent, upper_number, written
from dpassay.record.comparer import Comparer, Difference, RiseLimit, Span, difference, lies_above
from dpassay.record.entries import entry_keys, promises, renamings
from dpassay.record.files import witness_file
from dpassay.record.rebound import (
    bounds_at_alpha,
    bounds_of_cells,
    detectable_at_alpha,
    in_common,
    worst,
)
from dpassay.record.trust import trust_of

Raw = Mapping[str, Any]

MOVE = "if it is the same under a new name, move the baseline, then run again"


class RunComparer(Comparer):
    """Holds the results of a record of a run against those of an older one.

    `alpha` is that of each bound that is made anew from the counts of either record; the leaks at
    the cells that both have certified are then ordered as is said with probability at least
    1 - 2 alpha.
    """

    def entries(self, record: Raw) -> dict[str, Raw]:
        """Return results by what they are about."""
        return dict(zip(entry_keys(record["results"]), record["results"], strict=True))

    def claim(self, entry: Raw) -> str:
        """Return the claim of a result in words."""
        return str(_claim(entry))

    def promises(self, entry: Raw) -> tuple[float, ...]:
        """Return the numbers that a claim promises."""
        return promises(entry)

    def refuted(self, entry: Raw) -> Difference:
        """Say that a claim is refuted, with how sure that is and what shows it again."""
        sure = f"certified at {percent(entry['confidence'])} confidence"
        sure = sure if entry["exact"] is None else "computed from the exact law"
        held = entry["witness"]
        lost = not held or held["target"] is None or held["data"].get("kind") == "memory"
        return difference(
            entry,
            "refuted",
            f"{_claim(entry)} is refuted: {entry['reason']}; {sure}",
            float(entry["lower"]),
            witness=(held or {}).get("words", ""),
            # the file below the record's folder; data of memory cannot be replayed
            replay="" if lost else f"{witness_file(entry['id'])}{trust_of(held)}",
        )

    def gone(self, entry: Raw) -> Difference:
        """Say that a result is gone, and under which other name it may be there."""
        found, mechanism = super().gone(entry), entry["mechanism"]
        words = found.words
        if any(other["mechanism"] == mechanism for other in self.after.values()):
            words += "; the mechanism is there, with other parameters or another claim"
        name = renamings(self.old["results"], self.new["results"]).get(mechanism)
        if name is None:
            return replace(found, words=words)
        words += f"; {name} is new, with equal claims and parameters: {MOVE}"
        return replace(found, words=words, renamed=(mechanism, name))

    def both(self, old: Raw, new: Raw) -> Iterator[Difference]:
        """Yield what is different of a result: its claim, its target, its power, its leak."""
        # from counts a leak at another delta can be made anew
        held = promises(new)[1:] == promises(old)[1:] or old["exact"] is None
        more = "; at another delta a computed loss is another, so whether it rose was NOT looked at"
        yield from self.restated(old, new, "" if held else more)
        for name in ("unit", "coins"):
            was, now = old["claim"][name], new["claim"][name]
            if was != now:
                yield difference(new, "reworded", f"the claim's {name}: '{now}', and was '{was}'")
        if "error" in (old["verdict"], new["verdict"]):
            return
        # a witness names what the name stands for, where there is evidence
        one, other = ((result["witness"] or {}).get("target") for result in (old, new))
        if one != other:
            now, was = ("an object in memory" if each is None else each for each in (other, one))
            words = f"{new['mechanism']} stands for {now}, and stood for {was}"
            renamed = None if one is None or other is None else (one, other)
            words += "" if renamed is None else f"; {MOVE}"
            yield difference(new, "repointed", words, renamed=renamed)
        if new["expected"] != "refuted":
            if not new["searched"].get("first_proof"):  # red, and it needed to look no further
                yield from _blinder(old, new, self.tolerance, self.alpha)
            yield from _leak_moved(old, new, self.tolerance, self.alpha) if held else ()

    def rise_limits(self) -> Iterator[RiseLimit]:
        """Yield which rise of each sampled leak would have been seen.

        A claim that is known to be wrong is not watched.
        """
        for key, new in self.after.items():
            both = (new, self.before.get(key))
            if all(
                each is not None
                and each["verdict"] != "error"
                and each["exact"] is None
                and each["expected"] != "refuted"
                for each in both
            ):
                yield _rise_limit(self.before[key], new, self.tolerance, self.alpha)


def _claim(result: Raw) -> Claim:
    return claim_from_json(dict(result["claim"]), result["expected"])


def _blinder(old: Raw, new: Raw, tolerance: float, alpha: float) -> Iterator[Difference]:
    """Say what an audit has lost, judged by what does not move when other results share alpha.

    So for trials neither the recorded detectable leak nor `inconclusive` says anything: what so
    many trials can detect is worked out anew, at the common alpha and at the cells of the old
    record.
    """
    claim, here, there = _claim(new), new["searched"], old["searched"]
    draws, before = (_draws(result["per_query"][0]) for result in (new, old))
    # where nothing depends on a query, one will do
    places = {"pairs": "pairs"} | ({"queries": "query points"} if here.get("asked", True) else {})
    lost = [
        f"{words} {here[name]:,} instead of {there[name]:,}"
        for name, words in places.items()
        if here[name] < there[name]
    ]
    gone, found = _elsewhere(there, here), _elsewhere(here, there)
    if gone:
        lost.append(f"looked elsewhere: {found or 'nowhere'} instead of {gone}")
    if new["exact"] is None and old["exact"] is not None:
        lost.append("sampled, and was computed")
    if 0 < draws < before:
        seen, could = (detectable_at_alpha(old, claim, each, alpha) for each in (draws, before))
        if seen - could > tolerance * claim.promised:
            lost.append(
                f"{draws:,} instead of {before:,} trials a side: detectable "
                f"{written(seen, 4, UP)} instead of {written(could, 4, UP)} at one error "
                "probability"
            )
    if new["exact"] is not None and new["verdict"] == "inconclusive" != old["verdict"]:
        lost.append(f"inconclusive: {new['reason']}")
    if lost:
        sampled = new["exact"] is None
        size = detectable_at_alpha(new, claim, draws, alpha) if sampled else new["detectable"]
        # rounded as written, so that a suppression may quote it
        size = float(upper_number(float(size)))
        yield difference(new, "blinder", "; ".join(lost), size)


def _elsewhere(one: Raw, other: Raw) -> str:
    """Return, in words, the searches of one record that the other has not made."""
    left: Counter[str] = Counter(other["keys"])
    missing = []
    for key, how in zip(one["keys"], one["how"], strict=True):
        left[key] -= 1
        if left[key] < 0:
            missing.append(f"'{how}'")
    return ", ".join(missing)


def _draws(cell: Raw) -> int:
    """Return the certification trials per side of a cell; 0 where the law was computed."""
    if cell["counts"] is not None:
        return int(cell["counts"]["n1"])
    return 0 if cell["histograms"] is None else sum(cell["histograms"]["one"])


def _leak_moved(old: Raw, new: Raw, tolerance: float, alpha: float) -> Iterator[Difference]:
    """Say that a leak moved, by more than the tolerance and so that the two intervals do not meet.

    Which cells are certified is chosen by the screening, from noise: only the very same cell tells
    whether the mechanism has changed, or any cell where the law was computed for all of them.
    """
    claim, (here, there) = _claim(new), in_common(old, new)
    margin = tolerance * claim.promised
    looked_at = [
        (
            *map(each["searched"].get, ("pairs", "queries", "keys")),
            {c.get("data") for c in each["per_query"]},
        )
        for each in (old, new)
    ]
    alike = looked_at[0] == looked_at[1]
    before, after = (bounds_at_alpha(each, claim, alpha) for each in (old, new))
    was, now = (bounds_of_cells(*each, alpha) for each in ((old, claim, here), (new, claim, there)))
    one_by_one = [*zip(was, now, strict=True)]
    every = len(here) == len(old["per_query"]) == len(new["per_query"])

    def spans(result: Raw) -> list[tuple[Span, Span]]:
        """Return old and new bounds at cells whose leaks may be held against each other."""
        if every or (alike and result["exact"] is not None):
            return [(before, after)]
        return [(worst(was), worst(now))] if here else []

    rises = [each for each in (*one_by_one, *spans(old)) if lies_above(each[1], each[0], margin)]
    falls = [each for each in spans(new) if lies_above(each[0], each[1], margin)]
    if rises:
        most = max(rises, key=lambda both: both[1][0] - both[0][1])
        size = float(lower_number(max(after[0], most[1][0])))
        yield difference(new, "rose", _moved(most, old, new, claim), size)
    elif lies_above(after, before, margin):
        words = (
            f"the {claim.quantity} is at least {written(after[0], way=DOWN)} at a cell that the "
            f"old record had not certified, and was at most {written(before[1], way=UP)} at those "
            f"it lists; whether it rose there is not known; the claim allows {claim.promised:g}"
        )
        yield difference(new, "elsewhere", words)
    elif falls:
        yield difference(new, "fell", _moved(falls[0], old, new, claim))


def _moved(bounds: tuple[Span, Span], old: Raw, new: Raw, claim: Claim) -> str:
    was, now = (
        f"between {written(low, way=DOWN)} and {written(high, way=UP)} at the cells that both "
        "certified"
        if result["exact"] is None
        else written(high)
        for (low, high), result in zip(bounds, (old, new), strict=True)
    )
    return f"the {claim.quantity} is {now} and was {was}; the claim allows {claim.promised:g}"


def _rise_limit(old: Raw, new: Raw, tolerance: float, alpha: float) -> RiseLimit:
    """Return which rise would have been seen at the cells that both records have counted."""
    claim, (here, there) = _claim(new), in_common(old, new)
    before, least = (0.0, math.inf), math.inf
    if here:
        every = bounds_of_cells(old, claim, here, alpha)
        most = max(range(len(here)), key=lambda k: every[k][0])
        before, cells = every[most], (there[most], *there[:most], *there[most + 1 :])
        limit = max(before[1], before[0] + tolerance * claim.promised)
        least = detectable_at_alpha(new, claim, _draws(there[most]), alpha, limit, cells)
    return RiseLimit(
        id=new["id"],
        quantity=claim.quantity,
        cells=len(here),
        of=len(old["per_query"]),
        before=before,
        least=least,
        searched="search" in new["searched"],
    )
