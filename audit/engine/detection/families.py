"""Families of laws: what the answers of a pair look like that leaks a given amount."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpassay.stats.power import LARGEST
from dpassay.stats.profile import MAX_UNION_LABELS
from dpassay.stats.scales import Ratio, Scale
from dpassay.trials.encoders import LEVELS

Array = NDArray[np.float64]

BEYOND = 5e-4
"""The least and the greatest of a pilot's 1,000 answers lie about so far in the tails."""
SMALL = 0.05
"""Decoys that are rarer than this part of the event are left out."""
_LEVELS = np.concatenate([LEVELS, 1 - LEVELS[-2::-1]])
PILOT_LEVELS: Array = np.clip(_LEVELS, BEYOND, 1 - BEYOND)
"""The quantiles between which numbers are counted."""


class Singles:
    """Every label alone: an identity matrix that takes no space, since K may be 100,000."""

    __array_ufunc__ = None  # counts @ masks.T is asked of this class

    def __init__(self, labels: int) -> None:
        self.shape = labels, labels

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, event: int) -> NDArray[np.int64]:
        mask = np.zeros(len(self), dtype=np.int64)
        mask[event] = 1
        return mask

    @property
    def T(self) -> Singles:
        """The same."""
        return self

    def __rmatmul__(self, counts: NDArray[Any]) -> NDArray[Any]:
        return counts


Masks = NDArray[np.int64] | Singles
"""Events as sets of symbols, shape (E, K)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedAnswers:
    """What is counted: as much of it as power depends on.

    There are at least two `labels`, or 0 for numbers, which are counted in bins between the
    quantiles of a pilot. Events are all sets of labels where there are `unions`, else single ones.
    The screening ranks labels `among` so many, where that is more than are rehearsed.
    """

    labels: int
    unions: bool = False
    among: int = 0

    @property
    def masks(self) -> Masks:
        """Events as sets of symbols, shape (E, K)."""
        if not self.labels:
            return half_line_masks(2 * len(LEVELS))
        if not self.unions:
            return Singles(self.labels)
        subsets = itertools.product((0, 1), repeat=self.labels)
        return np.array([each for each in subsets if 0 < sum(each) < self.labels], dtype=np.int64)


def answers_of(scale: Scale, labels: int) -> CountedAnswers:
    """Return how labels are counted: one by one if there are two or where the scale says so."""
    return CountedAnswers(labels=labels, unions=scale.unions and 2 < labels <= MAX_UNION_LABELS)


def half_line_masks(bins: int) -> NDArray[np.int64]:
    """Return everything below each edge between bins, and everything above."""
    below = np.tri(bins - 1, bins, dtype=np.int64)
    return np.concatenate([below, 1 - below])


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Laws (K,) of the symbols on both sides of the leaking pair, and on the others' neighbours.

    All pairs share the `base`. `other` returns the law on the neighbour that leaks so much; `crowd`
    are the laws on neighbours that leak what the claim allows, in each of the ways in which they
    do. `frequency` is the probability on the base of an event that leaks the most, or nearly.
    Events are half-lines where the symbols are bins and so `ordered`.
    """

    base: Array
    other: Callable[[float], Array]
    crowd: tuple[Array, ...]
    frequency: float
    ordered: bool = False


def event_at(p1: float, leak: float, scale: Scale) -> float:
    """Return p0 of an event of probability p1 on one side that leaks so much; at least 0."""
    return float(scale.allowed(leak).inverse(p1))


def allowed(p: float, scale: Scale, promised: float) -> tuple[float, float]:
    """Return the least and largest probability beside p that is allowed in both directions."""
    return scale.allowed(promised).around(p)


