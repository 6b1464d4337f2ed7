"""Pace: how many answers a shard asks for, so that it takes a moment. No number depends on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

MOMENT = 0.2
"""Seconds that all the shards under way take together, about."""
LONGEST = 16
"""A shard asks for so many times the least at most."""


@dataclass(slots=True, kw_only=True)
class Pace:
    """How fast answers have come so far, and so how many make a shard worth its shipping."""

    least: int  # answers of a shard, as long as nothing is known
    ahead: int  # shards under way at a time
    _began: float = field(default_factory=monotonic)
    _came: int = 0

    def take(self, answers: int) -> None:
        """Count answers that have come."""
        self._came += answers

    @property
    def answers(self) -> int:
        """Answers of the next shard."""
        a_second = self._came / max(monotonic() - self._began, 1e-3)
        return max(self.least, min(LONGEST * self.least, int(a_second * MOMENT / self.ahead)))
