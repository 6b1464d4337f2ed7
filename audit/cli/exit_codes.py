"""Exit codes: the one table of what they mean, and which one a record leads to."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from dpassay.record.attack_record import UNSEEN, broken, outspent, told_of_claims


class Exit(IntEnum):
    """What a command ends with."""

    NOTHING = 0
    REFUTED = 1
    USAGE = 2
    FAILED = 3
    INCONCLUSIVE = 4
    EMPTY = 5
    INTERRUPTED = 130


MEANINGS = {
    Exit.NOTHING: (
        "no claim refuted or broken (or only those declared wrong), no regression, every check "
        "passed"
    ),
    Exit.REFUTED: "a claim is refuted or broken, a service has a defect, or there is a regression",
    Exit.USAGE: "wrong usage, configuration or input file; nothing was run and nothing was written",
    Exit.FAILED: (
        "a mechanism or a check failed, a claim declared wrong was not refuted, or a cluster or "
        "disk was lost"
    ),
    Exit.INCONCLUSIVE: "inconclusive: a leak, or a rise above the baseline, could have been missed",
    Exit.EMPTY: "nothing was audited or attacked",
    Exit.INTERRUPTED: "interrupted; the record holds what was finished",
}
"""The table; `dpassay --help` and docs/errors.md show it."""
EVERY = tuple((int(code), text) for code, text in MEANINGS.items())


def of_run(record: Mapping[str, Any], *, allow_inconclusive: bool) -> Exit:
    """Return what `dpassay run` ends with, by its record."""
    changed = record["run"].get("changed")
    if not record["run"]["complete"] and not changed:
        return Exit.INTERRUPTED
    found = [(result["verdict"], result["expected"]) for result in record["results"]]
    if ("refuted", None) in found:
        return Exit.REFUTED
    if changed or any(
        verdict == "error" or (expected is not None and verdict != expected)
        for verdict, expected in found
    ):
        return Exit.FAILED
    if ("inconclusive", None) in found and not allow_inconclusive:
        return Exit.INCONCLUSIVE
    return Exit.NOTHING if found else Exit.EMPTY


def of_attack(record: Mapping[str, Any], *, allow_inconclusive: bool) -> Exit:
    """Return what `dpassay attack` ends with, by its record."""
    changed = record["run"].get("changed")
    if not record["run"]["complete"] and not changed:
        return Exit.INTERRUPTED
    subjects = record["subjects"]
    if (
        any(any(broken(subject)) for subject in subjects)
        or any(map(outspent, record["repeated"]))
        or record["defects"]
    ):
        return Exit.REFUTED
    if changed or any(each.get("error") for each in (*subjects, *record["repeated"])):
        return Exit.FAILED
    blind = UNSEEN in told_of_claims(record).values() or record["run"].get("probe", {}).get("blind")
    if blind and not allow_inconclusive:
        return Exit.INCONCLUSIVE
    return Exit.NOTHING if subjects or "service" in record["run"] else Exit.EMPTY
