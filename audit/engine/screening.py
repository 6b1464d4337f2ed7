"""Screening: every pair is run, so that the worst can be certified on fresh trials."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.budget import Budget
from dpassay.engine.certification import (
    Screened,
)
from dpassay.targets.groups import Group, Progress
from dpassay.trials.executors import Executor
from dpassay.trials.tasks import Task


def screen(
    executor: Executor, groups: tuple[Group, ...], budget: Budget, progress: Progress
) -> Screened:
    """Run the screening trials of every pair, or the first part of them."""
    first, left = budget.screening_lots(groups)
    counts = _screening(executor, groups, first, 0, progress)
    return Screened(sizes=first, counts=counts, left=left)


def screen_whole(
    executor: Executor, groups: tuple[Group, ...], screened: Screened, progress: Progress
) -> Screened:
    """Run the screening trials that are left, once for all claims."""
    if not screened.whole:
        more = _screening(executor, groups, screened.left, 1, progress)
        screened.whole.append(
            replace(
                screened,
                sizes=tuple(map(sum, zip(screened.sizes, screened.left, strict=True))),
                counts=tuple(map(np.add, screened.counts, more)),
                left=(),
            )
        )
    return screened.whole[0]


def _screening(
    executor: Executor,
    groups: tuple[Group, ...],
    sizes: tuple[int, ...],
    lot: int,
    progress: Progress,
) -> tuple[NDArray[np.int64], ...]:
    """Return the counts of a lot of screening trials; see `Screened`."""
    done, total = 0, sum(len(group.pairs) for group in groups)
    sides = [
        (g, pair) for g, group in enumerate(groups) for pair in (None, *range(len(group.pairs)))
    ]
    drawn = executor.counts(
        [Task(group=g, pair=pair, phase="screen", size=sizes[g], lot=lot) for g, pair in sides]
    )
    counts = []
    for group in groups:
        base = next(drawn)
        neighbours = np.empty((len(group.pairs), *base.shape), dtype=np.int64)
        for i in range(len(group.pairs)):
            neighbours[i] = next(drawn)
            done += 1
            progress("screening", done, total)
        counts.append(np.stack([np.broadcast_to(base, neighbours.shape), neighbours]))
    return tuple(counts)
