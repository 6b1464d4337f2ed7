"""An entry of a record of a run, and what is said of it before any number: verdict, claim, target.

An entry is a mechanism, its parameters and a claim about it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpassay.claims import Claim, claim_from_json
from dpassay.numerics import lower_number, percent, upper_number
from dpassay.privacy_curves import curve_from_json, usual
from dpassay.record.comparer import Difference, Kind
from dpassay.record.files import witness_file
from dpassay.record.trust import trust_of

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


def change_of(result: Raw, kind: Kind, words: str, size: float | None = None) -> Difference:
    """Describe a change, its size rounded as written, so that a suppression may quote it."""
    if size is not None:
        size = float(upper_number(size) if kind == "blinder" else lower_number(size))
    return Difference(
        id=result["id"], mechanism=result["mechanism"], kind=kind, words=words, size=size
    )


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


def vanished(result: Raw, others: Iterable[Raw], names: Mapping[str, str]) -> Difference:
    """Say that an entry is gone."""
    mechanism = result["mechanism"]
    same = [other for other in others if other["mechanism"] == mechanism]
    hint = "; the mechanism is there, with other parameters or another claim" if same else ""
    was = f"{claim_of(result)} was {result['verdict']}, and is not audited any more{hint}"
    if mechanism not in names:
        return change_of(result, "vanished", was)
    words = (
        f"{was}; {names[mechanism]} is new, with equal claims and parameters: if it is the same "
        "under a new name, move the baseline, then run again"
    )
    return replace(change_of(result, "vanished", words), renamed=(mechanism, names[mechanism]))


def own(result: Raw) -> Iterable[Difference]:
    """Return what to say whatever was before: refuted claims are never excused by the past."""
    claim, expected = claim_of(result), result["expected"] == "refuted"
    if result["verdict"] == "refuted" and not expected:
        computed = result["exact"] is not None
        certainty = (
            "computed from the exact law"
            if computed
            else f"certified at {percent(result['confidence'])} confidence"
        )
        witness = result["witness"] or {}
        yield Difference(
            id=result["id"],
            mechanism=result["mechanism"],
            kind="refuted",
            words=f"{claim} is refuted: {result['reason']}; {certainty}",
            witness=witness.get("words", ""),
            replay=_replayed(result),
            size=float(result["lower"]),
        )
    elif result["verdict"] == "error":
        yield change_of(result, "failed", f"{claim} could not be audited: {result['reason']}")
    elif expected and result["verdict"] != "refuted":
        yield change_of(
            result,
            "failed",
            f"{claim} is known to be wrong and was not refuted: the audit is blind",
        )


def recovered(old: Raw, new: Raw) -> Iterable[Difference]:
    """Say that nothing is wrong any more."""
    if old["verdict"] == "error" or (old["verdict"] == "refuted") != (old["expected"] == "refuted"):
        words = f"{claim_of(old)} was {old['verdict']}: {old['reason']}"
        yield change_of(new, "recovered", words)


def restated(old: Raw, new: Raw, *, held: bool) -> Iterable[Difference]:
    """Say that a claim promises more or less, or is described in other words."""
    before, after = promises(old), promises(new)
    if before != after:
        tighter = all(one <= other for one, other in zip(after, before, strict=True))
        unheld = (
            "; at another delta a computed loss is another, so whether it rose was NOT looked at"
        )
        words = f"the claim is {claim_of(new)} and was {claim_of(old)}{'' if held else unheld}"
        yield change_of(new, "tightened" if tighter else "weakened", words)
    for name in ("unit", "coins"):
        was, now = old["claim"][name], new["claim"][name]
        if was != now:
            yield change_of(new, "reworded", f"the claim's {name}: '{now}', and was '{was}'")


def retargeted(old: Raw, new: Raw) -> Iterable[Difference]:
    """Say that a name stands for something else.

    `witness` holds the target of every result that has evidence.
    """
    before, after = ((result["witness"] or {}).get("target") for result in (old, new))
    if before != after:
        words = f"{new['mechanism']} stands for {_shown(after)}, and stood for {_shown(before)}"
        if before is None or after is None:
            yield change_of(new, "repointed", words)
            return
        hint = "if it is the same under a new name, move the baseline, then run again"
        yield replace(change_of(new, "repointed", f"{words}; {hint}"), renamed=(before, after))


def _shown(target: str | None) -> str:
    return "an object in memory" if target is None else target


def _replayed(result: Raw) -> str:
    """Return the file below the record's folder that replays a result, empty for memory's data."""
    witness = result["witness"]
    if not witness or witness["target"] is None or witness["data"].get("kind") == "memory":
        return ""
    return f"{witness_file(result['id'])}{trust_of(witness)}"
