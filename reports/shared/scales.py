"""The axes of a chart: where a number stands, and which numbers are written."""

from __future__ import annotations

import math
from dataclasses import dataclass

STEPS = (1, 2, 2.5, 5, 10)
"""Round distances between the labels of an axis, times powers of ten."""
LABELS = 4
"""On an axis, at most."""
TINY = 1e-300
"""Stands for 0 and less on a logarithmic axis: far beyond its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """An axis of a chart from `least` to `most`, drawn from `start` to `end` in points.

    Both ends are above 0 if it is logarithmic.
    """

    least: float
    most: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, number: float) -> float:
        """Return the place of a number; beyond the ends if it lies beyond them."""
        part = (self._height(number) - self._height(self.least)) / (
            self._height(self.most) - self._height(self.least)
        )
        return self.start + part * (self.end - self.start)

    def ticks(self) -> tuple[float, ...]:
        """Return round numbers between the ends, at most `LABELS`; decades if logarithmic."""
        if self.logarithmic:
            lowest, highest = math.ceil(_log10(self.least)), math.floor(_log10(self.most))
            skip = max(1, math.ceil((highest - lowest + 1) / LABELS))
            return tuple(10.0**power for power in range(highest, lowest - 1, -skip))[::-1]
        # the smallest round distance at which at most `LABELS` numbers lie between the ends
        power = 10.0 ** math.floor(math.log10((self.most - self.least) / LABELS))
        step = next(
            step
            for step in (size * power for size in STEPS)
            if math.floor(self.most / step) - math.ceil(self.least / step) < LABELS
        )
        first, last = math.ceil(self.least / step), math.floor(self.most / step)
        return tuple(step * place for place in range(first, last + 1))

    def _height(self, number: float) -> float:
        return math.log(max(number, TINY)) if self.logarithmic else number


def tick_label(number: float) -> str:
    """Write the label of a tick."""
    return f"{number:.3g}"


def _log10(number: float) -> float:
    """Return a logarithm, of a power of ten exactly."""
    return round(math.log10(number), 9)
