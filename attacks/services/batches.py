"""Batches: answers of one batch that hang together, and batches that toss the same coins.

Sessions of one deployment ask for two batches of two points, one a hair beside the other. Where
every answer has coins of its own, the answers in a column (first or second place, of all sessions)
are independent of those in any other, so that each order of a column is equally likely beside the
other, whatever the laws at both points. Numbers are compared by the side of their column's median,
for noise that is drawn once for a batch is added to numbers that differ a little; noise that sums
to nothing over a batch puts them on opposite sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.attacks.services.answers import halves
from dpassay.attacks.services.budgets import Defect
from dpassay.attacks.services.chances import pairing_probability
from dpassay.attacks.services.probe_points import HAIR, ProbePoints, shown

SESSIONS = 96
SIZE = 2
"""Points of a batch."""
REUSED = "noise reused within a batch"
CANCELS = "noise cancels within a batch"
REPLAYED = "batches replay the same coins"

WORDS = {
    REPLAYED: "sessions got two batches that were alike, answer for answer: each batch begins with "
    "the same coins",
    REUSED: "batches had both answers on one side of what is usual: answers of a batch share "
    "coins, and their differences have none",
    CANCELS: "batches had their answers on opposite sides of what is usual: the noise of a batch "
    "sums to nothing, and so the sum of its answers has none",
}


def batch_cost(room: int) -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    return (SESSIONS, SESSIONS * 2 * SIZE) if room >= 2 * SIZE else (0, 0)


def batch_defects(
    probe: ProbePoints, points: Sequence[Array], alpha: float, untold: list[str]
) -> list[Defect]:
    """Return the defects of batches, by three tests with alpha / 3 each.

    The answers of a batch are on the same side or on opposite ones, or batches come again.
    """
    x, service = points[0], probe.service
    batch = np.array([x, probe.beside(x, HAIR)])
    if probe.room < 2 * SIZE:
        untold.append("noise of batches: the budget is below two batches of two")
        return []
    seed, rows = service.deployment("batches"), list[tuple[Any, ...]]()
    for _ in range(SESSIONS):
        session = service.open(probe.data, seed, service.user())
        if not session.has("ask_many"):
            return []
        answers = [each for _ in range(2) for each in session.ask_many(batch)]
        if len(answers) < 2 * SIZE:
            untold.append("noise of batches: fewer answers than points of a batch")
            return []
        rows.append(tuple(answers))
    again = (
        f"open {SESSIONS} sessions of different users with seed {seed}, and ask each for two "
        f"batches of {shown(x)} and a point a hair beside it"
    )
    one, other = (_sides([row[k] for row in rows]) for k in range(SIZE))
    opposite = [not side for side in other]
    tests = (
        (REPLAYED, [row[:SIZE] for row in rows], [row[SIZE:] for row in rows]),
        (REUSED, one, other),
        (CANCELS, one, opposite),
    )
    for name, first, second in tests:
        chance = pairing_probability(first, second)
        if chance <= alpha / len(tests):
            equal = sum(a == b for a, b in zip(first, second, strict=True))
            seen = f"{equal} of {SESSIONS} {WORDS[name]}"
            return [Defect(name=name, seen=seen, probability=chance, again=again)]
    return []


def _sides(column: list[Any]) -> list[bool]:
    """Say of each answer whether it is above the median; of labels, whether it is the first one.

    Of vectors the last number counts. It depends on the column alone, whatever its order.
    """
    values = [each[-1] if isinstance(each, tuple) else each for each in column]
    sided, _ = halves(values, values)
    top = max(sided, key=str)
    return [each == top for each in sided]
