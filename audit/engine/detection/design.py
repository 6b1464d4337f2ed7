"""The smallest leak that a whole audit would have refuted, screening included."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.engine.detection.alternatives import (
    CountedAnswers,
    Family,
    shifted,
    shifts_for,
    through_event,
    worst_frequency,
)
from dpassay.engine.detection.certification import (
    RARE,
    Counts,
    PlannedCertification,
    errors_needed,
    leak_about,
    methods_near,
    power_by,
)
from dpassay.engine.detection.curve import DetectionCurve, two_digits
from dpassay.stats.lower_bounds import Method
from dpassay.stats.power import LARGEST, POWER, Screening
from dpassay.stats.ranking import Ranking
from dpassay.stats.scales import Ratio

RUNS, FEWEST = 400, 50
"""Screenings that are rehearsed, and how many at least where a crowd makes each of them dear."""
WORK = 4 * 10**6
"""Counts of a crowd that are looked at."""
CHUNK = 2 * 10**6
"""Counts that are held at once."""
EVERY = 3
"""Of the thresholds of numbers a crowd is looked at through every third; those beside it say nearly
the same."""

Array = NDArray[np.float64]


class Audits:
    """Audits of one family of laws: the screening is rehearsed, the certification computed."""

    def __init__(self, design: AuditDesign, family: Family) -> None:
        self.design, self.family = design, family
        self.masks = design.answers.masks
        self.ranking = Ranking.of(design.scale, design.promised, design.screening.draws)
        self.rivals = design.screening.pairs - 1
        self.cells = 2 * max(len(self.masks), design.answers.among) * design.screening.pairs
        self.met = False
        crowded = self.rivals >= design.screening.finalists
        dear = len(self.masks) * (self.rivals * len(family.crowd) if crowded else 1)
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
        """Return the events that a crowd is looked at through, and the first bins that they need.

        Of numbers it is every third.
        """
        symbols = self.masks.shape[1]
        if self.design.answers.labels:
            return np.arange(len(self.masks)), np.arange(symbols)
        bins = np.arange(0, symbols, EVERY)
        return np.concatenate([bins[1:] - 1, bins[1:] - 1 + symbols - 1]), bins

    def _refuted(self, leak: float) -> bool:
        """Return whether a pair that leaks so much is found and refuted with probability 0.9."""
        shares, other = self._chosen(leak)
        found = 0.0
        for face in np.flatnonzero(shares >= RARE):
            p1, p0 = self._face(int(face), other)
            # the weakest test that may be chosen
            power = min(power_by(self.design, method, p1, p0) for method in self.methods)
            found += float(shares[face]) * power
        return found >= POWER

    def _chosen(self, leak: float) -> tuple[Array, Array]:
        """Return how often each face (direction, event) is chosen, and the neighbour's law."""
        other = self.family.other(leak)
        base, drawn = self.base, self._drawn(1, other, self.runs)
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

    def _methods(self) -> set[Method]:
        """Tests that are chosen at about the leak that is seen."""
        shares, other = self._chosen(self._guess())
        p1, p0 = self._face(int(shares.argmax()), other)
        draws, symbols = self.design.screening.draws, self.masks.shape[1]
        return methods_near(self.design, p1, p0, draws, labels=symbols, off=1.0)

    def _guess(self) -> float:
        """About the leak that certification alone would show."""
        return leak_about(self.design, self.family.frequency, errors_needed(self.design))

    def _drawn(self, stream: int, law: Array, size: int) -> Counts:
        """Draw the events of so many screenings of one dataset, always the same from one stream."""
        return self._events(
            np.random.default_rng(stream).multinomial(self.design.screening.draws, law, size=size)
        )

    def _events(self, symbols: Counts) -> Counts:
        """Count events: shape (..., E)."""
        if self.design.answers.labels:
            return np.rint(symbols.astype(float) @ self.masks.T).astype(np.int64)
        below = np.cumsum(symbols, axis=-1)[..., :-1]
        return np.concatenate([below, self.design.screening.draws - below], axis=-1)


