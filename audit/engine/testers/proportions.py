"""Shares: claims about the proportion of bad random strings, judged by the count of those.

See `dpassay.targets.coupled`. Without neighbours no string is bad, so that side costs nothing.
"""

# ruff: noqa: ARG002  (there is one event and one test)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from dpassay.engine.evidence import DetectionCurve, Event
from dpassay.engine.readings import LabelLeaks, Leaks
from dpassay.engine.testers.tester import (
    NOT_SAMPLED,
    Array,
    CellEffort,
    Finalist,
    Floats,
    Recorded,
    Tester,
)
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw, Law
from dpassay.stats.bounds import Bound, Counts, clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.power import POWER
from dpassay.stats.scales import scale_of

BAD = 1
"""The answer that a bad string gives; without neighbours it never comes."""


@dataclass(frozen=True, kw_only=True)
class Shares(Tester):
    """Tester for claims about a proportion; its counts are of good and of bad strings."""

    @property
    def above(self) -> str:
        """Return that both bounds are limits of one proportion."""
        return "proportion"

    @property
    def payoffs(self) -> Array:
        """Return the one event."""
        return np.array([[0, 1]])

    def leaks(self, law: Law) -> Leaks | None:
        """Return the proportion as a change of the probability of 'bad'."""
        finite = isinstance(law, FiniteLaw)
        return LabelLeaks(claim=self.claim, labels=self.labels) if finite else None

    def rank(self, sides: Array) -> tuple[Floats, Array]:
        """Rank cells by the observed proportion."""
        bad = sides[..., BAD]
        return (bad - bad[::-1]).astype(float), np.full(bad.shape, BAD)

    def seen(self, finalist: Finalist, one: Array, other: Array) -> tuple[float, float]:
        """Return the proportions of bad strings."""
        return int(one[BAD]) / int(one.sum()), int(other[BAD]) / int(other.sum())

    def lower(self, finalist: Finalist, one: Array, other: Array, alpha: float) -> Bound:
        """Bound the proportion from below."""
        counts = Counts(x=int(one[BAD]), n1=int(one.sum()), y=int(other[BAD]), n0=int(other.sum()))
        value = float(clopper_pearson_lower(counts.x, counts.n1, alpha))
        return Bound(value=value, alpha=alpha, method=self.above, counts=counts)

    def upper(
        self, finalist: Finalist, one: Array, other: Array, alpha: float, floor: float = 0.0
    ) -> float:
        """Bound the proportion of a cell from above."""
        bad = max(int(one[BAD]), int(other[BAD]))
        return max(floor, float(clopper_pearson_upper(bad, int(one.sum()), alpha)))

    def event(self, event: int, group: int, query: int) -> Event:
        """Return the answer of a bad string."""
        return (BAD,)

    def sight(self, effort: CellEffort, finalists: Sequence[Finalist] = ()) -> DetectionCurve:
        """Return the smallest proportion refuted with probability 0.9."""
        return DetectionCurve(detectable=_detectable(self.promised, effort))

    def spread(self, leak: float) -> float:
        """Return it at the worst face of a difference."""
        scale = scale_of(self.claim)
        return scale.spread(*scale.allowed(leak).tight)

    def lower_again(self, cell: Recorded, alpha: float) -> float:
        """Bound the proportion by the same limit."""
        counts = _strings(cell)
        return float(clopper_pearson_lower(counts.x, counts.n1, alpha))

    def upper_again(self, cell: Recorded, alpha: float) -> float:
        """Bound the proportion by the other limit."""
        counts = _strings(cell)
        return max(0.0, float(clopper_pearson_upper(counts.x, counts.n1, alpha)))

    def detectable_again(
        self, cell: Recorded, limit: float, effort: CellEffort, *, through: bool
    ) -> float:
        """Return it for as many strings."""
        return _detectable(limit, effort)


def _strings(cell: Recorded) -> Counts:
    if cell.counts is None:
        raise InvalidInput(NOT_SAMPLED)
    return cell.counts


def _detectable(promised: float, effort: CellEffort) -> float:
    """Return the smallest proportion of bad strings that is refuted with probability 0.9.

    Screening is included. Every other pair is taken to be bad as often as the claim allows; the
    leaking one must come out ahead of all of them, a tie counting against it, unless all are
    certified. The result is within 1e-6; inf where no proportion would be seen.
    """
    n, screening, binom = effort.n, effort.screening, scipy.stats.binom
    rejecting = np.flatnonzero(clopper_pearson_lower(np.arange(n + 1), n, effort.alpha) > promised)
    if rejecting.size == 0:
        return float(np.inf)
    needed = int(rejecting[0])
    seen, rivals = np.arange(screening.draws + 1), screening.pairs - 1
    ahead = np.ones(len(seen))
    if rivals >= screening.finalists:
        ahead = binom.cdf(seen - 1, screening.draws, promised) ** rivals

    def refuted(share: float) -> float:
        among = binom.pmf(seen, screening.draws, share) @ ahead
        return float(binom.sf(needed - 1, n, share) * among)

    low, high = promised, 1.0
    if refuted(high) < POWER:
        return float(np.inf)
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if refuted(middle) >= POWER else (middle, high)
    return high
