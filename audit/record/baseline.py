"""The baseline: the record that a team has accepted, which every later one is held against."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from dpassay.claims import Claim
from dpassay.config.options import OPTIONS
from dpassay.config.suppressions import Suppression
from dpassay.engine.verdicts import apart
from dpassay.errors import InvalidInput
from dpassay.record.comparison.changes import Change, Comparison
from dpassay.record.comparison.entries import entry_key, renamings
from dpassay.targets.guard import AuditTarget

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A comparison with the regressions that are let pass set apart."""

    comparison: Comparison
    open: tuple[Change, ...]
    let_pass: tuple[tuple[Change, Suppression], ...] = ()
    notes: tuple[str, ...] = ()
    baseline: Path | None = None

    def as_json(self) -> dict[str, Any]:
        """Everything, for programs."""
        passed: list[dict[str, Any]] = [
            {"id": change.id, "kind": change.kind, "reason": each.reason}
            | {"expires": each.expires.isoformat(), "up_to": each.up_to}
            for change, each in self.let_pass
        ]
        return self.comparison.as_json() | {
            "passed": not self.open,
            "suppressed": passed,
            "notes": list(self.notes),
            "remedies": self._remedies(),
        }

    def _remedies(self) -> dict[str, str]:
        """Return the command that is due, by the id of a change that looks like a new name.

        Only a baseline can be moved.
        """
        if self.baseline is None:
            return {}
        return {
            change.id: move_command(*change.renamed, self.baseline)
            for change in self.comparison.regressions
            if change.renamed is not None
        }


def judge(
    comparison: Comparison,
    suppressions: Iterable[Suppression],
    today: date,
    baseline: Path | None = None,
) -> Judged:
    """Let pass what is suppressed today."""
    alive, notes = [], []
    for each in suppressions:
        if each.expires < today:
            notes.append(f"expired on {each.expires}: {_named(each)}")
        else:
            alive.append(each)
    open_: list[Change] = []
    let_pass: list[tuple[Change, Suppression]] = []
    for change in comparison.regressions:
        meant = [each for each in alive if (each.result, each.kind) == (change.id, change.kind)]
        holding = [
            each
            for each in meant
            if each.up_to is None or (change.size is not None and change.size <= each.up_to)
        ]
        if holding:
            let_pass.append((change, holding[-1]))
            continue
        open_.append(change)
        notes += [
            f"does not hold any more, {_excess(change, each)}: {_named(each)}" for each in meant
        ]
    here = {(change.id, change.kind) for change in comparison.regressions}
    notes += [
        f"not needed any more: {_named(each)}"
        for each in alive
        if (each.result, each.kind) not in here
    ]
    return Judged(
        comparison=comparison,
        open=tuple(open_),
        let_pass=tuple(let_pass),
        notes=tuple(notes),
        baseline=baseline,
    )


def _excess(change: Change, each: Suppression) -> str:
    """Say why a suppression with a limit does not hold."""
    if change.size is None or each.up_to is None:
        return "this kind of regression has no size to be held against its limit"
    return " is above ".join(apart(change.size, each.up_to))


def _named(each: Suppression) -> str:
    return f"{each.kind} of {each.result}"


def _differing(old: Raw, new: Raw) -> str:
    """Describe how a record's data differ from an older one's; empty if they do not."""
    before, after = old["run"].get("data"), new["run"].get("data")
    return "" if before == after else _differs(before, after)


def require_comparable(old: Raw, new: Raw, old_path: Path, new_path: Path) -> None:
    """Make sure that two records can be held against each other: they are of the same data."""
    differs = _differing(old, new)
    if differs:
        raise InvalidInput(f"OLD = '{old_path}': cannot be compared with {new_path}: {differs}")


def cells_of(baseline: Raw) -> Callable[[AuditTarget, Claim], Sequence[Raw]]:
    """Return what says which cells a baseline lists; None where the law was computed."""
    sampled = [
        result
        for result in baseline["results"]
        if result["verdict"] != "error" and result["exact"] is None
    ]
    cells: dict[str, list[Raw]] = {}
    for each in sampled:
        cells.setdefault(
            entry_key(each["mechanism"], each["parameters"], each["claim"]), []
        ).extend(each["per_query"])
    return lambda target, claim: cells.get(
        entry_key(target.name, target.parameters, claim.as_json()), ()
    )


