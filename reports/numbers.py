"""How numbers and foreign text are written in every report: one place, so that two formats can never disagree."""

from __future__ import annotations

import math

MISSING = "–"
INFINITY = "∞"
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


def loss(number: float | None, claimed: float | None = None) -> str:
    """Write a loss in nats with six decimals, so that columns align.

    Parameters
    ----------
    number : float or None
        The loss; None is shown as a dash.
    claimed : float, optional
        What it is compared with: a loss above the claim must not look equal to it, so it gets the digits that show it.
    """
    if number is None:
        return MISSING
    if math.isinf(number):
        return INFINITY
    if number != 0 and not 1e-4 <= abs(number) < 1e6:
        return f"{number:.3g}"
    text = f"{number:.6f}"
    if claimed is not None and number > claimed >= float(text):
        return f"{number:.12g}"
    return text


def plain(number: float) -> str:
    """Write a number with up to six significant digits and no padding."""
    return INFINITY if math.isinf(number) else f"{number:.6g}"


def count(number: int) -> str:
    """Write a whole number with thousands separated."""
    return f"{number:,}"


def factor(true: float, claimed: float) -> str:
    """Write how many times the true loss is the claimed one."""
    ratio = true / claimed if claimed else math.inf if true else 1.0
    if math.isinf(ratio):
        return f"{INFINITY} ×"
    return f"{ratio:.2f} ×" if abs(ratio - 1) >= 0.01 else f"{ratio:.6g} ×"


def plural(number: int, noun: str) -> str:
    """Write a counted noun: '1 query', '21 queries'."""
    if number == 1:
        return f"1 {noun}"
    return f"{count(number)} {noun[:-1]}ies" if noun.endswith("y") else f"{count(number)} {noun}s"
