"""What a rounding costs, and which way it goes: a lower bound that is written with fewer digits goes down, an upper one up."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

UNIT_ROUNDOFF = 2.0**-53
"""Relative error of one operation on floats, at most."""
DOWN, NEAREST, UP = ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING
"""Which way a number goes when digits are cut: for a lower bound, for what is no bound, for an upper bound."""
VISIBLE = 1e-6
"""A computed number near 1 is shown with so many digits: where its error is larger, its bounds are shown instead."""
ALL_DIGITS = 17
"""So many significant digits tell any two floats apart."""


def rounded(value: float, digits: int, way: str) -> float:
    """Return a number with fewer significant digits.

    Parameters
    ----------
    value : float
        Infinite values stay as they are.
    digits : int
        Significant decimal digits, 1 to 15.
    way : {DOWN, NEAREST, UP}

    Returns
    -------
    float
        Never above `value` with DOWN, never below it with UP; and so are the decimal numbers that the two are written as.
    """
    if not math.isfinite(value):
        return value
    return float(Context(prec=digits, rounding=way).create_decimal(repr(float(value))))


def written(value: float, digits: int = 6, way: str = NEAREST) -> str:
    """Write a number with up to so many significant digits, cut the given way; see `rounded`."""
    return f"{rounded(value, digits, way):.{digits}g}"


def computed(value: float, error: float, digits: int) -> tuple[float, float]:
    """Return a computed number with fewer digits, and the error that it then has.

    Returns
    -------
    tuple of float
        v and e such that [v - e, v + e] contains [value - error, value + error], whether v is read as the decimal number that
        it is written as or as the float next to it.
    """
    if not (math.isfinite(value) and math.isfinite(error)):
        return value, error
    near = rounded(value, digits, NEAREST)
    read = Decimal(near), Decimal(repr(near))
    exactly = Context(prec=60, rounding=UP)
    off = max(exactly.abs(exactly.subtract(Decimal(float(value)), each)) for each in read)
    total = exactly.add(Decimal(float(error)), off)
    return near, float(Context(prec=3, rounding=UP).plus(total))
