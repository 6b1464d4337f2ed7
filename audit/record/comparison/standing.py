"""What is said of an entry before any number: its verdict, claim and target; new and gone ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dpassay.numerics import percent
from dpassay.record.comparison.changes import Change
from dpassay.record.comparison.entries import change_of, claim_of, promises
from dpassay.record.files import witness_file
from dpassay.record.trust import trust_of

Raw = Mapping[str, Any]


def came(result: Raw) -> Iterable[Change]:
    """Say that an entry is new, and what else is to be said of it without an old one."""
    yield from own(result)
    yield change_of(
        result, "new", f"was not audited before: {claim_of(result)}, {result['verdict']}"
    )


def went(result: Raw, others: Iterable[Raw], names: Mapping[str, str]) -> Change:
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


def own(result: Raw) -> Iterable[Change]:
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
        yield Change(
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


def recovered(old: Raw, new: Raw) -> Iterable[Change]:
    """Say that nothing is wrong any more."""
    if old["verdict"] == "error" or (old["verdict"] == "refuted") != (old["expected"] == "refuted"):
        words = f"{claim_of(old)} was {old['verdict']}: {old['reason']}"
        yield change_of(new, "recovered", words)


def restated(old: Raw, new: Raw, *, held: bool) -> Iterable[Change]:
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


def retargeted(old: Raw, new: Raw) -> Iterable[Change]:
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
