"""Records of attacks read independently: the exit code that the docs have for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Raw = Mapping[str, Any]


def of_attacks(record: Raw, code: int | None = None) -> Iterator[str]:
    """Yield that its own run ended with another exit code than `code`, where that is known."""
    if code is not None and code != _code(record):
        yield f"its run ended with {_code(record)}, and not {code}"


def _code(record: Raw) -> int:
    """Return the exit code that docs/errors.md has for a record; the first that applies."""
    run, subjects = record["run"], [each for each in record["subjects"] if each["error"] is None]
    seen = {each["name"]: False for each in subjects if each["claim"] is not None}
    broken = set()
    for subject in subjects:
        views = {each["view"]["name"]: each["allowed"] for each in subject["outcomes"]}
        for bound in subject["certified"] if subject["claim"] is not None else ():
            allowed, renyi = float(views[bound["view"]]["epsilon"]), bound.get("renyi")
            held = [(bound, allowed)] + ([(renyi, float(renyi["allowed"]))] if renyi else [])
            if any(float(one["lower"]) > most for one, most in held):
                broken.add(subject["name"])
            if any(float(one.get("cap", 0)) > most for one, most in held):
                seen[subject["name"]] = True
    rungs = [(each["name"], rung) for each in record["repeated"] for rung in each.get("rungs", [])]
    broken |= {name for name, rung in rungs if rung.get("broken", False)}
    if not run["complete"]:
        return 130
    if broken or record["defects"]:
        return 1
    if any(each.get("error") for each in (*record["subjects"], *record["repeated"])):
        return 3
    service = "service" in run
    if service:
        could = [rung for _, rung in rungs if float(rung.get("cap", 0)) > float(rung["basic"])]
        blind = bool(run.get("probe", {}).get("blind")) or bool(record["repeated"] and not could)
    else:
        blind = not all(seen.values())
    return 4 if blind else 0 if record["subjects"] or service else 5
