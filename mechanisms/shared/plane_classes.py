"""Classes of functions on a plane: corners, and halfspaces on a grid."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import is_count, require
from dpassay.mechanisms.shared.hypothesis_class import (
    Labels,
    Points,
    Rule,
    column,
    require_columns,
    require_domain,
)
from dpassay.mechanisms.shared.line_classes import after


@dataclass(frozen=True, slots=True, kw_only=True)
class Corners:
    """h_ab(x) = 1 if x_1 >= a and x_2 >= b: thresholds in two dimensions.

    The parameters are a and b. d = 2.

    Rules: `least` has the largest a and b, `greatest` the smallest a and then the smallest b,
    `middle` is halfway, by number where both are finite; the labelling without a 1 is represented
    by a = b = inf.

    Parameters
    ----------
    feature, feature2 : int
        Columns of X; >= 0.
    """

    feature: int = 0
    feature2: int = 1

    def __post_init__(self) -> None:
        require_columns(self.feature, self.feature2)

    @property
    def vc_dimension(self) -> int:
        """VC dimension: d = 2."""
        return 2

    def check(self, X: Points) -> None:
        """Every number is in the domain."""
        column(X, self.feature), column(X, self.feature2)

    def growth(self, m: int) -> int:
        """Growth function: m (m + 1) / 2 + 1.

        On a descending chain corners are the intervals, and Lemma 2 allows no more.
        """
        return m * (m + 1) // 2 + 1

    def representatives(self, T: Points, rule: Rule) -> Points:
        """The empty corner, then by a and b."""
        xs, ys = column(T, self.feature), column(T, self.feature2)
        a, b = (each.ravel() for each in np.meshgrid(np.unique(xs), np.unique(ys), indexing="ij"))
        inside = (xs >= a[:, None]) & (ys >= b[:, None])
        some = inside.any(axis=1)
        _, first = np.unique(inside[some], axis=0, return_index=True)
        inside = inside[some][np.sort(first)]
        least = np.stack([np.where(inside, each, np.inf).min(axis=1) for each in (xs, ys)], axis=1)
        empty = np.full((1, 2), np.inf)
        if rule == "least":
            return np.concatenate([empty, least])
        smallest_a = after(np.where(~inside & (ys >= least[:, 1:]), xs, -np.inf).max(axis=1))
        smallest_b = after(np.where(~inside & (xs >= smallest_a[:, None]), ys, -np.inf).max(axis=1))
        greatest = np.stack([smallest_a, smallest_b], axis=1)
        if rule == "greatest":
            return np.concatenate([empty, greatest])
        with np.errstate(invalid="ignore"):
            return np.concatenate(
                [empty, np.where(np.isfinite(greatest), greatest + (least - greatest) / 2, least)]
            )

    def predict(self, hypotheses: Points, X: Points) -> Labels:
        """See the class."""
        found: Labels = (column(X, self.feature) >= hypotheses[:, :1]) & (
            column(X, self.feature2) >= hypotheses[:, 1:]
        )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Halfspaces:
    """Halfspaces 1 if <w, x> >= b on the grid {1, ..., points}^2.

    The parameter is a place in `table`. d = 3.

    Rules: of the functions with a labelling, ordered by their number of ones and then as `table`
    is, the first, the last or the middle one.

    Parameters
    ----------
    points : int
        Grid points per side, 2 to 8.
    feature, feature2 : int
        Columns of X; >= 0.
    """

    points: int = 3
    feature: int = 0
    feature2: int = 1

    def __post_init__(self) -> None:
        allowed = "an integer from 2 to 8"
        require(is_count(self.points) and 2 <= self.points <= 8, "points", self.points, allowed)
        require_columns(self.feature, self.feature2)

    @property
    def table(self) -> Labels:
        """Labels of all halfspaces, shape (functions, points^2).

        Grid points row by row, the second coordinate fastest.
        """
        if self.points not in HALFSPACES:
            HALFSPACES[self.points] = halfspaces(self.points)
        return HALFSPACES[self.points]

    @property
    def vc_dimension(self) -> int:
        """VC dimension: d = 3."""
        return 3

    def check(self, X: Points) -> None:
        """Raise `InvalidInput` unless both coordinates are in {1, ..., points}."""
        for feature in (self.feature, self.feature2):
            require_domain(column(X, feature), self.points)

    def growth(self, m: int) -> int:
        """m^2 - m + 2 (Cover 1965), for points in general position.

        No more than there are halfspaces.
        """
        return 1 if m == 0 else min(m * m - m + 2, len(self.table))

    def representatives(self, T: Points, rule: Rule) -> Points:
        """Places in the table, in ascending order of the labellings."""
        return chosen(self.table[:, self._cells(T)], rule)[:, None].astype(float)

    def predict(self, hypotheses: Points, X: Points) -> Labels:
        """See the class."""
        found: Labels = self.table[hypotheses[:, 0].astype(np.int64)][:, self._cells(X)]
        return found

    def _cells(self, X: Points) -> NDArray[np.int64]:
        cells = (column(X, self.feature) - 1) * self.points + column(X, self.feature2) - 1
        return cells.astype(np.int64)


def chosen(labellings: Labels, rule: Rule) -> NDArray[np.int64]:
    """Rows that represent their labelling, by a rule of `Halfspaces`.

    For a table whose rows ascend in their number of ones.
    """
    _, inverse, counts = np.unique(labellings, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    starts = np.cumsum(counts) - counts
    place = {"least": 0 * counts, "greatest": counts - 1, "middle": counts // 2}[rule]
    found: NDArray[np.int64] = order[starts + place]
    return found


HALFSPACES: dict[int, Labels] = {}
"""Tables that were made before."""


def halfspaces(side: int) -> Labels:
    """All labellings of the grid {1, ..., side}^2 by halfspaces.

    Ordered by their number of ones, and then lexicographically.

    Every labelling by a halfspace is one by a line that separates strictly. Turned until it nearly
    touches two grid points, it has a normal next to that of a line through two of them: so all
    thresholds along such normals, turned a little to either side, give all labellings.
    """
    grid = np.array(list(itertools.product(range(1, side + 1), repeat=2)), dtype=float)
    steps = [
        (dx, dy)
        for dx in range(-side + 1, side)
        for dy in range(-side + 1, side)
        if math.gcd(dx, dy) == 1
    ]
    tilt = 1 / (4 * side**3)  # orders points on one line, and moves no others past each other
    found = {tuple(np.zeros(side**2, dtype=bool)), tuple(np.ones(side**2, dtype=bool))}
    for (dx, dy), sign in itertools.product(steps, (-1, 1)):
        heights = grid @ np.array([-dy + sign * tilt * dx, dx + sign * tilt * dy])
        found |= {tuple(heights >= height) for height in np.unique(heights)}
    rows = np.array(sorted(found, key=lambda row: (sum(row), row)), dtype=bool)
    rows.flags.writeable = False
    return rows
