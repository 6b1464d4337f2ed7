"""How numbers and foreign text are written in every report: one place, so that two formats can never disagree."""

from __future__ import annotations

import math
from decimal import Decimal

from dpassay.rounding import ALL_DIGITS, DOWN, NEAREST, UP, rounded, written

MISSING = "–"
INFINITY = "∞"
EQUAL = 1e-9
"""A number that is above a claim by no more than this part of it, and not for certain, is shown as the claim."""
MAX_TEXT = 160
"""Parameter values longer than this are cut; the record has them in full."""


def clean(text: object) -> str:
    """Make foreign text one printable line: whitespace collapsed, control, bidi and surrogate characters replaced.

    Names, parameters and reasons come from the audited code; in a terminal an escape sequence could rewrite the report.
    """
    line = " ".join(str(text).split())
    return "".join(character if character.isprintable() else "\ufffd" for character in line)


def shorten(text: str, limit: int = MAX_TEXT) -> str:
    """Cut a text that is longer than `limit` characters, and show that it was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def value(recorded: float | str | None) -> float | None:
    """Read a number of the record, where infinities are text."""
    return None if recorded is None else float(recorded)


def loss(number: float | None, way: str = NEAREST) -> str:
    """Write a loss in nats with six decimals, so that columns align.

    Parameters
    ----------
    number : float or None
        The loss; None is shown as a dash.
    way : {DOWN, NEAREST, UP}
        Which way it goes: a lower bound down, an upper bound up.
    """
    if number is None:
        return MISSING
    if math.isinf(number):
        return INFINITY
    if number != 0 and not 1e-4 <= abs(number) < 1e6:
        return written(number, 3, way)
    return f"{Decimal(repr(float(number))).quantize(Decimal('1e-6'), rounding=way):f}"


def below(number: float | None, claimed: float) -> str:
    """Write a lower bound: down, and where it is above the claim with the digits that show it."""
    text = loss(number, DOWN)
    return _apart(number, claimed, DOWN) if number is not None and number > claimed >= _read(text) else text


def above(number: float | None) -> str:
    """Write an upper bound, or the smallest leak that would be seen: up."""
    return loss(number, UP)


def exact(number: float | None, claimed: float, *, exceeds: bool) -> str:
    """Write a computed number beside a claim, above it if that is certain and not above it otherwise.

    Parameters
    ----------
    number : float or None
    claimed : float
        What it is held against.
    exceeds : bool
        Whether it is above the claim for certain, as the record says: numbers that are rounded cannot tell.
    """
    text = loss(number)
    if number is None or (_read(text) > _read(promise(claimed, number if exceeds else None))) == exceeds:
        return text
    if exceeds:
        return _apart(number, claimed, NEAREST)
    return loss(claimed) if number > claimed and math.isclose(number, claimed, rel_tol=EQUAL) else loss(number, DOWN)


def promise(claimed: float, found: float | None = None) -> str:
    """Write a claimed number, with the digits that what is found beside it has.

    Parameters
    ----------
    claimed : float
    found : float, optional
        A leak that is above the claim for certain: the claim gets so many digits that it is seen to be below.
    """
    text = plain(claimed)
    if float(text) != claimed and 1e-4 <= claimed < 1e6:
        text = loss(claimed)
    return _apart(claimed, found, NEAREST) if found is not None and claimed < found <= _read(text) else text


def _apart(number: float, other: float, way: str) -> str:
    """Write a number with so few digits as put it on its side of another."""
    for digits in range(7, ALL_DIGITS):
        if (rounded(number, digits, way) > other) == (number > other) and rounded(number, digits, way) != other:
            return f"{rounded(number, digits, way):.{digits}g}"
    return f"{number:.{ALL_DIGITS}g}"


def _read(text: str) -> float:
    return math.inf if text == INFINITY else float(text)


def plain(number: float) -> str:
    """Write a number with up to six significant digits and no padding."""
    return INFINITY if math.isinf(number) else f"{number:.6g}"


def count(number: int) -> str:
    """Write a whole number with thousands separated."""
    return f"{number:,}"


def factor(true: float, claimed: float, way: str = NEAREST, *, exceeds: bool = True) -> str:
    """Write how many times the true loss is the claimed one: more than once only where it exceeds the claim for certain."""
    ratio = true / claimed if claimed else math.inf if true else 1.0
    if not exceeds:
        ratio = min(ratio, 1.0)
    if math.isinf(ratio):
        return f"{INFINITY} ×"
    if abs(ratio - 1) >= 0.01:
        return f"{Decimal(repr(ratio)).quantize(Decimal('0.01'), rounding=way)} ×"
    return f"{_apart(ratio, 1.0, way) if exceeds and ratio > 1 >= rounded(ratio, 6, way) else written(ratio, 6, way)} ×"


def plural(number: int, noun: str) -> str:
    """Write a counted noun: '1 query', '21 queries'."""
    if number == 1:
        return f"1 {noun}"
    return f"{count(number)} {noun[:-1]}ies" if noun.endswith("y") else f"{count(number)} {noun}s"
