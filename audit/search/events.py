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
from dpassay.search.candidates import Candidate, propose
from dpassay.search.features import Feature
from dpassay.search.outlook import Outlook
from dpassay.search.outputs import Encoder
from dpassay.search.patterns import Pattern
from dpassay.search.rules import AT_LEAST, BELOW, Condition, OneOf, Score, Threshold
from dpassay.search.scan import Rows, neat
from dpassay.search.smoothing import Smooth, credible, smooth
from dpassay.search.values import NUMBER, OTHER
from dpassay.search.views import Array, Mask
from dpassay.search.worth import Goal
from dpassay.stats.scales import Scale

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
SMOOTH_CAUTION = 0.5
"""The caution where a threshold is set by smoothed counts; see `Goal.worth`."""


@dataclass(frozen=True, slots=True)
class Choice(Outlook):
    """An event and what is to be expected of it.

    Parameters
    ----------
    p1, p0, expected, assurance, promise : float
        See `Outlook`.
    pattern : Pattern
    direction : {0, 1}
        0 where it is likelier on the first dataset.
    """

    pattern: Pattern
    direction: int

    def moves(self, rare: float) -> bool:
        """Whether it has a threshold, and was seen more rarely than that on one of the sides."""
        rule = self.pattern.rule
        threshold = not isinstance(rule, Score) and isinstance(rule[-1], Threshold)
        return threshold and min(self.p1, self.p0) < rare


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
    goal = Goal(scale, promised, n, alpha)
    learn, select, untaught = _parted(one, other, rng)
    seen = _proposed(encoder, learn, select, goal)
    simple = [each for each in seen if each.candidate.effort == 0][:SMOOTHED]
    others = [each for each in seen if each.candidate.effort > 0][:SMOOTHED]
    best = _simplest(
        [_smoothed(each, select, goal) for each in simple + others], encoder.looks, goal
    )
    best = _settled(best, untaught() if best.learned else _rows(one, other), select, goal)
    best = _simplest([best, *_alone(best, select, goal)], encoder.looks, goal)
    return _choice(_pattern(encoder, best.candidate.rule), best, goal)


def _proposed(encoder: Encoder, learn: Rows, select: Rows, goal: Goal) -> list[_Seen]:
    """Return what one part proposes as the other sees it, the best first."""
    candidates = propose(learn, encoder.looks, goal)
    if not candidates:
        candidates = [Candidate((Threshold(0, AT_LEAST, 0.0),), 0, -math.inf)]
    return sorted(_looked(candidates, select, goal), key=lambda seen: -seen.worth)


def _choice(pattern: Pattern, best: _Seen, goal: Goal) -> Choice:
    """Say what is to be expected; the bound, unlike the margin, is right for tiny counts too."""
    expected, error = goal.expected(*best.counts), goal.error(*best.counts)
    known = 0 < error < math.inf
    return Choice(
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
) -> tuple[Rows, Rows, Callable[[], Rows]]:
    """Part the pilot at random, in halves if it is small; features become rows.

    Returns
    -------
    learn, select : Rows
    untaught : callable
        Returns all outputs that do not teach.
    """
    taught, selecting = parts(min(len(one), len(other)))
    orders = [rng.permutation(len(table)) for table in (one, other)]

    def some(first: int, last: int | None) -> Rows:
        a, b = (
            np.ascontiguousarray(table[order[first:last]].T, dtype=float)
            for table, order in zip((one, other), orders, strict=True)
        )
        return Rows(a, b, a.shape[1], b.shape[1])

    return some(0, taught), some(taught, taught + selecting), lambda: some(taught, None)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A candidate on rows that did not propose it.

    Parameters
    ----------
    candidate : Candidate
    x, y : float
        Counts on the side on which it is likelier and on the other; smoothed or not.
    likelier, other : bool arrays
        Where it held.
    worth : float
    """

    candidate: Candidate
    x: float
    y: float
    likelier: Mask
    other: Mask
    worth: float

    @property
    def m1(self) -> int:
        """Outputs on the side on which it is likelier."""
        return len(self.likelier)

    @property
    def m0(self) -> int:
        """Outputs on the other side."""
        return len(self.other)

    @property
    def counts(self) -> tuple[float, float, int, int]:
        """Both counts, and out of how many."""
        return self.x, self.y, self.m1, self.m0

    @property
    def learned(self) -> bool:
        """Whether it is a score, which knows the outputs that taught it."""
        return isinstance(self.candidate.rule, Score)

    @property
    def named(self) -> bool:
        """Whether it names values rather than a threshold."""
        rule = self.candidate.rule
        return not isinstance(rule, Score) and isinstance(rule[0], OneOf)

    def error(self, best: _Seen, goal: Goal) -> float:
        """Return the standard error of the difference of two leaks on the same rows."""
        a, b = goal.slopes(*self.counts), goal.slopes(*best.counts)
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
        return math.sqrt(variance)


def _looked(candidates: Sequence[Candidate], rows: Rows, goal: Goal) -> list[_Seen]:
    """Look where candidates hold."""
    held = [(each.holds(rows.one), each.holds(rows.other)) for each in candidates]
    held = [
        pair[::-1] if each.direction else pair for each, pair in zip(candidates, held, strict=True)
    ]
    sizes = [[len(one), len(other)] for one, other in held]
    counts = [[int(one.sum()), int(other.sum())] for one, other in held]
    worth = goal.worth(*np.transpose(counts), *np.transpose(sizes)).tolist()
    return [
        _Seen(each, x, y, one, other, value)
        for each, (one, other), (x, y), value in zip(candidates, held, counts, worth, strict=True)
    ]


def _look(candidate: Candidate, rows: Rows, goal: Goal) -> _Seen:
    """Look where one candidate holds."""
    return _looked([candidate], rows, goal)[0]


def _curve(candidate: Candidate, rows: Rows, *, fine: bool = False) -> Smooth | None:
    """Smooth the counts along the number that a candidate's last threshold parts."""
    if candidate.threshold is None:
        return None
    return smooth(candidate.axis(rows.one), candidate.axis(rows.other), fine=fine)


