"""Candidates: rules that a part of a pilot proposes, from counts of every simple condition."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from dpassay.search.columns import Array, Mask
from dpassay.search.features import SINGLE, Feature
from dpassay.search.rules import AT_LEAST, BELOW, Condition, OneOf, ScoreRule, Threshold
from dpassay.search.scores import TwoSides, binned, regressions
from dpassay.search.values import NUMBER
from dpassay.search.worth import Goal

SHORTLIST = 8
"""So many single conditions are proposed."""
ROOTS = 5
"""To so many of them, and to frequent values, a second condition is looked for."""
PAIRS = 4
"""So many pairs are proposed."""
QUICK = 1, 2
"""So many single conditions and frequent values have a second one where it must be quick."""
LEARNED = 0.6
"""Part of the rows on which a score is learned; its threshold is chosen on the rest."""
FEW_VALUES = 3
"""A set of more values than these is no simpler than two conditions."""
INNER = 63
"""Thresholds of a feature, at equal steps of its ranks."""
TAILS = np.array([0.0005, 0.001, 0.002, 0.004, 0.007, 0.011])
"""And at these levels in each tail."""
LEVELS = np.unique(np.concatenate([TAILS, np.arange(1, INNER + 1) / (INNER + 1), 1 - TAILS]))
FEW, FEW_LEVELS = 1000, np.unique([0.004, 0.011, *np.arange(1, 32) / 32, 0.989, 0.996])
PADDED = np.pad(FEW_LEVELS, (0, len(LEVELS) - len(FEW_LEVELS)), mode="edge")
"""Of fewer numbers than that these levels are enough: a few lie between two of them."""
SLACK, FEW_DIGITS = 0.02, 4
"""A threshold may be moved over such a part of the rarer side, to be written with so few digits."""
FREQUENT, MOST_FREQUENT = 0.05, 8
"""Values with a larger share of the outputs are frequent; so many count, those nearest to half."""


@dataclass(frozen=True, slots=True)
class EventCandidate:
    """A rule, on which side it is likelier (0: the first), and its worth on what proposed it."""

    rule: tuple[Condition, ...] | ScoreRule
    direction: int
    worth: float

    @property
    def effort(self) -> int:
        """Return how hard it is to read: 0 for one condition, 1 for several, 2 for a score."""
        if isinstance(self.rule, ScoreRule):
            return 2
        wide = any(isinstance(each, OneOf) and len(each.codes) > FEW_VALUES for each in self.rule)
        return int(len(self.rule) > 1 or wide)

    def holds(self, columns: Array) -> Mask:
        """Return whether it holds, from features by rows."""
        if isinstance(self.rule, ScoreRule):
            return self.rule.passes(self.axis(columns))
        found = self.rule[0].of(columns[self.rule[0].feature])
        for condition in self.rule[1:]:
            found = found & condition.of(columns[condition.feature])
        return found

    def roundabout(self, looks: Sequence[Feature]) -> bool:
        """Return whether a condition is about a distance, which takes a second number to read."""
        if isinstance(self.rule, ScoreRule):
            return False
        return any(looks[each.feature].kind == "distance" for each in self.rule)

    @property
    def threshold(self) -> Threshold | None:
        """The last threshold of the rule; None without."""
        if isinstance(self.rule, ScoreRule):
            return Threshold(0, self.rule.side, self.rule.at)
        last = self.rule[-1]
        return last if isinstance(last, Threshold) else None

    def axis(self, columns: Array) -> Array:
        """Return the number that the last threshold parts; NaN where the rest does not hold."""
        if isinstance(self.rule, ScoreRule):
            return self.rule.total([columns[curve.feature] for curve in self.rule.curves])
        column: Array = columns[self.rule[-1].feature]
        for condition in self.rule[:-1]:
            column = np.where(condition.of(columns[condition.feature]), column, np.nan)
        return column

    def moved(self, threshold: Threshold, direction: int) -> EventCandidate:
        """Return the same rule with its last threshold elsewhere."""
        if isinstance(self.rule, ScoreRule):
            rule = replace(self.rule, side=threshold.side, at=threshold.at)
            return replace(self, rule=rule, direction=direction)
        last = replace(threshold, feature=self.rule[-1].feature)
        return replace(self, rule=(*self.rule[:-1], last), direction=direction)


def propose(
    learn: TwoSides, looks: Sequence[Feature], goal: Goal, *, quick: bool = False
) -> list[EventCandidate]:
    """Return the best conditions, pairs of them and learned scores; at least one candidate.

    Where it must be `quick`, few pairs are tried, no regression is fitted, thresholds are not
    rounded, and none lies far in a tail, where a pair that leaks little looks best by luck.
    """
    singles = list(islice(scan(learn, looks, goal, coarse=quick), SHORTLIST if quick else None))
    found = singles[:SHORTLIST] + _pairs(learn, looks, goal, singles, quick=quick)
    found += _scores(learn, looks, goal, singles, quick=quick)
    found = found or [EventCandidate((Threshold(0, AT_LEAST, 0.0),), 0, -math.inf)]
    return found if quick else [_tidy(each, learn) for each in found]


def _pairs(
    learn: TwoSides,
    looks: Sequence[Feature],
    goal: Goal,
    singles: Sequence[EventCandidate],
    *,
    quick: bool,
) -> list[EventCandidate]:
    """Return the best pairs: second conditions to others, where that helps."""
    conditions, values = QUICK if quick else (ROOTS, MOST_FREQUENT)
    roots = [(each.rule[0], each.worth) for each in singles[:conditions]]  # type: ignore[index]
    often = frequent(looks, learn.one)[:values]
    roots += [(OneOf(j, (code,)), -math.inf) for j, code in often]
    found = []
    for root, worth in roots:
        j = root.feature
        inside = learn.where(root.of(learn.one[j]), root.of(learn.other[j]))
        for more in scan(inside, looks, goal, coarse=quick):
            (second,) = more.rule  # type: ignore[misc]
            if _adds(looks, root, second):
                if more.worth > worth:
                    found.append(replace(more, rule=(root, second)))
                break
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
    learn: TwoSides,
    looks: Sequence[Feature],
    goal: Goal,
    singles: Sequence[EventCandidate],
    *,
    quick: bool,
) -> list[EventCandidate]:
    """Return learned scores with the best threshold of each."""
    a, c = int(LEARNED * learn.m1), int(LEARNED * learn.m0)
    fit = TwoSides(learn.one[:, :a], learn.other[:, :c], a, c)
    rest = TwoSides(learn.one[:, a:], learn.other[:, c:], learn.m1 - a, learn.m0 - c)
    scores = list(islice(binned(fit, looks, 1), 1)) if quick else list(binned(fit, looks))
    if singles and not quick:
        ranked = list(dict.fromkeys(each.rule[0].feature for each in singles))  # type: ignore[index]
        scores += regressions(fit, looks, ranked)
    found = []
    for score in scores:
        whole = EventCandidate(score, 0, -math.inf)
        one, other = whole.axis(rest.one), whole.axis(rest.other)
        totals = TwoSides(one[None], other[None], rest.m1, rest.m0)
        for best in islice(scan(totals, [Feature("sum")], goal, coarse=quick), 1):
            threshold = best.threshold
            assert threshold is not None
            at = threshold if quick else neat(threshold, np.concatenate([one, other]))
            found.append(replace(whole.moved(at, best.direction), worth=best.worth))
    return found


def _tidy(candidate: EventCandidate, learn: TwoSides) -> EventCandidate:
    """Write its thresholds with few digits."""
    if isinstance(candidate.rule, ScoreRule):
        return candidate
    rule: list[Condition] = []
    for each in candidate.rule:
        column = np.concatenate([learn.one[each.feature], learn.other[each.feature]])
        rule.append(neat(each, column) if isinstance(each, Threshold) else each)
    return replace(candidate, rule=tuple(rule))


def scan(
    rows: TwoSides, looks: Sequence[Feature], goal: Goal, *, coarse: bool = False
) -> Iterator[EventCandidate]:
    """Yield the best condition on each feature, by direction, the best of all first.

    Every simple condition is counted: a number is at least a quantile, or below it; a code is one,
    one of the first, or one of the last in the order of their likelihood ratios.
    """
    counted = _thresholds(rows, looks, coarse), _sets(rows, looks)
    tried = [each for each in counted if each is not None]
    if not tried:
        return
    features = np.concatenate([each.feature for each in tried]).tolist()
    x, y = np.concatenate([each.counts for each in tried], axis=1)
    worth, numbers = np.concatenate(goal.both_ways(x, y, rows.m1, rows.m0)), len(tried[0].feature)
    seen: set[tuple[int, int]] = set()
    for k in np.argsort(-worth, kind="stable").tolist():
        direction, place = divmod(k, len(features))
        if (direction, features[place]) not in seen:
            seen.add((direction, features[place]))
            of, at = (tried[0], place) if place < numbers else (tried[1], place - numbers)
            yield EventCandidate((of.condition(at),), direction, float(worth[k]))


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """Simple conditions: the feature of each (E,), its counts on both sides (2, E), what it is."""

    feature: NDArray[np.intp]
    counts: NDArray[np.int64]
    condition: Callable[[int], Condition]


def _thresholds(rows: TwoSides, looks: Sequence[Feature], coarse: bool) -> _Counted | None:
    """Count thresholds at quantiles, on both sides, of each feature that is a number."""
    numbers = np.array([j for j, look in enumerate(looks) if not look.coded], dtype=np.intp)
    one, other = (np.sort(side[numbers], axis=1) for side in (rows.one, rows.other))
    both = np.concatenate([one, other], axis=1)
    if not both.size:
        return None
    # of two sorted parts a stable sort is a merge; NaN comes last
    order = np.argsort(both, axis=1, kind="stable")
    both = np.take_along_axis(both, order, axis=1)
    valid = np.array([np.count_nonzero(~np.isnan(side), axis=1) for side in (one, other)])
    many = valid.sum(axis=0)[:, None]
    levels = FEW_LEVELS if coarse or (many < FEW).all() else np.where(many < FEW, PADDED, LEVELS)
    place = (levels * many).astype(np.intp)
    at = np.take_along_axis(both, place, axis=1) + 0.0  # no number is -0.0
    # as many lie below a number as stand before the first that equals it
    first = np.where(_differs(both), np.arange(both.shape[1]), 0)
    first = np.take_along_axis(np.maximum.accumulate(first, axis=1), place, axis=1)
    mine = order < one.shape[1]
    left = np.take_along_axis(np.cumsum(mine, axis=1) - mine, first, axis=1)
    below = np.stack([left, first - left])
    kept = np.isfinite(at) & _differs(at)
    row, is_below, level = np.nonzero(np.repeat(kept[:, None], 2, axis=1))
    if not len(row):
        return None
    counts = np.stack([valid[:, :, None] - below, below], axis=2)[:, row, is_below, level]
    features, limits = numbers[row], at[row, level]

    def condition(k: int) -> Condition:
        return Threshold(int(features[k]), BELOW if is_below[k] else AT_LEAST, float(limits[k]))

    return _Counted(features, counts, condition)


def _differs(rows: Array) -> NDArray[np.bool_]:
    """Return where a number differs from the one before it in its row."""
    return np.insert(rows[:, 1:] != rows[:, :-1], 0, True, axis=1)


def _sets(rows: TwoSides, looks: Sequence[Feature]) -> _Counted | None:
    """Count single values, and unions in the order of their smoothed likelihood ratios.

    All features are counted at once: each has a range of codes of its own. Of unions, each half of
    the rows is counted in the order that the other half shows: in their own order, unions of many
    rare values would look best.
    """
    coded = [j for j, look in enumerate(looks) if look.coded]
    if not coded:
        return None
    sizes = np.array([looks[j].codes for j in coded])
    ends = np.cumsum(sizes)
    begins, of = ends - sizes, np.repeat(np.arange(len(coded)), sizes)
    codes = [side[coded].astype(np.intp) + begins[:, None] for side in (rows.one, rows.other)]
    halves = np.array(
        [[np.bincount(side[:, k::2].ravel(), minlength=ends[-1]) for side in codes] for k in (0, 1)]
    )

    def ranked(counts: NDArray[np.int64]) -> NDArray[np.intp]:
        x, y = counts + 1
        return np.argsort(of + y / (x * (rows.m0 / rows.m1) + y), kind="stable")

    both = halves.sum(axis=0)
    order = ranked(both)
    up = np.cumsum(halves[0][:, ranked(halves[1])] + halves[1][:, ranked(halves[0])], axis=1)
    before = np.concatenate([np.zeros((2, 1), dtype=up.dtype), up], axis=1)[:, begins]
    lasts = np.delete(np.arange(ends[-1]), ends - 1)  # of a union that is not the whole table
    first = up[:, lasts] - before[:, of[lasts]]
    rest = up[:, ends - 1][:, of[lasts]] - up[:, lasts]
    feature = np.array(coded)[np.concatenate([of, of[lasts], of[lasts]])]

    def condition(k: int) -> Condition:
        j = int(np.searchsorted(coded, feature[k]))
        begin, end = int(begins[j]), int(ends[j])
        if k < len(order):
            return OneOf(coded[j], (k - begin,))
        kind, place = divmod(k - len(order), len(lasts))
        split = int(lasts[place]) + 1
        chosen = order[begin:split] if kind == 0 else order[split:end]
        return OneOf(coded[j], tuple(sorted((chosen - begin).tolist())))

    return _Counted(feature, np.concatenate([both, first, rest], axis=1), condition)


def frequent(looks: Sequence[Feature], columns: Array) -> list[tuple[int, int]]:
    """Return features and codes of values that many outputs have in a place, and many have not.

    What goes with them may tell the sides apart where they alone do not.
    """
    found = []
    for j, look in enumerate(looks):
        if look.kind == "value" and look.place != SINGLE:
            counts = np.bincount(columns[j].astype(np.intp), minlength=look.codes)
            apart = np.abs(counts / columns.shape[1] - 0.5)
            often = np.flatnonzero(apart < 0.5 - FREQUENT).tolist()
            named = [code for code in often if look.table[code : code + 1] != (NUMBER,)]
            found += [(float(apart[code]), j, code) for code in named]
    return [(j, code) for _, j, code in sorted(found)[:MOST_FREQUENT]]


def neat(threshold: Threshold, column: Array) -> Threshold:
    """Return a threshold with few digits that parts a feature's numbers almost in the same way."""
    column = column[~np.isnan(column)]
    below = column < threshold.at
    before = int(np.count_nonzero(below))
    slack = SLACK * min(before, len(column) - before)
    middle = math.nan
    if 0 < before < len(column):
        middle = (float(column[below].max()) + float(column[~below].min())) / 2
    # few digits; else what lies midway between two numbers; else more digits
    for at, most in ((threshold.at, FEW_DIGITS), (middle, 17), (threshold.at, 12)):
        for digits in range(1, most + 1 if math.isfinite(at) else 0):
            short = float(f"{at:.{digits}g}")
            moved = abs(int(np.count_nonzero(column < short)) - before)
            if moved <= (slack if at == threshold.at else 0):
                return Threshold(threshold.feature, threshold.side, short)
    return threshold
