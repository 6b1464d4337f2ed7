"""Where a rising function that is about a line crosses 0, by few values of it."""

from __future__ import annotations

import math
from collections.abc import Callable

NEAR = 0.02
"""The crossing is found up to this part of its distance to the origin, from above."""
BEYOND = 0.4
"""So much of that beyond where it is expected is where it is looked for."""
STEEP = 3.0
"""About by how much the function changes when the distance to the origin doubles."""


def crossing(
    function: Callable[[float], float],
    start: float,
    *,
    origin: float,
    least: float,
    under: float,
    most: float,
) -> float:
    """Return the least place from which on a function is not below 0, or a little more.

    It is at most `NEAR` of its distance to the origin too large; inf if the function is below 0
    everywhere.

    `start`: where it is expected. `origin`: from which distances are measured, at most `least`.
    `least`: the crossing is beyond. `under`: the value there, below 0; minus infinity where it is
    not known. `most`: no place is beyond.
    """
    low, high, over = least, math.inf, math.inf
    place, further = start, 1.0
    while math.isinf(high) or math.isinf(under):
        value = function(place)
        further *= 1 + max(NEAR, abs(value) / STEEP)
        if value >= 0:
            high, over = place, value
            place = max(low, origin + (place - origin) / further)
        elif place >= most:
            return math.inf
        else:
            low, under = place, value
            place = min(most, origin + (place - origin) * further)
    return _narrowed(function, origin, low, high, under, over)


def _narrowed(
    function: Callable[[float], float],
    origin: float,
    low: float,
    high: float,
    under: float,
    over: float,
) -> float:
    while high - low > (near := NEAR * (high - origin)):
        middle = _between(low, high, under, over, near)
        value = function(middle)
        if value >= 0:
            high, over = middle, value
        else:
            low, under = middle, value
    return high


def _between(low: float, high: float, under: float, over: float, near: float) -> float:
    """Return where to look next for the zero of what is about a line.

    A little beyond where it is expected, on the side that is further off: then both ends close in.
    """
    if not (math.isfinite(under) and math.isfinite(over)):
        return (low + high) / 2
    zero = low - (high - low) * under / (over - under)
    step = BEYOND * near
    aim = zero + step if high - zero > 2 * step else zero - step
    least = (high - low) / 10
    return min(max(aim, low + least), high - least)
