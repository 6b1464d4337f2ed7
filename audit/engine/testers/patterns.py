"""Patterns: an event that was learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.detection.search_design import Round, SearchDesign, search_sight
from dpassay.engine.evidence import Event
from dpassay.engine.testers.events import Events
from dpassay.engine.testers.interface import CellEffort, Finalist
from dpassay.search.patterns import Pattern

SYMBOLS = np.array([[0, 1]])
"""The event alone; its complement is another pattern, which was not chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternEvents(Events):
    """Tester for an event that was learned.

    Nothing bounds the leak from above: another event may leak more. `direction` is 0 where the
    event is likelier on S, which the search has found out in these rounds; `numbers` says whether
    the answers have numbers in them.
    """

    pattern: Pattern
    direction: int
    rounds: tuple[Round, ...] = ()
    numbers: bool = False
    masks: NDArray[np.int64] = field(default_factory=SYMBOLS.copy)
    labels: tuple[int, ...] = (0, 1)
    complete: bool = False

    @property
    def profiled(self) -> bool:
        """No profile: delta(epsilon) is of all events."""
        return False

    def rank(self, sides: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Rank in the direction that the search has chosen; the other one is out."""
        ranking, events = Events.rank(self, sides)
        ranking[1 - self.direction] = -np.inf
        return ranking, events

    def event(self, event: int, group: int, query: int) -> Event:  # noqa: ARG002
        """The pattern."""
        return self.pattern

    def sight(self, finalists: Sequence[Finalist], effort: CellEffort) -> DetectionCurve:
        """Say what the search and the certification would have seen, at one of the first pairs."""
        worst = max(finalists, key=lambda each: each.apparent)
        design = SearchDesign(
            scale=self.scale,
            promised=self.promised,
            n=effort.n,
            alpha=effort.alpha,
            rounds=self.rounds,
            pilot=effort.screening.draws,
            numbers=self.numbers,
        )
        return search_sight(design, worst.frequency if worst.apparent > 0 else None)
