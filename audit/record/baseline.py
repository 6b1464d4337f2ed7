"""The baseline: the record that a team has accepted, which every later one is held against.

It is a whole record, of whichever kind. Rules of an attack are counted again by every later attack
of the same records, so that the same number is compared with itself.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from dpassay.claims import Claim
from dpassay.config.mechanisms import Suppression
from dpassay.engine.verdicts import apart
from dpassay.errors import InvalidInput
from dpassay.record.attack_record import UNEXAMINED, UNSEEN
from dpassay.record.comparer import Comparison, Difference
from dpassay.record.entries import entry_key, renamings
from dpassay.record.kinds import RUNS, kind_of_record
from dpassay.targets.guard import AuditTarget

Raw = Mapping[str, Any]

CURVES: dict[str, Any] = {"roc": {"fpr": [0.0], "tpr": [0.0]}, "tpr_per_target": [[], []]}
"""What is never compared of an attack, as short as it may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A comparison with the regressions that are let pass set apart."""

    comparison: Comparison
    open: tuple[Difference, ...]
    let_pass: tuple[tuple[Difference, Suppression], ...] = ()
    notes: tuple[str, ...] = ()
    baseline: Path | None = None

    def as_json(self) -> dict[str, Any]:
        """Return everything, for programs; the remedy of a change that looks like a new name too.

        Only a baseline can be moved.
        """
        passed: list[dict[str, Any]] = [
            {"id": change.id, "kind": change.kind, "reason": each.reason}
            | {"expires": each.expires.isoformat(), "up_to": each.up_to}
            for change, each in self.let_pass
        ]
        remedies = {
            change.id: move_command(*change.renamed, self.baseline)
            for change in self.comparison.regressions
            if change.renamed is not None and self.baseline is not None
        }
        return self.comparison.as_json() | {
            "passed": not self.open,
            "suppressed": passed,
            "notes": list(self.notes),
            "remedies": remedies,
        }


def judge(
    comparison: Comparison,
    suppressions: Iterable[Suppression],
    today: date,
    baseline: Path | None = None,
) -> Judged:
    """Let pass what is suppressed today."""
    every = list(suppressions)
    named = {id(each): f"{each.kind} of {each.result}" for each in every}
    alive = [each for each in every if each.expires >= today]
    notes = [f"expired on {each.expires}: {named[id(each)]}" for each in every if each not in alive]
    open_: list[Difference] = []
    let_pass: list[tuple[Difference, Suppression]] = []
    for change in comparison.regressions:
        meant = [each for each in alive if (each.result, each.kind) == (change.id, change.kind)]
        size = math.inf if change.size is None else change.size
        if holding := [each for each in meant if each.up_to is None or size <= each.up_to]:
            let_pass.append((change, holding[-1]))
            continue
        open_.append(change)
        for each in meant:
            why = "this kind of regression has no size to be held against its limit"
            if change.size is not None and each.up_to is not None:
                why = " is above ".join(apart(size, each.up_to))
            notes.append(f"does not hold any more, {why}: {named[id(each)]}")
    here = {(change.id, change.kind) for change in comparison.regressions}
    unneeded = [each for each in alive if (each.result, each.kind) not in here]
    return Judged(
        comparison=comparison,
        open=tuple(open_),
        let_pass=tuple(let_pass),
        notes=(*notes, *(f"not needed any more: {named[id(each)]}" for each in unneeded)),
        baseline=baseline,
    )


def cells_of(baseline: Raw) -> Callable[[AuditTarget, Claim], Sequence[Raw]]:
    """Return what says which cells a baseline lists; None where the law was computed."""
    cells: dict[str, list[Raw]] = {}
    for each in baseline["results"]:
        if each["verdict"] != "error" and each["exact"] is None:
            key = entry_key(each["mechanism"], each["parameters"], each["claim"])
            cells.setdefault(key, []).extend(each["per_query"])
    return lambda target, claim: cells.get(
        entry_key(target.name, target.parameters, claim.as_json()), ()
    )


def without_curves(record: Raw) -> dict[str, Any]:
    """Return a record as it is kept for a baseline: without curves, which are never compared."""
    short = {"per_query": {"profile": None}, "outcomes": CURVES | {"slices": []}}
    held = dict(record)
    for name in {"results", "subjects"} & held.keys():
        held[name] = [
            {
                **entry,
                **{key: [each | short[key] for each in entry[key]] for key in short & entry.keys()},
            }
            for entry in held[name]
        ]
    return held


def unexcused(record: Raw) -> Iterator[str]:
    """Say what no baseline excuses, and which claims no attack could have broken."""
    for each in kind_of_record(record).entries(record):
        if each["verdict"] == "refuted" != each["expected"]:
            yield f"{each['id']} is refuted: no baseline excuses that, only a suppression does"
        if each.get("told") in (UNSEEN, UNEXAMINED):
            seen = f"the claim of {each['id']} {each['told']}"
            yield f"{seen}: no leak can fail the gate by breaking it"
    for each in record.get("defects", ()):
        yield f"{each.get('name')}: no baseline excuses that defect"


def require_same(old: Raw, new: Raw, path: Path, argument: str = "baseline") -> None:
    """Raise `InvalidInput` unless two records are of the same experiment and share an entry.

    Runs have the same data, and of other kinds all facts are the same but those that may differ.
    Runs that share no mechanism can be compared, but not be held against a baseline.
    """
    kind, before, after = kind_of_record(new), old["run"], new["run"]
    baseline = argument == "baseline"
    facts = {"data"} if kind is RUNS else {*before, *after} - kind.may_differ
    wrong, names = _difference(before, after, facts), dict[str, str]()
    mine, theirs = (kind.known_by(record) for record in (old, new))
    if not (wrong or mine & theirs) and (baseline or kind is not RUNS):
        wrong = f"it has none of the {kind.entry}s of the record"
        names = renamings(old["results"], new["results"]) if kind is RUNS else names
    if not wrong:
        return
    if not baseline:
        raise InvalidInput(f"{argument} = '{path}': cannot be compared: {wrong}")
    where = f" --baseline {shlex.quote(str(path))}" if kind is RUNS else ""
    renamed = (
        f"if {one} was renamed to {other}, run `{move_command(one, other, path)}`, then "
        "`dpassay run` again"
        for one, other in names.items()
    )
    remedy = "; ".join(renamed) or (
        f"run `{kind.command}` with the same options, or look at the new record, then run "
        f"`dpassay baseline accept{where}`"
    )
    raise InvalidInput(f"{argument} = '{path}': is stale: {wrong}; {remedy}")


def _difference(old: Raw, new: Raw, names: Iterable[str], within: str = "") -> str:
    """Say which of some facts differs first, by its whole name; empty if none does."""
    for name in sorted(names):
        one, other = old.get(name), new.get(name)
        if one == other:
            continue
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            return _difference(one, other, {*one, *other}, f"{within}{name}.")
        return f"it has {within}{name} = {_short(one)}, the record {_short(other)}"
    return ""


def move_command(old: str, new: str, path: Path) -> str:
    """Return the command that gives what a baseline knows of one mechanism to another."""
    where = "" if str(path) == RUNS.baseline else f" --baseline {shlex.quote(str(path))}"
    return f"dpassay baseline move {shlex.quote(old)} {shlex.quote(new)}{where}"


def moved(baseline: Raw, old: str, new: str, path: Path) -> tuple[dict[str, Any], int]:
    """Return a baseline in which a mechanism, or what it stands for, has another name.

    It must have something of the old name, and nothing of the new one.
    """
    results = baseline["results"]
    names = [
        {each["mechanism"], (each["witness"] or {}).get("target")} - {None} for each in results
    ]
    known = set[str]().union(*names)
    if old not in known:
        told = ", ".join(sorted(known))
        raise InvalidInput(f"OLD = '{old}': baseline {path} has no such mechanism; it has {told}")
    if new in {each["mechanism"] for each in results}:
        raise InvalidInput(f"NEW = '{new}': baseline {path} has results of that name already")
    kept = []
    for each, called in zip(results, names, strict=True):
        held = _renamed(each, old, new) if old in called else dict(each)
        if old in called:
            held.pop("places", None)
        kept.append(held)
    return {**baseline, "results": kept}, sum(old in called for called in names)


def _renamed(held: Raw, old: str, new: str) -> dict[str, Any]:
    """Replace a name in a result, in its witnesses and in what was measured beside it."""
    changed = dict(held)
    for key, value in held.items():
        if key in ("mechanism", "name", "target") and value == old:
            changed[key] = new
        elif key in ("id", "result") and isinstance(value, str) and value.startswith(f"{old}."):
            changed[key] = new + value.removeprefix(old)
        elif key in ("witness", "clearest", "other") and isinstance(value, Mapping):
            changed[key] = _renamed(value, old, new)
        elif key == "findings":
            changed[key] = [_renamed(each, old, new) for each in value]
    return changed


def _short(fact: object) -> str:
    text = "none" if fact is None else str(fact)
    return text if len(text) <= 60 else f"{text[:57]}..."
