"""The learner `threshold` on uniformly random subsets T: its answers, and their law by counting.

It takes the first t in T, or t = inf, with the fewest errors: zeros at and above t, ones below. Up
to a constant these are C(t), the sum of 2 y - 1 over the records of T below t. A T with ones only
is a constant 1.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.laws import FiniteLaw
from dpassay.mechanisms.dagan_feldman_2020.subset_laws import chances
from dpassay.mechanisms.shared.linear import gamma

MOST_SUBSETS = 10**300
"""With more subsets than this the smallest probabilities would underflow."""
MOST_STEPS = 100_000_000
"""Numbers that are moved at most."""


def threshold_answers(
    xs: NDArray[np.float64],
    y: NDArray[np.int64],
    rows: NDArray[np.int64],
    queries: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Answers of the learner `threshold`, for many subsets at once.

    Parameters
    ----------
    xs, y : array (n,)
        The line and the labels.
    rows : int array (m, n')
        Indices of the records of each subset.
    queries : array (q,)
        Points of the line.

    Returns
    -------
    int array (m, q)
        Labels. A threshold at a point of the subset makes its zeros there and above, and its ones
        below, errors: up to a constant the sum of 2 y - 1 over the records below.
    """
    order = np.argsort(xs[rows], axis=1, kind="stable")
    line, labels = (
        np.take_along_axis(xs[rows], order, axis=1),
        np.take_along_axis(y[rows], order, axis=1),
    )
    m, size = rows.shape
    below = np.concatenate(
        [np.zeros((m, 1), dtype=np.int64), np.cumsum(2 * labels - 1, axis=1)], axis=1
    )
    first = np.ones((m, size + 1), dtype=bool)  # of the records at one point
    first[:, 1:-1] = line[:, 1:] != line[:, :-1]
    best = np.where(first, below, size + 1).argmin(axis=1)
    t = np.concatenate([line, np.full((m, 1), np.inf)], axis=1)[np.arange(m), best]
    t[labels.all(axis=1)] = -np.inf  # one class: a constant
    answers: NDArray[np.int64] = (queries >= t[:, None]).astype(np.int64)
    return answers


def threshold_law(data: Labelled, size: int, queries: NDArray[np.float64]) -> FiniteLaw | None:
    """Law of the answer of the learner `threshold` on a uniformly random subset.

    The records are taken point by point. Of those at most x, what matters is j, how many were
    chosen, and d = C - M: the sum so far less the least C of the candidates so far. The answer at x
    is 1 exactly if a candidate up to x is as good as all later ones: if there is one, and d, with M
    left as it is, is never below 0 from then on. All sums are of positive terms.

    Parameters
    ----------
    data : Labelled
        n records; the line is the first column.
    size : int
        Records in a subset, n'.
    queries : array (q,)
        Points of the line.

    Returns
    -------
    FiniteLaw or None
        None where it would take long, or there are more than 10^300 subsets.
    """
    n, order = len(data), np.argsort(data.X[:, 0], kind="stable")
    line, steps = data.X[order, 0], (2 * data.y[order] - 1).tolist()
    starts = [*np.flatnonzero(np.concatenate([[True], line[1:] != line[:-1]])).tolist(), n]
    beyond = min(max(b - a for a, b in pairwise(starts)), size)
    width = beyond + size + 1
    every = math.comb(n, size)
    if every > MOST_SUBSETS or n * (size + 1) * width > MOST_STEPS:
        return None
    passed = np.searchsorted(line, queries, side="right")
    places = np.unique(passed).tolist()
    before = _forward(steps, starts, size, beyond, places)
    kept, lost = _backward(steps, starts, size, beyond, places)
    p = np.empty((len(places), 2))
    for k, place in enumerate(places):
        # of T wholly above x
        none, ones = math.comb(n - place, size), math.comb(steps[place:].count(1), size)
        p[k, 1] = (before[k][:, beyond:] * kept[k][:, beyond:]).sum() + ones / every
        p[k, 0] = (before[k] * lost[k]).sum() + (none - ones) / every
    with np.errstate(divide="ignore"):
        log_p = np.log(p[np.searchsorted(places, passed)])
    return FiniteLaw(
        log_p=np.minimum(log_p, 0.0), error=2 * gamma(10 * n + width * (size + 1) + 16)
    )


def _forward(
    steps: list[int], starts: list[int], size: int, beyond: int, places: list[int]
) -> list[NDArray[np.float64]]:
    """Probabilities of (j, d) after each of some places, for subsets that have a record there.

    d from -beyond to size.
    """
    take, leave = chances(len(steps), size)
    state, none = np.zeros((size + 1, beyond + size + 1)), 1.0
    found = {0: state.copy()}
    for start, end in pairwise(starts):
        hit = np.zeros_like(state)
        for i in range(start, end):
            taken = state * take[i]
            # the point is a candidate, and better than M
            taken[:, beyond] += taken[:, :beyond].sum(axis=1)
            taken[:, :beyond] = 0.0
            taken[0, beyond] += none * take[i, 0, 0]
            if i > start:
                taken += hit * take[i]
                hit *= leave[i]
            state, none = state * leave[i], none * leave[i, 0, 0]
            _add(hit, taken, steps[i])
        state += hit
        if end in places:
            found[end] = state
    return [found[place] for place in places]


def _add(hit: NDArray[np.float64], taken: NDArray[np.float64], step: int) -> None:
    """Add what was chosen: j moves by one, d by the step."""
    if step == 1:
        hit[1:, 1:] += taken[:-1, :-1]
    else:
        hit[1:, :-1] += taken[:-1, 1:]


def _backward(
    steps: list[int], starts: list[int], size: int, beyond: int, places: list[int]
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """Probabilities, given (j, d) after each place, that d stays at 0 or above, and that not."""
    take, leave = chances(len(steps), size)
    both, fails = np.zeros((2, size + 1, beyond + size + 1)), np.array([0.0, 1.0])[:, None, None]
    both[0, size] = 1.0
    both[:, :, :beyond] = fails
    found = {len(steps): both.copy()}
    for start, end in reversed(list(pairwise(starts))):
        for i in reversed(range(start, end)):
            chosen = both[:, 1:] * take[i, :-1]
            both *= leave[i]
            if steps[i] == 1:
                both[:, :-1, :-1] += chosen[:, :, 1:]
            else:
                both[:, :-1, 1:] += chosen[:, :, :-1]
        both[:, :, :beyond] = fails
        if start in places:
            found[start] = both.copy()
    return [found[place][0] for place in places], [found[place][1] for place in places]
