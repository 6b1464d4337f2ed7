"""Scores: learned orders of outputs by likelihood ratio, as sums of curves that NumPy evaluates."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpassay.search.columns import Array
from dpassay.search.features import SINGLE, Feature
from dpassay.search.rules import AT_LEAST, ScoreCurve, ScoreRule
from dpassay.search.views import HUGE

BINS = 12
"""Bins of a number whose log ratios are added up."""
KNOTS = 5
"""Knots of a spline of degree 1."""
MOST_CODES = 12
"""Tables with more values are left out of the regressions."""
MOST_COLUMNS = 16
"""Features of a regression."""
MOST_ROWS = 3000
"""TwoSides of each side from which a regression is learned."""
PENALTY = 1.0
"""Ridge penalty: the C of scikit-learn."""
DIGITS = 4
"""Decimals of heights, significant digits of knots: the same score comes out everywhere."""

OWN = frozenset({"number", "value"})
"""Features of single places, which are taken for independent where log ratios are added up."""
LEFT_OUT = frozenset({"whole", "sum", "distance", "difference", "form"})
"""Features that a regression does without: others say the same."""


@dataclass(frozen=True, slots=True)
class TwoSides:
    """Features of outputs on two datasets, and of how many outputs they are a part.

    Features by rows (F, n), of the `m1` and `m0` outputs those that fulfil what was chosen before.
    """

    one: Array
    other: Array
    m1: int
    m0: int

    def where(self, one: NDArray[np.bool_], other: NDArray[np.bool_]) -> TwoSides:
        """Return the outputs that fulfil something, out of as many as before."""
        return TwoSides(self.one[:, one], self.other[:, other], self.m1, self.m0)


def binned(rows: TwoSides, looks: Sequence[Feature], fewest: int = 2) -> Iterator[ScoreRule]:
    """Learn the sum of the log ratios of each place by itself, the best if they are independent.

    And that of their mean, which is known better, the best if one answer is given many times. None
    where there are no two, or so many, to add up: the order of one number is that of the number, of
    its distance from a centre, or of a table of values, unless it is a range that tells.
    """
    curves = []
    places = {look.place for look in looks if look.kind == "number"}
    for j, look in enumerate(looks):
        if look.kind not in OWN or (look.kind == "value" and look.place in places):
            continue
        knots = _codes(look) if look.coded else _quantiles(rows, j, BINS)
        if len(knots) > 1:
            curves.append(_curve(j, knots, _log_ratio(rows, j, knots), look.coded))
    if len(curves) >= fewest:
        yield ScoreRule(tuple(curves), AT_LEAST, 0.0, "binned")
    alike = [curve for curve in curves if len(curve.knots) == BINS and not curve.listed]
    if len(alike) > 2:
        mean = tuple(np.mean([curve.heights for curve in alike], axis=0).round(DIGITS).tolist())
        yield ScoreRule(
            tuple(replace(curve, heights=mean) for curve in alike), AT_LEAST, 0.0, "pooled"
        )


def _log_ratio(rows: TwoSides, j: int, knots: Array) -> Array:
    """Smoothed log ratio of the shares near each knot; 0 where nothing is."""
    middles = (knots[1:] + knots[:-1]) / 2
    shares = []
    for values in (rows.one[j], rows.other[j]):
        valid = values[~np.isnan(values)]
        counts = np.bincount(np.searchsorted(middles, valid), minlength=len(knots))
        shares.append((counts + 2.0) / (len(values) + 2.0 * len(knots)))
    found: Array = np.log(shares[0] / shares[1])
    return found


def regressions(
    rows: TwoSides, looks: Sequence[Feature], ranked: Sequence[int]
) -> Iterator[ScoreRule]:
    """Learn which side an output is of, by linear and by spline logistic regression.

    Nothing is learned of outputs without parts; see `binned`.

    `ranked` are features, the most telling first.
    """
    usable = [
        j for j in ranked if looks[j].kind not in LEFT_OUT and looks[j].codes <= MOST_CODES + 1
    ][:MOST_COLUMNS]
    few = TwoSides(rows.one[:, :MOST_ROWS], rows.other[:, :MOST_ROWS], rows.m1, rows.m0)
    for kind, size in (("linear", 2), ("spline", KNOTS)):
        knots = {
            j: _codes(looks[j]) if looks[j].coded else _quantiles(few, j, size) for j in usable
        }
        knots = {j: at for j, at in knots.items() if len(at) > 1}
        if len(knots) > 1 and any(looks[j].place != SINGLE for j in knots):
            yield _regression(few, knots, kind, looks)


def _regression(
    rows: TwoSides, knots: dict[int, Array], kind: str, looks: Sequence[Feature]
) -> ScoreRule:
    """Ridge logistic regression on the hat functions of the knots."""
    from sklearn.exceptions import ConvergenceWarning  # a second to import
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    columns = [np.concatenate([rows.one[j], rows.other[j]]) for j in knots]
    hats = [_hats(column, at) for column, at in zip(columns, knots.values(), strict=True)]
    labels = np.repeat([1, 0], [rows.one.shape[1], rows.other.shape[1]])
    model = LogisticRegression(C=PENALTY, solver="newton-cholesky", max_iter=30)
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(np.concatenate(hats, axis=1), labels)
    heights = np.split(model.coef_[0], np.cumsum([len(at) for at in knots.values()])[:-1])
    curves = [
        _curve(j, at, height, looks[j].coded)
        for (j, at), height in zip(knots.items(), heights, strict=True)
    ]
    return ScoreRule(tuple(curves), AT_LEAST, 0.0, kind)


def _hats(column: Array, knots: Array) -> Array:
    """Values of the hat function of each knot (n, knots); 0 where there is no number."""
    at = np.clip(column, knots[0], knots[-1])
    missing = np.isnan(at)
    at = np.where(missing, knots[0], at)
    left = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
    part = (at - knots[left]) / (knots[left + 1] - knots[left])
    found = np.zeros((len(at), len(knots)))
    rows = np.arange(len(at))
    found[rows, left], found[rows, left + 1] = 1 - part, part
    found[missing] = 0.0
    return found


def _codes(look: Feature) -> Array:
    """Knots of a coded feature: its codes."""
    return np.arange(look.codes, dtype=float)


def _quantiles(rows: TwoSides, j: int, size: int) -> Array:
    """Knots of a number: quantiles of both sides together, with few digits."""
    both: Array = np.concatenate([rows.one[j], rows.other[j]])
    both = both[np.abs(both) <= HUGE]
    if not len(both):
        return both
    levels = (np.arange(size) + 0.5) / size if size > KNOTS else np.linspace(0.01, 0.99, size)
    both.sort()
    found = both[(levels * len(both)).astype(np.intp)]
    spread = float(found[-1] - found[0])
    if spread < 1 / HUGE:
        return both[:1]
    step = 10.0 ** (np.floor(np.log10(spread)) - 3)
    knots: Array = np.unique(np.round(found / step) * step)
    return knots


def _curve(j: int, knots: Array, heights: Array, coded: bool) -> ScoreCurve:
    """A curve whose numbers have few digits."""
    short: Array = np.round(heights, DIGITS)
    return ScoreCurve(j, tuple(knots.tolist()), tuple((short + 0.0).tolist()), coded)
