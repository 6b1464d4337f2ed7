"""Smoothing: how the two sides' shares run along a number, with less chance in them than counts.

A threshold that is chosen by counts alone chases tiny ones. The log ratio of the two sides is
therefore fitted by few ramps (level, rising, level), which are exact for Laplace noise, near for
normal noise, and jumps where values have probabilities of their own. Both sides together tell how
many outputs there are along the number, the ramps only how many of them are of each side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpassay.search.views import HUGE, Array

TAILS = 0.0004 * 1.4 ** np.arange(11)
LEVELS = np.unique(np.concatenate([TAILS, np.arange(2, 99) / 100, 1 - TAILS]))
"""Ranks of the thresholds that are compared."""
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

    Parameters
    ----------
    at : array (k,)
        Ascending thresholds.
    x, y : array (k,)
        Smoothed counts on the one side and on the other.
    all_x, all_y : int
        Counts of all numbers.
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


def smooth(one: Array, other: Array) -> Smooth | None:
    """Smooth the counts of two sides along a number; None where there is too little.

    Parameters
    ----------
    one, other : array
        The number on the two sides; NaN are left out.
    """
    one, other = (np.sort(side[~np.isnan(side)]) for side in (one, other))
    both = np.sort(np.concatenate([one, other]), kind="stable")  # of two sorted parts: a merge
    if len(both) < FEWEST or min(len(one), len(other)) < 2:
        return None
    at = np.unique(both[(LEVELS * len(both)).astype(np.intp)])
    at = at[np.abs(at) <= HUGE]
    if len(at) < FEWEST_STEPS:
        return None
    x, total = (
        np.diff(np.searchsorted(side, at), prepend=0, append=len(side)) for side in (one, both)
    )
    middles = np.concatenate([at[:1], (at[1:] + at[:-1]) / 2, at[-1:]])
    share = _fit(x.astype(float), total.astype(float), middles)
    beyond = slice(None, 0, -1)
    return Smooth(
        at=at,
        x=np.cumsum((total * share)[beyond])[::-1],
        y=np.cumsum((total * (1 - share))[beyond])[::-1],
        all_x=len(one),
        all_y=len(other),
    )


def credible(count: float, smoothed: float, trials: int) -> bool:
    """Whether a count is what its smoothed value makes likely, out of so many trials."""
    share = min(max((smoothed + 0.5) / (trials + 1), 0.5 / (trials + 1)), 1 - 0.5 / (trials + 1))
    return (count - smoothed) ** 2 <= APART * (trials * share * (1 - share) + 0.25)


def _fit(x: Array, total: Array, at: Array) -> Array:
    """Return the share of the one side in each bin, by a logistic regression on chosen ramps.

    Ramps are added one by one, that with the largest score statistic first.

    Parameters
    ----------
    x, total : array (k,)
        Counts of the one side and of both in each bin.
    at : array (k,)
        Where the bins lie, ascending.
    """
    ramps, price = _ramps(at)
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
        if score[best] < (ENOUGH if chosen.shape[1] > 1 else 0.0):
            break
        chosen = np.column_stack([chosen, ramps[:, best]])
        weights = _newton(chosen, np.append(weights, 0.0), x, total)
        share = expit(chosen @ weights)
    return np.asarray(share)


def _ramps(at: Array) -> tuple[Array, Array]:
    """Return all ramps between knots as columns, and what each has to raise the statistic by."""
    inner = np.unique(np.linspace(1, len(at) - 2, KNOTS).astype(np.intp))
    knots = np.unique(np.concatenate([at[:1], at[inner], at[-1:]]))
    low, high = np.triu_indices(len(knots), 1)
    columns: Array = (np.clip(at[:, None], knots[low], knots[high]) - knots[low]) / (
        knots[high] - knots[low]
    )
    price: Array = BENT * ((low > 0).astype(float) + (high < len(knots) - 1))
    return columns, price


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
