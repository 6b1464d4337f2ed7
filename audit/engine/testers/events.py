"""Events: claims about the probability of an answer, judged by counts of events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpassay.engine.alternatives import Answers, answers_of, half_line_masks
from dpassay.engine.detection import Design, DetectionCurve, sight
from dpassay.engine.evidence import Event, HalfLine
from dpassay.engine.testers.interface import Certified, Looked
from dpassay.stats.binomial import plug_in, ranking_bound
from dpassay.stats.bounds import Bound, Counts
from dpassay.stats.lower_bounds import Method, choose, lower_bound
from dpassay.stats.power import SCREEN_ALPHA, Screening
from dpassay.stats.profile import Profile, grid_for, profile_band
from dpassay.stats.scales import Difference, Ratio, Scale
from dpassay.stats.upper_bounds import accuracy_upper, choose_faces, largest_upper
from dpassay.trials.encoders import Bins

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
        Which events and directions of its upper bound are put to Stouffer's; the others have Clopper-Pearson limits.
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
        """Whether there is a privacy profile: for claims about the loss."""
        return isinstance(self.scale, Ratio)

    def rank(self, sides: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Rank cells: best lower bound over events, and which event it is; shape of both is that of `sides` without its last.

        `sides` are counts (2, P, K) of the two datasets.
        """
        counts = sides @ self.masks.T
        n = int(sides[0, 0].sum())
        ranking = ranking_bound(counts, n, counts[::-1], n, scale=self.scale, alpha=SCREEN_ALPHA)
        return ranking.max(axis=-1), ranking.argmax(axis=-1)

    def choose(self, event: int, one: NDArray[np.int64], other: NDArray[np.int64], n: int, alpha: float) -> Tests:
        """Choose the tests of a cell from its screening counts (K,) on the two sides."""
        x, y = (side @ self.masks.T for side in (one, other))
        pilot, labels = int(one.sum()), self.masks.shape[1]
        method = choose(int(x[event]), int(y[event]), pilot, n, labels=labels, scale=self.scale, alpha=alpha)
        return Tests(lower=method, upper=choose_faces(x, y, pilot, n, scale=self.scale))

    def certify(
        self, event: int, method: Tests, one: NDArray[np.int64], other: NDArray[np.int64], alphas: tuple[float, float]
    ) -> Certified:
        """Bound the leak of a cell from below, and that of its pair and query from above."""
        mask = self.masks[event]
        counts = Counts(x=int(one @ mask), n1=int(one.sum()), y=int(other @ mask), n0=int(other.sum()))
        most, name = self.upper(method, one, other, alphas[1]), "accuracy" if self._accurate else "union"
        return Certified(
            p1=counts.x / counts.n1,
            p0=counts.y / counts.n0,
            lower=lower_bound(method.lower, counts, scale=self.scale, alpha=alphas[0]),
            upper=Bound(value=most, alpha=alphas[1], method=name, counts=counts),
            estimate=plug_in(counts, self.scale),
        )

    def upper(self, method: Tests, one: NDArray[np.int64], other: NDArray[np.int64], alpha: float, floor: float = 0.0) -> float:
        """Bound all events and both directions of a cell from above."""
        x, y = (side @ self.masks.T for side in (one, other))
        n1, n0 = int(one.sum()), int(other.sum())
        if self._accurate:
            return max(floor, accuracy_upper(int(x[0]), int(y[0]), n1, alpha=alpha))
        if not self.complete:
            return self.scale.most
        return largest_upper(x, n1, y, n0, method.upper, scale=self.scale, alpha=alpha, floor=floor)

    @property
    def _accurate(self) -> bool:
        """Whether the accuracy test bounds from above: the change of the probability of either of two labels."""
        return isinstance(self.scale, Difference) and len(self.masks) == 2

    def apparent(self, event: int, one: NDArray[np.int64], other: NDArray[np.int64], looks: int) -> tuple[float, float]:
        """From screening counts (K,): a bound on the leak that chance beats once in a hundred audits, and p1 of the event."""
        mask, n = self.masks[event], int(one.sum())
        x, y = int(one @ mask), int(other @ mask)
        apart = float(ndtri(SCREEN_ALPHA / looks)) / math.sqrt(2)  # two limits so many deviations off touch so rarely
        bound = ranking_bound(x, n, y, n, scale=self.scale, alpha=2 * float(ndtr(apart)))
        return float(bound), min(x, n - y) / n  # where the rest moves by a larger factor, it is the rest that leaks more

    def sight(self, looked: Sequence[Looked], n: int, alpha: float, screening: Screening) -> DetectionCurve:
        """Say what the audit would have seen, at the frequency of the event that looked worst in the screening."""
        worst = max(looked, key=lambda each: each.apparent)
        answers = Answers(labels=0) if self.bins else answers_of(self.scale, len(self.labels))
        design = Design(scale=self.scale, promised=self.promised, answers=answers, n=n, alpha=alpha, screening=screening)
        return sight(design, worst.frequency if worst.apparent > 0 else None)

    def profile(self, one: NDArray[np.int64], other: NDArray[np.int64], alpha: float) -> Profile | None:
        """Band of delta(epsilon), for claims about the loss; of numbers from below only."""
        if not self.profiled:
            return None
        events = self.masks.astype(bool) if self.bins else None
        band = profile_band(one, other, grid_for(self.promised), alpha=alpha, events=events)
        return replace(band, upper=np.ones_like(band.upper), allowed=(ANYTHING,)) if self.bins else band

    def event(self, event: int, group: int, query: int) -> Event:
        """Say what an event is: its labels, or a half-line."""
        mask = self.masks[event]
        if not self.bins:
            return tuple(label for label, inside in zip(self.labels, mask, strict=True) if inside)
        first = int(np.argmax(mask != mask[0]))  # the first bin on the other side
        return HalfLine(threshold=float(self.bins[group].edges[query, first - 1]), above=not mask[0])


def label_events(scale: Scale, promised: float, labels: tuple[int, ...]) -> Events:
    """Return the events of a mechanism that answers labels.

    Single labels suffice for delta = 0, for two labels and for claims about labels; else every subset, up to K = 10.
    """
    answers = answers_of(scale, len(labels))
    singles = not scale.unions or scale.at(0.0)[1] == 0 or len(labels) == 2
    return Events(scale=scale, promised=promised, masks=answers.masks, labels=labels, complete=singles or answers.unions)


def half_lines(scale: Scale, promised: float, bins: tuple[Bins, ...]) -> Events:
    """Return the events of a mechanism that answers numbers: everything above, or below, an edge. There is no upper bound."""
    return Events(scale=scale, promised=promised, masks=half_line_masks(bins[0].size), bins=bins, complete=False)
