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
from dpassay.targets.groups import Group

Mode = Literal["exact", "exhaustive", "monte-carlo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfLine:
    """The event that a number is at least, or below, a threshold.

    Parameters
    ----------
    threshold : float
    above : bool
        Whether the event is 'at least'.
    """

    threshold: float
    above: bool

    def __str__(self) -> str:
        return half_line_words(self.threshold, above=self.above)


Event = tuple[int, ...] | HalfLine | Pattern
"""Labels, a half-line, a learned pattern, or nothing where a claim is about means."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """The worst cell of one query point.

    Which pair, direction and event leak most there, and how much.

    Parameters
    ----------
    group, pair, query : int
        Place of the group in the plan, of the change in its pairs, and of the query in its queries.
    direction : str
        One of `dpassay.targets.groups.DIRECTIONS`.
    event : tuple of int, HalfLine or Pattern
        The labels that make the event; a half-line of numbers; a pattern that was learned; empty
        where the claim is about means.
    p1, p0 : float
        Probability of the event on the two sides: exact, or the observed frequency; the mean
        predictions where the claim is about those.
    lower, upper : Bound
        Certified bounds on the leak of this cell (lower) and of all events and both directions of
        this pair and query (upper).
    exact : Computed or None
        The leak itself, where it was computed.
    estimate : Estimate or None
        Its plug-in value, where it was sampled; decides nothing.
    profile : Profile or None
        delta(epsilon) of this pair and query, exact or as a simultaneous band.
    """

    group: int
    pair: int
    query: int
    direction: str
    event: Event
    p1: float
    p0: float
    lower: Bound
    upper: Bound
    exact: Computed | None = None
    estimate: Estimate | None = None
    profile: Profile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnySize:
    """Worst leak over all datasets of any size, through the reachable states.

    Parameters
    ----------
    loss, error : float
        In the units of the claim, with its numerical error.
    states : tuple of str
        The two neighbouring states that attain it, first the one with the larger probability of the
        event.
    argument : str
        Why no dataset does worse.
    of : str
        What the leak is of where that is not quite what is released; see
        `dpassay.mechanism.Reachable`.
    """

    loss: float
    error: float
    states: tuple[str, str]
    argument: str
    of: str = ""

    def exceeds(self, claimed: float) -> bool:
        """Whether the worst leak is above a claim for certain, numerical error taken off.

        Unrounded numbers decide.
        """
        return self.loss - self.error > claimed


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Goodness of fit of `sample` to the declared law.

    It can only find differences, never show that there are none.

    Parameters
    ----------
    draws : int
        Trials per side and query.
    tests : int
        Exact binomial tests, one per side, query and label.
    p_value : float
        The smallest p-value times `tests` (Bonferroni), at most 1.
    """

    draws: int
    tests: int
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """Everything a verdict and a report need about one claim.

    Parameters
    ----------
    mode : {"exact", "exhaustive", "monte-carlo"}
    lower, upper : Bound
        On the largest leak: `lower` over all audited cells, `upper` over those that were certified
        (all of them where the law is known; where it was sampled, the finalist of each query).
    cells : tuple of Cell
        The worst cell of every query point, in the order of groups and queries.
    worst : Cell
        The one that `lower` comes from.
    groups : tuple of Group
        What the numbers in the cells point into.
    sight : DetectionCurve
        What the audit would have refuted with probability 0.9, its screening included, and through
        what events.
    trials : int
        Runs of the mechanism, screening included; 0 where the law was computed.
    alpha : float
        Share of the run's error probability that this result spent; 0 for computed numbers.
    spending : Spending or None
        Where that share went.
    searched : dict
        What was looked at, as JSON: pairs, queries, how.
    domain : str or None
        Name of the domain that was enumerated completely, if it was.
    any_size : AnySize or None
    other : tuple of Claim and Evidence, or None
        The notion that the claim is not about, and what the same laws say of it; see
        `Promise.beside`.
    fit : Fit or None
    table : dict of str to array
        All cells, column by column, for the sidecar.
    stopped : Stopped or None
        How an e-process refuted the claim before all trials were drawn, if it did. Then all bounds
        are made of fresh trials, `worst` is the cell that was refuted, and its lower bound may lie
        below the claim.
    parts : tuple of (str, int)
        Phases of the trials that the bounds are made of, and how many are of each; empty where it
        is one, `certify`.
    again : tuple of dict
        Fresh counts at the cells of a baseline, for `dpassay.record.compare` alone; see
        `dpassay.engine.baseline_cells`.
    point : Claim or None
        The point of a privacy curve that it was held against; None where the claim is no curve.
    """

    mode: Mode
    lower: Bound
    upper: Bound
    cells: tuple[Cell, ...]
    worst: Cell
    groups: tuple[Group, ...]
    sight: DetectionCurve
    trials: int
    alpha: float
    searched: dict[str, Any]
    spending: Spending | None = None
    domain: str | None = None
    any_size: AnySize | None = None
    other: tuple[Claim, Evidence] | None = None
    fit: Fit | None = None
    table: dict[str, NDArray[Any]] = field(default_factory=dict)
    again: tuple[dict[str, Any], ...] = ()
    stopped: Stopped | None = None
    parts: tuple[tuple[str, int], ...] = ()
    point: Claim | None = None

    @property
    def detectable(self) -> float:
        """Smallest true leak that the audit would have refuted with probability 0.9.

        Through an event of the stated frequency.
        """
        return self.sight.detectable

    @property
    def still(self) -> bool:
        """Whether this was sampled, and nothing moved.

        The lower bound of every certified cell is 0.
        """
        return self.mode == "monte-carlo" and self.lower.value <= 0 and self.stopped is None

    def open_beyond(self, leak: float) -> bool:
        """Whether a certified cell at which labels moved may leak more than that.

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
