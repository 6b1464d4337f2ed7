"""The class of all functions on a few points."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from dpassay.errors import is_count, require
from dpassay.mechanisms.shared.hypothesis_class import (
    Labels,
    Points,
    Rule,
    column,
    require_columns,
    require_domain,
)

MOST_FUNCTIONS = 1 << 16
"""Hypotheses that a finite class may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Functions:
    """All functions on {1, ..., points}; the parameters are their values. d = points.

    Rules: at points that are not in T, `least` answers 0, `greatest` 1, and `middle` 1 at the odd
    ones.

    Parameters
    ----------
    points : int
        d >= 1.
    feature : int
        Column of X that has the point; >= 0.
    """

    points: int = 3
    feature: int = 0

    def __post_init__(self) -> None:
        require(is_count(self.points), "points", self.points, "an integer >= 1")
        require_columns(self.feature)

    @property
    def vc_dimension(self) -> int:
        """VC dimension: d = points."""
        return self.points

    def check(self, X: Points) -> None:
        """Raise `InvalidInput` unless every point is in {1, ..., points}."""
        require_domain(column(X, self.feature), self.points)

    def growth(self, m: int) -> int:
        """2^min(m, d)."""
        return int(2 ** min(m, self.points))

    def elsewhere(self, rule: Rule) -> Labels:
        """What representatives answer at each point that is not in T, shape (points,)."""
        odd = np.arange(1, self.points + 1) % 2 == 1
        answers: dict[Rule, Labels] = {
            "least": np.zeros_like(odd),
            "greatest": np.ones_like(odd),
            "middle": odd,
        }
        return answers[rule]

    def representatives(self, T: Points, rule: Rule) -> Points:
        """In the order of the labellings read as binary numbers."""
        seen = np.unique(column(T, self.feature)).astype(np.int64) - 1
        allowed = f"so few that T has at most {MOST_FUNCTIONS:,} labellings"
        require(2 ** len(seen) <= MOST_FUNCTIONS, "points", self.points, allowed)
        values = np.tile(self.elsewhere(rule), (2 ** len(seen), 1))
        values[:, seen] = list(itertools.product((False, True), repeat=len(seen)))
        return values.astype(float)

    def predict(self, hypotheses: Points, X: Points) -> Labels:
        """See the class."""
        found: Labels = hypotheses[:, column(X, self.feature).astype(np.int64) - 1] == 1
        return found
