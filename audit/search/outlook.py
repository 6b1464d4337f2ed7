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
from numpy.typing import NDArray

from dpassay.search.features import Feature
from dpassay.search.scores import OWN
from dpassay.search.views import Array, Mask
from dpassay.search.worth import Goal, Worths

Codes = NDArray[np.intp]

EDGES = np.array([0.004, 0.011, *np.arange(1, 34) / 34, 0.989, 0.996, 1.0])
"""Numbers are told apart by these quantiles, and by whether they exceed them all."""
COARSE = 3
"""So many codes of a number are one where log ratios are added up."""
MOST_ROWS = 2000
"""Outputs whose quantiles are taken."""
SHORTLIST = 8
"""Events that one half proposes to the other."""
LEARNED = 0.6
"""Part of a half by which log ratios are learned; the rest finds their threshold."""
SMOOTHED = 2.0
"""What is added to each count there."""
LEVELS = np.array([0.004, 0.011, *np.arange(1, 32) / 32, 0.989, 0.996])
"""Sums of log ratios are tried at these quantiles."""
POINTS = 1024
"""Points of the grid on which numbers are told apart."""
NUDGE = 1e-6
"""Numbers that lie so little before a point of it, in steps, count as the point."""
MISSING = len(EDGES) + 1
"""The code of a number that is not there."""
CODES = MISSING + 1
"""Codes of a number."""


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


class Base:
    """What was drawn of a first dataset, as codes; candidates that share it share this.

    Parameters
    ----------
    looks : sequence of Feature
    outputs : array (m, F)
        Their features.
    """

    def __init__(self, looks: Sequence[Feature], outputs: Array) -> None:
        numbers = [j for j, look in enumerate(looks) if not look.coded]
        tabled = [j for j in numbers if looks[j].kind == "number"]
        self.numbers = [*(j for j in numbers if looks[j].kind != "number"), *tabled]
        self.coded = [j for j, look in enumerate(looks) if look.coded]
        self.grid = _Grid(_edges(outputs[:MOST_ROWS, self.numbers]))
        self.events = Events(len(numbers), len(tabled), [looks[j].codes for j in self.coded])
        self.places = _Places(looks, [*self.numbers, *self.coded], self.events)
        self.codes = self.coded_as(outputs)

    def coded_as(self, outputs: Array) -> Codes:
        """Return the codes (F, m) of outputs (m, F), each feature's in a range of its own."""
        columns = np.ascontiguousarray(outputs.T)
        found = np.empty(columns.shape, dtype=np.intp)
        numbers = len(self.numbers)
        if numbers:
            found[:numbers] = self.grid.codes(columns[self.numbers])
        found[numbers:] = columns[self.coded]
        found += self.events.begins[:, None]
        return found


def _edges(outputs: Array) -> Array:
    """Return quantiles of numbers (m, F), and what exceeds all of them: (F, E)."""
    ordered = np.sort(outputs, axis=0)
    last = np.count_nonzero(~np.isnan(ordered), axis=0) - 1
    ranks = np.maximum(0, (EDGES[:, None] * last).astype(np.intp))
    edges = np.take_along_axis(ordered, ranks, axis=0).T
    edges[:, -1] = np.nextafter(edges[:, -1], np.inf)
    edges[last < 0] = np.inf
    return np.ascontiguousarray(edges)


class _Grid:
    """Finds between which edges numbers lie: by a fine grid, which is faster than to search.

    An edge counts as the next point of the grid. Where that would make one of several edges, they
    are searched.

    Parameters
    ----------
    edges : array (F, E)
        Ascending.
    """

    def __init__(self, edges: Array) -> None:
        self.edges, last = edges, POINTS - 1
        with np.errstate(all="ignore"):
            self.high, self.steps = edges[:, -1:], (last - 1) / (edges[:, -1:] - edges[:, :1])
            self.low = edges[:, :1] - 1 / self.steps  # where all lies that is below the first edge
            points = self.low + np.arange(POINTS) / self.steps
            cells = np.ceil((edges - self.low) * self.steps - NUDGE)
            merged = (np.diff(cells) == 0) & (np.diff(edges) > 0)
            usable = np.isfinite(points + self.steps).all(axis=1) & ~merged.any(axis=1)
        self.searched = np.flatnonzero(~usable)
        self.low, self.high, self.steps = (
            np.where(usable[:, None], each, 0.0) for each in (self.low, self.high, self.steps)
        )
        self.table = np.array(
            [e.searchsorted(p, side="right") for e, p in zip(edges, points, strict=True)],
            dtype=np.intp,
        ).reshape(-1, POINTS)
        # as they should be where rounding errors move these points
        first = np.count_nonzero(edges == edges[:, :1], axis=1)
        self.table[:, 1] = np.maximum(self.table[:, 1], first)
        self.table[:, last] = len(EDGES)
        self.rows = POINTS * np.arange(len(edges))[:, None]

    def codes(self, numbers: Array) -> Codes:
        """Return the codes of numbers (F, m)."""
        found = np.fmin(np.fmax(numbers, self.low), self.high)  # not NaN
        found -= self.low
        found *= self.steps
        found += NUDGE
        places = found.astype(np.intp)
        places += self.rows
        codes: Codes = self.table.ravel()[places]
        for j in self.searched.tolist():
            codes[j] = self.edges[j].searchsorted(numbers[j], side="right")
        codes[np.isnan(numbers)] = MISSING
        return codes