def without_curves(record: Raw) -> dict[str, Any]:
    """Return a record as it is kept for a baseline: without curves, which are never compared."""
    results = [
        result | {"per_query": [cell | {"profile": None} for cell in result["per_query"]]}
        for result in record["results"]
    ]
    return dict(record) | {"results": results}


def require_current(baseline: Raw, record: Raw, path: Path) -> None:
    """Raise InvalidInput for a stale baseline: of other data, or other mechanisms altogether."""
    again = (
        "look at the new record, then run `dpassay baseline accept --baseline "
        f"{shlex.quote(str(path))}`"
    )
    differs = _differing(baseline, record)
    if differs:
        raise InvalidInput(f"baseline = '{path}': is stale: {differs}; {again}")
    if not {result["mechanism"] for result in baseline["results"]} & {
        result["mechanism"] for result in record["results"]
    }:
        names = renamings(baseline["results"], record["results"])
        renamed = "; ".join(
            f"if {old} was renamed to {new}, run `{move_command(old, new, path)}`, then "
            "`dpassay run` again"
            for old, new in names.items()
        )
        raise InvalidInput(
            f"baseline = '{path}': is stale: it holds none of the mechanisms of the record; "
            f"{renamed or again}"
        )


def move_command(old: str, new: str, path: Path) -> str:
    """Return the command that gives what a baseline knows of one mechanism to another."""
    default = OPTIONS["baseline"].default
    where = "" if str(path) == default else f" --baseline {shlex.quote(str(path))}"
    return f"dpassay baseline move {shlex.quote(old)} {shlex.quote(new)}{where}"


def moved(baseline: Raw, old: str, new: str, path: Path) -> tuple[dict[str, Any], int]:
    """Return a baseline in which a mechanism, or what it stands for, has another name.

    It must have something of the old name, and nothing of the new one.
    """
    held = {result["mechanism"] for result in baseline["results"]}
    known = held | {_target_of(result) for result in baseline["results"]} - {None}
    if old not in known:
        names = ", ".join(sorted(map(str, known)))
        raise InvalidInput(f"OLD = '{old}': baseline {path} has no such mechanism; it has {names}")
    if new in held:
        raise InvalidInput(f"NEW = '{new}': baseline {path} has results of that name already")
    results = [_moved(result, old, new) for result in baseline["results"]]
    number = sum(one is not other for one, other in zip(results, baseline["results"], strict=True))
    return dict(baseline) | {"results": results}, number


def _target_of(result: Raw) -> str | None:
    target: str | None = (result["witness"] or {}).get("target")
    return target


def _moved(result: Raw, old: str, new: str) -> Raw:
    """Give a result another name, and its witnesses."""
    if old not in (result["mechanism"], _target_of(result)):
        return result
    rest = {name: value for name, value in result.items() if name != "places"}
    return dict(_renamed(rest, old, new))


def _renamed(held: Raw, old: str, new: str) -> Raw:
    """Replace a name in a result, in its witnesses and in what was measured beside it."""
    names = {"mechanism": new, "name": new, "target": new}
    changed: dict[str, Any] = {key: name for key, name in names.items() if held.get(key) == old}
    for key in ("id", "result"):
        text = held.get(key)
        if isinstance(text, str) and text.startswith(f"{old}."):
            changed[key] = new + text.removeprefix(old)
    for key in ("witness", "clearest", "other"):
        if isinstance(held.get(key), Mapping):
            changed[key] = _renamed(held[key], old, new)
    if "findings" in held:
        changed["findings"] = [_renamed(each, old, new) for each in held["findings"]]
    return dict(held) | changed


def _differs(old: Any, new: Any) -> str:
    """Say which fact about the data differs."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return "one of the two was made with data, the other without"
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            if isinstance(old.get(key), Mapping) and isinstance(new.get(key), Mapping):
                return _differs(old[key], new[key])
            return f"its data have {key} = {old.get(key)}, those of the record {new.get(key)}"
    return "the data differ"
