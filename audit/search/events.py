"""Events: the choice of the one from which the highest bound is to be expected.

Half of the pilot proposes conditions, pairs of them and learned scores; the other half chooses
among the few best. What is chosen is certified on fresh trials by others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import require
from dpassay.search.features import Feature
from dpassay.search.outputs import Encoder
from dpassay.search.patterns import Pattern
from dpassay.search.rules import AT_LEAST, Condition, OneOf, Score, Threshold
from dpassay.search.scan import Found, Rows, neat, scan
from dpassay.search.scores import binned, regressions
from dpassay.search.values import NUMBER
from dpassay.search.views import Array, Mask
from dpassay.search.worth import Goal
from dpassay.stats.scales import Scale

SIMPLER = 0.02
"""A simpler description may cost this part of the bound."""
SHORTLIST = 8
"""So many conditions are compared on the second half."""
ROOTS, CHEAP_ROOTS = 5, 1
"""To so many of them a second condition is looked for."""
LEARNED = 0.6
"""Part of the first half on which a score is learned; its threshold is chosen on the rest."""
LISTED = 3
"""A set of more values than these is no simpler than two conditions."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An event and what is to be expected of it.

    Parameters
    ----------
    pattern : Pattern
    direction : {0, 1}
        0 where it is likelier on the first dataset.
    p1, p0 : float
        Its estimated probabilities, on the side on which it is likelier and on the other.
    expected : float
        An estimate of the lower bound that certification will give; never a bound.
    power_z : float
        By how many standard errors the leak exceeds the claim; see `Goal.power_z`. What pairs are
        ranked by.
    """

    pattern: Pattern
    direction: int
    p1: float
    p0: float
    expected: float
    power_z: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A rule, its direction, and what it is worth on the rows that chose it."""

    rule: tuple[Condition, ...] | Score
    direction: int
    worth: float

    @property
    def effort(self) -> int:
        """How hard it is to read."""
        if isinstance(self.rule, Score):
            return 2
        wide = any(isinstance(each, OneOf) and len(each.codes) > LISTED for each in self.rule)
        return int(len(self.rule) > 1 or wide)


def choose_pattern(
    encoder: Encoder,
    one: Array,
    other: Array,
    *,
    scale: Scale,
    promised: float,
    n: int,
    alpha: float,
    rng: np.random.Generator,
    cheap: bool = False,
) -> Choice:
    """Choose the event from which the highest lower bound is to be expected.

    Parameters
    ----------
    encoder : Encoder
    one, other : array (m, F)
        Features of pilot outputs on the two datasets; not used again.
    scale : Scale
        How a leak is measured.
    promised : float
        The claimed leak.
    n : int
        Certification trials per side to come.
    alpha : float
        Error probability of their bound.
    rng : numpy.random.Generator
        Parts the pilot.
    cheap : bool
        No regressions: for ranking many pairs.

    Returns
    -------
    Choice
        A simpler description is preferred where it costs at most 2 % of the bound.

    Raises
    ------
    InvalidInput
        If a side has fewer than 4 outputs.
    """
    fewest = min(len(one), len(other))
    require(fewest >= 4, "pilot", fewest, "at least 4 outputs on each side")
    goal, looks = Goal(scale, promised, n, alpha), encoder.looks
    learn, select = _halves(one, other, rng)
    singles = scan(learn, looks, goal)
    candidates = [_Candidate((f.condition,), f.direction, f.worth) for f in singles[:SHORTLIST]]
    candidates += _pairs(learn, looks, goal, singles[: CHEAP_ROOTS if cheap else ROOTS])
    candidates += _scores(learn, looks, goal, singles, cheap)
    if not candidates:
        candidates = [_Candidate((Threshold(0, AT_LEAST, 0.0),), 0, -np.inf)]
    candidates = [_tidy(each, learn) for each in candidates]
    seen = [_Seen.of(each, select, goal) for each in candidates]
    best = _simplest(seen)
    chosen = best.candidate
    x, y, m1, m0 = best.counts
    return Choice(
        pattern=_pattern(encoder, chosen.rule),
        direction=chosen.direction,
        p1=(x + 0.5) / (m1 + 1),
        p0=(y + 0.5) / (m0 + 1),
        expected=max(0.0, float(goal.worth(x, y, m1, m0)))
        if cheap
        else goal.expected(x, y, m1, m0),
        power_z=goal.power_z(x, y, m1, m0),
    )


