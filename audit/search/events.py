"""Events: the choice of the one from which the highest bound is to be expected.

Half of the pilot, if it is small, proposes conditions, pairs of them and learned scores; the rest
chooses among the few best. Then the threshold of what was chosen is set by all rows that did not
teach it. What is chosen is certified on fresh trials by others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpassay.errors import require
from dpassay.search.columns import Array
from dpassay.search.event_candidates import EventCandidate, propose
from dpassay.search.features import Feature
from dpassay.search.held_out import HeldOut, curve_of, look, looked, moved, smoothed
from dpassay.search.outlook import Outlook
from dpassay.search.outputs import Encoder
from dpassay.search.patterns import Pattern
from dpassay.search.rules import Condition, OneOf, ScoreRule, Threshold
from dpassay.search.scores import TwoSides
from dpassay.search.values import NUMBER, OTHER
from dpassay.search.worth import Goal

SIMPLER = 0.02
"""A simpler description may cost this part of the bound."""
SAME = 0.005
"""And a named value instead of a threshold this one."""
CHANCE = 1.0
"""And it may look worse by so many standard errors."""
SMOOTHED = 3
"""So many of the best single conditions, and of the best other candidates, are compared by smoothed
counts."""
TAUGHT = 10_000
"""No more outputs of a side propose: of more, structure shows hardly better."""
SELECTING = 30_000
"""No more choose among what is proposed; all of them set the threshold of what is chosen."""


@dataclass(frozen=True, slots=True)
class EventChoice(Outlook):
    """An event and its expected worth; `direction` is 0 where it is likelier on the first side."""

    pattern: Pattern
    direction: int

    def moves(self, rare: float) -> bool:
        """Return whether it has a threshold and was seen more rarely on one of the sides."""
        rule = self.pattern.rule
        threshold = not isinstance(rule, ScoreRule) and isinstance(rule[-1], Threshold)
        return threshold and min(self.p1, self.p0) < rare


def choose_pattern(
    encoder: Encoder, one: Array, other: Array, goal: Goal, rng: np.random.Generator
) -> EventChoice:
    """Choose the event from which the highest lower bound is to be expected.

    `one` and `other` (m, F) are features of pilot outputs, which are not used again; `rng` parts
    the pilot. A simpler description is preferred where it costs at most 2 % of the bound.
    """
    fewest = min(len(one), len(other))
    require(fewest >= 4, "pilot", fewest, "at least 4 outputs on each side")
    learn, select, untaught = _parted(one, other, rng)
    candidates = propose(learn, encoder.looks, goal)
    seen = sorted(looked(candidates, select, goal), key=lambda each: -each.worth)
    simple = [each for each in seen if each.candidate.effort == 0][:SMOOTHED]
    others = [each for each in seen if each.candidate.effort > 0][:SMOOTHED]
    best = _simplest(
        [smoothed(each, select, goal) for each in simple + others], encoder.looks, goal
    )
    # the last threshold is set by smoothed counts of many rows
    rows = untaught() if best.learned else _rows(one, other)
    set_anew = moved(best.candidate, rows, goal, curve_of(best.candidate, rows))
    if set_anew is not None:
        best = smoothed(look(set_anew, select, goal), select, goal)
    best = _simplest([best, *_alone(best, select, goal)], encoder.looks, goal)
    return _choice(_pattern(encoder, best.candidate.rule), best, goal)


def _choice(pattern: Pattern, best: HeldOut, goal: Goal) -> EventChoice:
    """Say what is to be expected; the bound, unlike the margin, is right for tiny counts too."""
    expected, error = goal.expected(*best.counts), goal.error(*best.counts)
    known = 0 < error < math.inf
    return EventChoice(
        pattern=pattern,
        direction=best.candidate.direction,
        p1=goal.share(best.x, best.m1),
        p0=goal.share(best.y, best.m0),
        expected=expected,
        assurance=(expected - goal.promised) / error if known else -math.inf,
        promise=goal.promise(*best.counts),
    )


def parts(m: int) -> tuple[int, int]:
    """Return how many of m outputs on each side propose, and how many choose among proposals."""
    taught = min(TAUGHT, m // 2)
    return taught, min(SELECTING, m - taught)


def _parted(
    one: Array, other: Array, rng: np.random.Generator
) -> tuple[TwoSides, TwoSides, Callable[[], TwoSides]]:
    """Part the pilot at random, in halves if it is small; features become rows.

    The last of the three returns all outputs that do not teach.
    """
    taught, selecting = parts(min(len(one), len(other)))
    orders = [rng.permutation(len(table)) for table in (one, other)]

    def some(first: int, last: int | None) -> TwoSides:
        a, b = (
            np.ascontiguousarray(table[order[first:last]].T, dtype=float)
            for table, order in zip((one, other), orders, strict=True)
        )
        return TwoSides(a, b, a.shape[1], b.shape[1])

    return some(0, taught), some(taught, taught + selecting), lambda: some(taught, None)


def _simplest(seen: Sequence[HeldOut], looks: Sequence[Feature], goal: Goal) -> HeldOut:
    """Return the best of the simplest that cost little against the best of all.

    Or no more than chance may account for: `CHANCE` standard errors of the difference. Among those
    as simple, numbers come before distances that tell hardly more.
    """
    best = max(seen, key=lambda each: each.worth)
    slack = SIMPLER * abs(best.worth)
    good = [
        each
        for each in seen
        if each is best
        or best.worth - each.worth <= slack
        or (
            each.candidate.effort < best.candidate.effort
            and best.worth - each.worth <= CHANCE * each.error(best, goal)
        )
    ]
    effort = min(each.candidate.effort for each in good)
    good = [each for each in good if each.candidate.effort == effort]
    most = max(each.worth for each in good)
    direct = [
        each
        for each in good
        if not each.candidate.roundabout(looks) and most - each.worth <= SIMPLER * abs(most)
    ]
    good = direct or good
    return max(good, key=lambda each: each.worth + SAME * abs(most) * each.named)


def settled(choice: EventChoice, one: Array, other: Array, goal: Goal) -> EventChoice:
    """Set the last threshold of a chosen event by more outputs, and say anew what to expect.

    The threshold stays where the outputs (m, F) that the pattern's encoder found give no reason to
    move it.
    """
    rule, rows = choice.pattern.rule, _rows(one, other)
    old = EventCandidate(rule, choice.direction, choice.expected)
    curve = curve_of(old, rows, fine=True)
    new = moved(old, rows, goal, curve) or old
    seen = smoothed(look(new, rows, goal), rows, goal, curve)
    return _choice(replace(choice.pattern, rule=new.rule), seen, goal)


def _rows(one: Array, other: Array) -> TwoSides:
    """All outputs (m, F), as they are."""
    return TwoSides(one.T, other.T, len(one), len(other))


def _alone(seen: HeldOut, rows: TwoSides, goal: Goal) -> list[HeldOut]:
    """Return each of two conditions by itself."""
    rule = seen.candidate.rule
    if isinstance(rule, ScoreRule) or len(rule) == 1:
        return []
    singles = [replace(seen.candidate, rule=(condition,)) for condition in rule]
    return [smoothed(look(each, rows, goal), rows, goal) for each in singles]


def _pattern(encoder: Encoder, rule: tuple[Condition, ...] | ScoreRule) -> Pattern:
    """Make a pattern that looks at no more than its rule needs."""
    parts = rule.curves if isinstance(rule, ScoreRule) else rule
    kept = list(dict.fromkeys(part.feature for part in parts))
    looks = [encoder.looks[j] for j in kept]
    if isinstance(rule, ScoreRule):
        curves = tuple(replace(curve, feature=kept.index(curve.feature)) for curve in rule.curves)
        return Pattern(encoder.only(looks), replace(rule, curves=curves))
    conditions = [replace(each, feature=kept.index(each.feature)) for each in rule]
    for k, condition in enumerate(conditions):
        j = condition.feature
        alone = sum(each.feature == j for each in conditions) == 1
        if isinstance(condition, OneOf) and alone:
            keys = condition.keys(looks[j])
            if OTHER not in keys and NUMBER not in keys:
                looks[j] = replace(looks[j], table=tuple(keys))
                conditions[k] = replace(condition, codes=tuple(range(len(keys))))
    return Pattern(encoder.only(looks), tuple(conditions))
