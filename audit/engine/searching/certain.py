"""Certainty: how a pair is told apart in every run, and what a search passes over once it knows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpassay.engine.searching.candidates import Candidate, Features
from dpassay.engine.told_apart import an_exception
from dpassay.search.columns import Mask
from dpassay.search.features import PLACED, Feature
from dpassay.search.outputs import OUTCOME, Encoder
from dpassay.search.proposals.proposal import Proposal
from dpassay.search.scores import OWN
from dpassay.search.views import Place

ALMOST = 5
"""An event that was missed, or came, in no more runs than this is taken for certain to come, or
not to: fresh runs say later what holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certainties:
    """What is known to tell pairs apart for certain, so that a search looks for something else."""

    missing: bool = False
    empty: bool = False
    places: frozenset[Place] = frozenset()

    def after(self, found: Candidate, encoder: Encoder) -> Certainties | None:
        """Add what tells a pair apart; None where nothing does so for certain."""
        choice, rows = found.choice, sum(each.shape[1] for each in found.one)
        if choice is None or choice.p0 * rows > ALMOST:
            return None
        if _missing_on_one_side(found, encoder)[found.query]:
            return replace(self, missing=True)
        if (1 - choice.p1) * rows > ALMOST:
            return None
        if _without_records(found.proposal):
            return replace(self, empty=True)
        looks = choice.pattern.encoder.looks
        return replace(self, places=self.places.union(*map(_places, looks)))

    def left(self, encoder: Encoder) -> list[Feature]:
        """Return what is still looked at in answers; nothing if that tells nothing new."""
        looks = [
            look
            for look in encoder.looks
            if not self.places or (look.kind in OWN and not _places(look) & self.places)
        ]
        return [*dict.fromkeys([*looks, OUTCOME])] if looks else []

    def passes_over(self, each: Proposal) -> bool:
        """Whether a pair is told apart by what is known, before anything is drawn of it."""
        return self.empty and _without_records(each)

    def explains(self, each: Candidate, encoder: Encoder) -> bool:
        """Whether what was drawn of a pair is told apart by what is known."""
        return self.missing and bool(_missing_on_one_side(each, encoder).any())


def with_plain_event(found: Candidate, encoder: Encoder) -> Candidate:
    """Name the exception as the event of a pair that it tells apart as often, on one side alone."""
    choice, rows = found.choice, sum(each.shape[1] for each in found.one)
    if choice is not None and OUTCOME in encoder.looks:
        place = encoder.looks.index(OUTCOME)
        raised = [float((np.concatenate(side, axis=1)[found.query, :, place] == 0).mean())
                  for side in (found.one, found.other)]  # fmt: skip
        if min(raised) == 0 and (choice.p1 - max(raised)) * rows <= ALMOST:
            direction = int(raised[1] > 0)
            found.outlook = replace(choice, pattern=an_exception(encoder), direction=direction)
    return found


def _without_records(each: Proposal) -> bool:
    return min(len(each.base), len(each.neighbour)) == 0


def _missing_on_one_side(each: Candidate, encoder: Encoder) -> Mask:
    """Say at which queries an exception, or the lack of a number, is seen on one side alone."""
    coded = np.array([look.coded for look in encoder.looks])
    raised = np.array([look == OUTCOME for look in encoder.looks])

    def seen(side: list[Features]) -> Features:
        drawn = np.concatenate(side, axis=1)
        return np.asarray(
            np.where(coded, raised & (drawn == 0), np.isnan(drawn)).mean(axis=1), dtype=float
        )

    one, other = seen(each.one), seen(each.other)
    return np.asarray(((one == 0) != (other == 0)).any(axis=1))


def _places(look: Feature) -> frozenset[Place]:
    if look.kind == "difference":
        return frozenset({look.place, look.less})
    return frozenset({look.place if look.kind in PLACED else -2})
