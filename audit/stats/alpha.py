"""Spending: where the error probability of a result goes. It is fixed before anything is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The parts of a result's alpha.

    Bonferroni over the parts and over the certified cells (`cells`: queries times finalists), which
    no dependence can break. Direction, event and test of a cell are chosen on separate trials and
    analysed once, so none of them needs a correction. The looks of an e-process need none either.

    Unless something is `bounded` from above, the lower bounds have its share. With more than one of
    `looks` the trials may end early: then an e-process has a share of alpha for all its looks, and
    the bounds have two: one where no look refutes, and one where one does (`stopped`) and they are
    made of fresh trials. Which of the two it will be is not known beforehand, so both are paid.
    `rounds` counts how often cells are chosen for the e-processes; the cells of each round are
    others.
    """

    alpha: float
    cells: int
    queries: int
    profiled: bool = True
    bounded: bool = True
    looks: int = 1
    rounds: int = 1
    stopped: bool = False

    @property
    def sequential(self) -> float:
        """An eighth for the e-processes of all cells together, where trials may end early."""
        return self.alpha / 8 if self.looks > 1 else 0.0

    @property
    def each_sequential(self) -> float:
        """Error probability of the e-process of one cell, all looks together."""
        return self.sequential / (self.cells * self.rounds)

    @property
    def fresh(self) -> float:
        """An eighth for the bounds on fresh trials, where trials may end early."""
        return self.alpha / 8 if self.looks > 1 else 0.0

    @property
    def bounds(self) -> float:
        """Return what is left for bounds: all of alpha, or the part for an early end."""
        return self.fresh if self.stopped else self.alpha - self.sequential - self.fresh

    @property
    def lower(self) -> float:
        """Return what the others leave of `bounds`, for all lower bounds together.

        That is half of it, three quarters where nothing is bounded from above, and all of it where
        there are no profiles either.
        """
        return self.bounds - self.upper - self.profile

    @property
    def each_lower(self) -> float:
        """Error probability of the lower bound of one cell."""
        return self.lower / self.cells

    @property
    def upper(self) -> float:
        """A quarter for the upper bounds, half where there are no profiles; 0 where none are."""
        if not self.bounded:
            return 0.0
        return self.bounds / 4 if self.profiled else self.bounds / 2

    @property
    def largest_upper(self) -> float:
        """Return half of `upper`, for the bound on the largest leak.

        It is undivided: an intersection-union test over everything certified.
        """
        return self.upper / 2

    @property
    def each_upper(self) -> float:
        """The other half divided by the cells, so that their upper bounds hold all together."""
        return self.upper / 2 / self.cells

    @property
    def profile(self) -> float:
        """A quarter, for the bands of the privacy profiles; 0 where there are none."""
        return self.bounds / 4 if self.profiled else 0.0

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
        names = ("sequential", "each_sequential", "fresh") if self.looks > 1 else ()
        early = {name: getattr(self, name) for name in names}
        return facts | parts | early | {"directions": 1, "tests": 1, "looks": self.looks}
