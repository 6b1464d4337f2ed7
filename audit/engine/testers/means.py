"""Predictions: claims about the mean of a real answer, judged by counts on a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import ndtr

from dpassay.claims import PredictionStability
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.readings import Leaks, ValueLeaks
from dpassay.engine.testers.interface import (
    NOT_SAMPLED,
    CellEffort,
    ClaimKind,
    Finalist,
    Recorded,
    Tester,
)
from dpassay.errors import InvalidInput
from dpassay.laws import Law, NoiseLaw
from dpassay.numerics import number
from dpassay.stats.betting import (
    POINTS,
    Spreads,
    difference_lower,
    difference_power,
    difference_upper,
)
from dpassay.stats.bounds import Bound, Histograms
from dpassay.stats.power import POWER, Screening
from dpassay.stats.ranking import CAUTION, ranked
from dpassay.targets.guard import AuditTarget
from dpassay.trials.encoders import Bins

METHOD = "betting"
NORMAL = np.linspace(-6, 6, 61)
"""Where a normal error is looked at."""
HALF = 0.5
"""Standard deviation of a prediction in [0, 1] at most; assumed where nothing has been drawn
yet."""


@dataclass(frozen=True, slots=True)
class AboutMeans(ClaimKind):
    """Claims about the change of a prediction, or of its mean."""

    claim: PredictionStability

    def leaks(self, law: Law, labels: tuple[int, ...]) -> Leaks | None:  # noqa: ARG002
        """The values; the mean of a projected number is not its value."""
        return None if isinstance(law, NoiseLaw) and law.limited else ValueLeaks()

    def tester(self, target: AuditTarget, bins: tuple[Bins, ...]) -> Predictions:  # noqa: ARG002
        """Answers are rounded to a grid at random."""
        low, high = target.numbers or (0.0, 1.0)
        return Predictions(promised=self.claim.promised, low=low, high=high)

    def curve(self, target: AuditTarget, effort: CellEffort) -> DetectionCurve:
        """By bets on answers that vary as much as they can."""
        width = self.claim.most(target.numbers)
        return DetectionCurve(
            detectable=_detectable(self.claim.promised, width, (HALF, HALF), effort)
        )

    def spread(self, target: AuditTarget, leak: float) -> float:  # noqa: ARG002
        """At such answers."""
        return math.sqrt(2) * HALF * self.claim.most(target.numbers)

    def lower(self, cell: Recorded, alpha: float) -> float:
        """By the same bets."""
        width, one, other, spreads = _answers(cell)
        return width * max(0.0, difference_lower(one, other, alpha=alpha, spreads=spreads))

    def upper(self, cell: Recorded, alpha: float, floor: float) -> float:
        """By the same bets."""
        width, one, other, spreads = _answers(cell)
        return max(floor, width * difference_upper(one, other, alpha=alpha, spreads=spreads))

    def detectable(
        self,
        cell: Recorded,
        limit: float,
        effort: CellEffort,
        *,
        through: bool,  # noqa: ARG002
    ) -> float:
        """At the spreads of the record."""
        width, _, _, spreads = _answers(cell)
        return _detectable(limit, width, spreads, effort)


def _detectable(limit: float, width: float, spreads: Spreads, effort: CellEffort) -> float:
    return width * detectable_difference(
        gamma=limit / width,
        n=effort.n,
        alpha=effort.alpha,
        spreads=spreads,
        screening=effort.screening,
    )


def _answers(cell: Recorded) -> tuple[float, NDArray[np.int64], NDArray[np.int64], Spreads]:
    found = cell.histograms
    if found is None:
        raise InvalidInput(NOT_SAMPLED)
    one, other = (np.asarray(side, dtype=np.int64) for side in (found.one, found.other))
    return float(found.limits[1] - found.limits[0]), one, other, found.spreads


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions(Tester):
    """Tester for claims about the difference of mean predictions, which lie in [low, high]."""

    promised: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """Return the width of the range."""
        return self.high - self.low

    def rank(self, sides: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Rank cells of counts (2, P, K) by the observed difference; see `ranked`."""
        n = int(sides[0, 0].sum())
        means = sides @ POINTS / n
        variances = sides @ POINTS**2 / n - means**2 + 1 / n
        difference, error = means - means[::-1], np.sqrt((variances + variances[::-1]) / n)
        above = (difference - self.promised / self.width) / error
        ranking = ranked(above, difference - CAUTION * error, difference.size)
        return ranking, np.zeros(ranking.shape, dtype=np.int64)

    def choose(
        self,
        event: int,  # noqa: ARG002
        one: NDArray[np.int64],
        other: NDArray[np.int64],
        n: int,  # noqa: ARG002
        alpha: float,  # noqa: ARG002
    ) -> Spreads:
        """Return what the bets are sized by."""
        return _spread(one), _spread(other)

    def seen(
        self,
        finalist: Finalist,  # noqa: ARG002
        one: NDArray[np.int64],
        other: NDArray[np.int64],
    ) -> tuple[float, float]:
        """Return the mean answers."""
        p1, p0 = (
            self.low + self.width * float(side @ POINTS) / int(side.sum()) for side in (one, other)
        )
        return p1, p0

    def lower(
        self, finalist: Finalist, one: NDArray[np.int64], other: NDArray[np.int64], alpha: float
    ) -> Bound:
        """Bound the difference of the means from below."""
        spreads = finalist.method
        value = max(0.0, difference_lower(one, other, alpha=alpha, spreads=spreads))
        histograms = Histograms(
            one=tuple(one.tolist()),
            other=tuple(other.tolist()),
            spreads=spreads,
            limits=(self.low, self.high),
        )
        return Bound(value=self.width * value, alpha=alpha, method=METHOD, histograms=histograms)

    def upper(
        self,
        finalist: Finalist,
        one: NDArray[np.int64],
        other: NDArray[np.int64],
        alpha: float,
        floor: float = 0.0,
    ) -> float:
        """Bound the difference of the means from above."""
        most = difference_upper(one, other, alpha=alpha, spreads=finalist.method)
        return max(floor, self.width * most)

    def sight(self, finalists: Sequence[Finalist], effort: CellEffort) -> DetectionCurve:
        """Return the smallest difference refutable with probability 0.9 at the spreads seen."""
        spreads = {each.method for each in finalists}
        found = (_detectable(self.promised, self.width, each, effort) for each in spreads)
        return DetectionCurve(detectable=max(found))


