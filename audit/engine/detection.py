"""Detection: the smallest leak that a whole audit would have refuted.

By how frequent the event is through which it leaks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.engine.alternatives import (
    Answers,
    Family,
    event_at,
    shifted,
    shifts_for,
    through_event,
    worst_frequency,
)
from dpassay.numerics import upper_number
from dpassay.stats.lower_bounds import COMBINED, Method, choose, largest_rejecting
from dpassay.stats.power import LARGEST, POWER, Screening, counts_near, power_of
from dpassay.stats.ranking import Ranking
from dpassay.stats.regions import Region
from dpassay.stats.scales import Ratio, Scale

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

FREQUENCIES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001)
"""Where the curve of a result is written down."""
RUNS, FEWEST = 400, 50
"""Screenings that are rehearsed, and how many at least where a crowd makes each of them dear."""
WORK = 4 * 10**6
"""Counts of a crowd that are looked at."""
CHUNK = 2 * 10**6
"""Counts that are held at once."""
EVERY = 3
"""Of the thresholds of numbers a crowd is looked at through every third; those beside it say nearly
the same."""
LEAST = 1e-6
"""No frequency is nearer to 0 or 1."""
RARE = 0.005
"""Events that the screening chooses less often than that count as not refuted."""
KNOTS = 1.08
"""The frontier of a combined test is found at counts that grow by this factor, interpolated between
them."""


class Plan(Protocol):
    """What an audit would see, as a function of how frequent the leaking event is."""

    def smallest(self, frequency: float) -> float:
        """Return the smallest leak that is refuted with probability 0.9; inf where none is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionCurve:
    """What an audit would have seen.

    Parameters
    ----------
    detectable : float
        Smallest true leak that would have been refuted with probability 0.9, screening included,
        were it one pair's and through an event of the stated frequency; in the units of the claim,
        inf if none would.
    frequency : float or None
        Probability of that event on the likelier side, at least; None where the number holds for
        every event.
    assumed : bool
        Whether the frequency is a default, since the screening saw nothing move.
    design : Plan or None
        What the curve is computed from, once somebody asks for it; None where there is none.
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
        """What a record says besides `detectable`."""
        curve = [[point, upper_number(leak)] for point, leak in self.curve]
        return {"frequency": self.frequency, "assumed": self.assumed, "curve": curve}


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """All that what an audit would see depends on; fixed before anything is certified.

    Parameters
    ----------
    scale : Scale
        How a leak is measured.
    promised : float
        The claimed leak.
    answers : Answers
        What is counted.
    n : int
        Certification trials per side.
    alpha : float
        Error probability of a cell's bound.
    screening : Screening
    """

    scale: Scale
    promised: float
    answers: Answers
    n: int
    alpha: float
    screening: Screening

    def smallest(self, frequency: float) -> float:
        """Return `smallest_seen`."""
        return smallest_seen(self, frequency)


def sight(design: Design, frequency: float | None) -> DetectionCurve:
    """Say what an audit would have seen.

    Parameters
    ----------
    design : Design
    frequency : float or None
        Of the event that looked worst in the screening, on its likelier side; None where it saw
        nothing move. Then the claim's worst face is assumed of two labels, an even share of K
        labels, and noise whose centre moves of numbers.

    Returns
    -------
    Sight
    """
    at = usual_frequency(design) if frequency is None else two_digits(min(frequency, _most(design)))
    if not design.scale.rarer_is_harder:
        return DetectionCurve(detectable=smallest_seen(design, usual_frequency(design)))
    return DetectionCurve(
        detectable=smallest_seen(design, at), frequency=at, assumed=frequency is None, design=design
    )


def usual_frequency(design: Design) -> float:
    """Frequency that is assumed where nothing is known of the event.

    Returns
    -------
    float
        That of the claim's worst face for two labels, and for a difference of probabilities, which
        is the hardest to see there; an even share of K labels; the median of numbers. Rounded down
        to two digits.
    """
    labels = design.answers.labels
    if labels == 2 or not design.scale.rarer_is_harder:
        return two_digits(_worst_face(design))
    return two_digits(1 / labels if labels else 0.5)


@lru_cache(maxsize=1024)
def smallest_seen(design: Design, frequency: float) -> float:
    """Smallest leak above the promised one that a whole audit refutes with probability 0.9.

    Through an event of a given frequency.

    Of three labels or more it is the larger one of that where no other label leaks and that where
    rarer ones leak as much; of numbers that of a leak through a threshold of this frequency and of
    noise whose centre moves, Laplace's, and for delta > 0 the normal one's; the worst threshold is
    then where it is.

    Parameters
    ----------
    design : Design
    frequency : float
        Probability of the event on the likelier side.

    Returns
    -------
    float
        Within 1e-3 of its distance to the claim, but for the simulation of the screening; inf where
        not even the largest leak (a loss of 50, a difference of 1) would be seen.
    """
    if design.promised >= min(LARGEST, design.scale.most):
        return math.inf
    if frequency <= design.scale.allowed(design.promised).slack and design.scale.rarer_is_harder:
        return math.inf
    found = [_Audits(design, family).smallest() for family in _families(design, frequency)]
    return max(found + [_shift_seen(design, kind) for kind in _shifts(design)])


def is_seen(design: Design, frequency: float, leak: float) -> bool:
    """Whether a leak, below the largest there can be, is at least `smallest_seen`.

    Without looking for that.
    """
    families = [
        *_families(design, frequency),
        *(shifted(kind, design.scale, design.promised) for kind in _shifts(design)),
    ]
    return all(_Audits(design, family).see(leak) for family in families)


def _families(design: Design, frequency: float) -> list[Family]:
    through = [False, True] if design.answers.labels > 2 and design.scale == Ratio() else [False]
    return [
        through_event(design.answers, frequency, design.scale, design.promised, decoys=decoys)
        for decoys in through
    ]


def _shifts(design: Design) -> tuple[str, ...]:
    return () if design.answers.labels else shifts_for(design.scale)


def _most(design: Design) -> float:
    """Return the largest frequency that is looked at.

    Of numbers half, as noise that moves has no better threshold.
    """
    return _worst_face(design) if design.answers.labels else 0.5


def _worst_face(design: Design) -> float:
    """Frequency of the claim's worst face at about the least leak that is seen.

    Beyond it the complement leaks more.
    """
    leak, reach = design.promised, float(ndtri(POWER) - ndtri(design.alpha)) / math.sqrt(design.n)
    for _ in range(5):
        leak = min(
            LARGEST,
            design.scale.most,
            design.promised + reach * design.scale.spread(*design.scale.allowed(leak).tight),
        )
    return worst_frequency(leak, design.scale)


def two_digits(share: float) -> float:
    """Round down to two digits, beyond a half of what is left to 1, so that few differ."""
    part = max(1 - share if share > 0.5 else share, LEAST)
    unit = 10.0 ** (math.floor(math.log10(part)) - 1)
    if share > 0.5:
        return float(f"{1 - math.ceil(part / unit - 1e-9) * unit:.9g}")
    return float(f"{math.floor(part / unit + 1e-9) * unit:.2g}")


@lru_cache(maxsize=256)
def _shift_seen(design: Design, kind: str) -> float:
    return _Audits(design, shifted(kind, design.scale, design.promised)).smallest()


class _Audits:
    """Audits of one family of laws.

    The screening is rehearsed on drawn counts, the certification computed.
    """

    def __init__(self, design: Design, family: Family) -> None:
        self.design, self.family = design, family
        self.masks = design.answers.masks
        self.ranking = Ranking.of(design.scale, design.promised, design.screening.draws)
        self.rivals = design.screening.pairs - 1
        self.cells = 2 * len(self.masks) * design.screening.pairs
        self.met = False
        crowded = self.rivals >= design.screening.finalists
        dear = self.rivals * len(self.masks) * len(family.crowd) if crowded else 1
        self.runs = int(np.clip(WORK // dear, FEWEST, RUNS))
        self.base = self._drawn(0, family.base, self.runs)
        # what a pair must rank above to be among the finalists
        self.needed = np.full(self.runs, -math.inf)
        self.methods = self._methods()

    def smallest(self) -> float:
        """Smallest leak that is refuted with probability 0.9; inf where none is."""
        promised, most = self.design.promised, min(LARGEST, self.design.scale.most)
        if not self.see(most):
            return math.inf
        reach, high = self._guess() - promised, promised
        while high < most:
            high = min(most, promised + reach)
            if self._refuted(high):
                break
            reach *= 2
        low = promised
        while high - low > 1e-3 * (high - promised):
            middle = (low + high) / 2
            low, high = (low, middle) if self._refuted(middle) else (middle, high)
        return high

    def see(self, leak: float) -> bool:
        """Whether a leak is refuted with probability 0.9.

        The crowd is met if it would be without it.
        """
        if not self._refuted(leak):
            return False
        if not self.met and self.rivals >= self.design.screening.finalists:
            self._meet_the_crowd()
            self.met = True
            return self._refuted(leak)
        return True

    def _meet_the_crowd(self) -> None:
        """Find what the leaking pair must rank above.

        All the others leak what the claim allows, however ranks highest.
        """
        place = self.rivals - self.design.screening.finalists
        at_once = max(1, CHUNK // (self.rivals * len(self.masks)))
        thresholds, bins = self._some_thresholds()
        for stream, law in enumerate(self.family.crowd, start=2):
            rng = np.random.default_rng(stream)
            for start in range(0, self.runs, at_once):
                base = self.base[start : start + at_once, None, thresholds]
                size = (len(base), self.rivals)
                neighbours = rng.multinomial(
                    self.design.screening.draws, np.add.reduceat(law, bins), size=size
                )
                ranks = self.ranking.highest(base, self._events(neighbours), self.cells)
                last = np.partition(ranks, place, axis=1)[:, place]
                self.needed[start : start + at_once] = np.maximum(
                    self.needed[start : start + at_once], last
                )

    def _some_thresholds(self) -> tuple[Counts, Counts]:
        """Return the events that a crowd is looked at through, and the first bins they need.

        Of numbers every third.
        """
        symbols = self.masks.shape[1]
        if self.design.answers.labels:
            return np.arange(len(self.masks)), np.arange(symbols)
        bins = np.arange(0, symbols, EVERY)
        return np.concatenate([bins[1:] - 1, bins[1:] - 1 + symbols - 1]), bins

    def _refuted(self, leak: float) -> bool:
        """Whether a pair that leaks so much is found and refuted with probability 0.9."""
        shares, other = self._chosen(leak)
        found = 0.0
        for face in np.flatnonzero(shares >= RARE):
            found += float(shares[face]) * self._power(*self._face(int(face), other))
        return found >= POWER

    def _chosen(self, leak: float) -> tuple[Array, Array]:
        """Return how often the screening finds the pair through each face, and the neighbour's law.

        A face is (direction, event).
        """
        other = self.family.other(leak)
        ranks = self._ranks(self.base, self._drawn(1, other, self.runs))
        found = ranks.max(axis=1) > self.needed
        shares = np.bincount(ranks.argmax(axis=1)[found], minlength=ranks.shape[1]) / self.runs
        return shares, other

    def _face(self, face: int, other: Array) -> tuple[float, float]:
        """Return p1 and p0 of a face."""
        backward, event = divmod(face, len(self.masks))
        one, two = (min(1.0, float(law @ self.masks[event])) for law in (self.family.base, other))
        return (two, one) if backward else (one, two)

    def _power(self, p1: float, p0: float) -> float:
        """Probability that the certification refutes, by the weakest test that may be chosen."""
        design = self.design
        allowed = design.scale.allowed(design.promised)
        x = counts_near(p1, design.n)
        powers = []
        for method in self.methods:
            limit = Frontier.of(method, allowed, design.n, design.alpha)
            powers.append(power_of(p1, p0, x, limit.at(x), design.n))
        return min(powers)

    def _methods(self) -> set[Method]:
        """Tests that are chosen at about the leak that is seen.

        At the counts to be expected, and a deviation off.
        """
        design, draws = self.design, self.design.screening.draws
        shares, other = self._chosen(self._guess())
        p1, p0 = self._face(int(shares.argmax()), other)
        x, y = draws * p1, draws * p0
        off_x, off_y = math.sqrt(x * (1 - p1)), math.sqrt(y * (1 - p0))
        expected = {(x, y), (x + off_x, y), (x - off_x, y), (x, y + off_y), (x, y - off_y)}
        counts = sorted(
            {(min(draws, max(0, round(a))), min(draws, max(0, round(b)))) for a, b in expected}
        )
        symbols = self.masks.shape[1]
        return {
            choose(a, b, draws, design.n, labels=symbols, scale=design.scale, alpha=design.alpha)
            for a, b in counts
        }

    def _guess(self) -> float:
        """About the leak that certification alone would show.

        The asymptotic form of STATISTICS, section 6.
        """
        design, leak, p1 = self.design, self.design.promised, self.family.frequency
        most = min(LARGEST, design.scale.most)
        reach = float(ndtri(POWER) - ndtri(design.alpha)) / math.sqrt(design.n)
        for _ in range(5):
            p0 = max(event_at(p1, leak, design.scale), 0.5 / design.n)
            leak = min(most, design.promised + reach * design.scale.spread(p1, p0))
        return leak

    def _drawn(self, stream: int, law: Array, size: int) -> Counts:
        """Draw the events of so many screenings of one dataset.

        Always the same ones from one stream.
        """
        return self._events(
            np.random.default_rng(stream).multinomial(self.design.screening.draws, law, size=size)
        )

    def _events(self, symbols: Counts) -> Counts:
        """Count events: shape (..., E)."""
        answers = self.design.answers
        if answers.unions:
            return np.rint(symbols.astype(float) @ self.masks.T).astype(np.int64)
        if answers.labels:
            return symbols
        below = np.cumsum(symbols, axis=-1)[..., :-1]
        return np.concatenate([below, self.design.screening.draws - below], axis=-1)

    def _ranks(self, base: Counts, other: Counts) -> Array:
        """Rank as the screening does, at each event, forward and backward.

        Shape (..., 2E).
        """
        both = np.concatenate([base, other], axis=-1), np.concatenate([other, base], axis=-1)
        return self.ranking.scores(*both, self.cells)


class Frontier:
    """For each count x of the likelier side, the largest y that still refutes.

    Found where it is asked for, and kept.
    """

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
