"""Events: claims about the probability of an answer, judged by counts of events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpassay.claims import Claim
from dpassay.engine.detection.alternatives import Answers, answers_of, half_line_masks
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.detection.design import Design, is_seen, sight, usual_frequency
from dpassay.engine.early import Gamble
from dpassay.engine.evidence import Event, HalfLine
from dpassay.engine.readings import LabelLeaks, Leaks, NoiseLeaks
from dpassay.engine.testers.interface import Certified, Drawn, Effort, Looked, Recorded
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw, Law, NoiseLaw
from dpassay.stats.binomial import leak_upper, plug_in, ranking_bound
from dpassay.stats.bounds import Bound, Counts
from dpassay.stats.inversion import upper as combined_upper
from dpassay.stats.lower_bounds import NAMES, Method, choose, lower_bound, lower_bounds
from dpassay.stats.power import SCREEN_ALPHA, Screening, detectable
from dpassay.stats.profile import Profile, grid_for, profile_band
from dpassay.stats.ranking import Ranking
from dpassay.stats.scales import Scale, scale_of
from dpassay.stats.stouffer import STOUFFER
from dpassay.stats.upper_bounds import accuracy_upper, choose_faces, largest_uppers
from dpassay.targets.guard import AuditTarget
from dpassay.trials.encoders import Bins


@dataclass(frozen=True, slots=True)
class AboutEvents:
    """Claims that compare the probabilities of events.

    The loss, the Gaussian distance, the change of a label's probability.

    Parameters
    ----------
    claim : Claim
        One that `scale_of` knows.
    """

    claim: Claim

    @property
    def scale(self) -> Scale:
        """How a leak is measured."""
        return scale_of(self.claim)

    def leaks(self, law: Law, labels: tuple[int, ...]) -> Leaks | None:
        """Labels by their law; a number with noise, where all events of it are meant.

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

    def curve(self, target: AuditTarget, effort: Effort) -> DetectionCurve:
        """At the frequency that is assumed."""
        return sight(self._design(target, effort), None)

    def bounded(self, target: AuditTarget) -> bool:
        """Labels, unless they have more unions than are looked at; of numbers nothing is."""
        if target.numbers is not None:
            return False
        return label_events(self.scale, self.claim.promised, target.labels).bounded

    def sees(self, target: AuditTarget, effort: Effort, leak: float) -> bool:
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
        """By the accuracy test, or face by face at half of alpha each.

        Each face by limits and by Stouffer's test.
        """
        counts, scale, highest = _counted(cell)[1], self.scale, floor
        if scale.by_accuracy:
            return max(floor, accuracy_upper(counts.x, counts.y, counts.n1, alpha=alpha))
        for x, n1, y, n0 in _faces(counts):
            plain = float(leak_upper(x, n1, y, n0, scale=scale, alpha=alpha / 2))
            if plain > highest:
                sharp = combined_upper(
                    STOUFFER, x, n1, y, n0, scale=scale, alpha=alpha / 2, floor=highest
                )
                highest = min(plain, sharp)
        return highest

    def detectable(self, cell: Recorded, limit: float, effort: Effort, *, through: bool) -> float:
        """Nothing is screened; else at the claim's worst face."""
        seen = cell.counts if through else None
        frequency = 1.0 if seen is None else seen.x / seen.n1
        return detectable(
            scale=self.scale, promised=limit, n=effort.n, alpha=effort.alpha, frequency=frequency
        )

    def _design(self, target: AuditTarget, effort: Effort) -> Design:
        labels = len(target.labels) if target.numbers is None else 0
        return Design(
            scale=self.scale,
            promised=self.claim.promised,
            answers=answers_of(self.scale, labels) if labels else Answers(labels=0),
            n=effort.n,
            alpha=effort.alpha,
            screening=effort.screening,
        )


def _faces(counts: Counts) -> tuple[tuple[int, int, int, int], ...]:
    """Return the counts of an event and of its complement, in both directions."""
    one, other = (counts.x, counts.n1), (counts.y, counts.n0)
    rest, other_rest = (counts.n1 - counts.x, counts.n1), (counts.n0 - counts.y, counts.n0)
    return (*one, *other), (*other, *one), (*rest, *other_rest), (*other_rest, *rest)


def _counted(cell: Recorded) -> tuple[Method, Counts]:
    methods = [method for method in NAMES if method == cell.method]
    if cell.counts is None or not methods:
        raise InvalidInput("was not sampled; only sampled bounds have an error probability")
    return methods[0], cell.counts


