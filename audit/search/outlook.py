"""Outlook: how much of a leak is to be expected of a pair, from what was drawn of it so far.

It ranks many pairs, and names no event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpassay.search.columns import Array
from dpassay.search.event_candidates import propose
from dpassay.search.features import Feature
from dpassay.search.held_out import looked
from dpassay.search.scores import TwoSides
from dpassay.search.worth import Goal


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


def outlook(looks: Sequence[Feature], one: Array, other: Array, goal: Goal) -> Outlook:
    """Return what is to be expected of a pair, from features (m, F) of outputs on both sides.

    Either half of the outputs proposes events, and the other chooses among them: a half alone would
    rank pairs as if half as much had been drawn.

    The probabilities are those of the better of the two chosen events, the rest is by both.
    """
    m = min(len(one), len(other)) // 2
    # outputs of one dataset come in no order
    sides = [np.ascontiguousarray(side[: 2 * m].T) for side in (one, other)]
    halves = [TwoSides(sides[0][:, half::2], sides[1][:, half::2], m, m) for half in (0, 1)]
    found = [
        max(looked(propose(learn, looks, goal, quick=True), select, goal), key=lambda e: e.worth)
        for learn, select in (halves, halves[::-1])
    ]
    best = max(found, key=lambda each: each.worth)
    z = sum(goal.power_z(*each.counts) for each in found) / 2
    return Outlook(
        p1=goal.share(best.x, m),
        p0=goal.share(best.y, m),
        expected=max(0.0, sum(each.worth for each in found) / 2),
        assurance=z * goal.doubled(m) - goal.margin(2 * m),
        promise=sum(goal.promise(*each.counts) for each in found) / 2,
    )
