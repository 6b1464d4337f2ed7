"""Predictions: claims about the mean of a real answer, judged by counts on a grid."""

# ruff: noqa: ARG002  (means are about no event)

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from scipy.special import ndtr

from dpassay.engine.evidence import DetectionCurve
from dpassay.engine.readings import Leaks
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
from dpassay.laws import Law, NoiseLaw
from dpassay.numerics import number
from dpassay.stats.betting import (
    GRID,
    POINTS,
    Spreads,
    difference_lower,
    difference_power,
    difference_upper,
)
from dpassay.stats.bounds import Bound, Histograms
from dpassay.stats.paired import Line
from dpassay.stats.power import POWER, Screening
from dpassay.stats.ranking import CAUTION, ranked

NORMAL = np.linspace(-6, 6, 61)
"""Where a normal error is looked at."""
HALF = 0.5
"""Standard deviation of a prediction in [0, 1] at most; assumed where nothing has been drawn
yet."""


@dataclass(frozen=True, kw_only=True)
class Predictions(Tester):
    """Tester for claims about the difference of predictions, or of their means.

    Answers are rounded to a grid at random; bets on them are sized by the spreads that were seen.
    """

    @property
    def limits(self) -> tuple[float, float]:
        """The range of the answers."""
        return self.numbers or (0.0, 1.0)

    @property
    def width(self) -> float:
        """The width of the range."""
        return self.limits[1] - self.limits[0]

    @property
    def payoffs(self) -> Array:
        """Return the points of the grid."""
        return np.arange(GRID + 1)[None]

    @property
    def unit(self) -> int:
        """Return how many of them make the range."""
        return GRID

    def lines(self, leak: float) -> list[Line]:
        """Return the largest difference of the means."""
        return [(1.0, leak / self.width)]

    def leaks(self, law: Law) -> Leaks | None:
        """Return the values; the mean of a projected number is not its value."""
        return None if isinstance(law, NoiseLaw) and law.limited else Leaks()

    def rank(self, sides: Array) -> tuple[Floats, Array]:
        """Rank cells by the observed difference; see `ranked`."""
        n = int(sides[0, 0].sum())
        means = sides @ POINTS / n
        variances = sides @ POINTS**2 / n - means**2 + 1 / n
        difference, error = means - means[::-1], np.sqrt((variances + variances[::-1]) / n)
        above = (difference - self.promised / self.width) / error
        ranking = ranked(above, difference - CAUTION * error, difference.size)
        return ranking, np.zeros(ranking.shape, dtype=np.int64)

    def choose(self, event: int, one: Array, other: Array, n: int, alpha: float) -> Spreads:
        """Return what the bets are sized by."""
        return _spread(one), _spread(other)

    def seen(self, finalist: Finalist, one: Array, other: Array) -> tuple[float, float]:
        """Return the mean answers."""
        low, width = self.limits[0], self.width
        p1, p0 = (low + width * float(side @ POINTS) / int(side.sum()) for side in (one, other))
        return p1, p0

    def lower(self, finalist: Finalist, one: Array, other: Array, alpha: float) -> Bound:
        """Bound the difference of the means from below."""
        seen = Histograms(
            one=tuple(one.tolist()),
            other=tuple(other.tolist()),
            spreads=finalist.method,
            limits=self.limits,
        )
        value = max(0.0, difference_lower(one, other, alpha=alpha, spreads=finalist.method))
        return Bound(value=self.width * value, alpha=alpha, method="betting", histograms=seen)

    def upper(
        self, finalist: Finalist, one: Array, other: Array, alpha: float, floor: float = 0.0
    ) -> float:
        """Bound the difference of the means from above."""
        most = difference_upper(one, other, alpha=alpha, spreads=finalist.method)
        return max(floor, self.width * most)

    def sight(self, effort: CellEffort, finalists: Sequence[Finalist] = ()) -> DetectionCurve:
        """Return the smallest difference at the spreads seen, or the largest that can be."""
        spreads = {each.method for each in finalists} or {(HALF, HALF)}
        found = (_detectable(self.promised, self.width, each, effort) for each in spreads)
        return DetectionCurve(detectable=max(found))

    def spread(self, leak: float) -> float:
        """Return it for answers that vary as much as they can."""
        return math.sqrt(2) * HALF * self.width

    def lower_again(self, cell: Recorded, alpha: float) -> float:
        """Bound the difference by the same bets."""
        width, one, other, spreads = _answers(cell)
        return width * max(0.0, difference_lower(one, other, alpha=alpha, spreads=spreads))

    def upper_again(self, cell: Recorded, alpha: float) -> float:
        """Bound the difference by the same bets."""
        width, one, other, spreads = _answers(cell)
        return max(0.0, width * difference_upper(one, other, alpha=alpha, spreads=spreads))

    def detectable_again(
        self, cell: Recorded, limit: float, effort: CellEffort, *, through: bool
    ) -> float:
        """Return it at the spreads of the record."""
        width, _, _, spreads = _answers(cell)
        return _detectable(limit, width, spreads, effort)


def _answers(cell: Recorded) -> tuple[float, Array, Array, Spreads]:
    found = cell.histograms
    if found is None:
        raise InvalidInput(NOT_SAMPLED)
    one, other = (np.asarray(side, dtype=np.int64) for side in (found.one, found.other))
    return float(found.limits[1] - found.limits[0]), one, other, found.spreads


def _detectable(limit: float, width: float, spreads: Spreads, effort: CellEffort) -> float:
    return width * detectable_difference(
        gamma=limit / width,
        n=effort.n,
        alpha=effort.alpha,
        spreads=spreads,
        screening=effort.screening,
    )


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

    def above(excess: float) -> float:
        lead = excess / noise + own
        reached = np.minimum(1.0, ndtr(-lead) + ndtr(-lead - 2 * base))
        beaten = scipy.stats.binom.cdf(screening.finalists - 1, screening.pairs - 1, reached)
        power = difference_power(excess, n=n, alpha=alpha, spreads=spreads)
        return float(np.sum(density * beaten)) * power - POWER

    if gamma >= 1 or above(1 - gamma) < 0:
        return math.inf
    return gamma + float(scipy.optimize.brentq(above, 0.0, 1 - gamma, xtol=1e-9))


def _spread(counts: Array) -> float:
    """Return the standard deviation counted and a little more, never 0, rounded as recorded."""
    n = int(counts.sum())
    mean = float(counts @ POINTS) / n
    return float(number(math.sqrt(max(0.0, float(counts @ POINTS**2) / n - mean**2) + 1 / n)))
