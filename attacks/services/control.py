"""The positive control.

A service must change when its data change, or what is seen of it says nothing.

A service that ignores its data, or was wired to other data, has no defect that could be found and
breaks no claim. So it is asked first whether its answers move at all, on datasets that have next to
nothing in common: all labels made one and all made another, every label the next one, every record
mirrored. Deployments are independent, each has a seed of its own; of each the majority of its
answers at a point is one observation, so that answers within it may depend on each other. Fisher's
exact test compares them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from dpassay.attacks.services.answers import MOST_LABELS, halves, middle
from dpassay.attacks.services.interface import Service
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.targets.groups import Progress, silent

STAGES = (24, 96, 384)
"""Deployments a side, one stage after the other until a change is seen; the last for the first two
datasets alone."""
POINTS, MOST_ANSWERS = 2, 16
"""Points that are asked at, and answers of a session at each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What became of the control."""

    changed: bool  # whether answers changed with the data, beyond chance
    words: str  # what was compared, and how much of it


def control(
    service: Service, data: Labelled, room: int, *, alpha: float, progress: Progress = silent
) -> Control:
    """Ask whether answers change when the data do.

    A service that ignores its data passes with a probability of at most alpha. `room` is the
    number of answers of a session. A failure on the data raises `TargetError`; other data where
    it fails are left out.
    """
    points = [data.X[i] for i in range(min(POINTS, room, len(data)))]
    each = min(MOST_ANSWERS, room // len(points))
    known = list(_contrasts(data))
    share = alpha / (len(STAGES) * len(known))
    asked, done = list[str](), 0
    for stage, deployments in enumerate(STAGES):
        for what, one, other in known[: 1 if stage == len(STAGES) - 1 else None]:
            try:
                sides = [
                    [
                        _majorities(service, S, points, each, f"control {what} {stage} {side} {t}")
                        for t in range(deployments)
                    ]
                    for side, S in enumerate((one, other))
                ]
            except TargetError:
                # its own data must do
                service.open(data, service.deployment("control"), service.user())
                continue
            asked.append(f"{what}, {deployments} deployments a side")
            done += 1
            progress(f"{service.name}: control", done, 2 * len(known) + 1)
            if _moved(sides, len(points)) <= share:
                return Control(changed=True, words=asked[-1])
    return Control(changed=False, words="; ".join(asked) or "no other data that it takes")


def _contrasts(data: Labelled) -> Iterator[tuple[str, Labelled, Labelled]]:
    """Two datasets each that have next to nothing in common."""
    labels = np.unique(data.y)
    pair = labels[[0, -1]] if labels.size > 1 else np.array([labels[0], labels[0] + 1])
    one, other = (Labelled(data.X, np.full(len(data), label)) for label in pair)
    yield f"all labels {pair[0]} against all labels {pair[1]}", one, other
    if labels.size > 1:
        moved = labels[(np.searchsorted(labels, data.y) + 1) % labels.size]
        yield "each label against the next one", data, Labelled(data.X, moved)
    yield (
        "the records against their mirror images",
        data,
        Labelled(2 * data.X.mean(axis=0) - data.X, data.y),
    )


def _majorities(
    service: Service, data: Labelled, points: list[Any], each: int, phase: str
) -> list[Any]:
    """The commonest answer of one new deployment at each point; of answers as common the first."""
    answers = service.open(data, service.deployment(phase), service.user()).transcript(
        x for x in points for _ in range(each)
    )
    if len(answers) < each * len(points):
        raise TargetError(f"{service.name} refused after {len(answers)} answers")
    parts = (answers[k * each : (k + 1) * each] for k in range(len(points)))
    return [middle(part) for part in parts]


def control_cost(room: int) -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    openings = 2 * (3 * sum(STAGES[:-1]) + STAGES[-1])
    return openings + 3 * len(STAGES), openings * min(room, POINTS * MOST_ANSWERS)


def _moved(sides: list[list[list[Any]]], points: int) -> float:
    """Return the smallest two-sided Fisher p-value of points and answers, times their number."""
    found, n = [], len(sides[0])
    for k in range(points):
        one, other = map(
            Counter, halves(*([majorities[k] for majorities in side] for side in sides))
        )
        for label in [label for label, _ in (one + other).most_common(MOST_LABELS)]:
            table = np.array([[one[label], n - one[label]], [other[label], n - other[label]]])
            found.append(float(scipy.stats.fisher_exact(table).pvalue))
    return min(1.0, min(found) * points * MOST_LABELS)
