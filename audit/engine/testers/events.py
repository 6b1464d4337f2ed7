"""Events: what counts of them say, for claims about the probability of an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpassay.claims import Claim
from dpassay.engine.detection.alternatives import CountedAnswers, Masks, answers_of, half_line_masks
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.detection.design import AuditDesign, is_seen, sight, usual_frequency
from dpassay.engine.early import Gamble
from dpassay.engine.evidence import Event, HalfLine
from dpassay.engine.readings import LabelLeaks, Leaks, NoiseLeaks
from dpassay.engine.testers.interface import (
    NOT_SAMPLED,
    CellEffort,
    ClaimKind,
    Finalist,
    Recorded,
    Tester,
)
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw, Law, NoiseLaw
from dpassay.stats.binomial import leak_upper, ranking_bound
from dpassay.stats.bounds import Bound, Counts
from dpassay.stats.combined import STOUFFER
from dpassay.stats.lower_bounds import NAMES, Method, choose, lower_bound
from dpassay.stats.power import SCREEN_ALPHA, detectable
from dpassay.stats.profile import Profile, grid_for, profile_band
from dpassay.stats.ranking import Ranking
from dpassay.stats.scales import Scale, scale_of
from dpassay.stats.upper_bounds import accuracy_upper, choose_faces, combined_upper, largest_upper
from dpassay.targets.guard import AuditTarget
from dpassay.trials.encoders import Bins

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Events(Tester):
    """Tester for claims that compare the probabilities of events.

    `masks` (E, K) are the events as sets of symbols, `labels` what the symbols mean, empty where
    they are bins; `edges` (q, m) are those of the bins, per query of all groups. There is an upper
    bound if they are `complete`: no event outside `masks` can leak more.
    """

    scale: Scale
    promised: float
    masks: Masks
    labels: tuple[int, ...] = ()
    bins: tuple[Bins, ...] = ()
    complete: bool = True

    @property
    def profiled(self) -> bool:
        """Return whether there is a privacy profile: for claims about all events."""
        return self.scale.profiled

    @property
    def bounded(self) -> bool:
        """Return whether there is an upper bound."""
        return self.complete

    def rank(self, sides: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Rank cells by their worst event, and say which event it is; see `Ranking`.

        Shape of both is that of `sides` without its last.

        `sides` are counts (2, P, K) of the two datasets.
        """
        counts = sides @ self.masks.T
        ranking = Ranking.of(self.scale, self.promised, int(sides[0, 0].sum()))
        scores = ranking.scores(counts, counts[::-1], counts.size)
        return scores.max(axis=-1), scores.argmax(axis=-1)

    def choose(
        self, event: int, one: NDArray[np.int64], other: NDArray[np.int64], n: int, alpha: float
    ) -> Tests:
        """Choose the tests of a cell from its screening counts (K,) on the two sides."""
        x, y = (side @ self.masks.T for side in (one, other))
        pilot, labels = int(one.sum()), self.masks.shape[1]
        method = choose(
            int(x[event]), int(y[event]), pilot, n, labels=labels, scale=self.scale, alpha=alpha
        )
        return Tests(lower=method, upper=choose_faces(x, y, pilot, n, scale=self.scale))

    def gamble(self, event: int) -> Gamble | None:
        """Return what is allowed of an event: the same as of its complement from the other side.

        The claims are about all events, or the difference of the complement is the same. It is None
        where nothing exceeds the claim.
        """
        if self.promised >= self.scale.most:
            return None
        return Gamble(event=self.masks[event], allowed=self.scale.allowed(self.promised))

    def seen(
        self, finalist: Finalist, one: NDArray[np.int64], other: NDArray[np.int64]
    ) -> tuple[float, float]:
        """Return how often the event came on the two sides."""
        counts = self._counts(finalist.event, one, other)
        return counts.x / counts.n1, counts.y / counts.n0

    def leak(self, p1: float, p0: float) -> float:
        """Return the leak on the scale of the claim."""
        return float(self.scale.between(p1, p0))

    def lower(
        self, finalist: Finalist, one: NDArray[np.int64], other: NDArray[np.int64], alpha: float
    ) -> Bound:
        """Bound the leak through the event from below, by the test that was chosen."""
        counts = self._counts(finalist.event, one, other)
        return lower_bound(finalist.method.lower, counts, scale=self.scale, alpha=alpha)

    def _counts(self, event: int, one: NDArray[np.int64], other: NDArray[np.int64]) -> Counts:
        x, y = (int(side @ self.masks[event]) for side in (one, other))
        return Counts(x=x, n1=int(one.sum()), y=y, n0=int(other.sum()))

    def upper(
        self,
        finalist: Finalist,
        one: NDArray[np.int64],
        other: NDArray[np.int64],
        alpha: float,
        floor: float = 0.0,
    ) -> float:
        """Bound all events and both directions of a cell from above."""
        x, y, n1, n0 = one @ self.masks.T, other @ self.masks.T, int(one.sum()), int(other.sum())
        if self.above == "accuracy":
            return max(floor, accuracy_upper(int(x[0]), int(y[0]), n1, alpha=alpha))
        if not self.complete:
            return self.scale.most
        faces = finalist.method.upper
        return largest_upper(x, n1, y, n0, faces, scale=self.scale, alpha=alpha, floor=floor)

    @property
    def above(self) -> str:
        """Return the accuracy test where it bounds the change of either label's probability."""
        return "accuracy" if self.scale.by_accuracy and len(self.masks) == 2 else "union"

    def apparent(
        self, event: int, one: NDArray[np.int64], other: NDArray[np.int64], looks: int
    ) -> tuple[float, float]:
        """Return a bound on the leak that chance beats once in a hundred audits, and p1.

        From screening counts (K,); p1 is that of the event.
        """
        mask, n = self.masks[event], int(one.sum())
        x, y = int(one @ mask), int(other @ mask)
        # two limits so many deviations off touch so rarely
        apart = float(ndtri(SCREEN_ALPHA / looks)) / math.sqrt(2)
        bound = ranking_bound(x, n, y, n, scale=self.scale, alpha=2 * float(ndtr(apart)))
        # where the rest moves by a larger factor, it is the rest that leaks more
        return float(bound), min(x, n - y) / n

    def sight(self, finalists: Sequence[Finalist], effort: CellEffort) -> DetectionCurve:
        """Return what the audit would have seen, at the frequency of the event that looks worst."""
        worst = max(finalists, key=lambda each: each.apparent)
        answers = (
            CountedAnswers(labels=0) if self.bins else answers_of(self.scale, len(self.labels))
        )
        design = design_of(self.scale, self.promised, answers, effort)
        return sight(design, worst.frequency if worst.apparent > 0 else None)

    def profile(
        self, one: NDArray[np.int64], other: NDArray[np.int64], alpha: float
    ) -> Profile | None:
        """Band of delta(epsilon), for claims about the loss; of numbers from below only."""
        if not self.profiled:
            return None
        events = np.asarray(self.masks, dtype=bool) if self.bins else None
        band = profile_band(
            one, other, grid_for(self.scale.epsilon(self.promised)), alpha=alpha, events=events
        )
        return (
            replace(band, upper=np.ones_like(band.upper), allowed=(ANYTHING,))
            if self.bins
            else band
        )

    def event(self, event: int, group: int, query: int) -> Event:
        """Say what an event is: its labels, or a half-line."""
        mask = self.masks[event]
        if not self.bins:
            return tuple(label for label, inside in zip(self.labels, mask, strict=True) if inside)
        first = int(np.argmax(mask != mask[0]))  # the first bin on the other side
        return HalfLine(
            threshold=float(self.bins[group].edges[query, first - 1]), above=not mask[0]
        )


