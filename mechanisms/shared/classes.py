"""Hypothesis classes H of Boolean functions, and the class H_T of all labellings of T.

Source: Dagan and Feldman (2020), section 2.1.

h ~_T g if h(x) = g(x) for all x in T; H_T has one representative of each class of this relation,
"chosen arbitrarily". Which one is a parameter here, as privacy and stability depend on it: a
`Rule`. Representatives depend on T alone, never on labels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import InvalidInput, is_count, require

Points = NDArray[np.float64]
Labels = NDArray[np.bool_]

Rule = Literal["least", "greatest", "middle", "adverse"]
"""Representative of a labelling of T: the function with the fewest ones elsewhere, with the most,
or one between them; or chosen to leak, which is known for thresholds alone."""
RULES: tuple[Rule, ...] = ("least", "greatest", "middle")
"""Those that every class has."""

MOST_FUNCTIONS = 1 << 16
"""Hypotheses that a finite class may have."""


class HypothesisClass(Protocol):
    """A class H of functions from X to {0, 1}; a hypothesis is a row of parameters."""

    @property
    def vc_dimension(self) -> int:
        """d: the size of the largest set that H labels in all ways."""
        ...

    def check(self, X: Points) -> None:
        """Raise `InvalidInput` if a point, shape (n, columns), lies outside the domain."""
        ...

    def growth(self, m: int) -> int:
        """tau_m(H): the most labellings that H gives to m points."""
        ...

    def representatives(self, T: Points, rule: Rule) -> Points:
        """H_T: one hypothesis for each labelling of the points T, shape (k, parameters).

        In an order that T alone decides.
        """
        ...

    def predict(self, hypotheses: Points, X: Points) -> Labels:
        """Labels of n points by k hypotheses, shape (k, n)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OnLine:
    """What classes of functions on a line share.

    Parameters
    ----------
    feature : int
        Column of X that is the line; >= 0.
    """

    feature: int = 0

    def __post_init__(self) -> None:
        require_columns(self.feature)

    def check(self, X: Points) -> None:
        """Every number is in the domain."""
        column(X, self.feature)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds(OnLine):
    """h_t(x) = 1 if x >= t, for t in [-inf, inf]; the parameter is t. d = 1.

    Rules: t lies above the last point labelled 0, up to the first one labelled 1. `least` is that
    upper end, `greatest` the next number above the lower one, `middle` the midpoint; where one end
    is infinite, the other. `adverse` is the midpoint too, but below the first point x of T and
    above the last one it is as near to x as can be if floor(x) is odd, else infinite.
    """

    @property
    def vc_dimension(self) -> int:
        """VC dimension: d = 1."""
        return 1

    def growth(self, m: int) -> int:
        """Growth function: m + 1."""
        return m + 1

    def representatives(self, T: Points, rule: Rule) -> Points:
        """Thresholds in ascending order."""
        return gap_ends(np.unique(column(T, self.feature)), rule)[:, None]

    def predict(self, hypotheses: Points, X: Points) -> Labels:
        """See the class."""
        found: Labels = column(X, self.feature) >= hypotheses[:, :1]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals(OnLine):
    """h_ab(x) = 1 if a <= x <= b, and the function without a 1 (a > b); the parameters are a and b.

    d = 2.

    Rules: `least` is [first point labelled 1, last point labelled 1], `greatest` reaches out to the
    next points labelled 0, `middle` half of the way; the labelling without a 1 is represented by
    the empty interval.
    """

    @property
    def vc_dimension(self) -> int:
        """VC dimension: d = 2."""
        return 2

    def growth(self, m: int) -> int:
        """Growth function: m (m + 1) / 2 + 1."""
        return m * (m + 1) // 2 + 1

    def representatives(self, T: Points, rule: Rule) -> Points:
        """The empty interval, then by first and last point."""
        xs = np.unique(column(T, self.feature))
        starts, ends = gap_ends(xs, rule)[:-1], -gap_ends(-xs[::-1], rule)[:-1][::-1]
        i, j = np.triu_indices(len(xs))
        return np.concatenate([[[np.inf, -np.inf]], np.stack([starts[i], ends[j]], axis=1)])

    def predict(self, hypotheses: Points, X: Points) -> Labels:
        """See the class."""
        xs = column(X, self.feature)
        found: Labels = (xs >= hypotheses[:, :1]) & (xs <= hypotheses[:, 1:])
        return found


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
        require(
            is_count(self.points) and 2 <= self.points <= 8,
            "points",
            self.points,
            "an integer from 2 to 8",
        )
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
        require(
            2 ** len(seen) <= MOST_FUNCTIONS,
            "points",
            self.points,
            f"so few that T has at most {MOST_FUNCTIONS:,} labellings",
        )
        values = np.tile(self.elsewhere(rule), (2 ** len(seen), 1))
        values[:, seen] = list(itertools.product((False, True), repeat=len(seen)))
        return values.astype(float)

    def predict(self, hypotheses: Points, X: Points) -> Labels:
        """See the class."""
        found: Labels = hypotheses[:, column(X, self.feature).astype(np.int64) - 1] == 1
        return found