def _smoothed(seen: _Seen, rows: Rows, goal: Goal, curve: Smooth | None = None) -> _Seen:
    """Smooth a candidate's counts along its number, where what was counted allows it.

    They are half counted and half smoothed: ramps cut off what still rises in the tails.
    """
    curve = _curve(seen.candidate, rows) if curve is None else curve
    threshold = seen.candidate.threshold
    x, y = seen.x, seen.y
    if curve is not None and threshold is not None:
        near = curve.beyond(threshold.at, below=threshold.side == BELOW)
        near = near[::-1] if seen.candidate.direction else near
        if credible(x, near[0], seen.m1) and credible(y, near[1], seen.m0):
            x, y = (x + near[0]) / 2, (y + near[1]) / 2
    worth = float(goal.worth(x, y, seen.m1, seen.m0))
    return replace(seen, x=x, y=y, worth=worth)


def _simplest(seen: Sequence[_Seen], looks: Sequence[Feature], goal: Goal) -> _Seen:
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


def _settled(seen: _Seen, rows: Rows, select: Rows, goal: Goal) -> _Seen:
    """Set the last threshold by smoothed counts of many rows."""
    moved = _moved(seen.candidate, rows, goal, _curve(seen.candidate, rows))
    return seen if moved is None else _smoothed(_look(moved, select, goal), select, goal)


def _moved(candidate: Candidate, rows: Rows, goal: Goal, curve: Smooth | None) -> Candidate | None:
    """Return a candidate with its last threshold where smoothed counts of rows are worth most."""
    if curve is None:
        return None
    before = _look(candidate, rows, goal)
    if _smoothed(before, rows, goal, curve).x == before.x:
        return None
    threshold, direction = _best(curve, rows, goal, candidate)
    axis = np.concatenate([candidate.axis(rows.one), candidate.axis(rows.other)])
    return candidate.moved(neat(threshold, axis), direction)


def settled(choice: Choice, one: Array, other: Array, goal: Goal) -> Choice:
    """Set the last threshold of a chosen event by more outputs, and say anew what to expect.

    Parameters
    ----------
    choice : Choice
    one, other : array (m, F)
        What its pattern's encoder finds in further outputs on the two datasets.
    goal : Goal
        What the event is for.

    Returns
    -------
    Choice
        With the same threshold where the outputs give no reason to move it.
    """
    rule, rows = choice.pattern.rule, _rows(one, other)
    old = Candidate(rule, choice.direction, choice.expected)
    curve = _curve(old, rows, fine=True)
    moved = _moved(old, rows, goal, curve) or old
    seen = _smoothed(_look(moved, rows, goal), rows, goal, curve)
    return _choice(replace(choice.pattern, rule=moved.rule), seen, goal)


def _rows(one: Array, other: Array) -> Rows:
    """All outputs (m, F), as they are."""
    return Rows(one.T, other.T, len(one), len(other))


def _alone(seen: _Seen, rows: Rows, goal: Goal) -> list[_Seen]:
    """Return each of two conditions by itself."""
    rule = seen.candidate.rule
    if isinstance(rule, Score) or len(rule) == 1:
        return []
    singles = [replace(seen.candidate, rule=(condition,)) for condition in rule]
    return [_smoothed(_look(each, rows, goal), rows, goal) for each in singles]


def _best(curve: Smooth, rows: Rows, goal: Goal, old: Candidate) -> tuple[Threshold, int]:
    """Return the threshold of the highest worth by smoothed counts, and its direction.

    The last of two conditions keeps its side and direction.
    """
    found = []
    for side in (AT_LEAST, BELOW):
        x, y = (
            (curve.all_x - curve.x, curve.all_y - curve.y) if side == BELOW else (curve.x, curve.y)
        )
        for direction in (0, 1):
            counts = (y, x, rows.m0, rows.m1) if direction else (x, y, rows.m1, rows.m0)
            worth = goal.worth(*counts, caution=SMOOTH_CAUTION)
            best = int(worth.argmax())
            found.append((float(worth[best]), Threshold(0, side, float(curve.at[best])), direction))
    if old.effort == 1 and old.threshold is not None:
        found = [
            each
            for each in found
            if each[1].side == old.threshold.side and each[2] == old.direction
        ]
    _, threshold, direction = max(found, key=lambda each: each[0])
    return threshold, direction


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
            if OTHER not in keys and NUMBER not in keys:
                looks[j] = replace(looks[j], table=tuple(keys))
                conditions[k] = replace(condition, codes=tuple(range(len(keys))))
    return Pattern(encoder.only(looks), tuple(conditions))
