"""How certified numbers are written in the tables of attacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpassay.reports.attack.view import Look, fresh_guesses
from dpassay.reports.shared.numbers import INFINITY, MISSING, count, value

Raw = Mapping[str, Any]
REACH = (
    "'Cap' is the largest bound that could have been certified, if every guess had been correct; "
    "'detectable' is the smallest leak that would have been certified above the claim (above 0 if "
    "there is none) with probability 0.9, if guesses reveal all of it."
)
FRESH = "fresh answers at one fixed pair of training sets, with the record and with its partner"
"""What guesses are made from besides the answers of target models."""


def reach(look: Look) -> tuple[str, str, str]:
    """Write the certified bound of a view, its cap, and the leak that it would have shown."""
    return nats(look.lower), nats(look.cap), detected(look.detectable)


def ran(run: Raw) -> tuple[str, str, str]:
    """Write a one-run bound, its cap, and the leak that it would have shown."""
    return (
        nats(float(run["epsilon"])),
        nats(value(run.get("cap"))),
        detected(value(run.get("detectable"))),
    )


def detected(leak: float | None) -> str:
    """Write the smallest leak that would have been seen."""
    return "no leak" if leak == float("inf") else nats(leak)


def guesses(bound: Raw) -> str:
    """Write how many guesses about a record were right."""
    counts = bound["counts"]
    if counts is None:
        return MISSING
    right, fresh = counts["x"] + counts["n0"] - counts["y"], fresh_guesses(bound)
    told = f"{count(right)} of {count(counts['n1'] + counts['n0'])}"
    return told + (f", {count(fresh)} fresh" if fresh else "")


def nats(number: float | None) -> str:
    """Write a loss with up to four significant digits."""
    if number is None:
        return MISSING
    return INFINITY if number == float("inf") else f"{number:.4g}"