def detectable_difference(
    *, gamma: float, n: int, alpha: float, spreads: Spreads, screening: Screening
) -> float:
    """Return the smallest difference above gamma that is refuted with a probability of about 0.9.

    It is in units of the range; inf above 1. The family is that of `dpassay.stats.power.hit`, in
    the normal approximation: one pair differs by more than gamma, the others, which share its base
    and have its spread, by gamma, each in the direction in which it beats the one pair more often.
    """
    noise = max(spreads) / np.sqrt(screening.draws)
    # errors of the base's mean and of the leaking neighbour's, which help it
    base, own = np.meshgrid(NORMAL, NORMAL)
    density = np.exp(-(base**2 + own**2) / 2)
    density /= density.sum()

    def seen(excess: float) -> float:
        lead = excess / noise + own
        reached = np.minimum(1.0, ndtr(-lead) + ndtr(-lead - 2 * base))
        beaten = scipy.stats.binom.cdf(screening.finalists - 1, screening.pairs - 1, reached)
        return float(np.sum(density * beaten)) * difference_power(
            excess, n=n, alpha=alpha, spreads=spreads
        )

    if gamma >= 1 or seen(1 - gamma) < POWER:
        return float("inf")
    return gamma + float(
        scipy.optimize.brentq(lambda excess: seen(excess) - POWER, 0.0, 1 - gamma, xtol=1e-9)
    )


def _spread(counts: NDArray[np.int64]) -> float:
    """Return the standard deviation counted and a little more, never 0, rounded as recorded."""
    n = int(counts.sum())
    mean = float(counts @ POINTS) / n
    return float(number(math.sqrt(max(0.0, float(counts @ POINTS**2) / n - mean**2) + 1 / n)))