CLASSES: dict[str, Callable[..., HypothesisClass]] = {
    "thresholds": Thresholds,
    "intervals": Intervals,
    "corners": Corners,
    "halfspaces": Halfspaces,
    "functions": Functions,
}
"""Names that the parameter `H` of an entry may take."""


def class_of(H: Any, *, points: int, feature: int, feature2: int) -> HypothesisClass:
    """Return a class given by its name, with those of the parameters that it has.

    An object as it is.

    Raises
    ------
    InvalidInput
        If there is no such class, or a parameter is out of its range.
    """
    if not isinstance(H, str):
        lacking = [
            name
            for name in ("vc_dimension", "check", "growth", "representatives", "predict")
            if not hasattr(H, name)
        ]
        if lacking:
            raise InvalidInput(f"H = {H!r}: must be a hypothesis class; it has no {lacking[0]}")
        found: HypothesisClass = H
        return found
    require(H in CLASSES, "H", H, f"one of {', '.join(CLASSES)}")
    given = {"points": points, "feature": feature, "feature2": feature2}
    fields = CLASSES[H].__dataclass_fields__  # type: ignore[attr-defined]
    return CLASSES[H](**{name: value for name, value in given.items() if name in fields})


def column(X: Points, feature: int) -> Points:
    """Return a column of the data, shape (n,), or raise `InvalidInput` if there is none."""
    require(
        feature < X.shape[1], "feature", feature, f"a column of the data, 0 to {X.shape[1] - 1}"
    )
    return X[:, feature]


def require_columns(*features: int) -> None:
    """Raise `InvalidInput` unless columns are named by different integers >= 0."""
    for feature in features:
        require(isinstance(feature, int) and feature >= 0, "feature", feature, "an integer >= 0")
    require(
        len(set(features)) == len(features),
        "feature2",
        features[-1],
        f"another column than feature = {features[0]}",
    )


def require_domain(values: Points, points: int) -> None:
    """Raise `InvalidInput` unless all values are in {1, ..., points}."""
    outside = ~np.isin(values, np.arange(1, points + 1))
    if outside.any():
        raise InvalidInput(
            f"x = {values[outside][0]:g}: must be in the domain, an integer from 1 to points = "
            f"{points}"
        )


def after(x: Points) -> Points:
    """Return the next number above each, so that x' >= after(x) means x' > x; -inf stays."""
    return np.where(np.isneginf(x), x, np.nextafter(x, np.inf))


def gap_ends(xs: Points, rule: Rule) -> Points:
    """Thresholds of the m + 1 gaps of m ascending numbers, by a rule, shape (..., m + 1).

    The rule is one of `Thresholds`.
    """
    beyond = np.full((*xs.shape[:-1], 1), np.inf)
    low, high = np.concatenate([-beyond, xs], axis=-1), np.concatenate([xs, beyond], axis=-1)
    if rule == "least":
        return high
    if rule == "greatest":
        return after(low)
    with np.errstate(invalid="ignore"):
        middle = np.where(
            np.isinf(low), high, np.where(np.isinf(high), after(low), low + (high - low) / 2)
        )
    found: Points = np.maximum(middle, after(low))
    if rule == "adverse":
        far = np.floor(xs[..., [0, -1]]) % 2 == 0
        found[..., [0, -1]] = np.where(far, [-np.inf, np.inf], found[..., [0, -1]])
    return found


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
