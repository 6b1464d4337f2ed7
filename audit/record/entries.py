"""What an entry of a record of a run is known by: a mechanism, its parameters and a claim."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpassay.claims import claim_from_json
from dpassay.privacy_curves import usual

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

    Of its claim that is the kind, the relation and the status, and of a privacy curve its kind too,
    not the point that was chosen. Unit and coins are text for people and may be reworded.
    """
    about = {name: claim[name] for name in ("kind", "relation", "status")}
    if claim.get("curve"):
        about["curve"] = claim["curve"]["kind"]
    return json.dumps([mechanism, parameters, about], sort_keys=True)


def promises(result: Raw) -> tuple[float, ...]:
    """Return what a claim promises: the larger, the weaker; of a curve its usual point."""
    claim = claim_from_json(dict(result["claim"]))
    curve: Any = getattr(claim, "curve", None)
    numbers = tuple(float(getattr(claim, name)) for name in claim.ranges)
    return numbers if curve is None else usual(curve.points())


def renamings(old: Sequence[Raw], new: Sequence[Raw]) -> dict[str, str]:
    """Return which mechanisms look renamed from one record's results to another's.

    One that is there no more, and one that was not there before, with equal claims and parameters;
    where two could be meant, nobody is.
    """
    before, after = _by_mechanism(old), _by_mechanism(new)
    takers = {
        name: [other for other in after if other not in before and after[other] == about]
        for name, about in before.items()
        if name not in after
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
