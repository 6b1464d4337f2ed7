"""What became of statements as printed, apart from readings, ends of ranges and steps of proofs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from dpassay.reports.shared.numbers import plural

Raw = Mapping[str, Any]

FAILS, FAILS_AT_AN_END, UNKNOWN, HOLDS = "fail", "end", "unknown", "hold"
NAMES = {
    "reading": ("reading", "readings"),
    "end": ("end of a range", "ends of ranges"),
    "step": ("step of a proof", "steps of proofs"),
}
"""What a check is of, if not of a statement as printed; one and several."""


def role(result: Raw) -> str:
    """Return what a row is a check of; records of before say nothing."""
    return str(result.get("role", "printed"))


def outcomes(record: Raw) -> Counter[str]:
    """Count statements by what became of them; steps of proofs are none.

    A statement fails if it is refuted as printed, or only at an end of the range it is said to hold
    for. It holds if nothing but readings is refuted, and all else of it is verified.
    """
    found: dict[str, list[Raw]] = {}
    for result in record["results"]:
        if role(result) != "step":
            found.setdefault(result["id"].rpartition("/")[0], []).append(result)
    return Counter(map(_outcome, found.values()))


def _outcome(results: list[Raw]) -> str:
    refuted = {role(each) for each in results if each["verdict"] == "refuted"}
    if "printed" in refuted:
        return FAILS
    if "end" in refuted:
        return FAILS_AT_AN_END
    proven = [each for each in results if role(each) == "printed"]
    return HOLDS if proven and all(each["verdict"] == "verified" for each in proven) else UNKNOWN


def sentences(record: Raw) -> tuple[str, ...]:
    """Say what became of the statements, and what the refuted checks are checks of."""
    count = outcomes(record)
    said = (
        f"{plural(count.total(), 'statement')} as printed: {count[HOLDS]} hold in all cases looked "
        f"at, {count[FAILS]} are false, {count[FAILS_AT_AN_END]} are false only at an end of their "
        f"range, {count[UNKNOWN]} were not refuted as printed."
    )
    refuted = Counter(role(each) for each in record["results"] if each["verdict"] == "refuted")
    if not refuted:
        return (said,)
    apart = [
        f"{refuted[key]} {names[refuted[key] != 1]}" for key, names in NAMES.items() if refuted[key]
    ]
    of = ", ".join([f"{refuted['printed']} of statements as printed", *apart])
    return said, f"Of {plural(refuted.total(), 'refuted check')}: {of}."
