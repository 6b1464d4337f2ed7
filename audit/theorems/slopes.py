"""Growth as a slope: how a number of another row grows along one name of its cases, over a decade.

A statement with O(.) says how a number grows, not how large it is. Here a row's number is computed
on a grid of a decade or more, and the slopes of its logarithm and of the printed expression's, by
least squares, are compared. The slope of the true number has an interval: where every point is
between its bounds, the slope is in there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Relation, Row, Series

POINTS = 9
DECADE = 10.0
WITHIN = 0.01
"""By so much the slope of a number may be below that of its lower bound: rounding up to whole
examples, and what vanishes beside the leading term, raise the small numbers by a larger part."""
WHOLE = ("n", "k", "d", "bins")
"""Names that stand for whole numbers."""
HOW = {
    "at most": "no faster than",
    "at least": f"as fast as, but for {WITHIN:g} in the slope,",
}
Measure = Callable[..., Measured]


def grid(along: str, first: float, last: float) -> list[float]:
    """Return places evenly spaced on a log scale; whole numbers where the name stands for them."""
    places = np.geomspace(first, last, POINTS)
    return sorted({round(each) if along in WHOLE else float(each) for each in places})


def series(measure: Measure, along: str, first: float, last: float, **fixed: Any) -> Series:
    """Measure a row's number on a grid of the name `along`, at least a decade long.

    `fixed` is the rest of the case.
    """
    if max(first, last) < DECADE * min(first, last) * (1 - 1e-12):
        raise ValueError(f"{along} from {first:g} to {last:g} is less than a decade")
    places = grid(along, first, last)
    return Series(
        along=along,
        points=tuple((each, measure(**fixed, **{along: each})) for each in places),
    )


def slopes(found: Series) -> Measured:
    """Return the slope of the claimed number and bounds on that of the true one.

    Against the name itself where numbers grow with it, and against 1 / name where they fall: so the
    slope in n, k or d, and in 1 / alpha, 1 / epsilon, 1 / gamma or 1 / lambda.
    """
    x = np.log([place for place, _ in found.points])
    x = (x - x.mean()) * (1 if found.along in WHOLE else -1)
    weights = x / (x @ x)
    claimed, lower, upper = (
        np.log([getattr(each, name) for _, each in found.points])
        for name in ("claimed", "lower", "upper")
    )
    low = float(np.where(weights > 0, lower, upper) @ weights)
    high = float(np.where(weights > 0, upper, lower) @ weights)
    error = _rounding(weights, claimed, lower, upper)
    return Measured(claimed=float(claimed @ weights), lower=low - error, upper=high + error)


def _rounding(weights: NDArray[np.float64], *logs: NDArray[np.float64]) -> float:
    """Bound what rounding does to a slope: a few units of the sum of all its terms."""
    most = max(float(np.abs(weights) @ (1 + np.abs(each))) for each in logs)
    return 8 * POINTS * UNIT_ROUNDOFF * most if math.isfinite(most) else math.inf


def slope_row(
    key: str,
    measure: Measure,
    cases: Sequence[Case],
    *,
    number: str,
    relation: Relation = "at most",
) -> Row:
    """Return the row that holds the slope of a number against that of what is printed.

    Cases are keywords of `series`, but for `measure`. The relation is "at most" for what is
    said to be O(.), "at least" for Omega(.).
    """

    @cache
    def found(**case: Any) -> Series:
        return series(measure, **case)

    def measured(**case: Any) -> Measured:
        slope = slopes(found(**case))
        return slope if relation == "at most" else replace(slope, claimed=slope.claimed - WITHIN)

    def listed(_: Effort) -> Sequence[Case]:
        return cases

    return Row(
        key=key,
        checks=f"over a decade or more {number} grows {HOW[relation]} what is printed",
        quantity=f"slope of {number} on a log-log scale",
        method="exact",
        domain="; ".join(map(_span, cases)),
        cases=listed,
        measure=measured,
        relation=relation,
        series=found,
    )


def _span(case: Case) -> str:
    fixed = ", ".join(
        f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in case.items()
        if name not in ("along", "first", "last")
    )
    span = f"{case['along']} from {case['first']:g} to {case['last']:g}"
    return f"{span} ({fixed})" if fixed else span
