"""Smoothing: how the two sides' shares run along a number, with less chance in them than counts.

A threshold that is chosen by counts alone chases tiny ones. The log ratio of the two sides is
therefore fitted by few ramps (level, rising, level), which are exact for Laplace noise, near for
normal noise, and jumps where values have probabilities of their own. Both sides together tell how
many outputs there are along the number, the ramps only how many of them are of each side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.search.columns import Array
from dpassay.search.views import HUGE

Bins = NDArray[np.intp]

TAILS = 0.0004 * 1.4 ** np.arange(11)
LEVELS = np.unique(np.concatenate([TAILS, np.arange(2, 99) / 100, 1 - TAILS]))
"""Ranks of the thresholds that are compared."""
FINE = np.unique(np.concatenate([LEVELS, np.arange(8, 393) / 400]))
"""And where the last threshold is set by many outputs."""
FEWEST = 200
"""Of fewer numbers there is nothing to be smoothed."""
FEWEST_STEPS = 20
"""Nor of fewer different ones."""
KNOTS = 20
"""Where ramps begin and end, besides the two ends."""
MOST_RAMPS = 8
ENOUGH = 10.0
"""A further ramp must raise the score statistic by so much, about chi-squared."""
BENT = 8.0
"""And by so much for each of its ends that is not the end of the numbers."""
RIDGE = 0.01
STEPS = 12
"""Newton steps."""
APART = 9.0
"""Counts that lie further from the smoothed ones (squared, in variances) are believed instead."""


@dataclass(frozen=True, slots=True, eq=False)
class Smooth:
    """Smoothed counts of numbers that are at least a threshold, on two sides.

    Smoothed counts `x` and `y` (k,) at ascending thresholds, and the counts of all numbers.
    """

    at: Array
    x: Array
    y: Array
    all_x: int
    all_y: int

    def beyond(self, at: float, *, below: bool) -> tuple[float, float]:
        """Return smoothed counts of the numbers that are at least `at`, or below it."""
        x, y = float(np.interp(at, self.at, self.x)), float(np.interp(at, self.at, self.y))
        return (self.all_x - x, self.all_y - y) if below else (x, y)


def smooth(one: Array, other: Array, *, fine: bool = False) -> Smooth | None:
    """Smooth the counts of two sides along a number; None where there is too little.

    NaN are left out. Where it is `fine`, more thresholds are compared, and ramps begin and end at
    any.
    """
    one, other = (np.sort(side[~np.isnan(side)]) for side in (one, other))
    both = np.sort(np.concatenate([one, other]), kind="stable")  # of two sorted parts: a merge
    if len(both) < FEWEST or min(len(one), len(other)) < 2:
        return None
    at = np.unique(both[((FINE if fine else LEVELS) * len(both)).astype(np.intp)])
    at = at[np.abs(at) <= HUGE]
    if len(at) < FEWEST_STEPS:
        return None
    x, total = (
        np.diff(np.searchsorted(side, at), prepend=0, append=len(side)) for side in (one, both)
    )
    middles = np.concatenate([at[:1], (at[1:] + at[:-1]) / 2, at[-1:]])
    share = _fit(x.astype(float), total.astype(float), middles, fine=fine)
    beyond = slice(None, 0, -1)
    return Smooth(
        at=at,
        x=np.cumsum((total * share)[beyond])[::-1],
        y=np.cumsum((total * (1 - share))[beyond])[::-1],
        all_x=len(one),
        all_y=len(other),
    )


def credible(count: float, smoothed: float, trials: int) -> bool:
    """Return whether a count is what its smoothed value makes likely, out of so many trials."""
    share = min(max((smoothed + 0.5) / (trials + 1), 0.5 / (trials + 1)), 1 - 0.5 / (trials + 1))
    return (count - smoothed) ** 2 <= APART * (trials * share * (1 - share) + 0.25)


def _fit(x: Array, total: Array, at: Array, *, fine: bool) -> Array:
    """Return the share of the one side in each bin, by a logistic regression on chosen ramps.

    Ramps are added one by one, that with the largest score statistic first.

    `x` and `total` are counts of the one side and of both in each bin; the bins lie at ascending
    `at`.
    """
    bins = len(at)
    ends = np.concatenate([[0], np.linspace(1, bins - 2, KNOTS), [bins - 1]])
    knots = np.unique(ends.astype(int))  # where ramps may begin and end
    low, high = np.triu_indices(len(knots), 1)
    ramps = _ramps(at, knots[low], knots[high])
    price = BENT * ((low > 0).astype(float) + (high < len(knots) - 1))
    picked: list[int] = []
    chosen = np.ones((len(at), 1))
    weights = np.array([np.log((x.sum() + 0.5) / ((total - x).sum() + 0.5))])
    share = expit(chosen @ weights)
    while chosen.shape[1] <= MOST_RAMPS:
        spread = total * share * (1 - share)
        pull = ramps.T @ (x - total * share)
        cross = (chosen.T * spread) @ ramps
        inner = (chosen.T * spread) @ chosen + 1e-9 * np.eye(chosen.shape[1])
        known = (ramps**2 * spread[:, None]).sum(axis=0)
        left = known - (cross * np.linalg.solve(inner, cross)).sum(axis=0)
        usable = left > np.maximum(1e-3, 1e-9 * known)
        score = np.where(usable, pull**2 / np.where(usable, left, 1.0), 0.0) - price
        best = int(score.argmax())
        if score[best] < (ENOUGH if picked else 0.0):
            break
        picked.append(best)
        chosen = np.column_stack([chosen, ramps[:, best]])
        weights = _newton(chosen, np.append(weights, 0.0), x, total)
        share = expit(chosen @ weights)
    if fine and picked:
        share = _refined(np.stack([knots[low[picked]], knots[high[picked]]]), weights, x, total, at)
    return np.asarray(share)


def _refined(ends: Bins, weights: Array, x: Array, total: Array, at: Array) -> Array:
    """Return the shares that are likeliest when the ends of ramps are moved, one at a time.

    `ends` (2, r) are the bins where ramps begin and end; for the rest see `_fit`.
    """

    def fitted(ends: Bins, weights: Array) -> tuple[float, Array, Array]:
        columns = np.column_stack([np.ones(len(at)), _ramps(at, *ends)])
        found = _newton(columns, weights, x, total)
        odds = columns @ found
        likely = x @ odds - total @ np.logaddexp(0, odds) - RIDGE / 2 * found @ found
        return float(likely), found, expit(odds)

    best, weights, share = fitted(ends, weights)
    step = len(at) // (2 * KNOTS)
    while step:
        moved = False
        for side, ramp in np.ndindex(*ends.shape):
            for by in (-step, step):
                tried = ends.copy()
                tried[side, ramp] += by
                if not 0 <= tried[0, ramp] < tried[1, ramp] < len(at):
                    continue
                likely, found, shares = fitted(tried, weights)
                if likely > best:
                    best, weights, share, ends, moved = likely, found, shares, tried, True
        step = step if moved else step // 2
    return share


def _ramps(at: Array, low: Bins, high: Bins) -> Array:
    """Return ramps from bin to bin as columns: 0 before, 1 after."""
    width = np.maximum(at[high] - at[low], np.finfo(float).tiny)  # numbers may differ in one bit
    columns: Array = (np.clip(at[:, None], at[low], at[high]) - at[low]) / width
    return columns


def _newton(columns: Array, weights: Array, x: Array, total: Array) -> Array:
    """Fit a logistic regression of counts with a small ridge."""
    ridge = RIDGE * np.eye(columns.shape[1])
    for _ in range(STEPS):
        share = expit(columns @ weights)
        slope = columns.T @ (x - total * share) - RIDGE * weights
        bend = (columns.T * (total * share * (1 - share))) @ columns + ridge
        step = np.linalg.solve(bend, slope)
        size = float(np.abs(step).max())
        weights = weights + step * min(1.0, 3.0 / size if size > 0 else 1.0)
        if size < 1e-3:
            break
    return weights