def _halves(one: Array, other: Array, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Part the pilot at random; features become rows."""
    parts: list[tuple[Array, Array]] = []
    for table in (one, other):
        order = rng.permutation(len(table))
        half = len(table) // 2
        columns = np.ascontiguousarray(np.asarray(table, dtype=float).T)
        parts.append((columns[:, order[:half]], columns[:, order[half:]]))
    (a, b), (c, d) = parts
    return Rows(a, c, a.shape[1], c.shape[1]), Rows(b, d, b.shape[1], d.shape[1])


def _pairs(
    learn: Rows, looks: Sequence[Feature], goal: Goal, roots: Sequence[Found]
) -> list[_Candidate]:
    """Return the best second condition to each of the best ones, where it helps."""
    found = []
    for root in roots:
        j = root.condition.feature
        inside = learn.where(root.condition.of(learn.one[j]), root.condition.of(learn.other[j]))
        second = next(iter(scan(inside, looks, goal, only=root.direction)), None)
        if second is not None and second.worth > root.worth:
            rule = (root.condition, second.condition)
            found.append(_Candidate(rule, root.direction, second.worth))
    return found


def _scores(
    learn: Rows, looks: Sequence[Feature], goal: Goal, singles: Sequence[Found], cheap: bool
) -> list[_Candidate]:
    """Return learned scores with the best threshold of each in each direction."""
    fit, rest = _cut(learn)
    scores = [score for score in [binned(fit, looks)] if score is not None]
    if not cheap and singles:
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
        for best in scan(totals, [Feature("sum")], goal):
            if isinstance(best.condition, Threshold):
                at = neat(best.condition, np.concatenate([totals.one[0], totals.other[0]]))
                rule = replace(score, side=at.side, at=at.at)
                found.append(_Candidate(rule, best.direction, best.worth))
    return found


def _cut(rows: Rows) -> tuple[Rows, Rows]:
    """Part rows once more."""
    a, c = int(LEARNED * rows.m1), int(LEARNED * rows.m0)
    return (
        Rows(rows.one[:, :a], rows.other[:, :c], a, c),
        Rows(rows.one[:, a:], rows.other[:, c:], rows.m1 - a, rows.m0 - c),
    )


def _tidy(candidate: _Candidate, learn: Rows) -> _Candidate:
    """Write its thresholds with few digits."""
    if isinstance(candidate.rule, Score):
        return candidate
    rule: list[Condition] = []
    for each in candidate.rule:
        column = np.concatenate([learn.one[each.feature], learn.other[each.feature]])
        rule.append(neat(each, column) if isinstance(each, Threshold) else each)
    return replace(candidate, rule=tuple(rule))


def _holds(rule: tuple[Condition, ...] | Score, columns: Array) -> Mask:
    """Whether a rule holds, from features by rows."""
    if isinstance(rule, Score):
        return rule.passes(rule.total([columns[curve.feature] for curve in rule.curves]))
    found: NDArray[np.bool_] = rule[0].of(columns[rule[0].feature])
    for condition in rule[1:]:
        found = found & condition.of(columns[condition.feature])
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A candidate on the rows that choose: where it held, its counts and its worth.

    Parameters
    ----------
    candidate : _Candidate
    likelier, other : bool arrays
        Where it held, on the side on which it is likelier and on the other.
    worth : float
    slopes : tuple of float
        See `Goal.slopes`.
    """

    candidate: _Candidate
    likelier: Mask
    other: Mask
    worth: float
    slopes: tuple[float, float]

    @classmethod
    def of(cls, candidate: _Candidate, rows: Rows, goal: Goal) -> _Seen:
        """Look where a candidate holds."""
        sides = [_holds(candidate.rule, columns) for columns in (rows.one, rows.other)]
        likelier, other = reversed(sides) if candidate.direction else sides
        counts = int(likelier.sum()), int(other.sum()), len(likelier), len(other)
        worth = float(goal.worth(*counts))
        return cls(candidate, likelier, other, worth, goal.slopes(*counts))

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Counts on the side where it is likelier and on the other, and out of how many."""
        return (
            int(self.likelier.sum()),
            int(self.other.sum()),
            len(self.likelier),
            len(self.other),
        )

    @property
    def order(self) -> tuple[int, float, bool]:
        """What it is preferred by: simple, good, and a named value rather than a threshold."""
        rule = self.candidate.rule
        named = not isinstance(rule, Score) and isinstance(rule[0], OneOf)
        return self.candidate.effort, -self.worth, not named

    def error(self, best: _Seen) -> float:
        """Return the standard error of the difference of two leaks on the same rows.

        Of two in different directions those rows are compared that each is likelier on.
        """
        a, b = self.slopes, best.slopes
        if self.candidate.direction == best.candidate.direction:
            pairs = [(self.likelier, a[0], best.likelier, b[0])]
            pairs += [(self.other, a[1], best.other, b[1])]
        else:
            pairs = [(self.likelier, a[0], best.other, -b[1])]
            pairs += [(self.other, -a[1], best.likelier, b[0])]
        variance = sum(
            float(np.var(one * slope - other * steep)) / len(one)
            for one, slope, other, steep in pairs
        )
        return float(np.sqrt(variance))


def _simplest(seen: Sequence[_Seen]) -> _Seen:
    """Return the best of the simplest that cost little against the best of all.

    Or no more than chance may account for: one standard error of the difference.
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
            and best.worth - each.worth <= each.error(best)
        )
    ]
    return min(good, key=lambda each: each.order)


def _pattern(encoder: Encoder, rule: tuple[Condition, ...] | Score) -> Pattern:
    """Make a pattern that looks at no more than its rule needs."""
    parts = rule.curves if isinstance(rule, Score) else rule
    kept = list(dict.fromkeys(part.feature for part in parts))
    looks = [encoder.looks[j] for j in kept]
    if isinstance(rule, Score):
        curves = tuple(replace(curve, feature=kept.index(curve.feature)) for curve in rule.curves)
        return Pattern(encoder.only(looks), replace(rule, curves=curves))
    conditions = [replace(each, feature=kept.index(each.feature)) for each in rule]
    for k, condition in enumerate(conditions):
        j = condition.feature
        alone = sum(each.feature == j for each in conditions) == 1
        if isinstance(condition, OneOf) and alone:
            keys = condition.keys(looks[j])
            if None not in keys and NUMBER not in keys:
                looks[j] = replace(looks[j], table=tuple(key for key in keys if key is not None))
                conditions[k] = replace(condition, codes=tuple(range(len(keys))))
    return Pattern(encoder.only(looks), tuple(conditions))
