"""Events: what counts of them say, for claims about the probability of an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpassay.engine.detection.alternatives import Answers, Masks, answers_of, half_line_masks
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.detection.design import Design, sight
from dpassay.engine.early import Gamble
from dpassay.engine.evidence import Event, HalfLine
from dpassay.engine.testers.interface import Certified, Drawn, Looked, Tester
from dpassay.stats.binomial import plug_in, ranking_bound
from dpassay.stats.bounds import Bound, Counts
from dpassay.stats.lower_bounds import Method, choose, lower_bounds
from dpassay.stats.power import SCREEN_ALPHA, Screening
from dpassay.stats.profile import Profile, grid_for, profile_band
from dpassay.stats.ranking import Ranking
from dpassay.stats.scales import Scale
from dpassay.stats.upper_bounds import accuracy_upper, choose_faces, largest_uppers
from dpassay.trials.encoders import Bins

TOGETHER = 500
"""Cells whose bounds are looked for in step."""
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
        """Return whether the accuracy test bounds the change of either label's probability."""
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
        """Return what the audit would have seen, at the frequency of the event that looks worst."""
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
