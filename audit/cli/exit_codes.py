"""Exit codes: the one table of what they mean, and which one a record leads to."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from dpassay.record.kinds import kind_of_record


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


def of_record(record: Mapping[str, Any], *, allow_inconclusive: bool) -> Exit:
    """Return what the command that made a record ends with, by its record."""
    changed = record["run"].get("changed")
    if not record["run"]["complete"] and not changed:
        return Exit.INTERRUPTED
    entries = kind_of_record(record).entries(record)
    found = [(each["verdict"], each["expected"]) for each in entries]
    if ("refuted", None) in found or record.get("defects"):
        return Exit.REFUTED
    if changed or any(
        verdict == "error" or each.get("failed") or (expected is not None and verdict != expected)
        for each, (verdict, expected) in zip(entries, found, strict=True)
    ):
        return Exit.FAILED
    blind = ("inconclusive", None) in found or record["run"].get("probe", {}).get("blind")
    if blind and not allow_inconclusive:
        return Exit.INCONCLUSIVE
    return Exit.NOTHING if found else Exit.EMPTY