def through_event(
    answers: CountedAnswers,
    frequency: float,
    scale: Scale,
    promised: float,
    *,
    decoys: bool = False,
) -> Family:
    """Return a family that leaks through one event.

    The likelier side gives one label, or a number beyond one threshold, with some probability;
    whatever else it answers is spread evenly over the other labels, or as the pilot's bins are. On
    the other side the event is rarer by the leak, and all else likelier by one factor. `frequency`
    is the probability of the event on the likelier side, at most that of the claim's worst face. A
    threshold is at the next quantile of the pilot that is no likelier.

    With `decoys` other labels leak as much, each half as frequent as the one before at most, as far
    as the claim's worst face has room for them: the screening may take one of them, at which the
    certification sees less.
    """
    labels = answers.labels
    if labels:
        first, room = [frequency], worst_frequency(promised, scale) - frequency
        while decoys and len(first) < labels - 1:
            share = min(room, first[-1] / 2)
            if share <= SMALL * frequency:
                break
            first.append(share)
            room -= share
        base = np.full(labels, (1 - sum(first)) / (labels - len(first)))
        base[: len(first)] = first
        inside = np.arange(labels) < len(first)
    else:
        # the probabilities of the bins of a pilot, on the base that it was drawn from
        base = np.diff(PILOT_LEVELS, prepend=0.0, append=1.0)
        above = np.cumsum(base[::-1])[::-1]
        inside = above <= max(frequency, above[-1]) * (1 + 1e-9)
    p1 = float(base[inside].sum())
    crowd = [_tilted(base, inside, end) for end in allowed(p1, scale, promised)]
    if labels > 2:  # or through another label, which is as frequent as any
        another = np.arange(labels) == labels - 1
        crowd += [_tilted(base, another, end) for end in allowed(float(base[-1]), scale, promised)]
    return Family(
        base=base,
        other=lambda leak: _tilted(base, inside, event_at(p1, leak, scale)),
        crowd=tuple(crowd),
        frequency=frequency if labels else p1,
        ordered=not labels,
    )


def _tilted(base: Array, inside: NDArray[np.bool_], p: float) -> Array:
    """Return a law under which an event has another probability, all within it by one factor."""
    before = float(base[inside].sum())
    return np.where(inside, base * p / before, base * (1 - p) / (1 - before))


def worst_frequency(leak: float, scale: Scale) -> float:
    """Return the likelier side's probability at the worst face; above, complements leak more."""
    return scale.allowed(leak).tight[0]


def shifted(kind: str, scale: Scale, promised: float, levels: Array = PILOT_LEVELS) -> Family:
    """Return the family of noise of one kind whose centre moves, in bins between its quantiles.

    The move is the one at which the worst half-line leaks so much, wherever the quantiles are.
    """
    edges = ndtri(levels)
    if kind != "Gaussian":
        edges = np.where(levels > 0.5, -np.log(2 * (1 - levels)), np.log(2 * levels))

    def law(shift: float) -> Array:
        found: Array = np.diff(_noise_below(kind, edges - shift), prepend=0.0, append=1.0)
        return found

    move = move_of(kind, promised, scale)
    return Family(
        base=law(0.0),
        other=lambda leak: law(move_of(kind, leak, scale)),
        crowd=(law(move), law(-move)),
        frequency=0.5,
        ordered=True,
    )


def shifts_for(scale: Scale) -> tuple[str, ...]:
    """Return the kinds of noise to take; the normal one has no finite loss at delta = 0."""
    return ("Laplace",) if scale == Ratio() else ("Laplace", "Gaussian")


def move_of(kind: str, leak: float, scale: Scale) -> float:
    """Return the shift, in noise scales, at which the worst half-line leaks so much."""
    known = scale.move(kind, leak)
    if known is not None:
        return known

    def excess(shift: float) -> float:
        points = np.linspace(-LARGEST / 2, shift + LARGEST / 2, 4001)
        p1, p0 = _noise_below(kind, shift - points), np.maximum(_noise_below(kind, -points), 1e-300)
        return float(np.max(scale.between(p1, p0))) - leak

    return float(scipy.optimize.brentq(excess, 0.0, 2 * LARGEST, xtol=1e-6))


def _noise_below(kind: str, z: Array) -> Array:
    """Return P[Z <= z] of standard noise, Laplace's or Gaussian."""
    if kind == "Gaussian":
        return np.asarray(ndtr(z))
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z > 0, 1.0 - tail, tail)
