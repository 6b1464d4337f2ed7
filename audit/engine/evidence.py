"""Evidence: what one way of knowing has found out about one claim, cell by cell."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.numerics import half_line_words, upper_number
from dpassay.rows.rows import Rows
from dpassay.search.outputs import OUTCOME, Encoder
from dpassay.search.patterns import Pattern
from dpassay.search.rules import OneOf
from dpassay.stats.alpha import Spending
from dpassay.stats.bounds import Bound, Computed, Estimate
from dpassay.stats.profile import Profile
from dpassay.targets.groups import DIRECTIONS, PairGroup

Mode = Literal["exact", "exhaustive", "monte-carlo"]
FREQUENCIES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001)
"""Where the curve of a result is written down."""
MANY = 100
"""Only what holds in so many runs is said of every run."""
LEAST = 1e-6
"""No frequency is nearer to 0 or 1."""


class Plan(Protocol):
    """What an audit would see, as a function of how frequent the leaking event is."""

    def smallest(self, frequency: float) -> float:
        """Return the smallest leak that is refuted with probability 0.9; inf where none is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionCurve:
    """What an audit would have seen.

    `detectable` is the smallest true leak, in the units of the claim, that would have been refuted
    with probability 0.9, screening included, were it one pair's and through an event of the stated
    `frequency`; inf if none would. `frequency` is the least probability of that event on the
    likelier side, None where the number holds for every event; it is `assumed` where the screening
    saw nothing move. `design` is what the curve is computed from, once somebody asks for it.
    """

    detectable: float
    frequency: float | None = None
    assumed: bool = False
    design: Plan | None = None

    @property
    def curve(self) -> tuple[tuple[float, float], ...]:
        """Frequencies, falling, with the smallest leak seen at each."""
        if self.design is None or self.frequency is None:
            return ()
        found, worst = [], 0.0
        for point in (self.frequency, *(point for point in FREQUENCIES if point < self.frequency)):
            # rarer is harder
            worst = max(worst, self.design.smallest(point) if math.isfinite(worst) else worst)
            found.append((point, worst))
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """Return what a record says besides `detectable`."""
        curve = [[point, upper_number(leak)] for point, leak in self.curve]
        return {"frequency": self.frequency, "assumed": self.assumed, "curve": curve}


def two_digits(share: float) -> float:
    """Round down to two digits, beyond a half of what is left to 1, so that few differ."""
    part = max(1 - share if share > 0.5 else share, LEAST)
    unit = 10.0 ** (math.floor(math.log10(part)) - 1)
    if share > 0.5:
        return float(f"{1 - math.ceil(part / unit - 1e-9) * unit:.9g}")
    return float(f"{math.floor(part / unit + 1e-9) * unit:.2g}")


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


Lot = tuple[str, int, int]
"""Trials of one phase: its name, how many, and which lot of that phase."""


def parts(drawn: Sequence[Lot]) -> tuple[tuple[str, int], ...]:
    """Return the names of the random streams of some lots, and how many trials are of each."""
    return tuple((f"{phase} {lot}" if lot else phase, size) for phase, size, lot in drawn)


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
    parts: tuple[tuple[str, int], ...] = ()  # phases of those trials; empty if 'certify' alone
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
        return self.mode == "monte-carlo" and self.lower.value <= 0

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


_CELL = r"""-?\d+(?:\.\d+)?(?:e[+-]\d+)?|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
_ROW = rf"(?:{_CELL}|\((?:{_CELL}|[^()'\"])*\))"
VALUES = re.compile(rf" by \(x = [^()]*\)|(?<= replaced) by {_ROW}|(?<=record) {_ROW}(?= added)")
"""How a change names the record that it puts in, where that is in no pool and so has no number."""


def an_exception(encoder: Encoder) -> Pattern:
    """Return the event that a run raises an exception, of whichever kind."""
    return Pattern(encoder.only([OUTCOME]), (OneOf(0, (0,)),))


def told_apart(evidence: Evidence) -> str:
    """Describe how the worst pair is told apart for certain: in every run, or by an exception.

    It is empty where the event came on both sides, or not in every run of the one, or where the
    first proof took few runs.
    """
    cell = evidence.worst
    counts, event = cell.lower.counts, cell.event
    if counts is None or counts.y or counts.n1 < MANY or event == ():
        return ""
    raised = isinstance(event, Pattern) and event == an_exception(event.encoder)
    if counts.x < counts.n1 and not raised:
        return ""
    answer = event.words if isinstance(event, Pattern) else f"the answer is {event}"
    answer = "an exception is raised" if raised else answer
    if isinstance(event, tuple):
        answer = f"the answer is {' or '.join(map(str, event))}"
    every = "every run" if counts.x == counts.n1 else f"{counts.x:,} of {counts.n1:,} runs"
    group, turned = evidence.groups[cell.group], DIRECTIONS.index(cell.direction)
    base, change = group.pairs.base, group.pairs.changes[cell.pair]
    sizes = [len(base), len(change.apply(base))]
    if min(sizes):
        where, named = ["before the change", "after it"], f"{re.sub(VALUES, '', str(change))}: "
    else:
        table = isinstance(base, Rows) and base.form.shape == "frame"
        empty = "an empty table" if table else "an empty dataset"
        more = "one record more" if max(sizes) == 1 else f"{max(sizes)} records more"
        where, named = [more if size else empty for size in sizes], ""
        if raised and counts.x == counts.n1:
            return f"{where[turned]} is answered by an exception, {where[1 - turned]} is not"
        where = [f"with {each}" for each in where]
    return f"{named}{answer} in {every} {where[turned]}, in none {where[1 - turned]}"