class Events:
    """Events on one feature, as sums of counts of codes.

    Of a number: it is below an edge, or at least that. Of a table, whose codes are in the order of
    their smoothed likelihood ratios: one of them, the first k, all but the first k. The numbers in
    single places have such a table too: what tells is sometimes a range.

    Parameters
    ----------
    numbers : int
        Features that are numbers; they come first.
    tabled : int
        So many of the last of them have a table too.
    sizes : list of int
        Codes of the others.
    """

    def __init__(self, numbers: int, tabled: int, sizes: Sequence[int]) -> None:
        edges, all_sizes = len(EDGES), np.array([*[CODES] * tabled, *sizes], dtype=np.intp)
        self.numbers, self.untabled = numbers, numbers - tabled
        self.split = self.untabled * CODES
        limits = np.cumsum([0, *[CODES] * numbers, *sizes])
        self.begins, self.total = limits[:-1], int(limits[-1])
        self.feature = np.repeat(np.arange(len(all_sizes)), all_sizes)
        self.tables = self.begins[self.untabled :] - self.split
        self.lasts = self.tables + all_sizes - 1
        kept = np.ones(len(self.feature), dtype=bool)
        kept[self.lasts] = False
        self.firsts = np.flatnonzero(kept)
        """Places of the tables' codes, but for the last one of each."""
        lengths = [*[edges] * (2 * numbers), *all_sizes, *(all_sizes - 1), *(all_sizes - 1)]
        self.starts = np.cumsum([0, *lengths])[:-1][np.array(lengths) > 0]
        self.events = int(sum(lengths))

    def counts(self, *sides: Codes) -> Codes:
        """Count codes: (2, total)."""
        return np.array([np.bincount(side.ravel(), minlength=self.total) for side in sides])

    def order(self, counted: Codes) -> Codes:
        """Return the order of the tables' codes, from counts (2, total)."""
        x, y = counted[:, self.split :] + 1
        return np.lexsort((y / x, self.feature))

    def sums(self, counted: Codes, order: Codes) -> Codes:
        """Return the counts of all events on both sides: (2, events)."""
        ordered = counted[:, : self.numbers * CODES]
        below = ordered.reshape(2, self.numbers, CODES).cumsum(axis=2)
        edges = len(EDGES)
        at_least = below[:, :, edges : edges + 1] - below[:, :, :edges]
        numbers = np.stack([below[:, :, :edges], at_least], axis=2).reshape(2, -1)
        single = counted[:, self.split :][:, order]
        running = np.concatenate([np.zeros((2, 1), dtype=np.intp), single.cumsum(axis=1)], axis=1)
        of = self.feature[self.firsts]
        first = running[:, self.firsts + 1] - running[:, self.tables[of]]
        rest = running[:, self.lasts[of] + 1] - running[:, self.firsts + 1]
        return np.concatenate([numbers, single, first, rest], axis=1)

    def best(self, worth: Array) -> Codes:
        """Return the place of the best event of each kind and feature."""
        most = np.maximum.reduceat(worth, self.starts)
        lengths = np.diff(np.append(self.starts, self.events))
        places = np.flatnonzero(worth == np.repeat(most, lengths))
        return places[places.searchsorted(self.starts)]

    def members(self, place: int, order: Codes) -> tuple[int, Mask]:
        """Return the feature of an event, and which codes (total,) belong to it."""
        found, edges = np.zeros(self.total, dtype=bool), len(EDGES)
        if place < self.numbers * 2 * edges:
            feature, at = divmod(place, 2 * edges)
            begin = int(self.begins[feature])
            if at < edges:
                found[begin : begin + at + 1] = True
            else:
                found[begin + at - edges + 1 : begin + edges + 1] = True
            return feature, found
        place -= self.numbers * 2 * edges
        kind = 0
        if place >= len(order):
            kind, place = divmod(place - len(order), max(1, len(self.firsts)))
            kind, place = kind + 1, int(self.firsts[place])
        table = int(self.feature[place])
        chosen = [
            order[place : place + 1],
            order[self.tables[table] : place + 1],
            order[place + 1 : self.lasts[table] + 1],
        ][kind]
        found[self.split + chosen] = True
        return self.untabled + table, found


class _Places:
    """The features of single places, whose log ratios are added up, with coarser codes."""

    def __init__(self, looks: Sequence[Feature], order: Sequence[int], events: Events) -> None:
        with_number = {look.place for look in looks if look.kind == "number"}
        self.table = np.zeros(events.total, dtype=np.intp)
        """What a code is among the coarser ones."""
        self.total, rows = 0, []
        for row, j in enumerate(order):
            look, begin = looks[j], int(events.begins[row])
            if look.kind in OWN and not (look.kind == "value" and look.place in with_number):
                rows.append(row)
                size, step = (look.codes, 1) if look.coded else (CODES, COARSE)
                self.table[begin : begin + size] = self.total + np.arange(size) // step
                self.total += -(-size // step)
        self.rows = np.array(rows, dtype=np.intp)

    def of(self, codes: Codes) -> Codes:
        """Return the coarser codes (F', m), each feature's in a range of its own."""
        return np.asarray(self.table[codes[self.rows]])

    def log_ratios(self, one: Codes, other: Codes) -> Array:
        """Return smoothed log ratios of the coarser codes: (total,)."""
        x, y = (np.bincount(side.ravel(), minlength=self.total) + SMOOTHED for side in (one, other))
        return np.asarray(np.log(x / y))


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
