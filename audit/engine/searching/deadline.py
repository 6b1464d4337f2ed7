"""The time that a search may take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

clock = time.monotonic
"""Tells seconds; a test puts another one here."""


@dataclass(slots=True, kw_only=True)
class Deadline:
    """Ends a search when its time is used up."""

    seconds: float | None
    ended: bool = False
    round: tuple[int, int] | None = None  # the one of so many that it cut short
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = clock()

    def stops(self, part: float = 1.0) -> bool:
        """Whether a part of the time is used up; who asks leaves out what would come next."""
        over = self.seconds is not None and clock() - self._started >= part * self.seconds
        self.ended |= over
        return over

    def left(self) -> Deadline:
        """Return one that begins now and ends when this one does."""
        passed = clock() - self._started
        return Deadline(seconds=None if self.seconds is None else max(0.0, self.seconds - passed))

    @property
    def note(self) -> str:
        """Where the time ended the search, in a sentence; empty where it did not."""
        if not self.ended:
            return ""
        where = "in round {} of {}".format(*self.round) if self.round else "after its last round"
        return (
            f"search_seconds = {self.seconds:g} ended the search {where}: another run with this "
            "seed may find another pair."
        )

    def as_json(self) -> dict[str, Any]:
        """What a record says of it; nothing where there is no limit."""
        limit = {"seconds": self.seconds, "ended": self.ended}
        limit |= {"round": self.round[0]} if self.round else {}
        return {} if self.seconds is None else {"limit": limit}
