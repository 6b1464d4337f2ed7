"""Suppressions: regressions that somebody has looked at, with a reason, until a day."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from dpassay.config.mechanisms import known
from dpassay.config.option import one_of, text
from dpassay.errors import InvalidInput, is_real, require

KINDS = ("refuted", "failed", "vanished", "repointed", "weakened", "rose", "blinder")
"""Kinds of regressions; see `dpassay.record.compare.REGRESSIONS`."""
SIZED = ("refuted", "rose", "blinder")
"""Those that are larger or smaller."""
ROWS = (text("result", help=""), one_of("kind", KINDS, help=""), text("reason", help=""))
LONGEST = timedelta(days=366)
"""No suppression is for longer: somebody has to look again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """One regression that is let pass.

    `up_to` is the largest size of a `dpassay.record.compare.Difference` that passes.
    """

    result: str  # id of the result, as the comparison shows it
    kind: str  # one of `KINDS`
    reason: str
    expires: date  # the last day on which it is let pass
    up_to: float | None = None  # any size by default

    def __str__(self) -> str:
        up_to = "" if self.up_to is None else f", up to {self.up_to:g}"
        return f"{self.kind} of {self.result} (until {self.expires}{up_to}: {self.reason})"


def suppressions(entries: Any, file: str) -> tuple[Suppression, ...]:
    """Read the suppressions of a configuration file."""
    tables = isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)
    require(
        tables,
        f"{file}: suppressions",
        entries,
        "tables [[suppressions]] ([[tool.dpassay.suppressions]] in pyproject.toml)",
    )
    return tuple(_entry(entry, f"{file}, suppression {k}") for k, entry in enumerate(entries, 1))


def _entry(entry: dict[str, Any], where: str) -> Suppression:
    names = ("result", "kind", "reason", "expires")
    known(entry, (*names, "up_to"), where)
    for key in names:
        if key not in entry:
            raise InvalidInput(f"{where}: {key} is missing: a suppression needs {', '.join(names)}")
    for row in ROWS:
        row.value(entry[row.key], f"{where}: {row.key}")
    day = entry["expires"]
    require(
        isinstance(day, date) and not isinstance(day, datetime),
        f"{where}: expires",
        day,
        "a date like 2027-01-31, without quotes",
    )
    last = datetime.now(tz=UTC).date() + LONGEST
    require(
        day <= last,
        f"{where}: expires",
        day.isoformat(),
        f"at most a year ahead, {last} at the latest",
    )
    most = entry.get("up_to")
    if most is not None:
        require(
            entry["kind"] in SIZED,
            f"{where}: up_to",
            most,
            f"left out, unless kind is one of {', '.join(SIZED)}",
        )
        require(
            is_real(most) and 0 <= most < math.inf, f"{where}: up_to", most, "a finite number >= 0"
        )
    return Suppression(**entry)