MANY = 1000
"""Labels that a screening is rehearsed with at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDesign(PlannedCertification):
    """All that what an audit would see depends on; fixed before anything is certified."""

    answers: CountedAnswers
    screening: Screening

    def smallest(self, frequency: float) -> float:
        """Return `smallest_seen`."""
        return smallest_seen(self, frequency)


def sight(design: AuditDesign, frequency: float | None) -> DetectionCurve:
    """Say what an audit would have seen.

    `frequency`: of the event that looked worst in the screening, on its likelier side; None where
    it saw nothing move. Then the claim's worst face is assumed of two labels, an even share of K
    labels, and noise whose centre moves of numbers.
    """
    at = usual_frequency(design) if frequency is None else two_digits(min(frequency, _most(design)))
    if not design.scale.rarer_is_harder:
        return DetectionCurve(detectable=smallest_seen(design, usual_frequency(design)))
    return DetectionCurve(
        detectable=smallest_seen(design, at), frequency=at, assumed=frequency is None, design=design
    )


def usual_frequency(design: AuditDesign) -> float:
    """Return the frequency to assume where nothing is known of the event, down to two digits.

    It is that of the claim's worst face for two labels, and for a difference of probabilities,
    which is the hardest to see there; an even share of K labels; the median of numbers.
    """
    labels = design.answers.labels
    if labels == 2 or not design.scale.rarer_is_harder:
        return two_digits(_worst_face(design))
    return two_digits(1 / labels if labels else 0.5)


@lru_cache(maxsize=1024)
def smallest_seen(design: AuditDesign, frequency: float) -> float:
    """Return the smallest leak above the promise that a whole audit refutes with probability 0.9.

    The leak is through an event with probability `frequency` on the likelier side. Of three labels
    or more it is the larger one of that where no other label leaks and that where rarer ones leak
    as much; of numbers that of a leak through a threshold of this frequency and of noise whose
    centre moves, Laplace's, and for delta > 0 the normal one's; the worst threshold is then where
    it is.

    The result is within 1e-3 of its distance to the claim, but for the simulation of the screening;
    inf where not even the largest leak (a loss of 50, a difference of 1) would be seen.
    """
    if design.promised >= min(LARGEST, design.scale.most):
        return math.inf
    if frequency <= design.scale.allowed(design.promised).slack and design.scale.rarer_is_harder:
        return math.inf
    design = _rehearsed(design)
    found = [Audits(design, family).smallest() for family in _families(design, frequency)]
    return max(found + [_shift_seen(design, kind) for kind in _shifts(design)])


def is_seen(design: AuditDesign, frequency: float, leak: float) -> bool:
    """Return whether a leak is at least `smallest_seen`, without looking for that."""
    design = _rehearsed(design)
    families = [
        *_families(design, frequency),
        *(shifted(kind, design.scale, design.promised) for kind in _shifts(design)),
    ]
    return all(Audits(design, family).see(leak) for family in families)


def _rehearsed(design: AuditDesign) -> AuditDesign:
    """Rehearse `MANY` of more labels: 100,000 would take minutes and gigabytes."""
    answers = design.answers
    if answers.labels <= MANY:
        return design
    return replace(design, answers=replace(answers, labels=MANY, among=answers.labels))


def _families(design: AuditDesign, frequency: float) -> list[Family]:
    through = [False, True] if design.answers.labels > 2 and design.scale == Ratio() else [False]
    return [
        through_event(design.answers, frequency, design.scale, design.promised, decoys=decoys)
        for decoys in through
    ]


def _shifts(design: AuditDesign) -> tuple[str, ...]:
    return () if design.answers.labels else shifts_for(design.scale)


def _most(design: AuditDesign) -> float:
    """Return the largest frequency that is looked at.

    For numbers it is half, as noise that moves has no better threshold.
    """
    return _worst_face(design) if design.answers.labels else 0.5


def _worst_face(design: AuditDesign) -> float:
    """Return the frequency of the claim's worst face at about the least leak that is seen.

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


@lru_cache(maxsize=256)
def _shift_seen(design: AuditDesign, kind: str) -> float:
    return Audits(design, shifted(kind, design.scale, design.promised)).smallest()
