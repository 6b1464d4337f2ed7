"""Theorem 1: Algorithm 1, for good random strings and for bad ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from dpassay.mechanisms.chaudhuri_vinterbo_2013.selection import selection_log_p
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.seeds import stream
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed


def good_cases(effort: Effort) -> Iterator[Case]:
    """Scores on a grid, in units of beta, each moved by -1, 0 or 1."""
    for k, alpha2 in itertools.product((2, 3, effort.of(4, 5)), (0.1, 1.0, 5.0)):
        yield {"k": k, "alpha2": alpha2, "most": effort.of(4, 10)}


def good(k: int, alpha2: float, most: int) -> Measured:
    """Largest log-ratio of an index's probabilities, over all scores 0, ..., most and moves.

    By symmetry the first index is looked at, and its score is 0 or more as any.
    """
    scale = 2 / alpha2
    scores = np.array(list(itertools.product(range(most + 1), repeat=k)), dtype=float)
    moves = np.array(list(itertools.product((-1, 0, 1), repeat=k)), dtype=float)
    before, error = selection_log_p(scores, scale)
    worst = 0.0
    for move in moves:
        after, more = selection_log_p(scores + move, scale)
        worst, error = max(worst, float((before - after)[:, 0].max())), max(error, more)
    return computed(alpha2, worst, 2 * error)


def climb_cases(effort: Effort) -> Iterator[Case]:
    """Hill climbing from random scores: steps that halve whenever none of a round is better."""
    for k, alpha2 in itertools.product(effort.of((3, 6), (3, 6, 12)), (0.5, 3.0)):
        rng = stream(effort.seed, "chaudhuri-vinterbo-2013/theorem-1/climb", k, alpha2)
        for _ in range(effort.of(3, 20)):
            scores, step, best = rng.normal(scale=3.0, size=k), 2.0, -math.inf
            while step > 1 / 64:
                improved = False
                for _ in range(4 * k):
                    tried = scores + step * rng.normal(size=k)
                    shown = [round(x, 6) for x in tried.tolist()]
                    yield {"alpha2": alpha2, "scores": shown}
                    found = climbed(alpha2, shown).lower
                    if found > best:
                        scores, best, improved = tried, found, True
                step = step if improved else step / 2


def climbed(alpha2: float, scores: list[float]) -> Measured:
    """Loss of the first index where its score falls by 1 and all others rise by 1, or back."""
    q, scale = np.array(scores), 2 / alpha2
    move = np.where(np.arange(len(q)) == 0, -1.0, 1.0)
    (one, error), (other, more) = selection_log_p(q, scale), selection_log_p(q + move, scale)
    return computed(alpha2, abs(float(one[0] - other[0])), error + more)


def bad_cases(_: Effort) -> Iterator[Case]:
    """Numbers of parameters and shares of bad strings."""
    for k, delta in itertools.product((1, 2, 10, 100), (0.01, 0.5, 0.99)):
        yield {"k": k, "delta": delta}


def bad(k: int, delta: float) -> Measured:
    """Least delta that is needed if bad strings tell the two sides apart, and good ones nothing.

    Each of k strings is bad with probability delta / k, and then the index is 1 on D and 2 on D'
    for sure. So some event has probability 1 - (1 - delta/k)^k on D more than on D', and no epsilon
    helps.
    """
    value = -np.expm1(k * np.log1p(-delta / k))
    return computed(delta, float(value), 64 * UNIT_ROUNDOFF)


ROWS = (
    Row(
        key="chaudhuri-vinterbo-2013/theorem-1/good",
        checks="for good random strings the index loses at most alpha2",
        quantity="loss in nats",
        method="exact",
        domain="k = 2, 3, 4 scores of 0, ..., 4 times beta, each moved by -1, 0 or 1 beta",
        cases=good_cases,
        measure=good,
    ),
    Row(
        key="chaudhuri-vinterbo-2013/theorem-1/climb",
        checks="the same for real scores, more parameters and the move that parts scores most",
        quantity="loss in nats",
        method="search",
        domain="hill climbing from three random starts each, k in {3, 6}, alpha2 in {.5, 3}",
        cases=climb_cases,
        measure=climbed,
        verdict="not refuted",
    ),
    Row(
        key="chaudhuri-vinterbo-2013/theorem-1/bad",
        checks="k strings, each bad with probability delta/k, cost at most delta",
        quantity="delta that is needed",
        method="exact",
        domain="k in {1, 2, 10, 100}, delta in {.01, .5, .99}; bad strings that tell everything",
        cases=bad_cases,
        measure=bad,
    ),
)
