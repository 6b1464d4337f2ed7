"""Classes of functions on a line: thresholds and intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.mechanisms.shared.hypothesis_class import Labels, Points, Rule, column, require_columns


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
