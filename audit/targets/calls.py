"""Calls: which arguments a user's function takes."""

from __future__ import annotations

import inspect
from typing import Any

from dpassay.errors import InvalidInput
from dpassay.mechanism import ORDER

CALLED = f"({', '.join(ORDER)})"
"""What a function is called with."""
SHORTER = {3: ("data", "size", "rng"), 2: ("data", "rng")}
"""What it is called with if it takes fewer arguments, of whatever names."""
POINTS = ("q", "query", "point", "points", "x", "xs", "test")
"""Names for query points, of the second of three arguments."""
CALLS = f"{CALLED}, (data, queries, rng), (data, size, rng) or (data, rng)"


def taken(function: Any, what: str) -> tuple[str, ...]:
    """Return what a function is to be called with, some of `ORDER`.

    By the names of its parameters where these say it, else by their number.

    Parameters
    ----------
    function : callable
        One whose arguments cannot be known is called with all four.
    what : str
        What it is called in the message.

    Raises
    ------
    InvalidInput
        If it can be called in none of the ways.
    """
    parameters = _parameters(function)
    if parameters is None:
        return ORDER
    names = [each.name for each in parameters if each.kind in POSITIONAL]
    needed = [each.name for each in parameters if each.default is each.empty]
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return ORDER
    known = tuple(name for name in names if name in ORDER[1:])
    if "rng" in known and names[1 : 1 + len(known)] == list(known) and _ordered(known):
        wanted: tuple[str, ...] = ("data", *known)
    elif len(names) >= len(ORDER):
        wanted = ORDER
    elif len(names) == 3 and names[1].lower() in POINTS and known in ((), ("rng",)):
        wanted = ("data", "queries", "rng")
    else:
        wanted = SHORTER.get(len(names), ()) if known in ((), ("rng",)) else ()
    shown = f"({', '.join(each.name for each in parameters)})"
    if not wanted or len(needed) > len(wanted):
        raise InvalidInput(f"{what}: takes {shown}; must take {CALLS}")
    if set(known) == set(ORDER[1:]) and not _ordered(known):
        raise InvalidInput(f"{what}: takes {shown}; must take {CALLED}, in this order")
    return wanted


POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _parameters(function: Any) -> list[inspect.Parameter] | None:
    try:
        signature = inspect.signature(function, follow_wrapped=False)
    except Exception:  # noqa: BLE001  (what is not ours may do anything)
        return None
    return list(signature.parameters.values())


def _ordered(names: tuple[str, ...]) -> bool:
    return list(names) == [name for name in ORDER if name in names]
