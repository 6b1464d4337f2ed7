"""What an audit has lost: where it looked, and what it could have seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from dpassay.numerics import UP, written
from dpassay.record.comparison.changes import Change
from dpassay.record.comparison.entries import change_of, claim_of
from dpassay.record.rebound import detectable_at_alpha

Raw = Mapping[str, Any]

PLACES = {"pairs": "pairs", "queries": "query points"}
"""Fields of `searched` that say where an audit looked."""


def blinder(old: Raw, new: Raw, tolerance: float, alpha: float) -> Iterable[Change]:
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
