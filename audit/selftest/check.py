"""A check of the self-test, as data.

What was found, what it is held against, and the numbers for a figure.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from dpassay.numerics import number

Group = Literal["error", "calibration", "sight", "golden", "replay"]

ALPHA = 0.05
"""Error probability of the tests and audits that are checked: large, so that errors are frequent
enough to be counted."""
CHANCE = 0.01
"""A check that hangs on random numbers fails by accident with at most this probability, over all
seeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that must be so if the harness is right; a value that is no number fails."""

    group: Group  # what kind of trust it gives
    name: str  # unique; short enough for a row of a table
    what: str  # what was done, and what a failure would mean
    value: float
    limit: float
    relation: Literal["at most", "at least"] = "at most"
    points: tuple[dict[str, Any], ...] = ()  # the numbers behind the value, a row or mark each

    @property
    def passed(self) -> bool:
        """Return whether value and limit stand in that relation."""
        return self.value <= self.limit if self.relation == "at most" else self.value >= self.limit

    def as_json(self) -> dict[str, Any]:
        """Return every field, `passed` too; numbers with 12 digits, or none without a number."""
        points = [{key: _json(value) for key, value in point.items()} for point in self.points]
        return asdict(self) | {
            "value": _json(self.value),
            "limit": _json(self.limit),
            "points": points,
            "passed": self.passed,
        }


def _json(value: object) -> object:
    """Return a number as it is recorded, None for what is not a number; anything else as it is."""
    if not isinstance(value, float):
        return value
    return None if math.isnan(value) else number(value)
