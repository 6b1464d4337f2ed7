"""The smallest leak that a whole audit would have refuted, screening included."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpassay.engine.detection.families import (
    CountedAnswers,
    Family,
    event_at,
    shifted,
    shifts_for,
    through_event,
    worst_frequency,
)
from dpassay.engine.evidence import DetectionCurve, two_digits
from dpassay.stats.combined import BETA_SHARE
from dpassay.stats.lower_bounds import COMBINED, Method, choose
from dpassay.stats.power import LARGEST, POWER, Screening, counts_near, largest_rejecting, power_of
from dpassay.stats.ranking import Ranking
from dpassay.stats.regions import Region
from dpassay.stats.scales import Ratio, Scale

RARE = 0.005
"""Events that are chosen less often than that count as not refuted."""
KNOTS = 1.08
"""The frontier of a combined test is found at counts that grow by this factor, interpolated between
them."""
RUNS, FEWEST = 400, 50
"""Screenings that are rehearsed, and how many at least where a crowd makes each of them dear."""
WORK = 4 * 10**6
"""Counts of a crowd that are looked at."""
CHUNK = 2 * 10**6
"""Counts that are held at once."""
EVERY = 3
"""Of the thresholds of numbers a crowd is looked at through every third; those beside it say nearly
the same."""
MANY = 1000
"""Labels that a screening is rehearsed with at most."""

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCertification:
    """What a certification of the `promised` leak depends on; n is the trials per side.

    An audit of given pairs and a search each rehearse what comes before it.
    """

    scale: Scale
    promised: float
    n: int
    alpha: float

    @property
    def top(self) -> float:
        """The largest leak that is looked at."""
        return min(LARGEST, self.scale.most)

    @property
    def usual_frequency(self) -> float:
        """The frequency to assume where nothing is known of the event, down to two digits."""
        return two_digits(self.most_frequent)

    @property
    def most_frequent(self) -> float:
        """The largest frequency that is looked at."""
        return worst_frequency(self.promised, self.scale)

    def rehearsed(self, frequency: float) -> float:
        """Return the smallest leak refuted, of all families that leak at this frequency."""
        raise NotImplementedError

    def smallest(self, frequency: float) -> float:
        """Return the smallest leak that is refuted with probability 0.9; see `smallest_seen`."""
        return smallest_seen(self, frequency)

    def sight(self, frequency: float | None) -> DetectionCurve:
        """Return what would have been seen.

        `frequency` is that of the event that looked worst, on its likelier side; None where nothing
        seems to move. Then the usual one is assumed.
        """
        usual = self.usual_frequency
        if not self.scale.rarer_is_harder:
            return DetectionCurve(detectable=self.smallest(usual))
        at = usual if frequency is None else two_digits(min(frequency, self.most_frequent))
        return DetectionCurve(
            detectable=self.smallest(at), frequency=at, assumed=frequency is None, design=self
        )

    @property
    def errors_needed(self) -> float:
        """Return how many standard errors of one trial a refuted leak exceeds the claim by."""
        return float(ndtri(POWER) - ndtri(self.alpha)) / math.sqrt(self.n)

    def leak_about(self, p1: float, errors: float) -> float:
        """Return about the leak that exceeds the claim by so many errors (docs/statistics.md)."""
        leak = self.promised
        for _ in range(5):
            p0 = max(event_at(p1, leak, self.scale), 0.5 / self.n)
            leak = min(self.top, self.promised + errors * self.scale.spread(p1, p0))
        return leak

    def methods_near(
        self, p1: float, p0: float, draws: int, *, labels: int, off: float
    ) -> set[Method]:
        """Return the tests that are chosen at the expected counts, and so many deviations off.

        `draws` trials per side choose the test of an event with probabilities p1 and p0.
        """
        x, y = draws * p1, draws * p0
        off_x, off_y = off * math.sqrt(x * (1 - p1)), off * math.sqrt(y * (1 - p0))
        near = [(x, y), (x + off_x, y), (x - off_x, y), (x, y + off_y), (x, y - off_y)]
        counts = {(min(draws, max(0, round(a))), min(draws, max(0, round(b)))) for a, b in near}
        return {
            choose(a, b, draws, self.n, labels=labels, scale=self.scale, alpha=self.alpha)
            for a, b in counts
        }

    def power(self, method: Method, p1: float, p0: float) -> float:
        """Return the probability that a test refutes the claim, from the binomial laws."""
        frontier = frontier_of(method, self.scale.allowed(self.promised), self.n, self.alpha)
        x = counts_near(p1, self.n)
        return power_of(p1, p0, x, frontier.at(x), self.n)

    def normal_power(self, p1: float, p0: float) -> float:
        """Return the power of Stouffer's test where its two counts are as good as normal.

        The asymptotic form of docs/statistics.md, with the larger of the standard errors at the
        leak and at what is claimed: within 0.015 of the power from the binomial laws.
        """
        spread, at_claim = self.scale.spread, event_at(p1, self.promised, self.scale)
        error = max(spread(p1, p0), spread(p1, at_claim)) / math.sqrt(self.n)
        apart = (float(self.scale.between(p1, p0)) - self.promised) / error
        return float(ndtr(apart + ndtri(self.alpha * (1 - BETA_SHARE))))


@lru_cache(maxsize=1024)
def smallest_seen(design: PlannedCertification, frequency: float) -> float:
    """Return the smallest leak above the promise that is refuted with probability 0.9.

    The leak is through an event with probability `frequency` on the likelier side. It is inf where
    not even the largest leak (a loss of 50, a difference of 1) would be seen.
    """
    scale, promised = design.scale, design.promised
    if promised >= design.top:
        return math.inf
    if frequency <= scale.allowed(promised).slack and scale.rarer_is_harder:
        return math.inf
    return design.rehearsed(frequency)


class Frontier:
    """For each count x of the likelier side, the largest y that still refutes, kept once found."""

    def __init__(self, method: Method, allowed: Region, n: int, alpha: float) -> None:
        self.method, self.allowed, self.n, self.alpha = method, allowed, n, alpha
        number = max(2, math.ceil(math.log(n) / math.log(KNOTS)))
        steps = np.unique(np.geomspace(1, n, number).round().astype(np.int64))
        self.knots = np.union1d(np.concatenate([[0], steps]), n - steps)
        self.found: dict[int, int] = {}

    def at(self, x: Counts) -> Counts:
        """Return the largest y for counts in ascending order; -1 where none refutes.

        Combined tests are interpolated.
        """
        if self.method not in COMBINED:
            return self._largest(x)
        first = np.searchsorted(self.knots, x[0], side="right") - 1
        knots = self.knots[first : np.searchsorted(self.knots, x[-1]) + 1].tolist()
        for knot in knots:
            if knot not in self.found:
                self.found[knot] = int(self._largest(np.array([knot]))[0])
        values = np.interp(x, knots, [self.found[knot] for knot in knots])
        return np.floor(values).astype(np.int64)

    def _largest(self, x: Counts) -> Counts:
        return largest_rejecting(self.method, x, self.n, allowed=self.allowed, alpha=self.alpha)


frontier_of = lru_cache(maxsize=64)(Frontier)
"""The frontier of a test, one and the same each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDesign(PlannedCertification):
    """All that what an audit would see depends on; fixed before anything is certified."""

    answers: CountedAnswers
    screening: Screening

    @property
    def usual_frequency(self) -> float:
        """That of the claim's worst face for two labels; an even share of K; the median of numbers.

        It is that of the worst face, too, for a difference of probabilities, which is the hardest
        to see there.
        """
        labels = self.answers.labels
        if labels == 2 or not self.scale.rarer_is_harder:
            return two_digits(self._worst_face)
        return two_digits(1 / labels if labels else 0.5)

    @property
    def most_frequent(self) -> float:
        """For numbers it is half, as noise that moves has no better threshold."""
        return self._worst_face if self.answers.labels else 0.5

    @property
    def _worst_face(self) -> float:
        """The frequency of the worst face at about the least leak that is seen."""
        leak, reach, scale = self.promised, self.errors_needed, self.scale
        for _ in range(5):
            spread = scale.spread(*scale.allowed(leak).tight)
            leak = min(LARGEST, scale.most, self.promised + reach * spread)
        return worst_frequency(leak, scale)

    def rehearsed(self, frequency: float) -> float:
        """Return the largest of the leaks of all families, within 1e-3 of its excess.

        Of three labels or more these are where no other label leaks and where rarer ones leak as
        much; of numbers, a leak through a threshold of this frequency and noise whose centre moves:
        Laplace's, and for delta > 0 the normal one's.
        """
        design = self._fewer_labels()
        found = [Audits(design, family).smallest() for family in design.through(frequency)]
        return max(found + [_shift_seen(design, kind) for kind in design.shifts])

    def sees(self, leak: float) -> bool:
        """Return whether a leak at the usual frequency is refuted with probability 0.9."""
        design = self._fewer_labels()
        noise = [shifted(kind, design.scale, design.promised) for kind in design.shifts]
        families = [*design.through(self.usual_frequency), *noise]
        return all(Audits(design, family).see(leak) for family in families)

    def _fewer_labels(self) -> AuditDesign:
        """Rehearse `MANY` of more labels: 100,000 would take minutes and gigabytes."""
        if self.answers.labels <= MANY:
            return self
        answers = replace(self.answers, labels=MANY, among=self.answers.labels)
        return replace(self, answers=answers)

    def through(self, frequency: float) -> list[Family]:
        """Return the families that leak through one event."""
        both = self.answers.labels > 2 and self.scale == Ratio()
        return [
            through_event(self.answers, frequency, self.scale, self.promised, decoys=decoys)
            for decoys in ([False, True] if both else [False])
        ]

    @property
    def shifts(self) -> tuple[str, ...]:
        """The kinds of noise whose centre moves."""
        return () if self.answers.labels else shifts_for(self.scale)