TOGETHER = 500
"""Cells whose bounds are looked for in step."""
ANYTHING = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
"""Tests that none can beat, where nothing is known: no false positives, all true ones."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tests:
    """The tests of a cell, chosen before its certification trials.

    Parameters
    ----------
    lower : str
        Of its lower bound.
    upper : bool array (2, E)
        Which events and directions of its upper bound are put to Stouffer's; the others have
        Clopper-Pearson limits.
    """

    lower: Method
    upper: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """Tester for claims that compare the probabilities of events.

    Parameters
    ----------
    scale : Scale
        How a leak is measured.
    promised : float
        The claimed leak.
    masks : int array (E, K)
        The events that are looked at, as sets of symbols.
    labels : tuple of int
        What the symbols mean; empty where they are bins.
    edges : array (q, m) or None
        Edges of the bins, per query of all groups.
    complete : bool
        Whether no event outside `masks` can leak more, so that there is an upper bound.
    """

    scale: Scale
    promised: float
    masks: NDArray[np.int64]
    labels: tuple[int, ...] = ()
    bins: tuple[Bins, ...] = ()
    complete: bool = True

    @property
    def profiled(self) -> bool:
        """Whether there is a privacy profile: for claims about all events."""
        return self.scale.profiled

    @property
    def bounded(self) -> bool:
        """Whether there is an upper bound."""
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
        """What the claim allows for an event, it allows for the complement from the other side.

        The claims are about all events, or the difference of the complement is the same. None where
        nothing exceeds the claim.
        """
        if self.promised >= self.scale.most:
            return None
        return Gamble(event=self.masks[event], allowed=self.scale.allowed(self.promised))

    def certify(self, cells: Sequence[Drawn], alphas: tuple[float, float]) -> list[Certified]:
        """Bound the leak of each cell from below, and that of its pair and query from above."""
        found: list[Certified] = []
        for first in range(0, len(cells), TOGETHER):
            some = cells[first : first + TOGETHER]
            counts = [self._counts(cell) for cell in some]
            methods = [cell.method.lower for cell in some]
            lower = lower_bounds(methods, counts, scale=self.scale, alpha=alphas[0])
            upper = self._uppers([cell[1:] for cell in some], alphas[1])
            name = "accuracy" if self._accurate else "union"
            found += [
                Certified(
                    p1=each.x / each.n1,
                    p0=each.y / each.n0,
                    lower=least,
                    upper=Bound(value=most, alpha=alphas[1], method=name, counts=each),
                    estimate=plug_in(each, self.scale),
                )
                for each, least, most in zip(counts, lower, upper, strict=True)
            ]
        return found

    def _counts(self, cell: Drawn) -> Counts:
        event, _, one, other = cell
        mask = self.masks[event]
        return Counts(
            x=int(one @ mask), n1=int(one.sum()), y=int(other @ mask), n0=int(other.sum())
        )

    def upper(
        self,
        method: Tests,
        one: NDArray[np.int64],
        other: NDArray[np.int64],
        alpha: float,
        floor: float = 0.0,
    ) -> float:
        """Bound all events and both directions of a cell from above."""
        return self._uppers([(method, one, other)], alpha, floor)[0]

    def _uppers(
        self,
        cells: Sequence[tuple[Tests, NDArray[np.int64], NDArray[np.int64]]],
        alpha: float,
        floor: float = 0.0,
    ) -> list[float]:
        """Return `upper` of many cells."""
        sides = np.array([(one, other) for _, one, other in cells])
        x, y = np.moveaxis(sides @ self.masks.T, 1, 0)
        trials = sides.sum(axis=2)
        if self._accurate:
            return [
                max(floor, accuracy_upper(one, other, n, alpha=alpha))
                for one, other, n in zip(
                    x[:, 0].tolist(), y[:, 0].tolist(), trials[:, 0].tolist(), strict=True
                )
            ]
        if not self.complete:
            return [self.scale.most] * len(cells)
        stouffer, found = np.array([method.upper for method, *_ in cells]), np.empty(len(cells))
        for n1, n0 in np.unique(trials, axis=0).tolist():
            those = (trials == (n1, n0)).all(axis=1)
            found[those] = largest_uppers(
                *(x[those], n1, y[those], n0, stouffer[those]),
                scale=self.scale,
                alpha=alpha,
                floor=floor,
            )
        return [float(bound) for bound in found]

    @property
    def _accurate(self) -> bool:
        """Whether the accuracy test bounds from above.

        The change of the probability of either of two labels.
        """
        return self.scale.by_accuracy and len(self.masks) == 2

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

    def sight(
        self, looked: Sequence[Looked], n: int, alpha: float, screening: Screening
    ) -> DetectionCurve:
        """Say what the audit would have seen, at the frequency of the worst-looking event.

        Worst in the screening.
        """
        worst = max(looked, key=lambda each: each.apparent)
        answers = Answers(labels=0) if self.bins else answers_of(self.scale, len(self.labels))
        design = Design(
            scale=self.scale,
            promised=self.promised,
            answers=answers,
            n=n,
            alpha=alpha,
            screening=screening,
        )
        return sight(design, worst.frequency if worst.apparent > 0 else None)

    def profile(
        self, one: NDArray[np.int64], other: NDArray[np.int64], alpha: float
    ) -> Profile | None:
        """Band of delta(epsilon), for claims about the loss; of numbers from below only."""
        if not self.profiled:
            return None
        events = self.masks.astype(bool) if self.bins else None
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
    """Return the events of a mechanism that answers numbers.

    Everything above, or below, an edge. There is no upper bound.
    """
    return Events(
        scale=scale,
        promised=promised,
        masks=half_line_masks(bins[0].size),
        bins=bins,
        complete=False,
    )
