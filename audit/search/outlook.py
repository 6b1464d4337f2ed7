"""Outlook: how much of a leak is to be expected of a pair, from what was drawn of it so far.

It ranks many pairs, and names no event. What a feature says of an output becomes one of few codes:
its place in a table, or between which quantiles of the first dataset's numbers it lies. Outputs
are counted by code, once; every event is a sum of such counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from dpassay.search.coded import Base
from dpassay.search.grid import Codes
from dpassay.search.views import Array, Mask
from dpassay.search.worth import Goal, Worths

SHORTLIST = 8
"""Events that one half proposes to the other."""
PAIRS = 3
"""And so many pairs of events."""
LEARNED = 0.6
"""Part of a half by which log ratios are learned; the rest finds their threshold."""
LEVELS = np.array([0.004, 0.011, *np.arange(1, 32) / 32, 0.989, 0.996])
"""Sums of log ratios are tried at these quantiles."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is to be expected of a pair and a query.

    `p1` and `p0` are estimated probabilities of the best event, on the side on which it is likelier
    and on the other; `expected` is an estimate of the lower bound that certification will give,
    never a bound. `assurance` is by how many standard errors that exceeds the claim, chance in what
    was seen included: the quantile of the probability that certification refutes. `promise` is the
    bound to be expected if what was seen is right, with nothing taken off for chance in it: a rare
    event that leaks much needs further trials before it ranks high.
    """

    p1: float
    p0: float
    expected: float
    assurance: float
    promise: float


def outlook(base: Base, other: Array, goal: Goal) -> Outlook:
    """Return what is to be expected of a pair.

    Either half of the outputs proposes events, and the other chooses among them: a half alone would
    rank pairs as if half as much had been drawn.

    The probabilities are those of the better of the two chosen events, the rest is by both.
    """
    sides = base.codes, base.coded_as(other)
    m = sides[0].shape[1] // 2
    # outputs of one dataset come in no order
    halves = [_Half.of(base, *(side[:, half : 2 * m : 2] for side in sides)) for half in (0, 1)]
    worths = goal.worths(m)
    found = [_best(base, learn, select, worths) for learn, select in (halves, halves[::-1])]
    _, x, y = max(found)
    z = sum(goal.power_z(x, y, m, m) for _, x, y in found) / 2
    return Outlook(
        p1=goal.share(x, m),
        p0=goal.share(y, m),
        expected=max(0.0, sum(worth for worth, _, _ in found) / 2),
        assurance=z * goal.doubled(m) - goal.margin(2 * m),
        promise=sum(goal.promise(x, y, m, m) for _, x, y in found) / 2,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Half:
    """Half of the outputs on both sides.

    Their codes (F, m), how often each code (2, total) was seen in every second output and in the
    others, and the coarser codes of single places on both sides.
    """

    one: Codes
    other: Codes
    folds: tuple[Codes, Codes]
    places: tuple[Codes, Codes]

    @classmethod
    def of(cls, base: Base, one: Codes, other: Codes) -> _Half:
        """Count codes."""
        places = base.places.of(one), base.places.of(other)
        return cls(one, other, _folds(base, one, other), places)


def _folds(base: Base, one: Codes, other: Codes) -> tuple[Codes, Codes]:
    """Count the codes of every second output, and those of the others."""
    first, second = (base.events.counts(one[:, k::2], other[:, k::2]) for k in (0, 1))
    return first, second


Turned = TypeVar("Turned", int, Codes)
Seen = tuple[float, int, int]
"""The worth of an event, and its counts on the likelier side and on the other."""


def _turn(x: Turned, y: Turned, turned: int) -> tuple[Turned, Turned]:
    """Return two sides in the order of the one on which something is likelier."""
    return (y, x) if turned else (x, y)


def _best(base: Base, learn: _Half, select: _Half, worths: Worths) -> Seen:
    """Return the best event on one half, of those that the other one proposes.

    These are the best event on each feature, pairs of events, and the best threshold of a score.
    """
    events = base.events
    order = events.order(np.add(*learn.folds))
    x, y = events.expected(*learn.folds)
    proposed: list[tuple[float, int, int]] = []
    for turned, worth in enumerate((worths(x, y), worths(y, x))):
        proposed += [(float(worth[place]), turned, place) for place in events.best(worth).tolist()]
    proposed.sort(reverse=True)
    a, b = events.sums((np.add(*select.folds), order))
    seen = [_turn(int(a[k]), int(b[k]), turned) for _, turned, k in proposed[:SHORTLIST]]
    least, _, place = proposed[0]
    roots = [events.members(place, order), *base.roots]
    seen += _pairs(base, learn, select, roots, least, worths)
    seen += _score(base, learn, select, worths)
    ahead, behind = np.array(seen).T
    worth = worths(ahead, behind)
    at = int(worth.argmax())
    return float(worth[at]), int(ahead[at]), int(behind[at])


def _pairs(
    base: Base,
    learn: _Half,
    select: _Half,
    roots: Sequence[tuple[int, Mask]],
    least: float,
    worths: Worths,
) -> list[tuple[int, int]]:
    """Return the counts of the best events within others, where they are better than any alone."""
    events, sides = base.events, (learn.one, learn.other)
    inside = [
        _folds(base, *(side[:, members[side[feature]]] for side in sides))
        for feature, members in roots
    ]
    one, other = (np.stack(fold, axis=1) for fold in zip(*inside, strict=True))
    order = events.order(one + other)
    x, y = events.expected(one, other)
    worth = np.stack([worths(x, y), worths(y, x)], axis=1)
    most, best = worth.max(axis=2), worth.argmax(axis=2)
    found = []
    for k in np.argsort(-most, axis=None)[:PAIRS].tolist():
        root, turned = divmod(k, 2)
        if most[root, turned] > least:
            feature, members = roots[root]
            second, among = events.members(int(best[root, turned]), order[root])
            a, b = (
                int(np.count_nonzero(members[side[feature]] & among[side[second]]))
                for side in (select.one, select.other)
            )
            found.append(_turn(a, b, turned))
    return found


def _score(base: Base, learn: _Half, select: _Half, worths: Worths) -> list[tuple[int, int]]:
    """Return the counts of the best thresholds, both ways, on the sum of all places' log ratios."""
    if len(base.places.rows) < 2:
        return []
    m = learn.one.shape[1]
    cut = int(LEARNED * m)
    heights = base.places.log_ratios(*(side[:, :cut] for side in learn.places))
    one, other = (np.sort(heights[side[:, cut:]].sum(axis=0)) for side in learn.places)
    both = np.sort(np.concatenate([one, other]), kind="stable")
    at = both[(LEVELS * len(both)).astype(np.intp)]
    # in counts of a whole half, whose worths are known
    x, y = ((m - m * side.searchsorted(at) / (m - cut)).astype(np.intp) for side in (one, other))
    a, b = (heights[side].sum(axis=0) for side in select.places)
    high, low = at[int(worths(x, y).argmax())], at[int(worths(m - y, m - x).argmax())]
    return [
        (int(np.count_nonzero(a >= high)), int(np.count_nonzero(b >= high))),
        (int(np.count_nonzero(b < low)), int(np.count_nonzero(a < low))),
    ]