@lru_cache(maxsize=256)
def _shift_seen(design: AuditDesign, kind: str) -> float:
    return Audits(design, shifted(kind, design.scale, design.promised)).smallest()


class Audits:
    """Audits of one family of laws: the screening is rehearsed, the certification computed."""

    def __init__(self, design: AuditDesign, family: Family) -> None:
        self.design, self.family = design, family
        screening, self.masks = design.screening, design.answers.masks
        self.ranking = Ranking.of(design.scale, design.promised, screening.draws)
        self.rivals = screening.pairs - 1
        self.cells = 2 * max(len(self.masks), design.answers.among) * screening.pairs
        self.met, crowded = False, self.rivals >= screening.finalists
        dear = len(self.masks) * (self.rivals * len(family.crowd) if crowded else 1)
        self.runs = int(np.clip(WORK // dear, FEWEST, RUNS))
        self.base = self._drawn(0, family.base)
        # what a pair must rank above to be among the finalists
        self.needed = np.full(self.runs, -math.inf)
        # the tests that are chosen at about the leak that certification alone would show
        self.guess = design.leak_about(family.frequency, design.errors_needed)
        shares, other = self._chosen(self.guess)
        p1, p0 = self._face(int(shares.argmax()), other)
        symbols = self.masks.shape[1]
        self.methods = design.methods_near(p1, p0, screening.draws, labels=symbols, off=1.0)

    def smallest(self) -> float:
        """Return the smallest leak that is refuted with probability 0.9; inf where none is."""
        promised, most = self.design.promised, self.design.top
        if not self.see(most):
            return math.inf
        reach, high = self.guess - promised, promised
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
        """Return whether a leak is refuted with probability 0.9.

        The crowd is met only if it would be without it.
        """
        if not self._refuted(leak):
            return False
        if not self.met and self.rivals >= self.design.screening.finalists:
            self._meet_the_crowd()
            self.met = True
            return self._refuted(leak)
        return True

    def _meet_the_crowd(self) -> None:
        """Find what the leaking pair must rank above: all others leak the most that is allowed."""
        draws, symbols = self.design.screening.draws, self.masks.shape[1]
        place = self.rivals - self.design.screening.finalists
        at_once = max(1, CHUNK // (self.rivals * len(self.masks)))
        # the events that a crowd is looked at through, and the first bins that they need
        thresholds, bins = np.arange(len(self.masks)), np.arange(symbols)
        if not self.design.answers.labels:
            bins = np.arange(0, symbols, EVERY)
            thresholds = np.concatenate([bins[1:] - 1, bins[1:] - 1 + symbols - 1])
        for stream, law in enumerate(self.family.crowd, start=2):
            rng, binned = np.random.default_rng(stream), np.add.reduceat(law, bins)
            for start in range(0, self.runs, at_once):
                part = slice(start, start + at_once)
                base = self.base[part, None, thresholds]
                others = rng.multinomial(draws, binned, size=(len(base), self.rivals))
                ranks = self.ranking.highest(base, self._events(others), self.cells)
                last = np.partition(ranks, place, axis=1)[:, place]
                self.needed[part] = np.maximum(self.needed[part], last)

    def _refuted(self, leak: float) -> bool:
        """Return whether a pair that leaks so much is found and refuted with probability 0.9."""
        shares, other = self._chosen(leak)
        found = 0.0
        for face in np.flatnonzero(shares >= RARE):
            p1, p0 = self._face(int(face), other)
            # the weakest test that may be chosen
            power = min(self.design.power(method, p1, p0) for method in self.methods)
            found += float(shares[face]) * power
        return found >= POWER

    def _chosen(self, leak: float) -> tuple[Array, Array]:
        """Return how often each face (direction, event) is chosen, and the neighbour's law."""
        other = self.family.other(leak)
        base, drawn = self.base, self._drawn(1, other)
        both = np.concatenate([base, drawn], axis=-1), np.concatenate([drawn, base], axis=-1)
        ranks = self.ranking.of_rare(*both, self.cells)
        found = ranks.max(axis=1) > self.needed
        shares = np.bincount(ranks.argmax(axis=1)[found], minlength=ranks.shape[1]) / self.runs
        return shares, other

    def _face(self, face: int, other: Array) -> tuple[float, float]:
        """Return p1 and p0 of a face."""
        backward, event = divmod(face, len(self.masks))
        one, two = (min(1.0, float(law @ self.masks[event])) for law in (self.family.base, other))
        return (two, one) if backward else (one, two)

    def _drawn(self, stream: int, law: Array) -> Counts:
        """Draw the events of the screenings of one dataset, always the same from one stream."""
        rng, draws = np.random.default_rng(stream), self.design.screening.draws
        return self._events(rng.multinomial(draws, law, size=self.runs))

    def _events(self, symbols: Counts) -> Counts:
        """Count events: shape (..., E)."""
        if self.design.answers.labels:
            return np.rint(symbols.astype(float) @ self.masks.T).astype(np.int64)
        below = np.cumsum(symbols, axis=-1)[..., :-1]
        return np.concatenate([below, self.design.screening.draws - below], axis=-1)
