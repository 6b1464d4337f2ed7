"""What a replay found."""

from __future__ import annotations

from dataclasses import dataclass

TOLERANCE = 1e-9
"""By how much a leak that is computed again may differ, as a part of it if that is above 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a replay found."""

    loss: float  # exact, the plug-in of the counts drawn again, or the bound on fresh trials
    reproduced: bool  # the leak within 1e-9, or the same counts; on fresh trials, the same verdict
    refuted: bool
    expected: bool  # whether a refutation is no alarm
    words: str
    change: str = ""
    fresh: bool = False
