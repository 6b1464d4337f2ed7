"""What a kind of claim needs besides its own numbers.

How it reads a law, tests trials, plans them and bounds them anew. `events`, `means` and
`proportions` beside it are the ways; `dpassay.engine.kinds` says which kind goes which.
"""

# ruff: noqa: ARG002  (defaults have no use for what they are given)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.engine.evidence import Cell, DetectionCurve, Event
from dpassay.engine.readings import Leaks
from dpassay.errors import InvalidInput
from dpassay.laws import Law
from dpassay.stats.bounds import Bound, Counts, Estimate, Histograms
from dpassay.stats.paired import Line, lines_of
from dpassay.stats.power import Screening
from dpassay.stats.profile import Profile
from dpassay.stats.scales import scale_of
from dpassay.targets.groups import DIRECTIONS
from dpassay.trials.encoders import Bins

Array = NDArray[np.int64]
Floats = NDArray[np.float64]
NOT_SAMPLED = "was not sampled; only sampled bounds have an error probability"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalist:
    """A cell that is to be certified, as the screening chose it before the certification trials.

    `leads` is how bad it looks beside others. `apparent` is a bound on its leak that chance alone
    lifts above 0 at any cell of one audit in a hundred; neither certifies anything. `frequency` is
    its event's on the likelier side, `method` the test that was chosen.
    """

    group: int
    pair: int
    query: int
    direction: int
    event: int
    leads: float
    apparent: float
    frequency: float
    method: Any

    @property
    def place(self) -> tuple[int, int, int]:
        """Group, pair and query."""
        return self.group, self.pair, self.query

    @property
    def sides(self) -> tuple[int | None, int | None]:
        """Return the pair and None, the base, from where the event is likelier to where not."""
        return (self.pair, None) if self.direction else (None, self.pair)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellEffort:
    """What is spent on a cell: `n` certification trials per side, `alpha` for its lower bound."""

    n: int
    alpha: float
    screening: Screening


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A sampled cell as a record lists it.

    `method` is the key of the test of its lower bound. `counts` are its event's; `histograms` its
    answers', where the claim is about means.
    """

    method: str
    counts: Counts | None
    histograms: Histograms | None


@dataclass(frozen=True, kw_only=True)
class Tester:
    """All that is done with a claim of one kind; by default it is not sampled.

    The mechanism answers `labels`, or `numbers` between limits, which are counted in `bins` where
    their events are looked at. Counts are (K,) of one dataset at a query, on one side and on the
    other; those of the screening choose a test, those of the certification are bounded by it.
    """

    claim: Claim
    labels: tuple[int, ...] = ()
    numbers: tuple[float, float] | None = None
    bins: tuple[Bins, ...] = ()

    @property
    def promised(self) -> float:
        """The leak that the claim allows."""
        return self.claim.promised

    @property
    def profiled(self) -> bool:
        """Return whether there is a privacy profile, which takes a part of alpha."""
        return False

    @property
    def bounded(self) -> bool:
        """Return whether leaks are bounded from above, which takes a part of alpha."""
        return True

    @property
    def above(self) -> str:
        """Return how the upper bound is made; see `dpassay.stats.methods`."""
        return "union"

    @property
    def payoffs(self) -> Array:
        """Return what pairs of runs are compared by: numbers (E, K) from 0 to `unit`."""
        raise InvalidInput(NOT_SAMPLED)

    @property
    def unit(self) -> int:
        """Return 1, as events are held or not."""
        return 1

    def lines(self, leak: float) -> list[Line]:
        """Return which lines no payoff lies above if there is no larger leak."""
        return lines_of(scale_of(self.claim).allowed(leak))

    def leaks(self, law: Law) -> Leaks | None:
        """Return how laws like this one are read; None where they cannot be."""
        return None

    def rank(self, sides: Array) -> tuple[Floats, Array]:
        """Return how bad each (direction, pair) looks by counts (2, P, K), and its worst event."""
        raise InvalidInput(NOT_SAMPLED)

    def choose(self, event: int, one: Array, other: Array, n: int, alpha: float) -> Any:
        """Return the test for n certification trials per side, by screening counts."""
        return None

    def certified(
        self, finalist: Finalist, one: Array, other: Array, alphas: tuple[float, float]
    ) -> Cell:
        """Bound a cell by counts of fresh trials, at error probabilities for both bounds."""
        p1, p0 = self.seen(finalist, one, other)
        lower = self.lower(finalist, one, other, alphas[0])
        upper = self.upper(finalist, one, other, alphas[1])
        return Cell(
            group=finalist.group,
            pair=finalist.pair,
            query=finalist.query,
            direction=DIRECTIONS[finalist.direction],
            event=self.event(finalist.event, finalist.group, finalist.query),
            p1=p1,
            p0=p0,
            lower=lower,
            upper=Bound(value=upper, alpha=alphas[1], method=self.above, counts=lower.counts),
            estimate=Estimate(value=max(0.0, self.leak(p1, p0)), method="plug-in"),
        )

    def seen(self, finalist: Finalist, one: Array, other: Array) -> tuple[float, float]:
        """Return how often the event came on the two sides, or the mean answers."""
        raise InvalidInput(NOT_SAMPLED)

    def leak(self, p1: float, p0: float) -> float:
        """Return the leak at these frequencies or means."""
        return p1 - p0

    def lower(self, finalist: Finalist, one: Array, other: Array, alpha: float) -> Bound:
        """Bound the leak through the event of a cell from below."""
        raise InvalidInput(NOT_SAMPLED)

    def upper(
        self, finalist: Finalist, one: Array, other: Array, alpha: float, floor: float = 0.0
    ) -> float:
        """Bound all events and both directions of a cell from above; need not go below `floor`."""
        raise InvalidInput(NOT_SAMPLED)

    def apparent(self, event: int, one: Array, other: Array, looks: int) -> tuple[float, float]:
        """Return what `Finalist` says of one of so many cells and events, by screening counts."""
        return 0.0, 1.0

    def profile(self, one: Array, other: Array, alpha: float) -> Profile | None:
        """Return the band of delta(epsilon) from certification counts, or None."""
        return None

    def event(self, event: int, group: int, query: int) -> Event:
        """Return what an event is; means are about none."""
        return ()

    def sight(self, effort: CellEffort, finalists: Sequence[Finalist] = ()) -> DetectionCurve:
        """Return what would be refuted with probability 0.9, the screening included.

        Without finalists nothing has been drawn yet.
        """
        raise InvalidInput(NOT_SAMPLED)

    def sees(self, effort: CellEffort, leak: float) -> bool:
        """Return whether such a leak would be seen, before anything is drawn."""
        return self.sight(effort).detectable <= leak

    def spread(self, leak: float) -> float:
        """Return about the standard error of a leak of that size, times the root of the trials."""
        raise InvalidInput(NOT_SAMPLED)

    def lower_again(self, cell: Recorded, alpha: float) -> float:
        """Bound the leak of a recorded cell from below, by the same test."""
        raise InvalidInput(NOT_SAMPLED)

    def upper_again(self, cell: Recorded, alpha: float) -> float:
        """Bound the leak of a recorded cell's event, its complement and both directions."""
        raise InvalidInput(NOT_SAMPLED)

    def detectable_again(
        self, cell: Recorded, limit: float, effort: CellEffort, *, through: bool
    ) -> float:
        """Return the smallest leak that so many trials show to be above a limit.

        It is `through` the cell's event, at the frequency that was seen.
        """
        raise InvalidInput(NOT_SAMPLED)
