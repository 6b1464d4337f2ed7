"""Outlook: how much of a leak is to be expected of a pair, from what was drawn of it so far.

It ranks many pairs, and names no event. What a feature says of an output becomes one of few codes:
its place in a table, or between which quantiles of the first dataset's numbers it lies. Outputs
are counted by code, once; every event is a sum of such counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from dpassay.search.coded import Base
from dpassay.search.grid import Codes
from dpassay.search.views import Array, Mask
from dpassay.search.worth import Goal, Worths

SHORTLIST = 8
"""Events that one half proposes to the other."""
LEARNED = 0.6
"""Part of a half by which log ratios are learned; the rest finds their threshold."""
LEVELS = np.array([0.004, 0.011, *np.arange(1, 32) / 32, 0.989, 0.996])
"""Sums of log ratios are tried at these quantiles."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is to be expected of a pair and a query.

    Parameters
    ----------
    p1, p0 : float
        Estimated probabilities of the best event, on the side on which it is likelier and on the
        other.
    expected : float
        An estimate of the lower bound that certification will give; never a bound.
    assurance : float
        By how many standard errors the bound to come exceeds the claim, chance in what was seen
        included: the quantile of the probability that certification refutes.
    promise : float
        The bound to be expected if what was seen is right, with nothing taken off for chance in it:
        a rare event that leaks much needs further trials before it ranks high.
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

    Parameters
    ----------
    base : Base
        Of the first dataset.
    other : array (m, F)
        Features of as many outputs on the second.
    goal : Goal
        What events are for.

    Returns
    -------
    Outlook
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

    Parameters
    ----------
    one, other : array (F, m)
        Their codes.
    counted : array (2, total)
        How often each code was seen.
    places : tuple of array (F', m)
        The coarser codes of single places, on both sides.
    """

    one: Codes
    other: Codes
    counted: Codes
    places: tuple[Codes, Codes]

    @classmethod
    def of(cls, base: Base, one: Codes, other: Codes) -> _Half:
        """Count codes."""
        places = base.places.of(one), base.places.of(other)
        return cls(one, other, base.events.counts(one, other), places)


Turned = TypeVar("Turned", int, Codes)
Seen = tuple[float, int, int]
"""The worth of an event, and its counts on the likelier side and on the other."""


def _turn(x: Turned, y: Turned, turned: int) -> tuple[Turned, Turned]:
    """Return two sides in the order of the one on which something is likelier."""
    return (y, x) if turned else (x, y)


def _best(base: Base, learn: _Half, select: _Half, worths: Worths) -> Seen:
    """Return the best event on one half, of those that the other one proposes.

    These are the best event on each feature, the best one of all with a second one, and the best
    threshold of a score.
    """
    events = base.events
    order = events.order(learn.counted)
    x, y = events.sums(learn.counted, order)
    proposed: list[tuple[float, int, int]] = []
    for turned, worth in enumerate((worths(x, y), worths(y, x))):
        proposed += [(float(worth[place]), turned, place) for place in events.best(worth).tolist()]
    proposed.sort(reverse=True)
    a, b = events.sums(select.counted, order)
    seen = [_turn(int(a[k]), int(b[k]), turned) for _, turned, k in proposed[:SHORTLIST]]
    least, turned, place = proposed[0]
    root = events.members(place, order)
    seen += _second(base, learn, select, root, turned, least, worths)
    seen += _score(base, learn, select, worths)
    ahead, behind = np.array(seen).T
    worth = worths(ahead, behind)
    at = int(worth.argmax())
    return float(worth[at]), int(ahead[at]), int(behind[at])


def _second(
    base: Base,
    learn: _Half,
    select: _Half,
    root: tuple[int, Mask],
    turned: int,
    least: float,
    worths: Worths,
) -> list[tuple[int, int]]:
    """Return the counts of an event with the best second one; none if that is no better."""
    feature, members = root
    inside = base.events.counts(
        *(side[:, members[side[feature]]] for side in (learn.one, learn.other))
    )
    order = base.events.order(inside)
    x, y = base.events.sums(inside, order)
    worth = worths(*_turn(x, y, turned))
    place = int(worth.argmax())
    if worth[place] <= least:
        return []
    second, among = base.events.members(place, order)
    found = [
        int(np.count_nonzero(members[side[feature]] & among[side[second]]))
        for side in (select.one, select.other)
    ]
    return [_turn(found[0], found[1], turned)]


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
