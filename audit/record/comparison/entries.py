"""Entries of two records of runs: a mechanism, its parameters and a claim about it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpassay.claims import Claim, claim_from_json
from dpassay.numerics import lower_number, upper_number
from dpassay.privacy_curves import curve_from_json, usual
from dpassay.record.comparison.changes import Change, Kind

Raw = Mapping[str, Any]


def entry_keys(results: Iterable[Raw]) -> tuple[str, ...]:
    """Return what each result of a record is known by in every record.

    Of two about the same, the second is the second one; results about other things change nothing.
    """
    seen: Counter[str] = Counter()
    keys = []
    for result in results:
        key = entry_key(result["mechanism"], result["parameters"], result["claim"])
        seen[key] += 1
        keys.append(f"{key} {seen[key]}")
    return tuple(keys)


def entry_key(mechanism: str, parameters: Raw, claim: Raw) -> str:
    """Return what an entry is known by in every record.

    The mechanism, its parameters, and the claim's kind, relation and status; of a privacy curve its
    kind too, not the point that was chosen.

    The unit and the coins of a claim are text for people: they may be reworded, and are no part of
    it.
    """
    about = {name: claim[name] for name in ("kind", "relation", "status")}
    if claim.get("curve"):
        about["curve"] = claim["curve"]["kind"]
    return json.dumps([mechanism, parameters, about], sort_keys=True)


def change_of(result: Raw, kind: Kind, words: str, size: float | None = None) -> Change:
    """Describe a change, its size rounded as written, so that a suppression may quote it."""
    if size is not None:
        size = float(upper_number(size) if kind == "blinder" else lower_number(size))
    return Change(id=result["id"], mechanism=result["mechanism"], kind=kind, words=words, size=size)


def renamings(old: Sequence[Raw], new: Sequence[Raw]) -> dict[str, str]:
    """Return which mechanisms look renamed from one record's results to another's.

    One that is there no more, and one that was not there before, with equal claims and parameters;
    where two could be meant, nobody is.
    """
    before, after = _by_mechanism(old), _by_mechanism(new)
    gone = {name: about for name, about in before.items() if name not in after}
    come = {name: about for name, about in after.items() if name not in before}
    takers = {
        name: [other for other, there in come.items() if there == about]
        for name, about in gone.items()
    }
    wanted = Counter(other for others in takers.values() for other in others)
    return {
        name: others[0]
        for name, others in takers.items()
        if len(others) == 1 and wanted[others[0]] == 1
    }


def _by_mechanism(results: Sequence[Raw]) -> dict[str, list[str]]:
    """Return, by mechanism, the parameters and the promises of each of its results."""
    found: dict[str, list[str]] = {}
    for result in results:
        key = entry_key("", result["parameters"], result["claim"])
        found.setdefault(result["mechanism"], []).append(f"{key} {promises(result)}")
    return {name: sorted(about) for name, about in found.items()}


def claim_of(result: Raw) -> Claim:
    """Return the claim of a result."""
    return claim_from_json(dict(result["claim"]), result["expected"])


def promises(result: Raw) -> tuple[float, ...]:
    """Return what a claim promises: the larger, the weaker; of a curve its usual point."""
    if result["claim"].get("curve"):
        return usual(curve_from_json(result["claim"]["curve"]).points())
    names = ("epsilon", "delta", "mu", "gamma", "beta1", "beta2", "bound")
    return tuple(
        float(result["claim"][name]) for name in names if result["claim"].get(name) is not None
    )
