"""Candidates: pairs in a search, with what has been drawn of them, and how they are ranked.

Some are told apart in every run: what a search passes over once it knows is here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.detection.searches import Round
from dpassay.engine.evidence import an_exception
from dpassay.search.columns import Mask
from dpassay.search.events import EventChoice
from dpassay.search.features import PLACED, Feature
from dpassay.search.outlook import Outlook
from dpassay.search.outputs import OUTCOME, Encoder
from dpassay.search.proposals.proposal import Proposal
from dpassay.search.scores import OWN
from dpassay.search.views import Place
from dpassay.search.worth import Goal

Features = NDArray[np.float64]
Told = Callable[[], None]
"""Tells that one more pair of a round is done."""

WORTH = 0.95
"""What part of the bound to be expected a smaller pair must keep."""
DOUBT = 2.0
"""Standard errors of the search that are taken off the bounds of the last few pairs."""
CERTAIN = 3.0
"""A claim that the bound to come exceeds by so many standard errors is refuted next to surely."""
ALMOST = 5
"""An event that was missed, or came, in no more runs than this is taken for certain to come, or
not to: fresh runs say later what holds."""


@dataclass(slots=True, kw_only=True, eq=False)
class Candidate:
    """A pair with what has been drawn of it, and the best event of its best query.

    `one` and `other` are features (q, n, F) on S and on S', round by round; `query` is where it
    looks worst, `outlook` what is to be expected there by the trials of so many `rounds`, `goal`
    the claim, or the point of its curve, that it looks worst against.
    """

    proposal: Proposal
    one: list[Features] = field(default_factory=list)
    other: list[Features] = field(default_factory=list)
    query: int = 0
    outlook: Outlook | None = None
    rounds: int = 0
    goal: Goal | None = None

    @property
    def rank(self) -> tuple[float, float]:
        """What pairs are ranked by: the greater, the worse it looks."""
        if self.outlook is None or self.goal is None:
            return -math.inf, -math.inf
        rank, times = rank_of(self.goal, self.outlook)
        return (CERTAIN if self.told_apart else rank), times

    @property
    def cautious_rank(self) -> tuple[float, float]:
        """What the last few pairs are ranked by: chance is taken off where refutation is unlikely.

        Many pairs then leak about as much. The one that looks worst is often a rare event whose
        leak was overestimated: its bound is lower than those of the others would have been.
        """
        rank, times = self.rank
        if rank > 0 or self.outlook is None or self.goal is None:
            return rank, times
        rows, seen = sum(each.shape[1] for each in self.one), self.outlook
        error = float(self.goal.scale.spread(seen.p1, seen.p0)) / math.sqrt(rows)
        less = DOUBT * error / (self.goal.promised or 1.0)
        return rank, times - less if math.isfinite(less) else -math.inf

    @property
    def told_apart(self) -> bool:
        """Whether an event came in every run of one side and in none of the other.

        Then no standard error is small, and the bound to be expected says all.
        """
        rows, seen = sum(each.shape[1] for each in self.one), self.outlook
        if seen is None or self.goal is None or seen.expected <= self.goal.promised:
            return False
        return bool(max(seen.p0, 1 - seen.p1) * rows <= 1)

    @property
    def promise(self) -> float:
        """See `Outlook`."""
        return -math.inf if self.outlook is None else self.outlook.promise

    @property
    def choice(self) -> EventChoice | None:
        """The event that was chosen; None as long as the pair has only been ranked."""
        return self.outlook if isinstance(self.outlook, EventChoice) else None


def rank_of(goal: Goal, outlook: Outlook) -> tuple[float, float]:
    """Rank by the power to refute; where that is next to certain, by the bound to be expected.

    A small leak that is seen often lies more standard errors above the claim than a large one that
    is seen rarely; once both will be found, the large one is what the claim is worst wrong about.
    The bound counts in multiples of the claim, so that the points of a curve can be compared.
    """
    times = outlook.expected / (goal.promised or 1.0)
    return min(max(0.0, outlook.assurance), CERTAIN), times


def round_of(alive: Sequence[Candidate], size: int, kept: int) -> Round:
    """Say what a round was, for `detectable`: how many go on whatever family they are of."""
    families = len({each.proposal.family for each in alive})
    return Round(
        pairs=len(alive),
        new=sum(len(each.one) == 1 for each in alive),
        draws=size,
        safe=max(1, kept // 2, kept - families),
        queries=max(len(each.one[0]) for each in alive),
    )


def is_sure(pair: Candidate) -> bool:
    """Whether a pair will be refuted next to surely."""
    return pair.told_apart or (pair.outlook is not None and pair.outlook.assurance >= CERTAIN)


def keeps(smaller: Candidate, pair: Candidate) -> bool:
    """Whether hardly less is to be expected of a smaller pair, as far as both could be drawn."""
    if smaller.outlook is None or pair.outlook is None:
        return False
    return smaller.outlook.expected >= WORTH * pair.outlook.expected


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
        """Return whether known facts tell a pair apart before anything is drawn."""
        return self.empty and _without_records(each)

    def explains(self, each: Candidate, encoder: Encoder) -> bool:
        """Return whether known facts tell the drawn answers of a pair apart."""
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
