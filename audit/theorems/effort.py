"""How much a check does, and with which random numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

SHARE = 1e-5
"""Error probability that each row spends that draws random numbers. A constant, so that a new row
changes nothing for the others; a run of up to a hundred such rows keeps 99.9 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is done."""

    deep: bool = False  # larger domains and more trials, for `make test-slow`
    seed: int = 0

    def of(self, default: T, deep: T) -> T:
        """Return the first of two sizes, or the second if the check is to go deep."""
        return deep if self.deep else default
