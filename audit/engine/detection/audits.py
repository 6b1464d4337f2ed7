"""Audits of one family of laws: the screening is rehearsed, the certification computed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.detection.alternatives import (
    Family,
)
from dpassay.engine.detection.certification import (
    RARE,
    errors_needed,
    leak_about,
    methods_near,
    power_by,
)
from dpassay.engine.detection.frontier import Counts
from dpassay.stats.lower_bounds import Method
from dpassay.stats.power import LARGEST, POWER
from dpassay.stats.ranking import Ranking

if TYPE_CHECKING:
    from dpassay.engine.detection.design import Design

RUNS, FEWEST = 400, 50
"""Screenings that are rehearsed, and how many at least where a crowd makes each of them dear."""
WORK = 4 * 10**6
"""Counts of a crowd that are looked at."""
CHUNK = 2 * 10**6
"""Counts that are held at once."""
EVERY = 3
"""Of the thresholds of numbers a crowd is looked at through every third; those beside it say nearly
the same."""

Array = NDArray[np.float64]


class Audits:
    """Audits of one family of laws: the screening is rehearsed, the certification computed."""

    def __init__(self, design: Design, family: Family) -> None:
        self.design, self.family = design, family
        self.masks = design.answers.masks
        self.ranking = Ranking.of(design.scale, design.promised, design.screening.draws)
        self.rivals = design.screening.pairs - 1
        self.cells = 2 * max(len(self.masks), design.answers.among) * design.screening.pairs
        self.met = False
        crowded = self.rivals >= design.screening.finalists
        dear = len(self.masks) * (self.rivals * len(family.crowd) if crowded else 1)
        self.runs = int(np.clip(WORK // dear, FEWEST, RUNS))
        self.base = self._drawn(0, family.base, self.runs)
        # what a pair must rank above to be among the finalists
        self.needed = np.full(self.runs, -math.inf)
        self.methods = self._methods()

    def smallest(self) -> float:
        """Smallest leak that is refuted with probability 0.9; inf where none is."""
        promised, most = self.design.promised, min(LARGEST, self.design.scale.most)
        if not self.see(most):
            return math.inf
        reach, high = self._guess() - promised, promised
        while high < most:
            high = min(most, promised + reach)
            if self._refuted(high):
                break
            reach *= 2
        low = promised
        while high - low > 1e-3 * (high - promised):
            middle = (low + high) / 2
            low, high = (low, middle) if self._refuted(middle) else (middle, high)
        return high

    def see(self, leak: float) -> bool:
        """Return whether a leak is refuted with probability 0.9.

        The crowd is met only if it would be without it.
        """
        if not self._refuted(leak):
            return False
        if not self.met and self.rivals >= self.design.screening.finalists:
            self._meet_the_crowd()
            self.met = True
            return self._refuted(leak)
        return True

    def _meet_the_crowd(self) -> None:
        """Find what the leaking pair must rank above: all others leak the most that is allowed."""
        place = self.rivals - self.design.screening.finalists
        at_once = max(1, CHUNK // (self.rivals * len(self.masks)))
        thresholds, bins = self._some_thresholds()
        for stream, law in enumerate(self.family.crowd, start=2):
            rng = np.random.default_rng(stream)
            for start in range(0, self.runs, at_once):
                base = self.base[start : start + at_once, None, thresholds]
                size = (len(base), self.rivals)
                neighbours = rng.multinomial(
                    self.design.screening.draws, np.add.reduceat(law, bins), size=size
                )
                ranks = self.ranking.highest(base, self._events(neighbours), self.cells)
                last = np.partition(ranks, place, axis=1)[:, place]
                self.needed[start : start + at_once] = np.maximum(
                    self.needed[start : start + at_once], last
                )

    def _some_thresholds(self) -> tuple[Counts, Counts]:
        """Return the events that a crowd is looked at through, and the first bins that they need.

        Of numbers it is every third.
        """
        symbols = self.masks.shape[1]
        if self.design.answers.labels:
            return np.arange(len(self.masks)), np.arange(symbols)
        bins = np.arange(0, symbols, EVERY)
        return np.concatenate([bins[1:] - 1, bins[1:] - 1 + symbols - 1]), bins

    def _refuted(self, leak: float) -> bool:
        """Return whether a pair that leaks so much is found and refuted with probability 0.9."""
        shares, other = self._chosen(leak)
        found = 0.0
        for face in np.flatnonzero(shares >= RARE):
            p1, p0 = self._face(int(face), other)
            # the weakest test that may be chosen
            power = min(power_by(self.design, method, p1, p0) for method in self.methods)
            found += float(shares[face]) * power
        return found >= POWER

    def _chosen(self, leak: float) -> tuple[Array, Array]:
        """Return how often each face (direction, event) is chosen, and the neighbour's law."""
        other = self.family.other(leak)
        base, drawn = self.base, self._drawn(1, other, self.runs)
        both = np.concatenate([base, drawn], axis=-1), np.concatenate([drawn, base], axis=-1)
        ranks = self.ranking.of_rare(*both, self.cells)
        found = ranks.max(axis=1) > self.needed
        shares = np.bincount(ranks.argmax(axis=1)[found], minlength=ranks.shape[1]) / self.runs
        return shares, other

    def _face(self, face: int, other: Array) -> tuple[float, float]:
        """Return p1 and p0 of a face."""
        backward, event = divmod(face, len(self.masks))
        one, two = (min(1.0, float(law @ self.masks[event])) for law in (self.family.base, other))
        return (two, one) if backward else (one, two)

    def _methods(self) -> set[Method]:
        """Tests that are chosen at about the leak that is seen."""
        shares, other = self._chosen(self._guess())
        p1, p0 = self._face(int(shares.argmax()), other)
        draws, symbols = self.design.screening.draws, self.masks.shape[1]
        return methods_near(self.design, p1, p0, draws, labels=symbols, off=1.0)

    def _guess(self) -> float:
        """About the leak that certification alone would show."""
        return leak_about(self.design, self.family.frequency, errors_needed(self.design))

    def _drawn(self, stream: int, law: Array, size: int) -> Counts:
        """Draw the events of so many screenings of one dataset, always the same from one stream."""
        return self._events(
            np.random.default_rng(stream).multinomial(self.design.screening.draws, law, size=size)
        )

    def _events(self, symbols: Counts) -> Counts:
        """Count events: shape (..., E)."""
        if self.design.answers.labels:
            return np.rint(symbols.astype(float) @ self.masks.T).astype(np.int64)
        below = np.cumsum(symbols, axis=-1)[..., :-1]
        return np.concatenate([below, self.design.screening.draws - below], axis=-1)
