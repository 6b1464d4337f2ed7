"""What a claim or a number was perhaps meant to be; a guess is told, never acted on."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from dpassay.claims import SPELLINGS

NAMES = {
    name: full
    for full, names in {
        "epsilon": ("epsilon", "eps", "e", "ε", "ϵ"),
        "delta": ("delta", "d", "δ"),
        "mu": ("mu", "μ", "µ"),
        "rho": ("rho", "ρ"),
        "alpha": ("alpha", "α"),
        "gamma": ("gamma", "g", "γ"),
    }.items()
    for name in names
}
"""Names that the numbers of a claim are given elsewhere."""
UNNAMED = {
    "DP": ("epsilon", "delta"),
    "GDP": ("mu",),
    "zCDP": ("rho",),
    "RDP": ("alpha", "epsilon"),
}
"""What the numbers are, in their order, where a claim is written as in Python."""
PART = re.compile(r"(?:([^\W\d]\w*)\s*[=:\s]\s*)?([^\s=:,;]+)")
THOUSANDS = {"k": 1e3, "m": 1e6}


def claim_meant(text: str, *, spelled: bool = False) -> str:
    """Say what a claim was perhaps meant to be.

    Parameters
    ----------
    text : str
        What was said.
    spelled : bool
        Whether it may be meant as it is spelled: it stands where a table should.

    Returns
    -------
    str
        A clause that follows a semicolon, empty where nobody can tell.
    """
    bare = re.sub(r"^\s*(?:DP|GDP|zCDP|RDP)?\s*[({](.*)[)}]\s*$", r"\1", text).strip()
    comma = re.fullmatch(r"(\w+\s*[=:]\s*)?(\d+),(\d+)", bare)
    bare = f"{comma[1] or ''}{comma[2]}.{comma[3]}" if comma else bare
    parts = PART.findall(bare)
    called = re.match(r"\s*(GDP|zCDP|RDP)\b", text)
    unnamed = iter(UNNAMED[called[1] if called else "DP"])
    found: dict[str, str] = {}
    for name, value in parts:
        full = NAMES.get(name.lower(), "") if name else next(unnamed, "")
        number = _plain(value)
        if not full or full in found or not number:
            return ""
        found[full] = number
    if set(found) == {"delta"}:
        return f"epsilon is missing: epsilon=E,delta={found['delta']}"
    meant = ",".join(f"{name}={value}" for name, value in found.items())
    known = set(found) in SPELLINGS and (spelled or meant != text)
    return f"did you mean '{meant}'?" if known else ""


def range_meant(claim: Mapping[str, float]) -> str:
    """Say what number was perhaps meant in a claim of which one is out of its range."""
    for name, value in claim.items():
        meant = value
        if name in ("delta", "gamma") and 1 < value <= 100:
            meant = value / 100
        elif name == "delta" and -20 <= value <= -2 and value == int(value):
            meant = 10**value
        elif name == "delta" and -1 < value < 0:
            meant = -value
        if meant != value:
            return f"did you mean {name}={meant:g}?"
    return ""


def number_meant(text: Any, holds: Callable[[Any], bool], *, whole: bool) -> str:
    """Say what number was perhaps meant: 95 or 95% for 0.95, 1e5 or 20k for an integer.

    Parameters
    ----------
    text : object
        What was said.
    holds : callable
        Whether a number is allowed.
    whole : bool
        Whether it must be an integer.

    Returns
    -------
    str
        A clause that follows a semicolon, empty where nobody can tell.
    """
    plain = str(text).strip().lower().replace("_", "")
    scale = 0.01 if plain.endswith("%") else THOUSANDS.get(plain[-1:], 1) if whole else 1
    plain = plain[:-1] if scale != 1 else plain
    try:
        value = float(plain.replace(",", "" if whole else ".")) * scale
    except ValueError:
        return ""
    if not math.isfinite(value):
        return ""
    values = [value]
    values += [value / 100] if value > 1 else [1 - value] if 0 < value < 1 else []
    if whole:
        values = [int(value)] if value == int(value) else []
    meant = next((each for each in values if holds(each)), None)
    return "" if meant is None else f"did you mean {meant if whole else f'{meant:g}'}?"


def _plain(value: str) -> str:
    """Return a number without its percent sign; empty for what is none."""
    percent = value.endswith("%")
    try:
        number = float(value.removesuffix("%"))
    except ValueError:
        return ""
    return f"{number / 100:g}" if percent else value
