"""Events: what counts of them say, for claims about the probability of an answer."""

# ruff: noqa: ARG002  (not every kind of event needs all)

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpassay.engine.detection.audits import AuditDesign
from dpassay.engine.detection.families import CountedAnswers, Masks, answers_of, half_line_masks
from dpassay.engine.detection.searches import Round, SearchDesign
from dpassay.engine.evidence import DetectionCurve, Event, HalfLine
from dpassay.engine.readings import LabelLeaks, Leaks, NoiseLeaks
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
from dpassay.laws import FiniteLaw, Law, NoiseLaw
from dpassay.search.patterns import Pattern
from dpassay.stats.bounds import Bound, Counts
from dpassay.stats.combined import STOUFFER
from dpassay.stats.event_leak import leak_upper, ranking_bound
from dpassay.stats.lower_bounds import NAMES, Method, choose, lower_bound
from dpassay.stats.power import SCREEN_ALPHA, detectable
from dpassay.stats.profile import Profile, grid_for, profile_band
from dpassay.stats.ranking import Ranking
from dpassay.stats.scales import Scale, scale_of
from dpassay.stats.upper_bounds import accuracy_upper, choose_faces, combined_upper, largest_upper

ANYTHING = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
"""Tests that none can beat, where nothing is known: no false positives, all true ones."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tests:
    """The tests of a cell, chosen before its certification trials.

    `upper` (2, E) marks the events and directions of its upper bound that Stouffer's test bounds;
    the others have Clopper-Pearson limits.
    """

    lower: Method
    upper: NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Events(Tester):
    """Tester for claims that compare the probabilities of events, those that `scale_of` knows.

    Events are half-lines of numbers, everything above or below an edge between bins, and sets of
    labels: single ones suffice for two labels and where the scale says so; else it is every subset,
    up to K = 10.
    """

    @cached_property
    def scale(self) -> Scale:
        """How a leak is measured."""
        return scale_of(self.claim)

    @property
    def answers(self) -> CountedAnswers:
        """Return what is counted."""
        labels = len(self.labels) if self.numbers is None else 0
        return answers_of(self.scale, labels) if labels else CountedAnswers(labels=0)

    @cached_property
    def masks(self) -> Masks:
        """The events as sets of symbols, shape (E, K)."""
        return half_line_masks(self.bins[0].size) if self.bins else self.answers.masks

    @property
    def payoffs(self) -> Array:
        """Return the events."""
        return np.asarray(self.masks, dtype=np.int64)

    @property
    def profiled(self) -> bool:
        """Return whether there is a privacy profile: for claims about all events."""
        return self.scale.profiled

    @property
    def bounded(self) -> bool:
        """Return whether no event outside `masks` can leak more; of numbers nothing is known."""
        singles = not self.scale.unions or len(self.labels) == 2
        return self.numbers is None and (singles or self.answers.unions)

    @property
    def above(self) -> str:
        """Return the accuracy test where it bounds the change of either label's probability."""
        return "accuracy" if self.scale.by_accuracy and len(self.masks) == 2 else "union"

    def leaks(self, law: Law) -> Leaks | None:
        """Return labels by their law, or a number with noise, whose events are all meant.

        Without coins there is no useful loss.
        """
        if isinstance(law, FiniteLaw):
            return LabelLeaks(claim=self.claim, labels=self.labels)
        if isinstance(law, NoiseLaw) and self.claim.profiled:
            return NoiseLeaks(claim=self.claim, noise=law.noise)
        return None

    def rank(self, sides: Array) -> tuple[Floats, Array]:
        """Rank cells by their worst event, and say which event it is; see `Ranking`."""
        counts = sides @ self.masks.T
        ranking = Ranking.of(self.scale, self.promised, int(sides[0, 0].sum()))
        scores = ranking.scores(counts, counts[::-1], counts.size)
        return scores.max(axis=-1), scores.argmax(axis=-1)

    def choose(self, event: int, one: Array, other: Array, n: int, alpha: float) -> Tests:
        """Choose the tests of a cell from its screening counts on the two sides."""
        x, y = (side @ self.masks.T for side in (one, other))
        pilot, labels, at = int(one.sum()), self.masks.shape[1], (int(x[event]), int(y[event]))
        method = choose(*at, pilot, n, labels=labels, scale=self.scale, alpha=alpha)
        return Tests(lower=method, upper=choose_faces(x, y, pilot, n, scale=self.scale))

    def seen(self, finalist: Finalist, one: Array, other: Array) -> tuple[float, float]:
        """Return how often the event came on the two sides."""
        counts = self._counts(finalist.event, one, other)
        return counts.x / counts.n1, counts.y / counts.n0

    def leak(self, p1: float, p0: float) -> float:
        """Return the leak on the scale of the claim."""
        return float(self.scale.between(p1, p0))

    def lower(self, finalist: Finalist, one: Array, other: Array, alpha: float) -> Bound:
        """Bound the leak through the event from below, by the test that was chosen."""
        counts = self._counts(finalist.event, one, other)
        return lower_bound(finalist.method.lower, counts, scale=self.scale, alpha=alpha)

    def _counts(self, event: int, one: Array, other: Array) -> Counts:
        x, y = (int(side @ self.masks[event]) for side in (one, other))
        return Counts(x=x, n1=int(one.sum()), y=y, n0=int(other.sum()))

    def upper(
        self, finalist: Finalist, one: Array, other: Array, alpha: float, floor: float = 0.0
    ) -> float:
        """Bound all events and both directions of a cell from above."""
        x, y, n1, n0 = one @ self.masks.T, other @ self.masks.T, int(one.sum()), int(other.sum())
        if self.above == "accuracy":
            return max(floor, accuracy_upper(int(x[0]), int(y[0]), n1, alpha=alpha))
        if not self.bounded:
            return self.scale.most
        faces = finalist.method.upper
        return largest_upper(x, n1, y, n0, faces, scale=self.scale, alpha=alpha, floor=floor)

    def apparent(self, event: int, one: Array, other: Array, looks: int) -> tuple[float, float]:
        """Return a bound on the leak that chance beats once in a hundred audits, and p1."""
        counts = self._counts(event, one, other)
        x, n = counts.x, counts.n1
        # two limits so many deviations off touch so rarely
        apart = float(ndtri(SCREEN_ALPHA / looks)) / math.sqrt(2)
        bound = ranking_bound(x, n, counts.y, n, scale=self.scale, alpha=2 * float(ndtr(apart)))
        # where the rest moves by a larger factor, it is the rest that leaks more
        return float(bound), min(x, n - counts.y) / n

    def sight(self, effort: CellEffort, finalists: Sequence[Finalist] = ()) -> DetectionCurve:
        """Return what would be seen at the frequency of the event that looks worst."""
        return self.design(effort).sight(_worst_frequency(finalists))

    def sees(self, effort: CellEffort, leak: float) -> bool:
        """Return whether a leak at the frequency that is assumed would be seen."""
        return self.design(effort).sees(leak)

    def design(self, effort: CellEffort) -> AuditDesign:
        """Return all that what an audit would see depends on."""
        return AuditDesign(
            scale=self.scale,
            promised=self.promised,
            answers=self.answers,
            n=effort.n,
            alpha=effort.alpha,
            screening=effort.screening,
        )

    def spread(self, leak: float) -> float:
        """Return it at the claim's worst face."""
        return self.scale.spread(*self.scale.allowed(leak).tight)

    def profile(self, one: Array, other: Array, alpha: float) -> Profile | None:
        """Return the band, for claims about the loss; of numbers from below only."""
        if not self.profiled:
            return None
        events = np.asarray(self.masks, dtype=bool) if self.bins else None
        grid = grid_for(self.scale.epsilon(self.promised))
        band = profile_band(one, other, grid, alpha=alpha, events=events)
        if self.bins:
            band = replace(band, upper=np.ones_like(band.upper), allowed=(ANYTHING,))
        return band

    def event(self, event: int, group: int, query: int) -> Event:
        """Return the labels of an event, or a half-line."""
        mask = self.masks[event]
        if not self.bins:
            return tuple(label for label, inside in zip(self.labels, mask, strict=True) if inside)
        first = int(np.argmax(mask != mask[0]))  # the first bin on the other side
        threshold = float(self.bins[group].edges[query, first - 1])
        return HalfLine(threshold=threshold, above=not mask[0])

    def lower_again(self, cell: Recorded, alpha: float) -> float:
        """Bound the event by the same test."""
        method, counts = _counted(cell)
        return lower_bound(method, counts, scale=self.scale, alpha=alpha).value

    def upper_again(self, cell: Recorded, alpha: float) -> float:
        """Bound the event by the accuracy test, or face by face.

        Each face is bounded by limits and by Stouffer's test, at half of alpha each.
        """
        counts, scale, highest = _counted(cell)[1], self.scale, 0.0
        if scale.by_accuracy:
            return max(0.0, accuracy_upper(counts.x, counts.y, counts.n1, alpha=alpha))
        # an event and its complement, in both directions
        one, other = (counts.x, counts.n1), (counts.y, counts.n0)
        rest, other_rest = (counts.n1 - counts.x, counts.n1), (counts.n0 - counts.y, counts.n0)
        for face in ((*one, *other), (*other, *one), (*rest, *other_rest), (*other_rest, *rest)):
            plain = float(leak_upper(*face, scale=scale, alpha=alpha / 2))
            if plain > highest:
                sharp = combined_upper(STOUFFER, *face, scale=scale, alpha=alpha / 2, floor=highest)
                highest = min(plain, sharp)
        return highest

    def detectable_again(
        self, cell: Recorded, limit: float, effort: CellEffort, *, through: bool
    ) -> float:
        """Nothing is screened; without an event it is at the claim's worst face."""
        seen = cell.counts if through else None
        frequency = 1.0 if seen is None else seen.x / seen.n1
        return detectable(
            scale=self.scale, promised=limit, n=effort.n, alpha=effort.alpha, frequency=frequency
        )


