"""Shares: claims about the proportion of bad random strings, judged by the count of those.

See `dpassay.targets.coupled`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dpassay.claims import ScoreStability
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.early import Gamble
from dpassay.engine.evidence import Event
from dpassay.engine.readings import LabelLeaks, Leaks
from dpassay.engine.testers.interface import (
    NOT_SAMPLED,
    CellEffort,
    ClaimKind,
    Finalist,
    Recorded,
    Tester,
)
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw, Law
from dpassay.stats.bounds import (
    Bound,
    Counts,
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from dpassay.stats.power import POWER
from dpassay.stats.regions import LineRegion
from dpassay.stats.scales import scale_of
from dpassay.targets.guard import AuditTarget
from dpassay.trials.encoders import Bins

BAD = 1
"""The answer that a bad string gives; without neighbours it never comes."""


@dataclass(frozen=True, slots=True)
class AboutStrings(ClaimKind):
    """Claims about the proportion of bad random strings."""

    claim: ScoreStability

    def leaks(self, law: Law, labels: tuple[int, ...]) -> Leaks | None:
        """The proportion is a change of the probability of 'bad'."""
        return LabelLeaks(claim=self.claim, labels=labels) if isinstance(law, FiniteLaw) else None

    def tester(self, target: AuditTarget, bins: tuple[Bins, ...]) -> Shares:  # noqa: ARG002
        """Strings are good or bad."""
        return Shares(promised=self.claim.promised)

    def curve(self, target: AuditTarget, effort: CellEffort) -> DetectionCurve:  # noqa: ARG002
        """See `detectable_share`."""
        return DetectionCurve(detectable=detectable_share(self.claim.promised, effort))

    def spread(self, target: AuditTarget, leak: float) -> float:  # noqa: ARG002
        """At the worst face of a difference."""
        scale = scale_of(self.claim)
        return scale.spread(*scale.allowed(leak).tight)

    def lower(self, cell: Recorded, alpha: float) -> float:
        """See `share_lower`."""
        return share_lower(_strings(cell), alpha)

    def upper(self, cell: Recorded, alpha: float, floor: float) -> float:
        """The other limit."""
        counts = _strings(cell)
        return max(floor, float(clopper_pearson_upper(counts.x, counts.n1, alpha)))

    def detectable(
        self,
        cell: Recorded,  # noqa: ARG002
        limit: float,
        effort: CellEffort,
        *,
        through: bool,  # noqa: ARG002
    ) -> float:
        """See `detectable_share`."""
        return detectable_share(limit, effort)


def _strings(cell: Recorded) -> Counts:
    if cell.counts is None:
        raise InvalidInput(NOT_SAMPLED)
    return cell.counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares(Tester):
    """Tester for claims about a proportion; its counts (K,) are of good and of bad strings."""

    promised: float

    def rank(self, sides: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Rank cells of counts (2, P, K) by the observed proportion."""
        bad = sides[..., BAD]
        return (bad - bad[::-1]).astype(float), np.full(bad.shape, BAD)

    def choose(
        self, event: int, one: NDArray[np.int64], other: NDArray[np.int64], n: int, alpha: float
    ) -> None:
        """There is one test."""

    def gamble(self, event: int) -> Gamble | None:  # noqa: ARG002
        """Return the claim (0, promised) of 'bad', None where nothing exceeds it.

        Without neighbours no string is bad.
        """
        if self.promised >= 1:
            return None
        return Gamble(event=np.eye(2, dtype=np.int64)[BAD], allowed=LineRegion(0.0, self.promised))

    def seen(
        self,
        finalist: Finalist,  # noqa: ARG002
        one: NDArray[np.int64],
        other: NDArray[np.int64],
    ) -> tuple[float, float]:
        """Return the proportions of bad strings."""
        return int(one[BAD]) / int(one.sum()), int(other[BAD]) / int(other.sum())

    def lower(
        self,
        finalist: Finalist,  # noqa: ARG002
        one: NDArray[np.int64],
        other: NDArray[np.int64],
        alpha: float,
    ) -> Bound:
        """Bound the proportion from below; see `share_lower`."""
        counts = Counts(x=int(one[BAD]), n1=int(one.sum()), y=int(other[BAD]), n0=int(other.sum()))
        value = share_lower(counts, alpha)
        return Bound(value=value, alpha=alpha, method=self.above, counts=counts)

    @property
    def above(self) -> str:
        """Both bounds are limits of one proportion."""
        return "proportion"

    def upper(
        self,
        finalist: Finalist,  # noqa: ARG002
        one: NDArray[np.int64],
        other: NDArray[np.int64],
        alpha: float,
        floor: float = 0.0,
    ) -> float:
        """Bound the proportion of a cell from above."""
        bad = max(int(one[BAD]), int(other[BAD]))
        return max(floor, float(clopper_pearson_upper(bad, int(one.sum()), alpha)))

    def sight(self, finalists: Sequence[Finalist], effort: CellEffort) -> DetectionCurve:  # noqa: ARG002
        """Return the smallest proportion refuted with probability 0.9; see `detectable_share`."""
        return DetectionCurve(detectable=detectable_share(self.promised, effort))

    def event(self, event: int, group: int, query: int) -> Event:  # noqa: ARG002
        """Return the answer of a bad string."""
        return (BAD,)


def share_lower(counts: Counts, alpha: float) -> float:
    """Return a lower confidence limit of the proportion of bad strings.

    Without neighbours none is bad, so that side costs nothing.
    """
    return float(clopper_pearson_lower(counts.x, counts.n1, alpha))


def detectable_share(promised: float, effort: CellEffort) -> float:
    """Return the smallest proportion of bad strings that is refuted with probability 0.9.

    Screening is included. Every other pair is taken to be bad as often as the claim allows; the
    leaking one must come out ahead of all of them, a tie counting against it, unless all are
    certified. The result is within 1e-6; inf where no proportion would be seen.
    """
    n, screening = effort.n, effort.screening
    counts = np.arange(n + 1)
    rejecting = np.flatnonzero(clopper_pearson_lower(counts, n, effort.alpha) > promised)
    if rejecting.size == 0:
        return float(np.inf)
    needed = int(rejecting[0])
    seen, rivals = np.arange(screening.draws + 1), screening.pairs - 1
    ahead = np.ones(len(seen))
    if rivals >= screening.finalists:
        ahead = scipy.stats.binom.cdf(seen - 1, screening.draws, promised) ** rivals

    def refuted(share: float) -> float:
        among = scipy.stats.binom.pmf(seen, screening.draws, share) @ ahead
        return float(scipy.stats.binom.sf(needed - 1, n, share) * among)

    low, high = promised, 1.0
    if refuted(high) < POWER:
        return float(np.inf)
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if refuted(middle) >= POWER else (middle, high)
    return high
