"""The smallest leak that a whole audit would have refuted, screening included."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from scipy.special import ndtri

from dpassay.engine.detection.alternatives import (
    Answers,
    Family,
    shifted,
    shifts_for,
    through_event,
    worst_frequency,
)
from dpassay.engine.detection.audits import Audits
from dpassay.engine.detection.certification import Certification
from dpassay.engine.detection.curve import DetectionCurve, two_digits
from dpassay.stats.power import LARGEST, POWER, Screening
from dpassay.stats.scales import Ratio

MANY = 1000
"""Labels that a screening is rehearsed with at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design(Certification):
    """All that what an audit would see depends on; fixed before anything is certified."""

    answers: Answers
    screening: Screening

    def smallest(self, frequency: float) -> float:
        """Return `smallest_seen`."""
        return smallest_seen(self, frequency)


def sight(design: Design, frequency: float | None) -> DetectionCurve:
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


def usual_frequency(design: Design) -> float:
    """Return the frequency to assume where nothing is known of the event, down to two digits.

    It is that of the claim's worst face for two labels, and for a difference of probabilities,
    which is the hardest to see there; an even share of K labels; the median of numbers.
    """
    labels = design.answers.labels
    if labels == 2 or not design.scale.rarer_is_harder:
        return two_digits(_worst_face(design))
    return two_digits(1 / labels if labels else 0.5)


@lru_cache(maxsize=1024)
def smallest_seen(design: Design, frequency: float) -> float:
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


def is_seen(design: Design, frequency: float, leak: float) -> bool:
    """Return whether a leak is at least `smallest_seen`, without looking for that."""
    design = _rehearsed(design)
    families = [
        *_families(design, frequency),
        *(shifted(kind, design.scale, design.promised) for kind in _shifts(design)),
    ]
    return all(Audits(design, family).see(leak) for family in families)


def _rehearsed(design: Design) -> Design:
    """Rehearse `MANY` of more labels: 100,000 would take minutes and gigabytes."""
    answers = design.answers
    if answers.labels <= MANY:
        return design
    return replace(design, answers=replace(answers, labels=MANY, among=answers.labels))


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

    For numbers it is half, as noise that moves has no better threshold.
    """
    return _worst_face(design) if design.answers.labels else 0.5


def _worst_face(design: Design) -> float:
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
def _shift_seen(design: Design, kind: str) -> float:
    return Audits(design, shifted(kind, design.scale, design.promised)).smallest()
