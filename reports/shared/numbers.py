"""How numbers and foreign text are written in every report.

One place, so that two formats can never disagree.
"""

from __future__ import annotations

import math
from decimal import Decimal

from dpassay.errors import printable
from dpassay.numerics import (
    INFINITY,
    MISSING,
    NEAREST,
    above,
    allowance,
    below,
    exact,
    half_line_words,
    loss,
    plain,
    promise,
    rounded,
    told_apart,
    whole,
    written,
)

__all__ = [
    "DIGITS",
    "INFINITY",
    "MISSING",
    "above",
    "allowance",
    "below",
    "clean",
    "count",
    "exact",
    "factor",
    "half_line_words",
    "loss",
    "plain",
    "plural",
    "promise",
    "short_beside",
    "short_number",
    "shorten",
    "value",
]

DIGITS = 3
"""Of a short number."""
HAIR = 1e-6
"""Part of a number within which it is all but a rounder one."""
LARGE = 1e6
"""Factors from here on are written with six digits."""
MAX_TEXT = 160
"""Parameter values longer than this are cut; the record has them in full."""


def clean(text: object) -> str:
    """Make foreign text, such as a name or a reason, one printable line."""
    return printable(" ".join(str(text).split()), line=False)


def shorten(text: str, limit: int = MAX_TEXT) -> str:
    """Cut a text that is longer than `limit` characters, and show that it was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def value(recorded: float | str | None) -> float | None:
    """Read a number of the record, where infinities are text."""
    return None if recorded is None else float(recorded)


def count(number: int) -> str:
    """Write a whole number with thousands separated."""
    return whole(number)


def factor(true: float, claimed: float, way: str = NEAREST, *, exceeds: bool = True) -> str:
    """Write the true loss over the claimed one, above 1 only where it exceeds it for certain."""
    ratio = true / claimed if claimed else math.inf if true else 1.0
    if not exceeds:
        ratio = min(ratio, 1.0)
    if math.isinf(ratio):
        return f"{INFINITY} ×"
    if ratio >= LARGE:
        return f"{written(ratio, 6, way)} ×"
    if abs(ratio - 1) >= 0.01:
        return f"{Decimal(repr(ratio)).quantize(Decimal('0.01'), rounding=way)} ×"
    if exceeds and ratio > 1 >= rounded(ratio, 6, way):
        return f"{told_apart(ratio, 1.0, way)} ×"
    return f"{written(ratio, 6, way)} ×"


def plural(number: int, noun: str) -> str:
    """Write a counted noun: '1 query', '21 queries'."""
    if number == 1:
        return f"1 {noun}"
    return f"{count(number)} {noun[:-1]}ies" if noun.endswith("y") else f"{count(number)} {noun}s"


def short_beside(found: float, claimed: float, way: str, *, beyond: bool) -> str:
    """Write a number with three digits, or as many as keep it on its side of the claim."""
    if math.isinf(found):
        return INFINITY
    text = short_number(found, way)
    if (float(text) > claimed) == beyond or (found > claimed) != beyond:
        return text
    return told_apart(found, claimed, way)


def short_number(number: float, way: str) -> str:
    """Write a number with three digits; with five where it misses a rounder one by a hair only.

    A bound of 1.24999999999 is '1.2499', not '1.24': 1.25 stands beside it.
    """
    near = rounded(number, DIGITS, NEAREST)
    hair = way != NEAREST and 0 < abs(near - number) <= HAIR * abs(near)
    return written(number, DIGITS + 2 if hair else DIGITS, way)
