"""Words about a claim and what was found, and when it exceeds; the parts of a story use them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpassay.numerics import UP, VISIBLE, written
from dpassay.reports.run.kinds import words_of
from dpassay.reports.shared.numbers import clean, half_line_words, promise, value

Raw = Mapping[str, Any]
ORIGIN = {
    "printed": "computed from what is printed",
    "corrected": "corrected, with a derivation",
    "own": "declared with the mechanism",
    "measured": "nobody claims it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One titled piece of the story of a result."""

    title: str
    texts: tuple[str, ...]
    command: str | None = None


def looked_at(result: Raw) -> str:
    """What of the release was looked at, in words.

    Empty where that is all of it.
    """
    return clean(result.get("looked_at", "")).rstrip(",")


def promised(claim: Raw) -> float:
    """Return the number that what is found is held against.

    epsilon, mu, gamma, a proportion delta or the bound of an error.
    """
    return words_of(claim).promised


ROUNDED = 1e-11
"""Part of a number that writing it down with 12 digits changes, at most."""


def exceeds(result: Raw) -> bool:
    """Whether the worst case over datasets of any size is above the claim for certain.

    The audit decides that, from numbers that are not rounded. A record from before it wrote that
    down has rounded ones: there the leak must be above by more than its error and the rounding.
    """
    found = result["any_size"]
    if found is None:
        return False
    if "exceeds" in found:
        return bool(found["exceeds"])
    exact, claimed = float(found["exact"]), promised(result["claim"])
    return exact - float(found["error"]) > claimed + ROUNDED * max(exact, claimed)


def blurred(result: Raw) -> bool:
    """Whether the error of a computed number reaches digits that a report shows.

    Then its bounds are shown instead.
    """
    exact, error = value(result["exact"]), value(result.get("error")) or 0.0
    return exact is not None and math.isfinite(exact) and error > VISIBLE * max(1.0, abs(exact))


def claim_short(claim: Raw, found: float | None = None) -> str:
    """Write the claimed numbers for a table: epsilon, and delta where there is one; gamma.

    beta1, beta2 and delta; or a bound.

    A leak that was found to be above the claim for certain gives it the digits that show it.
    """
    words = words_of(claim)
    return words.short(promise(words.promised, found))


def change_words(cell: Raw) -> str:
    """Say what a pair of a record changes, by lines of the data file where the record has them."""
    return clean(cell.get("in_file", cell)["change"])


def event_words(event: Any) -> str:
    """Name an event: its labels, half-line or pattern; nothing where a claim is about means."""
    if is_pattern(event):
        return clean(event["words"])
    if isinstance(event, Mapping):
        ((kind, threshold),) = event.items()
        return half_line_words(float(threshold), above=kind == "at_least")
    return " or ".join(str(label) for label in event)


def is_pattern(event: Any) -> bool:
    """Whether an event was learned, see `dpassay.search.events`."""
    return isinstance(event, Mapping) and "pattern" in event


def nothing_found(result: Raw) -> bool:
    """Whether no audited pair, query and event is a witness of anything."""
    witness = result["witness"]
    return witness is not None and no_event(value(result["exact"]), witness["event"])


def no_event(leak: float | None, event: Any) -> bool:
    """Whether what stands as the worst event of a cell stands there for want of one that leaks.

    Values are no events.
    """
    return leak == 0 and event != []


def taken(n: int | None) -> str:
    """Say that a mechanism takes datasets of one size only, where it does."""
    return "" if n is None else f" that the mechanism takes (n = {clean(_json(n))})"


FOLDER = "REPORT/"
"""The folder of a report in a command that is run elsewhere."""


def within(witness: Raw) -> str:
    """Return what stands before a witness's file: nothing where it can be replayed beside it.

    A module of the user's own is found in its project's folder only.
    """
    return FOLDER if ":" in (witness["target"] or "") else ""


def folder(command: str) -> str:
    """Say in which folder a command for a witness is run."""
    if FOLDER not in command:
        return "in the folder of this report"
    return "where the mechanism can be imported, with the folder of this report for REPORT"


def _json(parameter: object) -> str:
    return (
        parameter
        if isinstance(parameter, str)
        else json.dumps(parameter, ensure_ascii=False, sort_keys=True)
    )


def capital(text: str) -> str:
    """Begin a text with a capital letter."""
    return text[:1].upper() + text[1:]


def error_words(found: Raw) -> str:
    """Say how large the numerical error of a computed number is at most."""
    error = value(found["error"]) or 0.0
    return f"numerical error at most {written(error, 2, UP)}" if error else "no numerical error"