def label_events(scale: Scale, promised: float, labels: tuple[int, ...]) -> Events:
    """Return the events of a mechanism that answers labels.

    Single labels suffice for two labels and where the scale says so; else every subset, up to
    K = 10.
    """
    answers = answers_of(scale, len(labels))
    singles = not scale.unions or len(labels) == 2
    return Events(
        scale=scale,
        promised=promised,
        masks=answers.masks,
        labels=labels,
        complete=singles or answers.unions,
    )


def half_lines(scale: Scale, promised: float, bins: tuple[Bins, ...]) -> Events:
    """Return the events of numbers: everything above, or below, an edge, without an upper bound."""
    return Events(
        scale=scale,
        promised=promised,
        masks=half_line_masks(bins[0].size),
        bins=bins,
        complete=False,
    )


def design_of(
    scale: Scale, promised: float, answers: CountedAnswers, effort: CellEffort
) -> AuditDesign:
    """Return all that what an audit would see depends on."""
    return AuditDesign(
        scale=scale,
        promised=promised,
        answers=answers,
        n=effort.n,
        alpha=effort.alpha,
        screening=effort.screening,
    )


@dataclass(frozen=True, slots=True)
class AboutEvents(ClaimKind):
    """Claims that compare the probabilities of events.

    These are the ones that `scale_of` knows: the loss, the Gaussian distance, the change of a
    label's probability.
    """

    claim: Claim

    @property
    def scale(self) -> Scale:
        """Return how a leak is measured."""
        return scale_of(self.claim)

    def leaks(self, law: Law, labels: tuple[int, ...]) -> Leaks | None:
        """Return labels by their law, or a number with noise, whose events are all meant.

        Without coins there is no useful loss.
        """
        if isinstance(law, FiniteLaw):
            return LabelLeaks(claim=self.claim, labels=labels)
        return (
            NoiseLeaks(claim=self.claim, noise=law.noise)
            if isinstance(law, NoiseLaw) and self.claim.profiled
            else None
        )

    def tester(self, target: AuditTarget, bins: tuple[Bins, ...]) -> Events:
        """Half-lines of numbers, or sets of labels."""
        if bins:
            return half_lines(self.scale, self.claim.promised, bins)
        return label_events(self.scale, self.claim.promised, target.labels)

    def curve(self, target: AuditTarget, effort: CellEffort) -> DetectionCurve:
        """At the frequency that is assumed."""
        return sight(self._design(target, effort), None)

    def bounded(self, target: AuditTarget) -> bool:
        """Labels, unless they have more unions than are looked at; of numbers nothing is."""
        if target.numbers is not None:
            return False
        return label_events(self.scale, self.claim.promised, target.labels).bounded

    def sees(self, target: AuditTarget, effort: CellEffort, leak: float) -> bool:
        """At the frequency that is assumed."""
        design = self._design(target, effort)
        return is_seen(design, usual_frequency(design), leak)

    def spread(self, target: AuditTarget, leak: float) -> float:  # noqa: ARG002
        """At the claim's worst face."""
        return self.scale.spread(*self.scale.allowed(leak).tight)

    def lower(self, cell: Recorded, alpha: float) -> float:
        """By the same test."""
        method, counts = _counted(cell)
        return lower_bound(method, counts, scale=self.scale, alpha=alpha).value

    def upper(self, cell: Recorded, alpha: float, floor: float) -> float:
        """Bound by the accuracy test, or face by face.

        Each face is bounded by limits and by Stouffer's test, at half of alpha each.
        """
        counts, scale, highest = _counted(cell)[1], self.scale, floor
        if scale.by_accuracy:
            return max(floor, accuracy_upper(counts.x, counts.y, counts.n1, alpha=alpha))
        # an event and its complement, in both directions
        one, other = (counts.x, counts.n1), (counts.y, counts.n0)
        rest, other_rest = (counts.n1 - counts.x, counts.n1), (counts.n0 - counts.y, counts.n0)
        faces = (*one, *other), (*other, *one), (*rest, *other_rest), (*other_rest, *rest)
        for x, n1, y, n0 in faces:
            plain = float(leak_upper(x, n1, y, n0, scale=scale, alpha=alpha / 2))
            if plain > highest:
                sharp = combined_upper(
                    STOUFFER, x, n1, y, n0, scale=scale, alpha=alpha / 2, floor=highest
                )
                highest = min(plain, sharp)
        return highest

    def detectable(
        self, cell: Recorded, limit: float, effort: CellEffort, *, through: bool
    ) -> float:
        """Nothing is screened; else at the claim's worst face."""
        seen = cell.counts if through else None
        frequency = 1.0 if seen is None else seen.x / seen.n1
        return detectable(
            scale=self.scale, promised=limit, n=effort.n, alpha=effort.alpha, frequency=frequency
        )

    def _design(self, target: AuditTarget, effort: CellEffort) -> AuditDesign:
        labels = len(target.labels) if target.numbers is None else 0
        answers = answers_of(self.scale, labels) if labels else CountedAnswers(labels=0)
        return design_of(self.scale, self.claim.promised, answers, effort)


def _counted(cell: Recorded) -> tuple[Method, Counts]:
    methods = [method for method in NAMES if method == cell.method]
    if cell.counts is None or not methods:
        raise InvalidInput(NOT_SAMPLED)
    return methods[0], cell.counts
