"""Brent's root of a function whose values come from outside, so that many roots go in step."""

from __future__ import annotations

from collections.abc import Generator

ROUNDING = 4 * 2.0**-52
"""Relative error that a root may have besides `within`."""
MOST = 100
"""Steps that are taken at most; the interval has shrunk to nothing long before."""


def root_between(
    one: float, other: float, at_one: float, at_other: float, within: float
) -> Generator[float, float, float]:
    """Find where a function changes its sign; yields points and is sent the values there.

    Brent (1973, chapter 4), step by step what `scipy.optimize.brentq` does.

    `one`, `other`: ends of an interval. `at_one`, `at_other`: values there, of different signs or
    0. `within`: how far from the root the result may lie.
    """
    before, at_before, now, at_now = one, at_one, other, at_other
    if at_before == 0:
        return before
    if at_now == 0:
        return now
    across, at_across, step_before, step = before, at_before, now - before, now - before
    for _ in range(MOST):
        if (at_before < 0) != (at_now < 0):
            across, at_across, step_before, step = before, at_before, now - before, now - before
        if abs(at_across) < abs(at_now):
            before, now, across = now, across, now
            at_before, at_now, at_across = at_now, at_across, at_now
        least = (within + ROUNDING * abs(now)) / 2
        half = (across - now) / 2
        if at_now == 0 or abs(half) < least:
            return now
        tried = None
        if abs(step_before) > least and abs(at_now) < abs(at_before):
            if before == across:
                tried = -at_now * (now - before) / (at_now - at_before)
            else:
                slope = (at_before - at_now) / (before - now)
                slope_across = (at_across - at_now) / (across - now)
                tried = (
                    -at_now
                    * (at_across * slope_across - at_before * slope)
                    / (slope_across * slope * (at_across - at_before))
                )
            if not 2 * abs(tried) < min(abs(step_before), 3 * abs(half) - least):
                tried = None
        step_before, step = (half, half) if tried is None else (step, tried)
        before, at_before = now, at_now
        now += step if abs(step) > least else (least if half > 0 else -least)
        at_now = yield now
    return now
