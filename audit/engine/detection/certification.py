"""A certification before it is drawn: about the leak that it shows, its tests and their power."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpassay.engine.detection.alternatives import event_at
from dpassay.stats.combined import BETA_SHARE
from dpassay.stats.lower_bounds import COMBINED, Method, choose
from dpassay.stats.power import LARGEST, POWER, counts_near, largest_rejecting, power_of
from dpassay.stats.regions import Region
from dpassay.stats.scales import Scale

RARE = 0.005
"""Events that are chosen less often than that count as not refuted."""


KNOTS = 1.08
"""The frontier of a combined test is found at counts that grow by this factor, interpolated between
them."""
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCertification:
    """What a certification of the `promised` leak depends on; n is the trials per side."""

    scale: Scale
    promised: float
    n: int
    alpha: float


def errors_needed(design: PlannedCertification) -> float:
    """By how many standard errors of one trial a leak must exceed the claim to be refuted."""
    return float(ndtri(POWER) - ndtri(design.alpha)) / math.sqrt(design.n)


def leak_about(design: PlannedCertification, p1: float, errors: float) -> float:
    """Return the leak that exceeds the claim by so many errors (STATISTICS, section 6), about."""
    leak, most = design.promised, min(LARGEST, design.scale.most)
    for _ in range(5):
        p0 = max(event_at(p1, leak, design.scale), 0.5 / design.n)
        leak = min(most, design.promised + errors * design.scale.spread(p1, p0))
    return leak


def methods_near(
    design: PlannedCertification, p1: float, p0: float, draws: int, *, labels: int, off: float
) -> set[Method]:
    """Return the tests that are chosen at the counts to be expected, and so many deviations off.

    `p1`, `p0`: probabilities of the event. `draws`: trials per side that choose the test. `labels`:
    answers that are counted.
    """
    x, y = draws * p1, draws * p0
    off_x, off_y = off * math.sqrt(x * (1 - p1)), off * math.sqrt(y * (1 - p0))
    near = [(x, y), (x + off_x, y), (x - off_x, y), (x, y + off_y), (x, y - off_y)]
    counts = {(min(draws, max(0, round(a))), min(draws, max(0, round(b)))) for a, b in near}
    return {
        choose(a, b, draws, design.n, labels=labels, scale=design.scale, alpha=design.alpha)
        for a, b in counts
    }


def power_by(design: PlannedCertification, method: Method, p1: float, p0: float) -> float:
    """Probability that a test refutes the claim, from the binomial laws."""
    allowed = design.scale.allowed(design.promised)
    limit = Frontier.of(method, allowed, design.n, design.alpha)
    x = counts_near(p1, design.n)
    return power_of(p1, p0, x, limit.at(x), design.n)


def normal_power(design: PlannedCertification, p1: float, p0: float) -> float:
    """Power of Stouffer's test where its two counts are as good as normal.

    The asymptotic form of STATISTICS, section 6, with the larger of the standard errors at the
    leak and at what is claimed: within 0.015 of the power from the binomial laws.
    """
    scale = design.scale
    allowed = event_at(p1, design.promised, scale)
    error = max(scale.spread(p1, p0), scale.spread(p1, allowed)) / math.sqrt(design.n)
    apart = (float(scale.between(p1, p0)) - design.promised) / error
    return float(ndtr(apart + ndtri(design.alpha * (1 - BETA_SHARE))))


class Frontier:
    """For each count x of the likelier side, the largest y that still refutes, kept once found."""

    def __init__(self, method: Method, allowed: Region, n: int, alpha: float) -> None:
        self.method, self.allowed, self.n, self.alpha = method, allowed, n, alpha
        steps = np.unique(
            np.geomspace(1, n, max(2, math.ceil(math.log(n) / math.log(KNOTS))))
            .round()
            .astype(np.int64)
        )
        self.knots = np.union1d(np.concatenate([[0], steps]), n - steps)
        self.found: dict[int, int] = {}

    @staticmethod
    @lru_cache(maxsize=64)
    def of(method: Method, allowed: Region, n: int, alpha: float) -> Frontier:
        """Return that of a test; one and the same each time."""
        return Frontier(method, allowed, n, alpha)

    def at(self, x: Counts) -> Counts:
        """Return the largest y for counts in ascending order; -1 where none refutes.

        Combined tests are interpolated.
        """
        if self.method not in COMBINED:
            return self._largest(x)
        first, last = (
            np.searchsorted(self.knots, x[0], side="right") - 1,
            np.searchsorted(self.knots, x[-1]),
        )
        knots = self.knots[first : last + 1]
        for knot in knots.tolist():
            if knot not in self.found:
                self.found[knot] = int(self._largest(np.array([knot]))[0])
        values: Counts = np.floor(
            np.interp(x, knots, [self.found[knot] for knot in knots.tolist()])
        ).astype(np.int64)
        return values

    def _largest(self, x: Counts) -> Counts:
        return largest_rejecting(self.method, x, self.n, allowed=self.allowed, alpha=self.alpha)
