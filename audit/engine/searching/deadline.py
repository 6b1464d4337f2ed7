"""The time that a search may take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

clock = time.monotonic
"""Tells seconds; a test puts another one here."""


@dataclass(slots=True, kw_only=True)
class Deadline:
    """Ends a search when its time is used up.

    Parameters
    ----------
    seconds : float or None
        From now on, > 0; None for no limit.
    ended : bool
        Whether something was left out because of it.
    """

    seconds: float | None
    ended: bool = False
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = clock()

    def stops(self, part: float = 1.0) -> bool:
        """Whether a part of the time is used up; who asks leaves out what would come next."""
        over = self.seconds is not None and clock() - self._started >= part * self.seconds
        self.ended |= over
        return over

    def as_json(self) -> dict[str, Any]:
        """What a record says of it; nothing where there is no limit."""
        limit = {"seconds": self.seconds, "ended": self.ended}
        return {} if self.seconds is None else {"limit": limit}
