"""Draws of the stable learner, many trials at a time.

T, then h from H_T by the exponential mechanism, then h at the queries.

For each class the hypotheses of all trials are held as arrays; those that a repeated point of T
would make twice get no weight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.mechanisms.dagan_feldman_2020.subsets import Gathered
from dpassay.mechanisms.shared.function_class import Functions
from dpassay.mechanisms.shared.hypothesis_class import HypothesisClass, Labels, Points, Rule
from dpassay.mechanisms.shared.line_classes import Intervals, Thresholds, after, gap_ends
from dpassay.mechanisms.shared.plane_classes import Corners, Halfspaces

Drawer = Callable[[NDArray[np.int64], np.random.Generator], Labels]
"""From the points that T hits, shape (trials, n'), and coins to labels of the queries, shape
(trials, q)."""


def chosen_rows(
    errors: NDArray[np.int64], allowed: Labels, epsilon: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw one allowed column in each row, proportionally to exp(-epsilon errors / 2)."""
    least = np.where(allowed, errors, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
    weights = np.where(allowed, np.exp(-epsilon / 2 * np.maximum(errors - least, 0)), 0.0)
    total = np.cumsum(weights, axis=1)
    at = rng.random((len(errors), 1)) * total[:, -1:]
    found: NDArray[np.int64] = np.minimum((total <= at).sum(axis=1), last_of(allowed))
    return found


def last_of(allowed: Labels) -> NDArray[np.int64]:
    """Return the last column that is allowed, in each row; rounding may not go beyond it."""
    found: NDArray[np.int64] = allowed.shape[1] - 1 - np.argmax(allowed[:, ::-1], axis=1)
    return found


def threshold_drawer(
    data: Gathered, H: Thresholds, rule: Rule, queries: Points, epsilon: float
) -> Drawer:
    """Thresholds: the n' + 1 gaps of the sorted points of T."""
    xs, at = data.X[:, H.feature], queries[:, H.feature]
    errors = int(data.zeros.sum()) + np.cumsum([0, *(data.ones - data.zeros)])

    def draw(hit: NDArray[np.int64], rng: np.random.Generator) -> Labels:
        T = xs[np.sort(hit, axis=1)]
        t = gap_ends(T, rule)
        allowed = np.ones(t.shape, dtype=bool)
        allowed[:, 1:-1] = T[:, 1:] != T[:, :-1]
        chosen = chosen_rows(errors[np.searchsorted(xs, t)], allowed, epsilon, rng)
        found: Labels = at >= np.take_along_axis(t, chosen[:, None], axis=1)
        return found

    return draw


def interval_drawer(
    data: Gathered, H: Intervals, rule: Rule, queries: Points, epsilon: float
) -> Drawer:
    """Intervals: the empty one, and those from a point's first copy in T to a point's last copy."""
    xs, at = data.X[:, H.feature], queries[:, H.feature]
    balance = np.cumsum([0, *(data.zeros - data.ones)])

    def draw(hit: NDArray[np.int64], rng: np.random.Generator) -> Labels:
        T = xs[np.sort(hit, axis=1)]
        starts, ends = gap_ends(T, rule)[:, :-1], -gap_ends(-T[:, ::-1], rule)[:, :-1][:, ::-1]
        new = T[:, 1:] != T[:, :-1]
        first, last = (
            np.pad(new, ((0, 0), (1, 0)), constant_values=True),
            np.pad(new, ((0, 0), (0, 1)), constant_values=True),
        )
        i, j = np.triu_indices(T.shape[1])
        inside = (
            balance[np.searchsorted(xs, ends, side="right")][:, j]
            - balance[np.searchsorted(xs, starts)][:, i]
        )
        errors = np.pad(inside, ((0, 0), (1, 0))) + data.ones.sum()
        allowed = np.pad(first[:, i] & last[:, j], ((0, 0), (1, 0)), constant_values=True)
        chosen = chosen_rows(errors, allowed, epsilon, rng)
        ends, starts = ends[:, j], starts[:, i]
        picked = np.maximum(chosen - 1, 0)[:, None]
        found: Labels = (at >= np.take_along_axis(starts, picked, axis=1)) & (
            at <= np.take_along_axis(ends, picked, axis=1)
        )
        return found & (chosen > 0)[:, None]

    return draw


def corner_drawer(
    data: Gathered, H: Corners, rule: Rule, queries: Points, epsilon: float
) -> Drawer:
    """Corners: the empty one, and those at (x_i, y_j) with i and j in them, i and j points of T."""
    points_x, points_y = data.X[:, H.feature], data.X[:, H.feature2]
    xs, ys = np.unique(points_x), np.unique(points_y)
    table = np.zeros((len(xs) + 1, len(ys) + 1), dtype=np.int64)
    np.add.at(
        table,
        (np.searchsorted(xs, points_x), np.searchsorted(ys, points_y)),
        data.zeros - data.ones,
    )
    errors_at = table[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1] + int(data.ones.sum())

    def draw(hit: NDArray[np.int64], rng: np.random.Generator) -> Labels:
        x, y = points_x[hit], points_y[hit]
        shape = (len(hit), x.shape[1], x.shape[1])
        allowed = (y[:, :, None] >= y[:, None, :]) & (x[:, None, :] >= x[:, :, None])
        allowed &= highest_of_equals(x, y)[:, :, None] & highest_of_equals(y, x)[:, None, :]
        a, b = np.broadcast_to(x[:, :, None], shape), np.broadcast_to(y[:, None, :], shape)
        if rule != "least":
            least_a, least_b = a, b
            a = after(highest_below(y, x, b, a))
            b = after(highest_below(x, y, a, b))
            if rule == "middle":
                with np.errstate(invalid="ignore"):
                    a = np.where(np.isfinite(a), a + (least_a - a) / 2, least_a)
                    b = np.where(np.isfinite(b), b + (least_b - b) / 2, least_b)
        a, b, allowed = (
            a.reshape(len(hit), -1),
            b.reshape(len(hit), -1),
            allowed.reshape(len(hit), -1),
        )
        errors = errors_at[np.searchsorted(xs, a), np.searchsorted(ys, b)]
        empty = np.full((len(hit), 1), int(data.ones.sum()))
        chosen = chosen_rows(
            np.concatenate([empty, errors], axis=1),
            np.pad(allowed, ((0, 0), (1, 0)), constant_values=True),
            epsilon,
            rng,
        )
        picked = np.maximum(chosen - 1, 0)[:, None]
        in_x = queries[:, H.feature] >= np.take_along_axis(a, picked, axis=1)
        in_y = queries[:, H.feature2] >= np.take_along_axis(b, picked, axis=1)
        return in_x & in_y & (chosen > 0)[:, None]

    return draw


def highest_of_equals(x: Points, y: Points) -> Labels:
    """Whether a point of T has the largest y at its x, and is the first such.

    Shape (trials, n').
    """
    same = x[:, :, None] == x[:, None, :]
    before = np.arange(x.shape[1])[:, None] > np.arange(x.shape[1])
    better = (y[:, None, :] > y[:, :, None]) | ((y[:, None, :] == y[:, :, None]) & before)
    found: Labels = ~(same & better).any(axis=2)
    return found


def highest_below(u: Points, v: Points, u_least: Points, v_least: Points) -> Points:
    """Return for each corner the largest v of points of T with u >= u_least and v < v_least.

    -inf where there is none.
    """
    found = np.full(u_least.shape, -np.inf)
    for each in range(u.shape[1]):
        mine = v[:, each, None, None]
        counts = (u[:, each, None, None] >= u_least) & (mine < v_least) & (mine > found)
        found = np.where(counts, mine, found)
    return found


def halfspace_drawer(
    data: Gathered, H: Halfspaces, rule: Rule, queries: Points, epsilon: float
) -> Drawer:
    """Halfspaces: for each labelling of T in the table, the first, last or middle function."""
    table = H.table
    everything = np.arange(len(table), dtype=float)[:, None]
    on_data, answers = H.predict(everything, data.X), H.predict(everything, queries)
    errors = on_data @ (data.zeros - data.ones) + data.ones.sum()
    bit = np.uint64(1) << np.arange(len(data.X), dtype=np.uint64)  # a grid has 64 points at most
    codes = (on_data * bit).sum(axis=1, dtype=np.uint64)

    def draw(hit: NDArray[np.int64], rng: np.random.Generator) -> Labels:
        labels = codes & np.bitwise_or.reduce(bit[hit], axis=1)[:, None]
        order = np.argsort(labels, axis=1, kind="stable")
        ordered = np.take_along_axis(labels, order, axis=1)
        new = np.pad(ordered[:, 1:] != ordered[:, :-1], ((0, 0), (1, 0)), constant_values=True)
        allowed = {"least": new, "greatest": np.roll(new, -1, axis=1), "middle": middles(new)}[rule]
        chosen = chosen_rows(errors[order], allowed, epsilon, rng)
        return answers[np.take_along_axis(order, chosen[:, None], axis=1)[:, 0]]

    return draw


def middles(new: Labels) -> Labels:
    """Whether a place is the middle of its group: size // 2 from a start marked in `new`."""
    places = np.arange(new.shape[1])
    start = np.maximum.accumulate(np.where(new, places, 0), axis=1)
    ends = np.where(np.roll(new, -1, axis=1), places, new.shape[1])
    end = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    found: Labels = places == start + (end - start + 1) // 2
    return found


def function_drawer(
    data: Gathered, H: Functions, rule: Rule, queries: Points, epsilon: float
) -> Drawer:
    """All functions: each point of T has a label of its own, drawn by its counts.

    Elsewhere the rule answers.
    """
    log_odds = epsilon / 2 * (data.ones - data.zeros)
    spots = data.X[:, H.feature].astype(np.int64) - 1

    def draw(hit: NDArray[np.int64], rng: np.random.Generator) -> Labels:
        values = np.tile(H.elsewhere(rule), (len(hit), 1))
        seen = np.zeros((len(hit), len(spots)), dtype=bool)
        np.put_along_axis(seen, hit, values=True, axis=1)
        drawn = rng.random(seen.shape) < expit(log_odds)
        values[:, spots] = np.where(seen, drawn, values[:, spots])
        return values[:, queries[:, H.feature].astype(np.int64) - 1]

    return draw


def any_drawer(
    data: Gathered,
    H: HypothesisClass,
    hypotheses: Callable[[NDArray[np.int64]], Points],
    queries: Points,
    epsilon: float,
    *,
    often: bool,
) -> Drawer:
    """Any class: H_T is made for each different T, which is slow where they are many."""

    def draw(hit: NDArray[np.int64], rng: np.random.Generator) -> Labels:
        rows = np.zeros((len(hit), len(data.X)), dtype=np.int64)
        np.add.at(rows, (np.arange(len(hit))[:, None], hit), 1)
        different, which = np.unique(
            rows if often else np.minimum(rows, 1), axis=0, return_inverse=True
        )
        found = np.zeros((len(hit), len(queries)), dtype=bool)
        for each, row in enumerate(different):
            trials = np.flatnonzero(which.ravel() == each)
            H_T = hypotheses(row)
            errors = H.predict(H_T, data.X) @ (data.zeros - data.ones)
            every = np.tile(errors, (len(trials), 1))
            found[trials] = H.predict(H_T, queries)[
                chosen_rows(every, np.ones(every.shape, dtype=bool), epsilon, rng)
            ]
        return found

    return draw


def drawer_of(
    data: Gathered,
    H: HypothesisClass,
    rule: Rule,
    hypotheses: Callable[[NDArray[np.int64]], Points],
    queries: Points,
    epsilon: float,
    *,
    often: bool,
) -> Drawer:
    """Return the fastest way to draw.

    With `often` H_T is a cover that depends on how often T hits a point, see `subsets`.
    """
    if often:
        return any_drawer(data, H, hypotheses, queries, epsilon, often=True)
    if type(H) in DRAWERS:
        return DRAWERS[type(H)](data, H, rule, queries, epsilon)
    return any_drawer(data, H, hypotheses, queries, epsilon, often=False)


DRAWERS: dict[type, Callable[[Gathered, Any, Rule, Points, float], Drawer]] = {
    Thresholds: threshold_drawer,
    Intervals: interval_drawer,
    Corners: corner_drawer,
    Halfspaces: halfspace_drawer,
    Functions: function_drawer,
}
"""For a class of its own, or one derived from these, there is `any_drawer`."""
