"""Laws of the symbols that a search counts, on both sides of a pair that leaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpassay.engine.detection.alternatives import (
    Answers,
    move_of,
    noise_below,
    noise_quantile,
    through_event,
)
from dpassay.engine.detection.search_rounds import Array

if TYPE_CHECKING:
    from dpassay.engine.detection.search_design import SearchDesign

LEVELS = np.array([0.005, 0.01, 0.02, 0.05, *np.arange(1, 10) / 10, 0.95, 0.98, 0.99, 0.995])
"""Numbers are counted between these quantiles."""


class Laws:
    """Laws of the symbols on both sides of a pair that leaks so much.

    Events are half-lines where the symbols are bins and so `ordered`; `frequency` is the worst
    event's on the likelier side.
    """

    base: Array
    ordered: bool
    frequency: float

    def other(self, leak: float) -> Array:
        """Return the law on the neighbour."""
        raise NotImplementedError


class Label(Laws):
    """One label becomes rarer, all others likelier by one factor."""

    ordered = False

    def __init__(self, design: SearchDesign, frequency: float, labels: int) -> None:
        family = through_event(Answers(labels=labels), frequency, design.scale, design.promised)
        self.family, self.base, self.frequency = family, family.base, family.frequency

    def other(self, leak: float) -> Array:
        """Return the law on the neighbour."""
        return self.family.other(leak)


class Noise(Laws):
    """The centre of the noise moves."""

    ordered = True
    frequency = 0.5

    def __init__(self, design: SearchDesign, kind: str) -> None:
        self.kind, self.scale = kind, design.scale
        self.edges = noise_quantile(kind, LEVELS)
        self.base = self._law(0.0)

    def _law(self, shift: float) -> Array:
        found: Array = np.diff(noise_below(self.kind, self.edges - shift), prepend=0.0, append=1.0)
        return found

    def other(self, leak: float) -> Array:
        """Return the law on the neighbour."""
        return self._law(move_of(self.kind, leak, self.scale))
