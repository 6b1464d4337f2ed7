"""Candidates: rules that a part of a pilot proposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpassay.search.features import Feature
from dpassay.search.rules import Condition, OneOf, Score, Threshold
from dpassay.search.scan import Found, Rows, frequent, neat, scan
from dpassay.search.scores import binned, regressions
from dpassay.search.views import Array, Mask
from dpassay.search.worth import Goal

SHORTLIST = 8
"""So many single conditions are proposed."""
ROOTS = 5
"""To so many of them, and to frequent values, a second condition is looked for."""
PAIRS = 4
"""So many pairs are proposed."""
LEARNED = 0.6
"""Part of the rows on which a score is learned; its threshold is chosen on the rest."""
FEW_VALUES = 3
"""A set of more values than these is no simpler than two conditions."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule, on which side it is likelier (0: the first), and its worth on what proposed it."""

    rule: tuple[Condition, ...] | Score
    direction: int
    worth: float

    @property
    def effort(self) -> int:
        """Return how hard it is to read: 0 for one condition, 1 for several, 2 for a score."""
        if isinstance(self.rule, Score):
            return 2
        wide = any(isinstance(each, OneOf) and len(each.codes) > FEW_VALUES for each in self.rule)
        return int(len(self.rule) > 1 or wide)

    def holds(self, columns: Array) -> Mask:
        """Return whether it holds, from features by rows."""
        if isinstance(self.rule, Score):
            return self.rule.passes(self._total(self.rule, columns))
        found = self.rule[0].of(columns[self.rule[0].feature])
        for condition in self.rule[1:]:
            found = found & condition.of(columns[condition.feature])
        return found

    def roundabout(self, looks: Sequence[Feature]) -> bool:
        """Return whether a condition is about a distance, which takes a second number to read."""
        if isinstance(self.rule, Score):
            return False
        return any(looks[each.feature].kind == "distance" for each in self.rule)

    @property
    def threshold(self) -> Threshold | None:
        """The last threshold of the rule; None without."""
        if isinstance(self.rule, Score):
            return Threshold(0, self.rule.side, self.rule.at)
        last = self.rule[-1]
        return last if isinstance(last, Threshold) else None

    def axis(self, columns: Array) -> Array:
        """Return the number that the last threshold parts; NaN where the rest does not hold."""
        if isinstance(self.rule, Score):
            return self._total(self.rule, columns)
        column: Array = columns[self.rule[-1].feature]
        for condition in self.rule[:-1]:
            column = np.where(condition.of(columns[condition.feature]), column, np.nan)
        return column

    def moved(self, threshold: Threshold, direction: int) -> Candidate:
        """Return the same rule with its last threshold elsewhere."""
        if isinstance(self.rule, Score):
            rule = replace(self.rule, side=threshold.side, at=threshold.at)
            return replace(self, rule=rule, direction=direction)
        last = replace(threshold, feature=self.rule[-1].feature)
        return replace(self, rule=(*self.rule[:-1], last), direction=direction)

    @staticmethod
    def _total(score: Score, columns: Array) -> Array:
        return score.total([columns[curve.feature] for curve in score.curves])


def propose(learn: Rows, looks: Sequence[Feature], goal: Goal) -> list[Candidate]:
    """Return the best conditions, pairs of them and learned scores."""
    singles = scan(learn, looks, goal)
    found = [Candidate((each.condition,), each.direction, each.worth) for each in singles]
    found = found[:SHORTLIST]
    found += _pairs(learn, looks, goal, singles[:ROOTS])
    found += _scores(learn, looks, goal, singles)
    return [_tidy(each, learn) for each in found]


def _pairs(
    learn: Rows, looks: Sequence[Feature], goal: Goal, singles: Sequence[Found]
) -> list[Candidate]:
    """Return the best pairs: second conditions to others, where that helps."""
    roots = [(each.condition, each.worth) for each in singles]
    roots += [(OneOf(j, (code,)), -np.inf) for j, code in frequent(looks, learn.one)]
    found = []
    for root, worth in roots:
        j = root.feature
        inside = learn.where(root.of(learn.one[j]), root.of(learn.other[j]))
        more = scan(inside, looks, goal)
        second = next((each for each in more if _adds(looks, root, each.condition)), None)
        if second is not None and second.worth > worth:
            found.append(Candidate((root, second.condition), second.direction, second.worth))
    return sorted(found, key=lambda each: -each.worth)[:PAIRS]


def _adds(looks: Sequence[Feature], one: Condition, other: Condition) -> bool:
    """Return whether two conditions are about different things, or the two ends of a range."""
    if one.feature == other.feature:
        return (
            isinstance(one, Threshold) and isinstance(other, Threshold) and one.side != other.side
        )
    first, second = looks[one.feature], looks[other.feature]
    return first.place != second.place or not {first.kind, second.kind} <= {"number", "distance"}


def _scores(
    learn: Rows, looks: Sequence[Feature], goal: Goal, singles: Sequence[Found]
) -> list[Candidate]:
    """Return learned scores with the best threshold of each."""
    fit, rest = _cut(learn)
    scores = list(binned(fit, looks))
    if singles:
        ranked = list(dict.fromkeys(each.condition.feature for each in singles))
        scores += list(regressions(fit, looks, ranked))
    found = []
    for score in scores:
        places = [curve.feature for curve in score.curves]
        totals = Rows(
            score.total([rest.one[j] for j in places])[None],
            score.total([rest.other[j] for j in places])[None],
            rest.m1,
            rest.m0,
        )
        for best in scan(totals, [Feature("sum")], goal)[:1]:
            if isinstance(best.condition, Threshold):
                at = neat(best.condition, np.concatenate([totals.one[0], totals.other[0]]))
                rule = replace(score, side=at.side, at=at.at)
                found.append(Candidate(rule, best.direction, best.worth))
    return found


def _cut(rows: Rows) -> tuple[Rows, Rows]:
    """Part rows once more."""
    a, c = int(LEARNED * rows.m1), int(LEARNED * rows.m0)
    return (
        Rows(rows.one[:, :a], rows.other[:, :c], a, c),
        Rows(rows.one[:, a:], rows.other[:, c:], rows.m1 - a, rows.m0 - c),
    )


def _tidy(candidate: Candidate, learn: Rows) -> Candidate:
    """Write its thresholds with few digits."""
    if isinstance(candidate.rule, Score):
        return candidate
    rule: list[Condition] = []
    for each in candidate.rule:
        column = np.concatenate([learn.one[each.feature], learn.other[each.feature]])
        rule.append(neat(each, column) if isinstance(each, Threshold) else each)
    return replace(candidate, rule=tuple(rule))
