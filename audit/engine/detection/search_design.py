"""The smallest leak that a search finds and refutes, at one of the pairs it begins with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from dpassay.engine.detection.alternatives import (
    shifts_for,
    worst_frequency,
)
from dpassay.engine.detection.certification import Certification
from dpassay.engine.detection.curve import DetectionCurve, two_digits
from dpassay.engine.detection.search_laws import Label, Laws, Noise
from dpassay.engine.detection.search_rehearsal import Rehearsal
from dpassay.engine.detection.search_rounds import Round
from dpassay.search.worth import Goal
from dpassay.stats.power import LARGEST


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDesign(Certification):
    """All that what a search would see depends on; known before anything is certified.

    `pilot` is the trials per side that choose the test. Where there are `numbers` in the answers,
    their noise may move.
    """

    rounds: tuple[Round, ...]
    pilot: int
    numbers: bool

    @property
    def goal(self) -> Goal:
        """Return what events are chosen for."""
        return Goal(self.scale, self.promised, self.n, self.alpha)

    def smallest(self, frequency: float) -> float:
        """Return `smallest_found`."""
        return smallest_found(self, frequency)


def search_sight(design: SearchDesign, frequency: float | None) -> DetectionCurve:
    """Say what a search and the certification of what it finds would have seen.

    `frequency`: of the event that was certified, on its likelier side; None where it does not seem
    to move. Then that of the claim's worst face is assumed.
    """
    worst = worst_frequency(design.promised, design.scale)
    if not design.scale.rarer_is_harder:
        return DetectionCurve(detectable=design.smallest(two_digits(worst)))
    at = two_digits(worst if frequency is None else min(frequency, worst))
    return DetectionCurve(
        detectable=design.smallest(at), frequency=at, assumed=frequency is None, design=design
    )


@lru_cache(maxsize=1024)
def smallest_found(design: SearchDesign, frequency: float) -> float:
    """Return the smallest leak above the promise that is found and refuted with probability 0.9.

    It is that of one of the pairs that the search begins with, through an event with probability
    `frequency` on the likelier side; all the others leak what the claim allows, through `EVENTS`
    events each. The largest one of these counts: a leak through one of two labels; through one of
    ten; of numbers, and where the event is not rarer than the best one of theirs, noise whose
    centre moves.

    The result is at most `NEAR` of its distance to the claim too large, but for the simulation; inf
    where not even the largest leak (a loss of 50, a difference of 1) would be found.
    """
    scale = design.scale
    if design.promised >= min(LARGEST, scale.most):
        return math.inf
    if frequency <= scale.allowed(design.promised).slack and scale.rarer_is_harder:
        return math.inf
    laws: list[Laws] = [Label(design, frequency, labels) for labels in LABELS]
    if design.numbers:
        laws += [Noise(design, kind) for kind in shifts_for(scale)]
    found = design.promised
    for law in laws:
        found = Rehearsal(design, law).smallest(found)
    return found


LABELS = (2, 10)
"""Answers through one label of which a leak is rehearsed, whatever the answers really are."""
