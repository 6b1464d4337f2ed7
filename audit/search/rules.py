"""Rules: the conditions and scores that events are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dpassay.search.columns import Array, Mask
from dpassay.search.features import LARGEST_TABLE, Feature
from dpassay.search.values import NUMBER, OTHER, Key, key_words, plain_number
from dpassay.search.views import View

AT_LEAST, BELOW = "at least", "below"
LISTED = 6
"""More values than these are counted in words, not listed."""
MISSING_SCORE = 0.0
"""What a number that is not there adds to a score."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A feature is at least, or below, a threshold; what has no such number fulfils neither."""

    feature: int
    side: str
    at: float

    def of(self, column: Array) -> Mask:
        """Return whether it holds, from the feature's numbers."""
        found: Mask = (
            column >= np.float64(self.at) if self.side == AT_LEAST else column < np.float64(self.at)
        )
        return found

    def holds(self, feature: Feature, view: View) -> Mask:
        """Return whether it holds, from outputs."""
        if feature.kind == "number":
            return view.column(feature.at).beyond(self.at, below=self.side == BELOW)
        return self.of(feature.compute(view))

    def words(self, feature: Feature) -> str:
        """Say it."""
        return f"{feature.name} is {self.side} {plain_number(self.at)}"

    def as_json(self) -> dict[str, Any]:
        """Return what `_condition_from_json` reads."""
        return {"feature": self.feature, "side": self.side, "threshold": self.at}


@dataclass(frozen=True, slots=True)
class OneOf:
    """A coded feature has one of these codes.

    Codes ascend; the length of the feature's table stands for all other values.
    """

    feature: int
    codes: tuple[int, ...]

    def of(self, column: Array) -> Mask:
        """Return whether it holds, from the feature's codes."""
        chosen = np.zeros(LARGEST_TABLE + 1, dtype=bool)
        chosen[list(self.codes)] = True
        return np.asarray(chosen[column.astype(np.intp)])

    def holds(self, feature: Feature, view: View) -> Mask:
        """Return whether it holds, from outputs."""
        if (
            feature.kind == "value"
            and NUMBER not in feature.table
            and self.codes == tuple(range(len(feature.table)))
        ):
            return view.column(feature.at).member(feature.table)
        return self.of(feature.compute(view))

    def keys(self, feature: Feature) -> list[Key]:
        """Return the values it names; `OTHER` for all that have no code."""
        return [feature.table[k] if k < len(feature.table) else OTHER for k in self.codes]

    def words(self, feature: Feature) -> str:
        """Say it: the values it names, or those it does not where they are fewer."""
        keys = self.keys(feature)
        if OTHER in keys:
            left = [key for k, key in enumerate(feature.table) if k not in set(self.codes)]
            if not left:
                return f"{feature.name} is anything"
            return f"{feature.name} is {_any_of(left, 'neither', 'nor', 'not')}"
        return f"{feature.name} is {_any_of(keys, 'either', 'or', '')}"

    def as_json(self) -> dict[str, Any]:
        """Return what `_condition_from_json` reads."""
        return {"feature": self.feature, "codes": list(self.codes)}


Condition: TypeAlias = Threshold | OneOf


@dataclass(frozen=True, slots=True)
class ScoreCurve:
    """What a feature adds to a score: straight between knots, constant beyond them.

    Where it is `listed`, the feature is coded, the knots are all its codes, and heights are looked
    up.
    """

    feature: int
    knots: tuple[float, ...]
    heights: tuple[float, ...]
    listed: bool = False

    def of(self, column: Array) -> Array:
        """Return its part of the score, from the feature's numbers."""
        if self.listed:
            return np.asarray(self.heights)[column.astype(np.intp)]
        found = np.interp(column, self.knots, self.heights)
        return np.where(np.isnan(found), MISSING_SCORE, found)

    def as_json(self) -> dict[str, Any]:
        """Return what `_curve_from_json` reads."""
        return {"feature": self.feature, "knots": list(self.knots), "heights": list(self.heights)}


@dataclass(frozen=True, slots=True)
class ScoreRule:
    """A sum of curves is at least, or below, a threshold.

    `kind` says how it was learned: 'linear', 'spline', 'binned', 'pooled'.
    """

    curves: tuple[ScoreCurve, ...]
    side: str
    at: float
    kind: str

    def total(self, columns: Sequence[Array]) -> Array:
        """Return the score, from the numbers of the curves' features."""
        found = np.zeros(len(columns[0]))
        for curve, column in zip(self.curves, columns, strict=True):
            found += curve.of(column)
        return found

    def passes(self, total: Array) -> Mask:
        """Return whether a score is on its side of the threshold."""
        return Threshold(0, self.side, self.at).of(total)

    def as_json(self) -> dict[str, Any]:
        """Return what `pattern_from_json` reads."""
        return {
            "curves": [curve.as_json() for curve in self.curves],
            "side": self.side,
            "threshold": self.at,
            "kind": self.kind,
        }


def listed(names: Sequence[str], last: str = "and") -> str:
    """List in words."""
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _any_of(keys: Sequence[Key], begin: str, last: str, single: str) -> str:
    """List values in words: 'either a or b', 'neither a nor b', 'one of 9 values: a, ...'."""
    shown = [key_words(key) for key in keys]
    if len(shown) == 1:
        return f"{single} {shown[0]}".strip()
    if len(shown) <= LISTED:
        return f"{begin} {listed(shown, last)}"
    among = "none of" if single else "one of"
    return f"{among} {len(shown)} values ({', '.join(shown[:3])}, ...)"
