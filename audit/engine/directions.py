"""Directions of a released vector: those along which separate trials tell neighbours apart best.

A query of such a mechanism is a direction u, its answer the number <w, u>. The given queries may
all look past a leak. So some trials, used for nothing else, estimate mean and covariance of the
vector on each side of every pair, and the direction of Fisher's linear discriminant, Sigma^-1
(mean' - mean), is asked besides. It sees what moves the mean, not what only changes the shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpassay.targets.groups import PairGroup, Progress
from dpassay.targets.guard import AuditTarget
from dpassay.trials.blocks import BLOCK
from dpassay.trials.encoders import Coding, Counted, Draws
from dpassay.trials.executors import Executor
from dpassay.trials.tasks import Task

Array = NDArray[np.float64]
OpenExecutor = Callable[[tuple[PairGroup, ...], tuple[Coding, ...]], Executor]
"""Opens an executor for groups and their codings."""

MOST = 4
"""Directions that are learned per group at most."""
SHORTLIST = 16
"""Of more pairs than this, those that look farthest apart on few trials are learned from more."""
RIDGE = 1e-6
"""Added to the correlations, so that they can be inverted."""
DIGITS = 6
"""Of a direction: it is the same on every machine, and short in a witness."""


@dataclass(frozen=True, slots=True)
class Moments(Coding):
    """Mean and covariance of one block of vectors instead of counts."""

    dimension: int
    additive: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """The mean of a coordinate, and its covariance with each."""
        return self.dimension + 1

    @property
    def key(self) -> str:
        """Its name."""
        return "moments"

    def count(self, draws: Draws) -> Counted:
        """Return the moments of a block of vectors (trials, d), shape (d, d + 1)."""
        vectors = draws.astype(float)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = vectors.mean(axis=0)
            covariance = (vectors - mean).T @ (vectors - mean) / len(vectors)
        return np.column_stack([mean, covariance]), b""


def learned(
    target: AuditTarget,
    groups: tuple[PairGroup, ...],
    draws: tuple[int, int],
    open_executor: OpenExecutor,
    progress: Progress,
) -> tuple[PairGroup, ...]:
    """Return groups of one pair and one query each: a direction in which its sides are far apart.

    Of each group these are the few pairs that are farthest apart, the farthest first. Nothing is
    learned unless the target releases a vector of at least two coordinates; see
    `dpassay.mechanism.Mechanism`. `draws` are the trials per dataset that find these pairs, one
    block at most, and the trials per side, whole blocks, that their directions are learned from.
    """
    d, first, rounds = target.dimension, min(BLOCK, draws[0]), max(1, draws[1] // BLOCK)
    if d < 2:
        return ()
    asked = tuple(
        replace(group, queries=target.towards(np.eye(d), group.queries.shape[1]))
        for group in groups
    )
    runner = open_executor(asked, (Moments(d),) * len(groups))
    chosen = [list(range(len(group.pairs))) for group in groups]
    many = [g for g, pairs in enumerate(chosen) if len(pairs) > SHORTLIST]
    short = _learn(runner, [(g, chosen[g]) for g in many], [("learn", first)], progress)
    for g, places in zip(many, short, strict=True):
        chosen[g] = _order(places)[:SHORTLIST]
    phases = [(f"learn {k}", BLOCK) for k in range(rounds)]
    found = _learn(runner, list(enumerate(chosen)), phases, progress)
    return tuple(
        _group(target, groups[g], chosen[g][place], *places[place], rounds * BLOCK)
        for g, places in enumerate(found)
        for place in _order(places)[:MOST]
        if places[place][1] > 0
    )


def _learn(
    runner: Executor,
    wanted: list[tuple[int, list[int]]],
    phases: list[tuple[str, int]],
    progress: Progress,
) -> list[list[tuple[Array, float]]]:
    """Return direction and distance of pairs of groups, from trials of several phases together."""
    sides = [(g, pair) for g, pairs in wanted for pair in (None, *pairs)]
    drawn = runner.counts(
        [Task(group=g, pair=pair, phase=name, size=n) for g, pair in sides for name, n in phases]
    )
    found, done = [], 0
    for _, pairs in wanted:
        moments = []
        for _ in range(1 + len(pairs)):
            moments.append(np.mean([next(drawn) for _ in phases], axis=0))
            done += 1
            progress("learning directions", done, len(sides))
        found.append([discriminant(moments[0], other) for other in moments[1:]])
    return found


def discriminant(one: Array, other: Array) -> tuple[Array, float]:
    """Return the direction (d,) between two sides, of norm 1, and their distance in it.

    From means and covariances, (d, d + 1) each.

    The distance is in standard deviations of the released number. Zeros where there is none: the
    means are equal, or too large to be told.
    """
    nothing = np.zeros(len(one)), 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        gap, covariance = other[:, 0] - one[:, 0], (one[:, 1:] + other[:, 1:]) / 2
        deviation = np.sqrt(np.diag(covariance))
        unit = np.where(deviation > 0, deviation, 1.0)
        correlation = covariance / unit / unit[:, None]
        gap = gap / unit
    if not (np.isfinite(correlation).all() and np.isfinite(gap).all() and gap.any()):
        return nothing
    way = np.linalg.solve(correlation + RIDGE * np.eye(len(gap)), gap)
    square, way = float(gap @ way), way / unit
    if not (square > 0 and np.isfinite(way).all() and way.any()):
        return nothing
    way = way / np.abs(way).max()
    rounded: Array = np.round(way / np.linalg.norm(way), DIGITS) + 0.0
    return rounded, math.sqrt(square)


def _order(places: list[tuple[Array, float]]) -> list[int]:
    """Return places, the farthest apart first."""
    found: list[int] = np.argsort([-distance for _, distance in places], kind="stable").tolist()
    return found


def _group(
    target: AuditTarget, group: PairGroup, pair: int, way: Array, distance: float, draws: int
) -> PairGroup:
    pairs, change = group.pairs, group.pairs.changes[pair]
    reason = (
        f"in this direction the vectors released on S and on S' ({change}) are {distance:.2g} "
        f"standard deviations apart, learned from {draws} trials a side that are used for nothing "
        "else"
    )
    alone = replace(pairs, changes=(change,), how=reason, key="")
    asked = target.towards(way[None], group.queries.shape[1])
    return replace(group, pairs=alone, queries=asked, kind="learned", reason=reason)
