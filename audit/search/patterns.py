"""Patterns: events in outputs of any kind, described so that they can be read and replayed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import InvalidInput, is_count, require
from dpassay.search.features import Feature, finite
from dpassay.search.outputs import Encoder, encoder_from_json
from dpassay.search.rules import (
    AT_LEAST,
    BELOW,
    LISTED,
    Condition,
    OneOf,
    ScoreCurve,
    ScoreRule,
    Threshold,
    listed,
)
from dpassay.search.values import ABSENT, NUMBER, OTHER, Key, plain_number

MOST_CONDITIONS = 3
MOST_KNOTS = 512


@dataclass(frozen=True, slots=True)
class Pattern:
    """An event: outputs that fulfil all conditions, or whose learned score passes a threshold.

    The encoder looks at no more than the rule needs.
    """

    encoder: Encoder
    rule: tuple[Condition, ...] | ScoreRule

    def holds(self, draws: Any) -> NDArray[np.bool_]:
        """Return in which outputs (n,) it holds, by looking at what the rule needs only."""
        view, looks = self.encoder.view(draws), self.encoder.looks
        if isinstance(self.rule, ScoreRule):
            columns = [looks[curve.feature].compute(view) for curve in self.rule.curves]
            return self.rule.passes(self.rule.total(columns))
        found = self.rule[0].holds(looks[self.rule[0].feature], view)
        for condition in self.rule[1:]:
            found = found & condition.holds(looks[condition.feature], view)
        return found

    @property
    def words(self) -> str:
        """Return what it says, as half a sentence: 'answer 1 is ⊤ and answer 3 is below 3.2'."""
        looks = self.encoder.looks
        if isinstance(self.rule, ScoreRule):
            names = [looks[curve.feature].name for curve in self.rule.curves]
            shown = listed(names[:LISTED]) if len(names) <= LISTED else (
                f"{', '.join(names[:LISTED])} and {len(names) - LISTED} more"
            )  # fmt: skip
            return f"a learned score of {shown} is {self.rule.side} {plain_number(self.rule.at)}"
        return _joined([(condition, looks[condition.feature]) for condition in self.rule])

    def as_json(self) -> dict[str, Any]:
        """Return what `pattern_from_json` reads."""
        rule: dict[str, Any] = (
            {"score": self.rule.as_json()}
            if isinstance(self.rule, ScoreRule)
            else {"all": [condition.as_json() for condition in self.rule]}
        )
        return {"encoder": self.encoder.as_json()} | rule


def pattern_from_json(facts: Any) -> Pattern:
    """Read back what `Pattern.as_json` wrote; raise InvalidInput for anything else."""
    require(isinstance(facts, dict), "pattern", facts, "an object")
    encoder = encoder_from_json(facts.get("encoder"))
    conditions, score = facts.get("all"), facts.get("score")
    if score is None:
        few = isinstance(conditions, list) and 1 <= len(conditions) <= MOST_CONDITIONS
        require(few, "pattern: all", conditions, f"1 to {MOST_CONDITIONS} conditions")
        return Pattern(encoder, tuple(_condition_from_json(each, encoder) for each in conditions))
    require(isinstance(score, dict), "pattern: score", score, "an object")
    curves, kind = score.get("curves"), score.get("kind")
    few = isinstance(curves, list) and 1 <= len(curves) <= len(encoder.looks)
    require(few, "pattern: curves", curves, "a list, at least one and one for each feature at most")
    named = isinstance(kind, str) and len(kind) <= 20
    require(named, "pattern: kind", kind, "a short word")
    side, at = _side(score)
    return Pattern(
        encoder,
        ScoreRule(tuple(_curve_from_json(each, encoder) for each in curves), side, at, kind),
    )


def _feature(facts: Any, encoder: Encoder) -> int:
    """Return the feature that a part of a rule names."""
    require(isinstance(facts, dict), "pattern: condition", facts, "an object")
    index = facts.get("feature")
    known = is_count(index, 0) and index < len(encoder.looks)
    require(known, "pattern: feature", index, "the index of a feature")
    return int(index)


def _side(facts: dict[str, Any]) -> tuple[str, float]:
    """Return side and threshold."""
    side, at = facts.get("side"), facts.get("threshold")
    require(side in {AT_LEAST, BELOW} if isinstance(side, str) else False, "pattern: side", side,
            f"{AT_LEAST!r} or {BELOW!r}")  # fmt: skip
    if isinstance(at, bool) or not finite(at):
        raise InvalidInput(f"pattern: threshold = {at!r:.80}: must be a finite number")
    return str(side), float(at)  # type: ignore[arg-type]


def _condition_from_json(facts: Any, encoder: Encoder) -> Condition:
    """Read a condition."""
    index = _feature(facts, encoder)
    look = encoder.looks[index]
    if not look.coded:
        return Threshold(index, *_side(facts))
    codes = facts.get("codes")
    valid = (
        isinstance(codes, list)
        and len(codes) > 0
        and all(is_count(code, 0) and code < look.codes for code in codes)
        and sorted(set(codes)) == codes
    )
    require(valid, "pattern: codes", codes, "ascending codes of the feature's values")
    return OneOf(index, tuple(map(int, codes)))


def _curve_from_json(facts: Any, encoder: Encoder) -> ScoreCurve:
    """Read a curve."""
    index = _feature(facts, encoder)
    knots, heights = facts.get("knots"), facts.get("heights")
    valid = (
        isinstance(knots, list)
        and isinstance(heights, list)
        and 1 <= len(knots) == len(heights) <= MOST_KNOTS
        and all(map(finite, knots + heights))
        and all(one < other for one, other in pairwise(knots))
    )
    require(valid, "pattern: knots", knots, "ascending finite numbers, each with a finite height")
    look = encoder.looks[index]
    coded = look.coded and knots == list(range(look.codes))
    return ScoreCurve(index, tuple(map(float, knots)), tuple(map(float, heights)), coded)


def _joined(conditions: Sequence[tuple[Condition, Feature]]) -> str:
    """Say several conditions: first answers that are the same together, a range as one."""
    ordered = sorted(conditions, key=lambda each: (isinstance(each[1].place, str), each[1].place))
    same = _first_same(ordered)
    if same > 1:
        value = ordered[0][0].words(ordered[0][1]).removeprefix("answer 1 is ")
        begin = f"the first {['two', 'three'][same - 2]} answers are {value}"
        return listed([begin, *(c.words(f) for c, f in ordered[same:])])
    if len(ordered) == 2 and ordered[0][1] == ordered[1][1]:
        (one, look), (other, _) = ordered
        if isinstance(one, Threshold) and isinstance(other, Threshold) and one.side != other.side:
            low, high = (one, other) if one.side == AT_LEAST else (other, one)
            return (
                f"{look.name} is at least {plain_number(low.at)} and below {plain_number(high.at)}"
            )
    return listed([c.words(f) for c, f in ordered])


def _first_same(ordered: Sequence[tuple[Condition, Feature]]) -> int:
    """Return how many of the first answers have the same single value by these conditions."""
    values: list[Key] = []
    for place, (condition, look) in enumerate(ordered):
        keys = condition.keys(look) if isinstance(condition, OneOf) else []
        if (
            look.kind != "value"
            or look.place != place
            or len(keys) != 1
            or keys[0] in {NUMBER, ABSENT, OTHER}
        ):
            break
        if values and keys[0] != values[0]:
            break
        values.append(keys[0])
    return len(values)
