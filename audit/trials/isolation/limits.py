"""Limits: what a user's code may take, and what it means that it took more."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a user's code may take.

    Parameters
    ----------
    seconds : float
        Time for one thing that is asked of it: its import, one `prepare`, a portion of trials.
    memory : float
        GiB that its process may take besides what it begins with; kept to on Linux.
    """

    seconds: float = 60.0
    memory: float = 4.0


UNLIMITED = Limits(seconds=math.inf, memory=math.inf)
"""For what may take as long, and as much, as it does."""


class Lost(Exception):
    """A host has died or does not answer as it should; the text says what happened."""


class Overtime(Lost):
    """A host has taken too long."""


class Unsent(Exception):
    """Something cannot be given to a host, as it cannot be pickled; the text names it."""


def protections() -> tuple[str, ...]:
    """Name what holds a user's code back on this machine, whoever runs the trials."""
    return ("own process",)
