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
    """One thing that must be so if the harness is right.

    Parameters
    ----------
    group : {"error", "calibration", "sight", "golden", "replay"}
        What kind of trust it gives.
    name : str
        Unique; short enough for a row of a table.
    what : str
        What was done, and what a failure would mean.
    value, limit : float
        The number that was found, and what it is held against; a value that is not a number fails.
    relation : {"at most", "at least"}
        How.
    points : tuple of dict
        The numbers behind the value, one row of a table or one mark of a figure each.
    """

    group: Group
    name: str
    what: str
    value: float
    limit: float
    relation: Literal["at most", "at least"] = "at most"
    points: tuple[dict[str, Any], ...] = ()

    @property
    def passed(self) -> bool:
        """Whether value and limit stand in that relation."""
        return self.value <= self.limit if self.relation == "at most" else self.value >= self.limit

    def as_json(self) -> dict[str, Any]:
        """Every field, `passed` too.

        Numbers with 12 significant digits, none where there is no number.
        """
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
