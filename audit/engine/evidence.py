"""Evidence: what one way of knowing has found out about one claim, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.early import Stopped
from dpassay.numerics import half_line_words
from dpassay.search.patterns import Pattern
from dpassay.stats.alpha import Spending
from dpassay.stats.bounds import Bound, Computed, Estimate
from dpassay.stats.profile import Profile
from dpassay.targets.groups import PairGroup

Mode = Literal["exact", "exhaustive", "monte-carlo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfLine:
    """The event that a number is at least, or below, a threshold."""

    threshold: float
    above: bool

    def __str__(self) -> str:
        return half_line_words(self.threshold, above=self.above)


Event = tuple[int, ...] | HalfLine | Pattern
"""Labels, a half-line, a learned pattern, or nothing where a claim is about means."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """The worst cell of one query point: the pair, direction and event that leak most, how much."""

    group: int  # its place in the plan
    pair: int  # the place of the change in the group's pairs
    query: int
    direction: str  # one of `dpassay.targets.groups.DIRECTIONS`
    event: Event
    p1: float  # probability or frequency of the event on the two sides, or the mean predictions
    p0: float
    lower: Bound  # on the leak through this event
    upper: Bound  # on that through all events, in both directions
    exact: Computed | None = None
    estimate: Estimate | None = None  # decides nothing
    profile: Profile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnySize:
    """Worst leak over all datasets of any size, through the reachable states."""

    loss: float
    error: float
    states: tuple[str, str]  # neighbours, first the one on which the event is likelier
    argument: str  # why no dataset does worse
    of: str = ""  # where that is not quite what is released

    def exceeds(self, claimed: float) -> bool:
        """Return whether the unrounded worst leak, less its numerical error, is above a claim."""
        return self.loss - self.error > claimed


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodnessOfFit:
    """Goodness of fit of `sample` to the declared law: it shows differences, never that none is."""

    draws: int  # trials per side and query
    tests: int  # one per side, query and label
    p_value: float  # the smallest of theirs times `tests`, at most 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """Everything a verdict and a report need about one claim."""

    mode: Mode
    lower: Bound  # on the largest leak of all audited cells
    upper: Bound  # on that of the certified cells; of all where the law is known
    cells: tuple[Cell, ...]  # the worst one of every query point
    worst: Cell  # the one that `lower` comes from
    groups: tuple[PairGroup, ...]  # what the numbers in cells point into
    sight: DetectionCurve
    trials: int  # runs of the mechanism, screening included
    alpha: float  # share of the run's error probability that this result spent
    searched: dict[str, Any]  # what was looked at, as JSON
    spending: Spending | None = None
    domain: str | None = None  # the name of one that was enumerated completely
    any_size: AnySize | None = None
    other: tuple[Claim, Evidence] | None = None  # see `Promise.beside`
    fit: GoodnessOfFit | None = None
    table: dict[str, NDArray[Any]] = field(default_factory=dict)  # all cells, for the sidecar
    again: tuple[dict[str, Any], ...] = ()  # see `dpassay.engine.baseline_cells`
    stopped: Stopped | None = (
        None  # then all bounds are of fresh trials, and may be below the claim
    )
    parts: tuple[
        tuple[str, int], ...
    ] = ()  # phases of those trials; empty if it is 'certify' alone
    point: Claim | None = None  # of a privacy curve, the point that it was held against
    others: tuple[Evidence, ...] = ()  # what else a search found; the bounds hold all together

    @property
    def detectable(self) -> float:
        """Return the smallest true leak that would have been refuted with probability 0.9.

        It is one through an event of the stated frequency.
        """
        return self.sight.detectable

    @property
    def still(self) -> bool:
        """Return whether this was sampled and the lower bound of every certified cell is 0."""
        return self.mode == "monte-carlo" and self.lower.value <= 0 and self.stopped is None

    def open_beyond(self, leak: float) -> bool:
        """Return whether a certified cell at which labels moved may leak more than that.

        Of numbers nothing is ever known.
        """
        if self.mode != "monte-carlo" or not isinstance(self.worst.event, tuple):
            return False
        moved = self.table["lower"] > 0
        return bool((moved & (self.table["upper"] > leak)).any())

    def joined_by(self, worse: Evidence) -> Evidence:
        """Return this evidence with the cells of another, which holds the worst one."""
        offset = len(self.groups)
        moved = {cell: replace(cell, group=cell.group + offset) for cell in worse.cells}
        return replace(
            self,
            lower=worse.lower,
            upper=worse.upper,
            cells=(*self.cells, *moved.values()),
            worst=moved[worse.worst],
            groups=(*self.groups, *worse.groups),
            searched=self.searched
            | {name: [*self.searched[name], *worse.searched[name]] for name in ("how", "keys")},
        )


def event_labels(event: NDArray[np.bool_], labels: tuple[int, ...]) -> tuple[int, ...]:
    """Return the labels of an event given as a mask."""
    return tuple(label for label, inside in zip(labels, event, strict=True) if inside)
