"""Spending: where the error probability of a result goes. It is fixed before anything is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The parts of a result's alpha.

    Bonferroni over the parts and over the certified cells (`cells`: queries times finalists), which
    no dependence can break. Direction, event and test of a cell are chosen on separate trials and
    analysed once, so none of them needs a correction.

    Unless something is `bounded` from above, the lower bounds have its share.
    """

    alpha: float
    cells: int
    queries: int
    profiled: bool = True
    bounded: bool = True

    @property
    def lower(self) -> float:
        """Return what the others leave of alpha, for all lower bounds together.

        That is half of it, three quarters where nothing is bounded from above, and all of it where
        there are no profiles either.
        """
        return self.alpha - self.upper - self.profile

    @property
    def each_lower(self) -> float:
        """Error probability of the lower bound of one cell."""
        return self.lower / self.cells

    @property
    def upper(self) -> float:
        """A quarter for the upper bounds, half where there are no profiles; 0 where none are."""
        if not self.bounded:
            return 0.0
        return self.alpha / 4 if self.profiled else self.alpha / 2

    @property
    def largest_upper(self) -> float:
        """Return half of `upper`, for the bound on the largest leak.

        It is undivided: an intersection-union test over everything certified.
        """
        return self.upper / 2

    @property
    def each_upper(self) -> float:
        """The other half divided by the cells, so that their upper bounds hold all together."""
        return self.largest_upper / self.cells

    @property
    def profile(self) -> float:
        """A quarter, for the bands of the privacy profiles; 0 where there are none."""
        return self.alpha / 4 if self.profiled else 0.0

    @property
    def each_profile(self) -> float:
        """Error probability of the band of one cell, simultaneous over epsilon and both directions.

        One per query is shown, that of the largest certified lower bound, which is a choice among
        all cells.
        """
        return self.profile / self.cells

    def as_json(self) -> dict[str, Any]:
        """Return what went where."""
        parts = {
            name: getattr(self, name)
            for name in (
                "lower",
                "each_lower",
                "upper",
                "largest_upper",
                "each_upper",
                "profile",
                "each_profile",
            )
        }
        facts = {"alpha": self.alpha, "cells": self.cells, "queries": self.queries}
        return facts | parts | {"directions": 1, "tests": 1}