@dataclass(frozen=True, kw_only=True)
class PatternEvents(Events):
    """Tester for an event that was learned, whose complement was not chosen.

    Nothing bounds the leak from above: another event may leak more. `direction` is 0 where the
    event is likelier on S, which the search has found out in these rounds; `noisy` says whether
    the answers have numbers in them.
    """

    pattern: Pattern
    direction: int
    rounds: tuple[Round, ...] = ()
    noisy: bool = False

    @cached_property
    def masks(self) -> Masks:
        """The event alone."""
        return np.array([[0, 1]])

    @property
    def profiled(self) -> bool:
        """Return False, since delta(epsilon) is of all events."""
        return False

    @property
    def bounded(self) -> bool:
        """Return False."""
        return False

    def rank(self, sides: Array) -> tuple[Floats, Array]:
        """Rank in the direction that the search has chosen; the other one is out."""
        ranking, events = Events.rank(self, sides)
        ranking[1 - self.direction] = -np.inf
        return ranking, events

    def event(self, event: int, group: int, query: int) -> Event:
        """Return the pattern."""
        return self.pattern

    def sight(self, effort: CellEffort, finalists: Sequence[Finalist] = ()) -> DetectionCurve:
        """Return what the search and the certification would see, at one of the first pairs."""
        design = SearchDesign(
            scale=self.scale,
            promised=self.promised,
            n=effort.n,
            alpha=effort.alpha,
            rounds=self.rounds,
            pilot=effort.screening.draws,
            numbers=self.noisy,
        )
        return design.sight(_worst_frequency(finalists))


def _worst_frequency(finalists: Sequence[Finalist]) -> float | None:
    """Return the frequency of the event that looks worst; None where nothing seems to move."""
    worst = max(finalists, key=lambda each: each.apparent, default=None)
    return None if worst is None or worst.apparent <= 0 else worst.frequency


def _counted(cell: Recorded) -> tuple[Method, Counts]:
    methods = [method for method in NAMES if method == cell.method]
    if cell.counts is None or not methods:
        raise InvalidInput(NOT_SAMPLED)
    return methods[0], cell.counts
