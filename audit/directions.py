"""Directions: where a vector is released, those along which trials of their own tell neighbours apart best.

A query of such a mechanism is a direction u, its answer the number <w, u>. The given queries may all look past a leak. So some
trials, used for nothing else, estimate mean and covariance of the vector on each side of every pair, and the direction of
Fisher's linear discriminant, Sigma^-1 (mean' - mean), is asked besides. It sees what moves the mean, not what only changes the
shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpassay.auditee import Auditee
from dpassay.codings import Coding
from dpassay.executors import Executor
from dpassay.pairs import Pairs
from dpassay.plan import Group, Progress
from dpassay.shards import Task
from dpassay.trials import BLOCK

Array = NDArray[np.float64]

MOST = 4
"""Directions that are learned per group at most."""
RIDGE = 1e-6
"""Added to the correlations, so that they can be inverted."""
DIGITS = 6
"""Of a direction: it is the same on every machine, and short in a witness."""


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and covariance of one block of vectors instead of counts: bit patterns of numbers, as only whole numbers are kept."""

    dimension: int

    @property
    def size(self) -> int:
        """The mean of a coordinate, and its covariance with each."""
        return self.dimension + 1

    @property
    def key(self) -> str:
        """Its name."""
        return "moments"

    def count(self, draws: NDArray[np.generic], rng: np.random.Generator) -> tuple[NDArray[np.int64], bytes]:  # noqa: ARG002
        """Return the moments of a block of vectors (trials, d), shape (d, d + 1)."""
        vectors = draws.astype(float)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = vectors.mean(axis=0)
            covariance = (vectors - mean).T @ (vectors - mean) / len(vectors)
        return np.column_stack([mean, covariance]).view(np.int64), b""


def learned(
    auditee: Auditee,
    groups: tuple[Group, ...],
    draws: int,
    hire: Callable[[tuple[Group, ...], tuple[Coding, ...]], Executor],
    progress: Progress,
) -> tuple[Group, ...]:
    """Return groups of one pair and one query each: the direction in which its two sides are farthest apart.

    Parameters
    ----------
    auditee : Auditee
        Nothing is learned unless it releases a vector of at least two coordinates; see `dpassay.mechanism.HasDirections`.
    groups : tuple of Group
        Whose pairs are looked at.
    draws : int
        Trials per dataset; of one block at most.
    hire, progress : callable

    Returns
    -------
    tuple of Group
        Of each group the few pairs that are farthest apart, the farthest first.
    """
    d, draws = auditee.dimension, min(BLOCK, draws)
    if d < 2:
        return ()
    asked = tuple(replace(group, queries=_towards(auditee, np.eye(d), group)) for group in groups)
    runner = hire(asked, (Moments(d),) * len(groups))
    sides = [(g, pair) for g, group in enumerate(groups) for pair in (None, *range(len(group.pairs)))]
    drawn = runner.counts([Task(group=g, pair=pair, phase="learn", size=draws) for g, pair in sides])
    found, done, total = list[Group](), 0, sum(len(group.pairs) for group in groups)
    for group in groups:
        base, places = next(drawn), []
        for _ in group.pairs.changes:
            places.append(discriminant(base, next(drawn)))
            done += 1
            progress("learning directions", done, total)
        found += _farthest(auditee, group, places, draws)
    return tuple(found)


def discriminant(one: NDArray[np.int64], other: NDArray[np.int64]) -> tuple[Array, float]:
    """Return the direction (d,) between two sides' `Moments`, of norm 1, and how many standard deviations they are apart there.

    Zeros where there is none: the means are equal, or too large to be told.
    """
    one, other = (np.ascontiguousarray(side).view(np.float64) for side in (one, other))
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
    distance, way = float(np.sqrt(max(0.0, gap @ way))), way / unit
    way = way / np.abs(way).max()
    rounded: Array = np.round(way / np.linalg.norm(way), DIGITS) + 0.0
    return rounded, distance


def _farthest(auditee: Auditee, group: Group, places: list[tuple[Array, float]], draws: int) -> Iterator[Group]:
    order = np.argsort([-distance for _, distance in places], kind="stable")[:MOST]
    for pair in order.tolist():
        way, distance = places[pair]
        if distance == 0:
            continue
        pairs, change = group.pairs, group.pairs.changes[pair]
        reason = (
            f"in this direction the vectors released on S and on S' ({change}) are {distance:.2g} standard deviations apart, "
            f"learned from {draws} trials a side that are used for nothing else"
        )
        alone = Pairs(base=pairs.base, changes=(change,), how=reason, pool=pairs.pool, relation=pairs.relation)
        yield replace(group, pairs=alone, queries=_towards(auditee, way[None], group), kind="learned", reason=reason)


def _towards(auditee: Auditee, directions: Array, group: Group) -> Array:
    return auditee.towards(directions, group.queries.shape[1])
